"""Walk over a board of numbers, each cell saying how far the next move goes, and collect as much as possible.

Instance
    `N` or `N VARIANT` (N 2..40), then N rows of N numbers: N+1 copies of each of 1..N-1 and one N. Variants: `torus8`
    (the default), `torus4` (no diagonals), `edge8` (steps, not cells, may not repeat), `klein8` (leaving by top or
    bottom mirrors the columns) and `hex` (a triangle, row r has r numbers, N+1-k copies of k, six directions, no wrap).
Answer
    `S`, `L`, then L lines `r c` (1-based): the cells in the order of the visit. From a cell with value k the next is
    exactly k cells away in a straight line, has a value of at least k and was not visited (`edge8`: this step was not
    made). S is the sum of the visited cells' values, at each visit. L is at least 1. A file has at most 2 MiB.
Raw score
    S, to be maximised. The reference file has the anchors `x` and `y`, what two greedy walks collect, and `best`.
    With a = min(x, y) and b = max(x, y): the multiplier is 1 from `best` on, 3/5 at b, 3/10 at a, linear between, and
    linear from 0 below a. Where anchors are equal, the greater share counts.
Rejected when
    a number is not canonical, numbers are missing or left over, a cell is not on the board, a step has not the length
    or direction it must have, goes down in value or leads where the walk has been, or S is not the sum.
Source
    Optimiza, by Chuso (Carlos Luna), 2010, and the comments on it; formats and limits are set here.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from checkers.doors import Message, Phrase, Rejected, Score, quote
from checkers.numbers import Integers, place, read_integers
from checkers.rules.optimiza import Cells, Instance, cell_name, destinations, read_board, step_fault

AT_A, AT_B = Fraction(3, 10), Fraction(6, 10)


@dataclass(frozen=True, slots=True)
class Answer:
    """A legal walk: what it collects, and its cells as (row, column), 1-based."""

    total: int
    cells: tuple[tuple[int, int], ...]


def read_instance(data: bytes) -> Instance:
    """Parse an input file; raises Rejected unless it is a board with the right number of copies of every value."""
    return read_board(data)


def read_answer(data: bytes, instance: Instance) -> Answer:
    """Parse and follow an answer file; raises Rejected at the first thing wrong with it."""
    steps = destinations(instance)
    most = int((steps >= 0).sum()) + 1 if instance.rules.by_step else len(instance.values) - instance.values.count(0)
    values, offsets = read_integers(data, most=2 + 2 * most)
    cells = _read_cells(data, values, offsets, most)
    _follow(instance, steps, cells, data, offsets)
    walk = (cells[:, 0] - 1) * instance.size + cells[:, 1] - 1
    total = int(np.frombuffer(instance.values, np.uint8)[walk].sum())
    if int(values[0]) != total:
        where = place(data, int(offsets[0]))
        raise Rejected.at(
            where,
            expected=Phrase("%(sum)s, the sum of the %(count)s cells", sum=total, count=len(cells)),
            found=str(values[0]),
        )
    return Answer(total, tuple((row, column) for row, column in cells.tolist()))


def write_answer(answer: Answer) -> str:
    """Render a walk: the sum, the number of cells, then a line for each."""
    lines = [str(answer.total), str(len(answer.cells)), *(f"{row} {column}" for row, column in answer.cells)]
    return "\n".join(lines) + "\n"


def score_answer(instance: Instance, answer: Answer, reference: bytes | None = None) -> Score:
    """Give the sum; with the anchors of `reference` there is a multiplier too.

    Raises ValueError if the reference file is malformed: that is the judge's fault, not the contestant's.
    """
    multiplier = None if reference is None else _multiplier(answer.total, *_read_anchors(reference))
    text = f"{answer.total} collected on {len(answer.cells)} cells"
    args = {"total": answer.total, "cells": len(answer.cells)}
    return Score(answer.total, most_collected(instance), multiplier, Message("optimiza-collected", text, args))


def check_reference(data: bytes, instance: Instance) -> Score:
    """Hold a reference file against its case: three anchors that walks can reach; raises Rejected if they are not."""
    try:
        x, y, best = _read_anchors(data)
    except ValueError as error:
        raise Rejected(str(error)) from None
    most = most_collected(instance)
    if not 1 <= min(x, y) <= max(x, y) <= best <= most:
        actual = Phrase("x %(x)s, y %(y)s, best %(best)s", x=x, y=y, best=best)
        raise Rejected.at(
            Phrase("reference"), expected=Phrase("1 <= x, y <= best <= %(most)s", most=most), found=actual
        )
    return Score(best, most, Fraction(1))


def most_collected(instance: Instance) -> int:
    """Bound every walk: each cell once; where only steps may not repeat, each step's end once and a start."""
    values = np.frombuffer(instance.values, np.uint8).astype(np.int64)
    if not instance.rules.by_step:
        return int(values.sum())
    steps = destinations(instance)
    start, direction = np.nonzero((steps >= 0) & (values[steps] >= values[:, None]))
    return int(values[steps[start, direction]].sum()) + instance.size


