"""The map as numbered cells, and four piglets on it as one number: the rank of their sorted cells.

Free cells are numbered row by row. A map with fewer than four piglets gets cells that no way leads to, numbered last,
each with a piglet that is at its haystack: then every state has exactly four, and ranks stay as small as they were.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from checkers.lazypiglets import Answer, Cell, Instance

Cells = NDArray[np.int64]
Table16 = NDArray[np.int16]

PIGS = 4
FAR = 8000
"""A distance between cells that no way joins. Two of them still fit 16 bits."""


@dataclass(frozen=True)
class Field:
    """A map for kernels.

    cells       the (row, column) of every free cell, 1-based; the padding has none
    beside      neighbour of each cell in four directions, -1 where there is none
    walks       steps from cell to cell alone
    leaps       the same where a piglet may also jump over any free cell: never more than it needs among others
    start, goal the four sorted cells of the piglets and of the haystacks
    states      how many ways there are to place the piglets; ranks are below
    offset      what `rank` gives more than that, because of the padding
    choose      choose[k, n]: n over k
    """

    cells: tuple[Cell, ...]
    pigs: int
    beside: NDArray[np.int16]
    walks: Table16
    leaps: Table16
    start: Cells
    goal: Cells
    states: int
    offset: int
    choose: NDArray[np.int64]

    @property
    def free(self) -> int:
        """The number of free cells of the map."""
        return len(self.cells)

    def rank(self, four: Cells) -> int:
        """Number four sorted cells."""
        return rank_of(four, self.choose) - self.offset

    def is_reachable(self) -> bool:
        """Say whether every part of the map has as many piglets as haystacks.

        That is enough: piglets need not be told apart, so one in the way changes roles with the one behind it.
        """
        return all(
            np.count_nonzero(self.walks[cell][self.start] < FAR) == np.count_nonzero(self.walks[cell][self.goal] < FAR)
            for cell in self.start
        )


def field_of(instance: Instance) -> Field:
    """Number the free cells and measure the distances between them."""
    size = instance.size
    places = [(r, c) for r in range(1, size + 1) for c in range(1, size + 1)]
    cells = tuple(cell for cell in places if not instance.is_tree(cell))
    numbers = {cell: number for number, cell in enumerate(cells)}
    padding = PIGS - len(instance.pigs)
    beside = np.full((len(cells) + padding, 4), -1, np.int16)
    for (r, c), number in numbers.items():
        around = ((r - 1, c), (r, c + 1), (r + 1, c), (r, c - 1))
        beside[number] = [numbers.get(cell, -1) for cell in around]
    extra = range(len(cells), len(cells) + padding)
    start, goal = (
        np.array(sorted([*(numbers[cell] for cell in four), *extra]), np.int64)
        for four in (instance.pigs, instance.haystacks)
    )
    choose = _binomials(len(cells) + PIGS)
    lowest = np.array([*range(len(instance.pigs)), *extra], np.int64)
    return Field(
        cells=cells,
        pigs=len(instance.pigs),
        beside=beside,
        walks=_distances(beside, False),
        leaps=_distances(beside, True),
        start=start,
        goal=goal,
        states=int(choose[len(instance.pigs), len(cells)]),
        offset=rank_of(lowest, choose),
        choose=choose,
    )


def answer_of(states: list[Cells], field: Field) -> Answer:
    """Turn a way through states, each four sorted cells, into a plan."""
    plan = bytearray()
    for before, after in pairwise(states):
        (left,), (reached,) = set(before.tolist()) - set(after.tolist()), set(after.tolist()) - set(before.tolist())
        plan += bytes([*field.cells[left], *field.cells[reached]])
    return Answer(len(states) - 1, bytes(plan))


def _binomials(most: int) -> NDArray[np.int64]:
    """Tabulate n over k for k to 4 and n to `most`."""
    table = np.zeros((PIGS + 1, most + 1), np.int64)
    table[0] = 1
    for k in range(1, PIGS + 1):
        table[k, 1:] = np.cumsum(table[k - 1, :-1])
    return table


@njit(cache=True, nogil=True)
def rank_of(four: Cells, choose: NDArray[np.int64]) -> int:  # pragma: no cover - compiled
    """Number four sorted cells among all such, in the order of the greatest, then the next, and so on."""
    return int(choose[1, four[0]] + choose[2, four[1]] + choose[3, four[2]] + choose[4, four[3]])


@njit(cache=True, nogil=True)
def unrank(rank: int, choose: NDArray[np.int64], four: Cells) -> None:  # pragma: no cover - compiled
    """Find the four cells of a rank: for each place the greatest cell whose number still fits."""
    rest = rank
    high = choose.shape[1] - 1
    for place in range(4, 0, -1):
        low = place - 1
        while high - low > 1:
            middle = (low + high) >> 1
            if choose[place, middle] <= rest:
                low = middle
            else:
                high = middle
        four[place - 1] = low
        rest -= choose[place, low]
        high = low


@njit(cache=True, nogil=True)
def unrank_next(rank: int, choose: NDArray[np.int64], four: Cells) -> None:  # pragma: no cover - compiled
    """Find the four cells of a rank as `unrank` does, quickly if most of them are already in `four`."""
    rest = rank
    cells = choose.shape[1]
    for place in range(4, 1, -1):
        low = four[place - 1]
        if choose[place, low] > rest or choose[place, low + 1] <= rest:
            low = 0
            high = cells - 1
            while high - low > 1:
                middle = (low + high) >> 1
                if choose[place, middle] <= rest:
                    low = middle
                else:
                    high = middle
            four[place - 1] = low
        rest -= choose[place, low]
    four[0] = rest


@njit(cache=True, nogil=True)
def list_steps(four: Cells, beside: NDArray[np.int16], after: NDArray[np.int64]) -> int:  # pragma: no cover - compiled
    """Put the sorted cells after each legal step into the rows of `after` (16 x 4); returns how many there are."""
    count = 0
    for i in range(4):
        for direction in range(4):
            to = np.int64(beside[four[i], direction])
            if to >= 0 and (to == four[0] or to == four[1] or to == four[2] or to == four[3]):
                to = np.int64(beside[to, direction])
                if to >= 0 and (to == four[0] or to == four[1] or to == four[2] or to == four[3]):
                    continue
            if to < 0:
                continue
            place = i
            after[count, 0] = four[0]
            after[count, 1] = four[1]
            after[count, 2] = four[2]
            after[count, 3] = four[3]
            while place > 0 and after[count, place - 1] > to:
                after[count, place] = after[count, place - 1]
                place -= 1
            while place < 3 and after[count, place + 1] < to:
                after[count, place] = after[count, place + 1]
                place += 1
            after[count, place] = to
            count += 1
    return count


@njit(cache=True, nogil=True)
def _distances(beside: NDArray[np.int16], leaping: bool) -> Table16:  # pragma: no cover - compiled
    """Steps between all cells by breadth-first search; with `leaping` two cells straight on are one step too."""
    cells = len(beside)
    steps = np.full((cells, cells), FAR, np.int16)
    queue = np.empty(cells, np.int64)
    for source in range(cells):
        steps[source, source] = 0
        queue[0] = source
        head = 0
        tail = 1
        while head < tail:
            cell = queue[head]
            head += 1
            for direction in range(4):
                to = np.int64(beside[cell, direction])
                for _ in range(2 if leaping else 1):
                    if to < 0:
                        break
                    if steps[source, to] == FAR:
                        steps[source, to] = steps[source, cell] + 1
                        queue[tail] = to
                        tail += 1
                    to = np.int64(beside[to, direction])
    return steps
