"""From the highest layer down: a walk never goes down in value, so it is a chain of walks inside layers of one value.

For every cell the best walk that starts there is kept. Inside a layer only what an end is worth matters: the best that
a step upwards from it gives. A solver of groups finds the best walks inside one group of joined cells of a layer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from solvers.optimiza.board import Board, Masks, Numbers, masks_of, steps_within
from solvers.optimiza.outcome import Outcome
from solvers.optimiza.trails import longest_trail, longest_trails
from solvers.parts.clock import Clock


class OutOfBudget(Exception):
    """The budget ended inside a group, and its solver has nothing to show for it; the layers above are done."""


class Group(NamedTuple):
    """Joined cells of one layer: their value, each one's neighbours as bits, and what each is worth as an end."""

    value: int
    near: Masks
    worth: Numbers


class Inside(NamedTuple):
    """The best walks inside a group: what each start gains with the end's worth, and its cells; if that is proved.

    `states` is how much was looked at.
    """

    gains: list[int]
    walks: list[list[int]]
    proved: bool
    states: int


Solve = Callable[[Group, Clock], Inside]


@dataclass(frozen=True)
class Heights:
    """The sum of the best walk from each cell, its cells inside the cell's own layer, and the step up from a cell.

    `above` is the cell that a walk continues to from a layer's last cell, -1 where it ends; `worth` what that gives.
    """

    best: Numbers
    above: Numbers
    worth: Numbers
    inside: dict[int, list[int]]


def climb(board: Board, clock: Clock, solve: Solve) -> Outcome:
    """Solve layer after layer, from the highest down, and put the best walk together.

    A solver that raises OutOfBudget ends the climb: the best walk of what was solved by then is given.
    """
    heights = Heights(
        np.zeros(len(board.values), np.int32),
        np.full(len(board.values), -1, np.int32),
        np.zeros(len(board.values), np.int32),
        {},
    )
    proved, states = True, 0
    for value in range(int(board.values.max()), 0, -1):
        layer = board.layer(value)
        look_up(board, heights, layer)
        neighbours = steps_within(board, layer)
        if board.by_step:
            solve_trails(value, layer, neighbours, heights)
            states += sum(map(len, neighbours))
        else:
            try:
                for solved in solve_groups(value, layer, neighbours, heights, clock, solve):
                    proved &= solved.proved
                    states += solved.states
            except OutOfBudget:
                proved = False
                break
        clock.report(best=int(heights.best.max()), states=states)
    return Outcome(walk_from(heights, int(heights.best.argmax())), proved=proved, states=states)


def look_up(board: Board, heights: Heights, layer: Numbers) -> None:
    """Find the best step upwards from each cell of a layer."""
    for cell in layer.tolist():
        for end in board.to[board.begin[cell] : board.begin[cell + 1]].tolist():
            if board.values[end] > board.values[cell] and heights.best[end] > heights.worth[cell]:
                heights.above[cell], heights.worth[cell] = end, heights.best[end]


def solve_groups(
    value: int, layer: Numbers, neighbours: list[list[int]], heights: Heights, clock: Clock, solve: Solve
) -> Iterator[Inside]:
    """Solve each group of joined cells of a layer; yields what was found in those of two cells or more."""
    for group in groups_of(neighbours):
        cells = layer[group]
        if len(group) == 1:
            heights.best[cells] = value + heights.worth[cells]
            heights.inside[int(cells[0])] = cells.tolist()
            continue
        place = {cell: at for at, cell in enumerate(group)}
        near = masks_of([[place[other] for other in neighbours[cell]] for cell in group])
        solved = solve(Group(value, near, heights.worth[cells]), clock)
        heights.best[cells] = solved.gains
        for cell, walk in zip(cells.tolist(), solved.walks, strict=True):
            heights.inside[cell] = cells[walk].tolist()
        yield solved


def solve_trails(value: int, layer: Numbers, neighbours: list[list[int]], heights: Heights) -> None:
    """Solve a layer in which steps and not cells may not repeat."""
    lengths = longest_trails(neighbours)
    gains = np.where(lengths >= 0, value * (lengths + 1) + heights.worth[layer], -1)
    ends = gains.argmax(axis=1)
    heights.best[layer] = gains.max(axis=1)
    for start, end in enumerate(ends.tolist()):
        heights.inside[int(layer[start])] = layer[longest_trail(neighbours, start, end)].tolist()


def groups_of(neighbours: list[list[int]]) -> list[list[int]]:
    """Split a layer's places into groups of joined cells, each in rising order."""
    groups: list[list[int]] = []
    seen: set[int] = set()
    for first in range(len(neighbours)):
        if first in seen:
            continue
        group, stack = {first}, [first]
        while stack:
            fresh = set(neighbours[stack.pop()]) - group
            group |= fresh
            stack.extend(fresh)
        seen |= group
        groups.append(sorted(group))
    return groups


def walk_from(heights: Heights, start: int) -> NDArray[np.int32]:
    """Put together the walk from a cell, layer by layer."""
    walk: list[int] = []
    while start >= 0:
        walk += heights.inside[start]
        start = int(heights.above[walk[-1]])
    return np.array(walk, np.int32)