def _read_cells(data: bytes, values: Integers, offsets: Integers, most: int) -> Integers:
    """Take the L x 2 cells out of the file's numbers; raises Rejected if L or the count is not right."""
    if len(values) < 2:
        what = Phrase("the number of cells") if len(values) else Phrase("the sum")
        raise Rejected.at(Phrase("end of file"), expected=what, found=Phrase("nothing"))
    count, given = int(values[1]), len(values) - 2
    if not 1 <= count <= most:
        raise Rejected.at(
            place(data, int(offsets[1])), expected=Phrase("1 to %(most)s cells", most=most), found=str(count)
        )
    if given < 2 * count:
        raise Rejected.at(
            Phrase("end of file"),
            expected=Phrase("%(numbers)s numbers for %(count)s cells", numbers=2 * count, count=count),
            found=str(given),
        )
    if given > 2 * count:
        where = place(data, int(offsets[2 + 2 * count]))
        raise Rejected.at(
            where,
            expected=Phrase("nothing after %(count)s cells", count=count),
            found=Phrase("%(count)s more numbers", count=given - 2 * count),
        )
    return values[2:].reshape(-1, 2)


def _follow(instance: Instance, steps: Cells, cells: Integers, data: bytes, offsets: Integers) -> None:
    """Raise Rejected at the first cell that the walk may not go to, counted from 1."""
    size, values, by_step = instance.size, instance.values, instance.rules.by_step
    ways = steps.tolist()
    seen: dict[int | tuple[int, int], int] = {}
    last = -1

    def refused(expected: str, actual: str) -> Rejected:
        # Only here is the line counted: to count it for every cell of a file full of line feeds takes seconds.
        where = Phrase("cell %(number)s (%(line)s)", number=number, line=place(data, int(offsets[2 * number])))
        return Rejected.at(where, expected=expected, found=actual)

    for number, (row, column) in enumerate(cells.tolist(), start=1):
        cell = (row - 1) * size + column - 1
        if not (1 <= row <= size and 1 <= column <= size) or values[cell] == 0:
            raise refused(Phrase("a cell of the board"), f"({row}, {column})")
        if last >= 0 and (fault := step_fault(instance, ways[last], last, cell)):
            raise refused(*fault)
        key = (last, cell) if by_step else cell
        if key in seen:
            expected = Phrase("a step not made before") if by_step else Phrase("a cell not visited before")
            raise refused(
                expected, Phrase("that of cell %(number)s, %(cell)s", number=seen[key], cell=cell_name(cell, size))
            )
        seen[key] = number
        last = cell


def _read_anchors(reference: bytes) -> tuple[int, int, int]:
    words = reference.split()
    if words[::2] != [b"x", b"y", b"best"] or len(words) != 6 or not b"".join(words[1::2]).isdigit():
        raise ValueError(f"reference: expected lines 'x X', 'y Y' and 'best Z', found {quote(reference)}")
    return int(words[1]), int(words[3]), int(words[5])


def _multiplier(total: int, x: int, y: int, best: int) -> Fraction:
    """Go through (0, 0), (a, 3/10), (b, 6/10), (best, 1); of equal anchors the last counts."""
    low, high = min(x, y), max(x, y)
    if total >= best:
        return Fraction(1)
    if total >= high:
        return AT_B + (1 - AT_B) * Fraction(total - high, best - high)
    if total >= low:
        return AT_A + (AT_B - AT_A) * Fraction(total - low, high - low)
    return AT_A * Fraction(total, low)
