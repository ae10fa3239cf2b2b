"""Parts of a board that no play can bring together, and the most that can be eaten in each: the upper bound.

Pieces that touch make a group. A group reaches the cells where its own jumps alone can bring a piece: all its boards
are listed while they are few; otherwise a weight tells which cells are too far. Where the reaches of two groups touch,
they may meet and become one group. What does not meet is a part: its pieces never jump over those of another part, so
that the parts are solved one by one, and a part of p pieces eats at most p - 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from solvers.comesolo.explore import explore
from solvers.comesolo.moves import DOWN, PAD, RIGHT, Jumps, Rows, Tables, board_of

MOST_PIECES = 40  # of a group whose boards are listed at all
REACH_ROOM, JOINED_ROOM, PLAY_ROOM = (
    20_000,
    100_000,
    200_000,
)  # boards: of a group of neighbours, of joined ones, of a part
GOLDEN = (5**0.5 - 1) / 2
ROUNDING = 1e-9  # a sum of at most 900 powers is off by less

ONE = np.uint64(1)


@dataclass(frozen=True)
class Part:
    """Pieces that never meet others; `most` bounds the jumps, and `play` is one of that length where it is known."""

    rows: Rows
    most: int
    play: Jumps | None

    @property
    def pieces(self) -> int:
        """The number of pieces."""
        return count_pieces(self.rows)


@dataclass(frozen=True)
class Split:
    """The parts of a board; those without a jump are left out."""

    parts: tuple[Part, ...]

    @property
    def most(self) -> int:
        """The proven maximum of jumps on the whole board."""
        return sum(part.most for part in self.parts)


def find_parts(rows: Rows, tables: Tables) -> Split:
    """Find the parts of a board and bound each."""
    groups = list(touching_groups(rows))
    reaches = [reach_of(group, tables, REACH_ROOM) for group in groups]
    while len(groups) > 1:
        sets = meeting(reaches)
        if len(sets) == len(groups):
            break
        merged = [np.bitwise_or.reduce([groups[i] for i in members]) for members in sets]
        if len(merged) == 1:
            groups = merged
            break
        reaches = [
            reaches[members[0]] if len(members) == 1 else reach_of(group, tables, JOINED_ROOM)
            for members, group in zip(sets, merged, strict=True)
        ]
        groups = merged
    return Split(tuple(part for part in (bound_of(group, tables) for group in groups) if part.most > 0))


@dataclass(frozen=True)
class Outcome:
    """The end of a search: its longest play, the boards it looked at, and the proven maximum of jumps."""

    jumps: Jumps
    states: int
    most: int


def touching_groups(rows: Rows) -> Iterator[Rows]:
    """Split pieces into groups that touch, also over corners."""
    left = rows.copy()
    while left.any():
        row = int(np.flatnonzero(left)[0])
        group = np.zeros_like(left)
        group[row] = left[row] & (~left[row] + ONE)
        while True:
            wider = widened(group) & left
            if (wider == group).all():
                break
            group = wider
        left &= ~group
        yield group


def meeting(reaches: list[Rows]) -> list[list[int]]:
    """Sort groups into sets whose reaches touch, directly or through others."""
    sets: list[tuple[list[int], Rows]] = []
    for number, reach in enumerate(reaches):
        around = widened(reach)
        members, union, apart = [number], reach, []
        for others, cells in sets:
            if (around & cells).any():
                members, union = [*others, *members], union | cells
            else:
                apart.append((others, cells))
        sets = [*apart, (members, union)]
    return [members for members, _ in sets]


def reach_of(group: Rows, tables: Tables, room: int) -> Rows:
    """Give cells that hold every cell where jumps of a group alone can bring a piece."""
    if count_pieces(group) <= MOST_PIECES:
        explored = explore(group, tables, room)
        if explored.whole:
            return explored.reach
    near = near_enough(group, tables)
    reach = group
    while True:
        wider = reach | (landings(reach) & near)
        if (wider == reach).all():
            return reach
        reach = wider


def near_enough(group: Rows, tables: Tables) -> Rows:
    """Give the cells that the pieces of a group are heavy enough for.

    A piece weighs g^d, where d is its distance from the cell in king's moves and g^2 + g = 1. A jump never adds weight:
    the middle is at most one farther than the landing cell, the start two. A piece on the cell weighs 1.
    """
    size = tables.size
    row, column = np.mgrid[0:size, 0:size]
    weight = np.zeros((size, size))
    for r, c in np.argwhere(board_of(group, size)):
        weight += GOLDEN ** np.maximum(abs(row - r), abs(column - c))
    return packed(weight >= 1 - ROUNDING)


def landings(reach: Rows) -> Rows:
    """Give the cells two steps on from a cell with another one between, all taken for full; some are off the board."""
    cells = np.zeros_like(reach)
    for down, right in zip(DOWN.tolist(), RIGHT.tolist(), strict=True):
        over = sideways(np.roll(reach, -down), -right)
        cells |= sideways(sideways(np.roll(reach & over, 2 * down), right), right)
    return cells


def sideways(rows: Rows, right: int) -> Rows:
    """Move all cells by one column, or by none."""
    moved: Rows = rows << ONE if right > 0 else rows >> ONE if right < 0 else rows
    return moved


def widened(rows: Rows) -> Rows:
    """Add the eight neighbours of every cell; those off the board too."""
    wide = rows | (rows << ONE) | (rows >> ONE)
    wider: Rows = wide | np.roll(wide, 1) | np.roll(wide, -1)
    return wider


def packed(cells: NDArray[np.bool_]) -> Rows:
    """Pack size x size cells into rows of bits."""
    size = len(cells)
    rows = np.zeros(size + 2 * PAD, np.uint64)
    bits = ONE << np.arange(PAD, PAD + size, dtype=np.uint64)
    rows[PAD:-PAD] = np.where(cells, bits, np.uint64(0)).sum(axis=1, dtype=np.uint64)
    return rows


def bound_of(group: Rows, tables: Tables) -> Part:
    """Bound the jumps of a part: exactly where its boards are few."""
    pieces = count_pieces(group)
    if pieces <= MOST_PIECES:
        explored = explore(group, tables, PLAY_ROOM)
        if explored.whole:
            return Part(group, len(explored.play), explored.play)
    return Part(group, pieces - 1, None)


def count_pieces(rows: Rows) -> int:
    """Count pieces."""
    return sum(int(row).bit_count() for row in rows.tolist())
