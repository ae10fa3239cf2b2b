"""The cheapest walk inside a group of joined cells, by a frontier of open walks.

Cells are taken one by one. A state says, of the cells that still have joins to be decided on, how the chosen joins tie
them together; it costs what its walk loses against all cells and the best end. States that cost too much are dropped,
so that a small limit makes a small search, and none left is a proof.

A state has 4 bits for each of 13 places of the frontier: the place at the other end of the walk that ends here (its own
where no join is chosen), or DONE (two joins chosen), or START or END where that walk's other end is fixed already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from solvers.optimiza.board import Masks, Numbers
from solvers.optimiza.search import ONE, Whole, count_bits
from solvers.parts.clock import Clock

PLACES = 13
DONE, START, END = 13, 14, 15
JOIN, LEAVE = 0, 1
KIND, FIRST, SECOND, CELL, ACTIVE, UNSEEN, OTHER = range(7)
AT, COUNT, USED, LIMIT, PARENT, FOUND_AT = range(6)
NEVER = 1 << 29
STATES_A_STEP = 1 << 17
MOST_STATES = 1 << 20
MOST_TRACED = 1 << 24
EMPTY_KEY = sum(place << 4 * place for place in range(PLACES))

Places = NDArray[np.int64]


@dataclass
class Costs:
    """What a walk loses: `start` and `end` by the cell it starts and ends at, `left_out` for each cell not visited."""

    start: Numbers
    end: Numbers
    left_out: int


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
        ended, found, _ = self._search(costs, limit, clock, traced=False)
        if found == limit:
            return ended, []
        ended, _, walk = self._search(costs, found + 1, clock, traced=True)
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
            _decide(self.deeds, costs.start, costs.end, costs.left_out, place, keys, losses, ids, table, trace)
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


@njit(cache=True, nogil=True)
def _decide(
    deeds: Numbers,
    start_costs: Numbers,
    end_costs: Numbers,
    left_out: int,
    place: Places,
    keys: Masks,
    costs: Numbers,
    ids: Numbers,
    table: Numbers,
    trace: Numbers,
) -> None:  # pragma: no cover - compiled; its slow twin is in the tests
    """Take decisions until room or time to look at the clock ends.

    The states of decision number AT lie in row AT % 2 of `keys`, `costs` and `ids`. An entry of `trace` is twice its
    parent's number, plus one where the join was chosen; it may be left empty. The cheapest walk found lowers LIMIT.
    """
    begun = place[USED]
    while place[AT] < len(deeds) and place[COUNT] > 0:
        count = place[COUNT]
        if 2 * count > keys.shape[1] or place[USED] - begun > STATES_A_STEP:
            return
        if len(trace) > 0 and place[USED] + 2 * count > len(trace):
            return
        now = place[AT] & 1
        size = 16
        while size < 4 * count:
            size *= 2
        table[:size] = -1
        made = 0
        deed = deeds[place[AT]]
        a = np.uint64(deed[FIRST])
        for state in range(count):
            key = keys[now, state]
            cost = costs[now, state]
            if cost >= place[LIMIT]:
                continue
            code_a = np.int64((key >> (a * np.uint64(4))) & np.uint64(15))
            if deed[KIND] == JOIN:
                made = _add(key, cost, 2 * ids[now, state], 1 - now, made, keys, costs, ids, table, size)
                b = np.uint64(deed[SECOND])
                code_b = np.int64((key >> (b * np.uint64(4))) & np.uint64(15))
                if code_a == DONE or code_b == DONE or code_a == np.int64(b):
                    continue
                if code_a >= START and code_b >= START:
                    _finish(deed, key, cost, left_out, ids[now, state], place)
                    continue
                joined = key
                if code_a < DONE:
                    joined = _put(joined, np.uint64(code_a), code_b)
                if code_b < DONE:
                    joined = _put(joined, np.uint64(code_b), code_a)
                if code_a != np.int64(a):
                    joined = _put(joined, a, DONE)
                if code_b != np.int64(b):
                    joined = _put(joined, b, DONE)
                made = _add(joined, cost, 2 * ids[now, state] + 1, 1 - now, made, keys, costs, ids, table, size)
                continue
            rest = _put(key, a, np.int64(a))
            cell = deed[CELL]
            if code_a == DONE:
                made = _add(rest, cost, 2 * ids[now, state], 1 - now, made, keys, costs, ids, table, size)
            elif code_a == np.int64(a):
                if cost + left_out < place[LIMIT]:
                    made = _add(
                        rest, cost + left_out, 2 * ids[now, state], 1 - now, made, keys, costs, ids, table, size
                    )
            elif code_a == START:
                _finish(deed, key, cost + end_costs[cell], left_out, ids[now, state], place)
            elif code_a == END:
                _finish(deed, key, cost + start_costs[cell], left_out, ids[now, state], place)
            else:
                has_start, has_end = _fixed(key)
                other = np.uint64(code_a)
                if not has_start and cost + start_costs[cell] < place[LIMIT]:
                    fixed = _put(rest, other, START)
                    made = _add(
                        fixed,
                        cost + start_costs[cell],
                        2 * ids[now, state],
                        1 - now,
                        made,
                        keys,
                        costs,
                        ids,
                        table,
                        size,
                    )
                if not has_end and cost + end_costs[cell] < place[LIMIT]:
                    fixed = _put(rest, other, END)
                    made = _add(
                        fixed, cost + end_costs[cell], 2 * ids[now, state], 1 - now, made, keys, costs, ids, table, size
                    )
        for state in range(
            made if len(trace) > 0 else 0
        ):  # the numbers of the new states, behind what they were made from
            trace[place[USED] + state] = ids[1 - now, state]
            ids[1 - now, state] = place[USED] + state
        place[USED] += made
        place[COUNT] = made
        place[AT] += 1


@njit(cache=True, nogil=True)
def _put(key: np.uint64, at: np.uint64, code: int) -> np.uint64:  # pragma: no cover - compiled
    shift = at * np.uint64(4)
    return (key & ~(np.uint64(15) << shift)) | (np.uint64(code) << shift)


@njit(cache=True, nogil=True)
def _fixed(key: np.uint64) -> tuple[bool, bool]:  # pragma: no cover - compiled
    """Say whether a state's walk has its start and its end."""
    has_start = has_end = False
    for at in range(PLACES):
        code = (key >> np.uint64(4 * at)) & np.uint64(15)
        has_start |= code == np.uint64(START)
        has_end |= code == np.uint64(END)
    return has_start, has_end


