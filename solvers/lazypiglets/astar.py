"""A* as the source prints it: the state with the least depth plus estimate is expanded first.

The estimate is the best assignment of piglets to haystacks by distances in which a piglet may jump wherever the cell
between is free, whether or not a piglet stands there. Three habits of the printed program count, since they decide
which states it looks at: of equal sums the state whose sorted cells come last is taken, a state that was reached on a
shorter way since is expanded again, and the search ends when the goal is *generated*, not when its turn comes.

The last one looks wrong and is right. Let S be the state whose step leads to the goal. S is not the goal, so that its
estimate is at least 1, and it is at most the 1 step that is left: the sum of S is the length of this way, and no
waiting state has a smaller one. The same holds for all of ESTIMATES: an estimate of 0 for every state makes the search
go breadth first, and the others are 0 on the goal only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from solvers.lazypiglets.bounds import Lanes, assignment, matchings, packed
from solvers.lazypiglets.maps import Cells, Field, Table16, list_steps, rank_of, unrank
from solvers.lazypiglets.seen import SPREAD
from solvers.lazypiglets.work import Work

STATES_AT_FIRST = 1 << 20
STATES_A_TURN = 1 << 14
BYTES_A_STATE = 4 + 2 + 8 + 8
"""Rank, depth, two slots of the table, and an entry of the queue."""

CELL = np.int64(9)
STATE = np.int64(4) * CELL
LAST = np.int64((1 << 36) - 1)
"""A queue's entry is a sum and, in its lower bits, LAST minus the four cells: the least entry is the one to take."""

MET, QUEUED, EXPANDED, WHOLE = range(4)
NO_TABLE = np.zeros(0, np.int16)


@dataclass(frozen=True)
class Estimate:
    """A lower bound of the steps from a state to the haystacks.

    leap, back  tables of the best assignment, see bounds.py
    exact       the steps themselves by rank, instead of the tables; otherwise empty
    """

    leap: Lanes
    back: Lanes
    exact: Table16


def by_distances(steps: Table16, field: Field) -> Estimate:
    """Estimate by the best assignment, the steps from cell to cell being given."""
    table = matchings(steps, steps, field.goal)
    return Estimate(packed(table), packed(table[:, :, ::-1]), NO_TABLE)


def by_all_steps(field: Field) -> Estimate:
    """Tabulate the steps from every state to the haystacks: for small maps only."""
    steps = np.full(field.states, -1, np.int16)
    _measure(field.rank(field.goal), field.offset, field.choose, field.beside, steps)
    nothing = np.zeros((1, 1), np.uint64)
    return Estimate(nothing, nothing, steps)


