"""The second rung: search over sets of uncut ropes, remember every one, and stop at the first winning cut.

Ropes that are a side of no whole cell cannot be cut, but they tell sets apart. `ropes` drops them at the start and
after each cut, as the source says. Then a set of ropes is the union of the sides of its whole cells, and has no other
whole cells: there are as many sets of ropes as of cells, at most 2^20 for any net, and this rung is the next one in
disguise. `ropes-all` keeps them. It has far more sets: with 25 ropes a tenth of the table is used, and hardly any net
of 40 fits.

Sets are remembered in an open hash table; a search that fills three quarters of it ends without an answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from checkers.netgame import Answer, Sets
from solvers.doors import Unsolved
from solvers.netgame.net import Net, answer_of, go_on
from solvers.parts.clock import Clock

UNKNOWN, LOST, WON = range(3)
SLOTS = 1 << 21
MOST_STATES = SLOTS // 4 * 3
STATES_AT_ONCE = 1 << 14
SET, TRIED, IS_WON = range(3)

Entries = NDArray[np.uint64]
"""Each entry is a set of ropes times four, plus LOST or WON; 0 is an empty one."""


@dataclass(frozen=True)
class Rules:
    """What a search does: drop useless ropes or keep them; stop at the first winning cut or try all of them."""

    drops: bool = True
    stops: bool = True


@dataclass
class Memory:
    """The sets of ropes settled so far, as `entries` of a hash table and as their number."""

    entries: Entries = field(default_factory=lambda: np.zeros(SLOTS, np.uint64))
    settled: int = 0

    def is_lost(self, ropes: int) -> bool:
        """Tell whether a set is known to be lost."""
        return bool(_look_up(self.entries, ropes)[1] == LOST)


def solve_by_ropes(net: Net, clock: Clock) -> Answer:
    """Search, and drop useless ropes; raises Unsolved when the clock ended it."""
    return _answer(net, clock, Rules())


def solve_by_all_ropes(net: Net, clock: Clock) -> Answer:
    """Search, and keep useless ropes; raises Unsolved when there are too many sets, or when the clock ended it."""
    return _answer(net, clock, Rules(drops=False))


def _answer(net: Net, clock: Clock, rules: Rules) -> Answer:
    memory, tables = settle(net, clock, rules), tables_of(net)
    everything, own = tables.everything(rules), np.zeros(len(tables.masks), np.int64)
    _find_own(everything, tables.masks, tables.near, own)
    lost_cells = {
        net.whole & ~cells
        for rope, cells in enumerate(net.sides)
        if cells and memory.is_lost(_after(everything, rope, tables.cells[rope], own, rules.drops))
    }
    return answer_of(net, lambda cells: cells in lost_cells)


def settle(net: Net, clock: Clock, rules: Rules) -> Memory:
    """Search from the net given; raises Unsolved when there are too many sets, or when the clock ended it."""
    memory, tables = Memory(), tables_of(net)
    stack = np.zeros((len(net.sides) + 1, 3), np.int64)
    stack[0, SET] = tables.everything(rules)
    depth = 0
    while depth >= 0:
        if clock.taken >= MOST_STATES:
            raise Unsolved(f"out of memory after {clock.taken} sets of ropes")
        depth, done = _search(
            memory.entries, tables.masks, tables.near, tables.cells, tables.order(rules), rules.drops, rules.stops,
            stack, depth, go_on(clock, STATES_AT_ONCE),
        )  # fmt: skip
        memory.settled += done
        clock.step(done, states=clock.taken + done)
    return memory


@dataclass(frozen=True)
class Tables:
    """A net for the kernel.

    masks  the four ropes of each cell, as a set
    near   the cells with a common side with each cell: four columns, -1 where there is none
    cells  the cells that each rope is a side of: two columns, -1 where there is none
    """

    masks: Sets
    near: Sets
    cells: Sets

    def order(self, rules: Rules) -> Sets:
        """Give the order of the cuts: that of the net or, with `drops`, first the sides of two cells."""
        outer = self.cells[:, 1] < 0
        return np.argsort(outer & rules.drops, kind="stable")

    def everything(self, rules: Rules) -> int:
        """Give the set of ropes that a search begins with."""
        if not rules.drops:
            return (1 << len(self.cells)) - 1
        return sum(1 << rope for rope, cell in enumerate(self.cells[:, 0].tolist()) if cell >= 0)


def tables_of(net: Net) -> Tables:
    """List the cells of each rope and the neighbours of each cell."""
    masks = np.array([sum(1 << rope for rope in around) for around in net.around], np.int64)
    near, cells = np.full((len(masks), 4), -1, np.int64), np.full((len(net.sides), 2), -1, np.int64)
    for cell, around in enumerate(net.around):
        for rope in around:
            cells[rope, int(cells[rope, 0] >= 0)] = cell
    for one, other in cells[cells[:, 1] >= 0]:
        for cell, beside in ((one, other), (other, one)):
            near[cell, np.count_nonzero(near[cell] >= 0)] = beside
    return Tables(masks, near, cells)


@njit(cache=True, nogil=True)
def _look_up(entries: Entries, ropes: int) -> tuple[int, int]:  # pragma: no cover - compiled
    """Find the slot of a set of ropes, or the empty one where it belongs, and what is known of the set."""
    key = np.uint64(ropes)
    slot = np.int64((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(43))
    while entries[slot] and entries[slot] >> np.uint64(2) != key:
        slot = (slot + 1) & (SLOTS - 1)
    return int(slot), int(entries[slot] & np.uint64(3))


@njit(cache=True, nogil=True)
def _find_own(ropes: int, masks: Sets, near: Sets, own: Sets) -> None:  # pragma: no cover - compiled
    """Find the sides of each whole cell that no other whole cell has; -1 for a cell that is not whole."""
    for cell in range(len(masks)):
        own[cell] = masks[cell] if ropes & masks[cell] == masks[cell] else -1
    for cell in range(len(masks)):
        if own[cell] >= 0:
            for other in near[cell]:
                if other >= 0 and own[other] >= 0:
                    own[cell] &= ~masks[other]


@njit(cache=True, nogil=True)
def _after(ropes: int, rope: int, cells: Sets, own: Sets, drops: bool) -> int:  # pragma: no cover - compiled
    """Cut a rope; with `drops` the sides that only its cells had go too. -1 if it is no side of a whole cell."""
    left = ropes & ~(np.int64(1) << rope)
    is_side = False
    for cell in cells:
        if cell >= 0 and own[cell] >= 0:
            is_side = True
            if drops:
                left &= ~own[cell]
    return int(left) if is_side else -1


@njit(cache=True, nogil=True)
def _search(
    entries: Entries,
    masks: Sets,
    near: Sets,
    cells: Sets,
    order: Sets,
    drops: bool,
    stops: bool,
    stack: Sets,
    depth: int,
    most: int,
) -> tuple[int, int]:  # pragma: no cover - compiled
    """Settle at most `most` sets; return the depth reached (-1 when the first set is settled) and how many.

    A set that is still UNKNOWN is gone into, and met again as LOST or WON when the search is back.
    """
    done = 0
    own = np.zeros(len(masks), np.int64)
    while depth >= 0 and done < most:
        ropes = stack[depth, SET]
        at = stack[depth, TRIED]
        after = LOST
        left = ropes
        _find_own(ropes, masks, near, own)
        while at < len(cells) and not (stops and stack[depth, IS_WON]):
            left = _after(ropes, order[at], cells[order[at]], own, drops)
            if left >= 0:
                _, after = _look_up(entries, left)
                if after == UNKNOWN:
                    break
                if after == LOST:
                    stack[depth, IS_WON] = 1
            at += 1
        if after == UNKNOWN:
            stack[depth, TRIED] = at
            depth += 1
            stack[depth, SET] = left
            stack[depth, TRIED] = stack[depth, IS_WON] = 0
        else:
            slot, _ = _look_up(entries, ropes)
            value = WON if stack[depth, IS_WON] else LOST
            entries[slot] = (np.uint64(ropes) << np.uint64(2)) | np.uint64(value)
            depth -= 1
            done += 1
    return depth, done