@njit(cache=True, nogil=True)
def _finish(
    deed: Numbers, key: np.uint64, cost: int, left_out: int, parent: int, place: Places
) -> None:  # pragma: no cover - compiled
    """Close a walk: nothing else may be open, and every cell without a join is left out; note it if it is cheapest."""
    alone = deed[UNSEEN]
    for at in range(PLACES):
        code = np.int64((key >> np.uint64(4 * at)) & np.uint64(15))
        if at == deed[FIRST] or (at == deed[SECOND] and deed[KIND] == JOIN):
            continue
        if code == at:
            alone += (deed[ACTIVE] >> at) & 1
        elif code != DONE:
            return
    total = cost + alone * left_out
    if total < place[LIMIT]:
        place[LIMIT] = total
        place[PARENT] = parent
        place[FOUND_AT] = place[AT]


@njit(cache=True, nogil=True)
def _add(
    key: np.uint64,
    cost: int,
    origin: int,
    row: int,
    made: int,
    keys: Masks,
    costs: Numbers,
    ids: Numbers,
    table: Numbers,
    size: int,
) -> int:  # pragma: no cover - compiled
    """Put a state into a row, or better the one it equals; returns how many there are."""
    slot = np.int64((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(32)) & (size - 1)
    while table[slot] >= 0:
        found = table[slot]
        if keys[row, found] == key:
            if cost < costs[row, found]:
                costs[row, found] = cost
                ids[row, found] = origin
            return made
        slot = (slot + 1) & (size - 1)
    table[slot] = made
    keys[row, made] = key
    costs[row, made] = cost
    ids[row, made] = origin
    return made + 1
