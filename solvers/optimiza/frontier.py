"""The cheapest walk inside a group of joined cells, by a frontier of open walks.

Cells are taken one by one. A state says, of the cells that still have joins to be decided on, how the chosen joins tie
them together; it costs what its walk loses against all cells and the best end. States that cost too much are dropped,
so that a small limit makes a small search, and none left is a proof.

A state is a number, read and written in `states.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from solvers.optimiza.board import Masks, Numbers
from solvers.optimiza.search import ONE, Whole, count_bits
from solvers.optimiza.states import (
    AT,
    CELL,
    COUNT,
    EMPTY_KEY,
    FOUND_AT,
    JOIN,
    KIND,
    LEAVE,
    LIMIT,
    OTHER,
    PARENT,
    PLACES,
    STATES_A_STEP,
    USED,
    Costs,
    Places,
    Rows,
    decide,
)
from solvers.parts.clock import Clock

NEVER = 1 << 29
MOST_STATES = 1 << 20
MOST_TRACED = 1 << 24


class Frontier:
    """The order of the decisions for one group, and the search through them."""

    def __init__(self, near: Masks) -> None:
        self.near = near
        order = np.empty(len(near), np.int32)
        self.width = int(_order(near, order))
        self.fits = self.width <= PLACES
        if self.fits:
            self.deeds = _list_deeds(near, order.tolist())
        self.states = 0

    def cheapest(self, costs: Costs, limit: int, clock: Clock) -> tuple[bool, list[int]]:
        """Find a walk (of two cells or more) of the least cost below the limit.

        Returns whether the search came to its end, and the cheapest walk it met, empty if there was none. Most
        searches find none; so the way to a walk is only kept in a second search, once there is one.
        """
        ended, least, _ = self._search(costs, limit, clock, traced=False)
        if least == limit:
            return ended, []
        ended, _, walk = self._search(costs, least + 1, clock, traced=True)
        return ended, walk

    def _search(self, costs: Costs, limit: int, clock: Clock, *, traced: bool) -> tuple[bool, int, list[int]]:
        """Go through all decisions; returns whether that was done, the least cost met (or the limit), and its walk."""
        place = np.array([0, 1, 0, limit, -1, -1], np.int64)
        room, trace = 1 << 12, np.empty(1 << 16 if traced else 0, np.int32)
        keys = np.full((2, room), EMPTY_KEY, np.uint64)
        losses, ids = np.zeros((2, room), np.int32), np.full((2, room), -1, np.int32)
        table = np.empty(2 * room, np.int32)
        while place[AT] < len(self.deeds) and place[COUNT] > 0:
            if 2 * place[COUNT] > room:
                room *= 2
                keys, losses, ids = _longer(keys, room), _longer(losses, room), _longer(ids, room)
                table = np.empty(2 * room, np.int32)
            while traced and place[USED] + 2 * place[COUNT] > len(trace):
                trace = np.concatenate((trace, np.empty_like(trace)))
            before = int(place[USED])
            decide(self.deeds, costs, place, Rows(keys, losses, ids, table), trace)
            self.states += int(place[USED]) - before
            too_many = place[COUNT] > MOST_STATES or (traced and place[USED] > MOST_TRACED)
            if too_many or not clock.step((int(place[USED]) - before) // STATES_A_STEP, states=self.states):
                return False, limit, []
        return True, int(place[LIMIT]), self._trace_back(place, trace) if traced else []

    def _trace_back(self, place: Places, trace: Numbers) -> list[int]:
        """Collect the joins chosen on the way to the cheapest walk, and string them together."""
        joined: dict[int, list[int]] = {}
        deed, entry, chosen = int(place[FOUND_AT]), int(place[PARENT]), self.deeds[place[FOUND_AT], KIND] == JOIN
        while deed >= 0:
            if chosen:
                one, other = int(self.deeds[deed, CELL]), int(self.deeds[deed, OTHER])
                joined.setdefault(one, []).append(other)
                joined.setdefault(other, []).append(one)
            deed -= 1
            if deed >= 0:
                chosen = bool(trace[entry] & 1) and self.deeds[deed, KIND] == JOIN
                entry = int(trace[entry]) >> 1
        return _string(joined)


def _string(joined: dict[int, list[int]]) -> list[int]:
    """Put joins into the order of a walk, from one of its ends."""
    walk = [cell for cell, others in joined.items() if len(others) == 1][:1]
    while len(walk) < len(joined):
        walk.append(next(cell for cell in joined[walk[-1]] if cell not in walk[-2:]))
    return walk


def _longer(rows: NDArray[Any], room: int) -> NDArray[Any]:
    """Copy two rows of states into longer ones."""
    longer = np.empty((2, room), rows.dtype)
    longer[:, : rows.shape[1]] = rows
    return longer


def _list_deeds(near: Masks, order: list[int]) -> Numbers:
    """List the decisions: for each cell in order, each join to a later cell, then what becomes of the cell itself.

    Columns: KIND, the places FIRST and SECOND, CELL, ACTIVE (bits of the places in use), UNSEEN (cells not met yet),
    and the join's other cell.
    """
    deeds: list[list[int]] = []
    place_of: dict[int, int] = {}
    free = list(range(PLACES))[::-1]
    later = set(order)
    unseen = set(order)
    for cell in order:
        later.discard(cell)
        beside = [other for other in later if int(near[cell]) >> other & 1]
        for fresh in [cell, *beside]:
            if fresh in unseen:
                unseen.discard(fresh)
                place_of[fresh] = free.pop()
        active = sum(1 << place for place in place_of.values())
        for other in beside:
            deeds.append([JOIN, place_of[cell], place_of[other], cell, active, len(unseen), other])
        deeds.append([LEAVE, place_of[cell], -1, cell, active, len(unseen), -1])
        free.append(place_of.pop(cell))
    return np.array(deeds, np.int32)


@njit(cache=True, nogil=True)
def _order(near: Masks, order: Numbers) -> Whole:  # pragma: no cover - compiled; its slow twin is in the tests
    """Choose the order of the cells that keeps the frontier narrow; returns its greatest width.

    From each cell as the first: next is always the cell of the frontier that brings the fewest new ones.
    """
    count = len(near)
    least = np.inf
    narrowest: Whole = 0
    tried = np.empty(count, np.int32)
    for first in range(count):
        front = ONE << np.uint64(first)
        seen = front
        weight = 0.0
        widest: Whole = 0
        for at in range(count):
            chosen = -1
            fewest: Whole = 65
            for cell in range(count):
                if (front >> np.uint64(cell)) & ONE:
                    fresh = count_bits(near[cell] & ~seen)
                    if fresh < fewest:
                        chosen, fewest = cell, fresh
            front |= near[chosen] & ~seen
            seen |= near[chosen]
            width = count_bits(front)
            widest = max(widest, width)
            weight += 3.0**width
            front ^= ONE << np.uint64(chosen)
            tried[at] = chosen
        if weight < least:
            least = weight
            narrowest = widest
            order[:] = tried
    return narrowest