ESTIMATES: Mapping[str, Callable[[Field], Estimate]] = MappingProxyType(
    {
        "0": lambda field: by_distances(np.zeros_like(field.walks), field),
        "half": lambda field: by_distances((field.walks + 1) // 2, field),
        "jumps": lambda field: by_distances(field.leaps, field),
        "perfect": by_all_steps,
    }
)
"""The source's estimates, from none to the exact one; `jumps` is that of its program."""


@dataclass
class Search:
    """The states met and those that wait.

    `ranks` and `depths` hold a state each, `slots` is an open table of places in them, `queue` a binary heap. `counts`
    holds the numbers of states met, of entries that wait and of states expanded, in all and in this turn.
    """

    ranks: NDArray[np.uint32]
    depths: NDArray[np.int16]
    slots: NDArray[np.int32]
    queue: NDArray[np.int64]
    counts: NDArray[np.int64]

    def make_room(self, work: Work) -> None:
        """Double what is full; raises Unsolved where that is too much."""
        if self.counts[MET] + 16 * STATES_A_TURN > len(self.ranks):
            size = 2 * len(self.ranks)
            work.holds(size * BYTES_A_STATE * 3 // 2)
            self.ranks, self.depths = np.resize(self.ranks, size), np.resize(self.depths, size)
            self.slots = np.full(2 * size, -1, np.int32)
            _enter(self.ranks, int(self.counts[MET]), self.slots)
        if self.counts[QUEUED] + 16 * STATES_A_TURN > len(self.queue):
            self.queue = np.resize(self.queue, 2 * len(self.queue))


def search_best_estimate(field: Field, work: Work) -> int:
    """Count the steps. The haystacks must be reachable. Raises Unsolved."""
    return search_by(ESTIMATES["jumps"](field), field, work)[0]


def search_by(estimate: Estimate, field: Field, work: Work) -> tuple[int, int, int]:
    """Count the steps, the states expanded and the states met. Raises Unsolved."""
    search = Search(
        ranks=np.empty(STATES_AT_FIRST, np.uint32),
        depths=np.empty(STATES_AT_FIRST, np.int16),
        slots=np.full(2 * STATES_AT_FIRST, -1, np.int32),
        queue=np.empty(STATES_AT_FIRST, np.int64),
        counts=np.zeros(4, np.int64),
    )
    goal = field.rank(field.goal)
    steps = 0 if field.rank(field.start) == goal else -1
    _begin(field.start, field.rank(field.start), search.ranks, search.depths, search.slots, search.queue, search.counts)
    while steps < 0:
        steps = _expand(
            goal, field.offset, field.choose, field.beside, estimate.leap, estimate.back, estimate.exact,
            search.ranks, search.depths, search.slots, search.queue, search.counts,
        )  # fmt: skip
        work.did(int(search.counts[EXPANDED]), f"at least {search.queue[0] >> STATE} steps")
        search.make_room(work)
    return steps, int(search.counts[WHOLE]), int(search.counts[MET])


@njit(cache=True, nogil=True)
def _begin(
    start: Cells,
    rank: int,
    ranks: NDArray[np.uint32],
    depths: NDArray[np.int16],
    slots: NDArray[np.int32],
    queue: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> None:  # pragma: no cover - compiled
    """Put the first state in; nothing else waits, so that its sum may be 0."""
    ranks[0], depths[0] = rank, 0
    slots[_slot(rank, ranks, slots)] = 0
    queue[0] = _entry(0, start)
    counts[MET] = counts[QUEUED] = 1


@njit(cache=True, nogil=True)
def _entry(total: int, four: Cells) -> int:  # pragma: no cover - compiled
    """Make a queue's entry of a sum and four sorted cells."""
    cells = ((four[0] << CELL | four[1]) << CELL | four[2]) << CELL | four[3]
    return int((np.int64(total) << STATE) | (LAST - cells))


@njit(cache=True, nogil=True)
def _slot(rank: int, ranks: NDArray[np.uint32], slots: NDArray[np.int32]) -> int:  # pragma: no cover - compiled
    """Find the slot of a rank, or the free one where it would be."""
    mask = np.uint64(len(slots) - 1)
    slot = (np.uint64(rank + 1) * SPREAD >> np.uint64(32)) & mask
    while slots[slot] >= 0 and ranks[slots[slot]] != rank:
        slot = (slot + np.uint64(1)) & mask
    return int(slot)


@njit(cache=True, nogil=True)
def _enter(ranks: NDArray[np.uint32], count: int, slots: NDArray[np.int32]) -> None:  # pragma: no cover - compiled
    """Let every rank's slot lead to its place."""
    for place in range(count):
        slots[_slot(np.int64(ranks[place]), ranks, slots)] = place


@njit(cache=True, nogil=True)
def _put(queue: NDArray[np.int64], count: int, entry: int) -> None:  # pragma: no cover - compiled
    """Put an entry into a heap of `count`."""
    place = count
    while place > 0 and queue[(place - 1) >> 1] > entry:
        queue[place] = queue[(place - 1) >> 1]
        place = (place - 1) >> 1
    queue[place] = entry


@njit(cache=True, nogil=True)
def _take(queue: NDArray[np.int64], count: int) -> int:  # pragma: no cover - compiled
    """Take the least entry out of a heap of `count`."""
    least = queue[0]
    last = queue[count - 1]
    place = 0
    while True:
        child = 2 * place + 1
        if child >= count - 1:
            break
        if child + 1 < count - 1 and queue[child + 1] < queue[child]:
            child += 1
        if queue[child] >= last:
            break
        queue[place] = queue[child]
        place = child
    queue[place] = last
    return int(least)


@njit(cache=True, nogil=True)
def _expand(
    goal: int,
    offset: int,
    choose: NDArray[np.int64],
    beside: NDArray[np.int16],
    leap: Lanes,
    back: Lanes,
    exact: Table16,
    ranks: NDArray[np.uint32],
    depths: NDArray[np.int16],
    slots: NDArray[np.int32],
    queue: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> int:  # pragma: no cover - compiled
    """Expand up to a turn of states; returns the depth of the goal when it is met, otherwise -1."""
    four = np.empty(4, np.int64)
    after = np.empty((16, 4), np.int64)
    counts[EXPANDED] = 0
    for _ in range(STATES_A_TURN):
        cells = LAST - (_take(queue, counts[QUEUED]) & LAST)
        counts[QUEUED] -= 1
        counts[EXPANDED] += 1
        counts[WHOLE] += 1
        for k in range(3, -1, -1):
            four[k] = cells & ((1 << CELL) - 1)
            cells >>= CELL
        depth = depths[slots[_slot(rank_of(four, choose) - offset, ranks, slots)]] + 1
        is_met = False
        for k in range(list_steps(four, beside, after)):
            rank = rank_of(after[k], choose) - offset
            slot = _slot(rank, ranks, slots)
            if slots[slot] < 0:
                slots[slot] = counts[MET]
                ranks[counts[MET]] = rank
                counts[MET] += 1
            elif depths[slots[slot]] <= depth:
                continue
            depths[slots[slot]] = depth
            is_met |= rank == goal
            total = depth + (exact[rank] if len(exact) else assignment(after[k], leap, back))
            _put(queue, counts[QUEUED], _entry(total, after[k]))
            counts[QUEUED] += 1
        if is_met:
            return int(depth)
    return -1


@njit(cache=True, nogil=True)
def _measure(
    goal: int, offset: int, choose: NDArray[np.int64], beside: NDArray[np.int16], steps: Table16
) -> None:  # pragma: no cover - compiled
    """Fill in the steps from every state to the goal, breadth first; steps can be taken back."""
    four = np.empty(4, np.int64)
    after = np.empty((16, 4), np.int64)
    queue = np.empty(len(steps), np.int64)
    queue[0] = goal
    steps[goal] = 0
    tail = 1
    for head in range(len(steps)):
        if head == tail:
            break
        unrank(queue[head] + offset, choose, four)
        for k in range(list_steps(four, beside, after)):
            rank = rank_of(after[k], choose) - offset
            if steps[rank] < 0:
                steps[rank] = steps[queue[head]] + 1
                queue[tail] = rank
                tail += 1
