"""Rules of Optimiza: boards as text, their variants, where a move leads, and which steps are legal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checkers.doors import Phrase, Rejected, quote

DEFAULT = "torus8"
SMALLEST_SIZE, LARGEST_SIZE = 2, 40
STRAIGHT = ((-1, 0), (0, -1), (0, 1), (1, 0))
ALL_EIGHT = ((-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1))
ALL_SIX = ((-1, -1), (-1, 0), (0, -1), (0, 1), (1, 0), (1, 1))

Cells = NDArray[np.int32]


@dataclass(frozen=True, slots=True)
class Variant:
    """The rules of a kind of board: its directions, the cells behind its borders, and what may not repeat."""

    directions: tuple[tuple[int, int], ...] = ALL_EIGHT
    wraps: bool = True
    mirrors: bool = False
    triangle: bool = False
    by_step: bool = False


VARIANTS = {
    "torus8": Variant(),
    "torus4": Variant(directions=STRAIGHT),
    "edge8": Variant(by_step=True),
    "klein8": Variant(mirrors=True),
    "hex": Variant(directions=ALL_SIX, wraps=False, triangle=True),
}


@dataclass(frozen=True, slots=True)
class Instance:
    """A board. `values` has size * size bytes, row by row; 0 stands where a triangle has no cell."""

    size: int
    variant: str
    values: bytes

    @property
    def rules(self) -> Variant:
        """The variant's rules."""
        return VARIANTS[self.variant]


def read_board(data: bytes) -> Instance:
    """Parse an input file; raises Rejected unless it is a board with the right number of copies of every value."""
    lines = data.split(b"\n")
    size, variant = _read_head(lines[0])
    if len(lines) != size + 2 or lines[-1]:
        actual = Phrase("no line feed at the end") if lines[-1] else Phrase("%(count)s rows", count=len(lines) - 2)
        raise Rejected.at(
            Phrase("end of file"), expected=Phrase("%(size)s rows, each ended by a line feed", size=size), found=actual
        )
    triangle = VARIANTS[variant].triangle
    values = np.zeros((size, size), np.uint8)
    for row, line in enumerate(lines[1:-1]):
        width = row + 1 if triangle else size
        values[row, :width] = _read_row(line, row + 2, width, size)
    _check_copies(values, size, triangle)
    return Instance(size, variant, values.tobytes())


def write_board(instance: Instance) -> str:
    """Render a board so that `read_board` gives it back."""
    size, triangle = instance.size, instance.rules.triangle
    rows = (instance.values[at * size : at * size + (at + 1 if triangle else size)] for at in range(size))
    head = str(size) if instance.variant == DEFAULT else f"{size} {instance.variant}"
    return "\n".join([head, *(" ".join(map(str, row)) for row in rows)]) + "\n"


def destinations(instance: Instance) -> Cells:
    """Say where each cell's move can lead: size * size rows, one column a direction, cell numbers row * size + column.

    -1 stands where a direction leads off the board, back to the cell itself (which is no step), or to a cell that an
    earlier one reaches too. The values there are not looked at.
    """
    size, rules = instance.size, instance.rules
    k = np.frombuffer(instance.values, np.uint8).astype(np.int32)
    here = np.arange(size * size, dtype=np.int32)
    row, column = np.divmod(here, size)
    table = np.full((size * size, len(rules.directions)), -1, np.int32)
    for at, (down, right) in enumerate(rules.directions):
        to_row, to_column = row + down * k, column + right * k
        if rules.wraps:
            if rules.mirrors:  # k <= N, so that a move leaves by top or bottom once at most
                left = (to_row < 0) | (to_row >= size)
                to_column = np.where(left, size - 1 - to_column, to_column)
            to_row, to_column = to_row % size, to_column % size
        inside = (k > 0) & (to_row >= 0) & (to_row < size) & (to_column >= 0) & (to_column < size)
        if rules.triangle:
            inside &= to_column <= to_row
        cell = np.where(inside, to_row * size + to_column, -1)
        cell[cell == here] = -1
        table[:, at] = np.where((table[:, :at] == cell[:, None]).any(axis=1), -1, cell)
    return table


def step_fault(instance: Instance, ways: Sequence[int], last: int, cell: int) -> tuple[str, str] | None:
    """Say why a step from one cell to another is not legal, as (expected, found); None where it is.

    `ways` is the row of `last` in `destinations`. Whether the walk has been there is for the caller to know.
    """
    values = instance.values
    if cell not in ways:
        expected = Phrase(
            "a cell %(distance)s away from %(cell)s in a straight line",
            distance=values[last],
            cell=cell_name(last, instance.size),
        )
        return expected, cell_name(cell, instance.size)
    if values[cell] < values[last]:
        expected = Phrase("a value of at least %(least)s", least=values[last])
        return expected, Phrase("%(value)s at %(cell)s", value=values[cell], cell=cell_name(cell, instance.size))
    return None


def cell_name(cell: int, size: int) -> str:
    """Name a cell for people: (row, column), 1-based."""
    return f"({cell // size + 1}, {cell % size + 1})"


def _read_head(line: bytes) -> tuple[int, str]:
    """Read `N` or `N VARIANT`."""
    word, space, variant = line.partition(b" ")
    sizes = {str(size).encode(): size for size in range(SMALLEST_SIZE, LARGEST_SIZE + 1)}
    if word not in sizes:
        raise Rejected.at(
            Phrase("line %(number)s", number=1),
            expected=Phrase("a size from %(least)s to %(most)s", least=SMALLEST_SIZE, most=LARGEST_SIZE),
            found=quote(word),
        )
    name = variant.decode("latin-1") if space else DEFAULT
    if name not in VARIANTS:
        raise Rejected.at(
            Phrase("line %(number)s", number=1),
            expected=Phrase("a variant of %(names)s", names=", ".join(VARIANTS)),
            found=quote(variant),
        )
    return sizes[word], name


def _read_row(line: bytes, number: int, width: int, size: int) -> list[int]:
    """Read one row's values, with single spaces between them."""
    allowed = {str(value).encode(): value for value in range(1, size + 1)}
    words = line.split(b" ")
    for word in words:
        if word not in allowed:
            where = Phrase("line %(number)s", number=number)
            raise Rejected.at(
                where, expected=Phrase("numbers 1..%(size)s with single spaces between", size=size), found=quote(word)
            )
    if len(words) != width:
        raise Rejected.at(
            Phrase("line %(number)s", number=number),
            expected=Phrase("%(width)s numbers", width=width),
            found=str(len(words)),
        )
    return [allowed[word] for word in words]


def _check_copies(values: NDArray[np.uint8], size: int, triangle: bool) -> None:
    copies = Counter(values.ravel().tolist())
    for value in range(1, size + 1):
        expected = size + 1 - value if triangle else (size + 1 if value < size else 1)
        if copies[value] != expected:
            raise Rejected.at(
                Phrase("board"),
                expected=Phrase("%(expected)s times the number %(number)s", expected=expected, number=value),
                found=str(copies[value]),
            )
