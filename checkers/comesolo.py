"""Eat as many pieces as possible with jumps in eight directions on a square board.

Instance
    `N` (1..30), then N rows of N characters: `o` a piece, `.` an empty cell. At least 2 pieces and one legal jump.
Answer
    `K`, then K quadruples `r1 c1 r2 c2` (0-based): the piece at (r1, c1) jumps to (r2, c2) and the piece between them
    is eaten. `K = 0` is legal. A file has at most 1 MiB.
Raw score
    K, to be maximised; never above the number of pieces minus 1. The reference file has the anchors `par` (a seeded
    greedy's K) and `best` (the reference's K); the multiplier is (K - par) / (best - par), held within 0..1, and at
    least 1/10 for any answer that eats a piece.
Rejected when
    a number is not canonical, numbers are missing or left over, K passes the number of pieces minus 1, or a jump is
    illegal: off the board, not two cells straight on, from an empty cell, over an empty cell, or onto a piece.
Source
    Comesolo, omegaUp's first output-only problem (2013); its formats, limits and points are set here.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from checkers.doors import Message, Phrase, Rejected, Score, quote
from checkers.numbers import Integers, place, read_integers

LARGEST_SIZE = 30
LEAST_MULTIPLIER = Fraction(1, 10)
PIECE, EMPTY = b"o."

FINE, OFF_BOARD, NOT_A_JUMP, NO_PIECE, NOTHING_TO_EAT, TAKEN = range(6)
EXPECTED = {
    NOT_A_JUMP: Phrase("a landing cell two cells away in a row, a column or a diagonal"),
    NO_PIECE: Phrase("a piece to jump with"),
    NOTHING_TO_EAT: Phrase("a piece to jump over"),
    TAKEN: Phrase("an empty cell to land on"),
}


@dataclass(frozen=True, slots=True)
class Instance:
    """A board. `board` has size * size bytes, row by row: 1 a piece, 0 an empty cell."""

    size: int
    board: bytes

    @property
    def pieces(self) -> int:
        """The number of pieces on the board."""
        return self.board.count(1)

    def cells(self) -> NDArray[np.uint8]:
        """Give the board as a fresh uint8 array of size * size cells, 1 where a piece stands."""
        return np.frombuffer(self.board, np.uint8).copy()


@dataclass(frozen=True, slots=True)
class Answer:
    """A legal play. `jumps` has four bytes a jump: r1, c1, r2, c2."""

    jumps: bytes

    @property
    def count(self) -> int:
        """The number of pieces eaten."""
        return len(self.jumps) // 4

    def rows(self) -> NDArray[np.uint8]:
        """Give the jumps as a K x 4 uint8 array."""
        return np.frombuffer(self.jumps, np.uint8).reshape(-1, 4)


def read_instance(data: bytes) -> Instance:
    """Parse an input file; raises Rejected unless it is a board with at least 2 pieces and a legal jump."""
    size = _read_size(data)
    lines = data.split(b"\n")
    if len(lines) != size + 2 or lines[-1]:
        actual = Phrase("no line feed at the end") if lines[-1] else Phrase("%(count)s rows", count=len(lines) - 2)
        raise Rejected.at(
            Phrase("end of file"), expected=Phrase("%(size)s rows, each ended by a line feed", size=size), found=actual
        )
    for number, line in enumerate(lines[1:-1], start=2):
        _check_row(line, number, size)
    cells = b"".join(lines[1:-1]).translate(bytes.maketrans(b".o", b"\0\1"))
    instance = Instance(size, cells)
    if instance.pieces < 2:
        raise Rejected.at(Phrase("board"), expected=Phrase("at least 2 pieces"), found=str(instance.pieces))
    if not _has_jump(instance.cells(), size):
        raise Rejected.at(Phrase("board"), expected=Phrase("at least one legal jump"), found=Phrase("none"))
    return instance


def read_answer(data: bytes, instance: Instance) -> Answer:
    """Parse and replay an answer file; raises Rejected at the first thing wrong with it."""
    most = instance.pieces - 1
    values, offsets = read_integers(data, most=1 + 4 * most)
    jumps = _jumps(data, values, offsets, most)
    at, fault = _replay(instance.cells(), instance.size, jumps)
    if fault != FINE:
        raise _illegal(data, offsets, jumps, at, fault, instance)
    return Answer(jumps.astype(np.uint8).tobytes())


def write_answer(answer: Answer) -> str:
    """Render a play: the number of jumps, then a line for each."""
    lines = [str(answer.count), *(f"{a} {b} {c} {d}" for a, b, c, d in answer.rows().tolist())]
    return "\n".join(lines) + "\n"


def score_answer(instance: Instance, answer: Answer, reference: bytes | None = None) -> Score:
    """Count the pieces eaten; with the anchors of `reference` there is a multiplier too.

    Raises ValueError if the reference file is malformed: that is the judge's fault, not the contestant's.
    """
    eaten, most = answer.count, instance.pieces - 1
    multiplier = None if reference is None else _multiplier(eaten, *_read_anchors(reference))
    text = f"{eaten} of {instance.pieces} pieces eaten"
    return Score(eaten, most, multiplier, Message("comesolo-eaten", text, {"eaten": eaten, "pieces": instance.pieces}))


def _read_size(data: bytes) -> int:
    line = data[: data.find(b"\n")] if b"\n" in data else data
    fits = len(line) <= 2 and line.isdigit() and line[:1] != b"0"
    if not fits or int(line) > LARGEST_SIZE:
        raise Rejected.at(
            Phrase("line %(number)s", number=1),
            expected=Phrase("a size from 1 to %(most)s", most=LARGEST_SIZE),
            found=quote(line),
        )
    return int(line)


def _check_row(line: bytes, number: int, size: int) -> None:
    if len(line) != size:
        raise Rejected.at(
            Phrase("line %(number)s", number=number),
            expected=Phrase("%(size)s characters", size=size),
            found=f"{len(line)}: {quote(line)}",
        )
    for column, cell in enumerate(line):
        if cell not in (PIECE, EMPTY):
            where = Phrase("line %(number)s, column %(column)s", number=number, column=column + 1)
            raise Rejected.at(where, expected=Phrase('"o" or "."'), found=quote(bytes([cell])))


def _jumps(data: bytes, values: Integers, offsets: Integers, most: int) -> Integers:
    """Take the K x 4 jumps out of the file's numbers; raises Rejected if K is too large or the count is not right."""
    if len(values) == 0:
        raise Rejected.at(place(data, len(data)), expected=Phrase("the number of jumps"), found=Phrase("an empty file"))
    count = int(values[0])
    if count > most:
        where = place(data, int(offsets[0]))
        raise Rejected.at(
            where, expected=Phrase("at most %(count)s jumps (pieces minus 1)", count=most), found=str(count)
        )
    actual = len(values) - 1
    if actual < 4 * count:
        raise Rejected.at(
            Phrase("end of file"),
            expected=Phrase("%(numbers)s numbers for %(count)s jumps", numbers=4 * count, count=count),
            found=str(actual),
        )
    if actual > 4 * count:
        where = place(data, int(offsets[1 + 4 * count]))
        raise Rejected.at(
            where,
            expected=Phrase("nothing after %(count)s jumps", count=count),
            found=Phrase("%(count)s more numbers", count=actual - 4 * count),
        )
    return values[1:].reshape(-1, 4)


def _illegal(data: bytes, offsets: Integers, jumps: Integers, at: int, fault: int, instance: Instance) -> Rejected:
    """Name the first illegal jump, counted from 1."""
    where = Phrase("jump %(number)s (%(line)s)", number=at + 1, line=place(data, int(offsets[1 + 4 * at])))
    r1, c1, r2, c2 = (int(value) for value in jumps[at])
    cells = {
        NOT_A_JUMP: Phrase("%(start)s to %(end)s", start=f"({r1}, {c1})", end=f"({r2}, {c2})"),
        NO_PIECE: Phrase("an empty cell at %(cell)s", cell=f"({r1}, {c1})"),
        NOTHING_TO_EAT: Phrase("an empty cell at %(cell)s", cell=f"({(r1 + r2) // 2}, {(c1 + c2) // 2})"),
        TAKEN: Phrase("a piece at %(cell)s", cell=f"({r2}, {c2})"),
    }
    if fault == OFF_BOARD:
        worst = max(r1, c1, r2, c2)
        return Rejected.at(
            where, expected=Phrase("rows and columns below %(size)s", size=instance.size), found=str(worst)
        )
    return Rejected.at(where, expected=EXPECTED[fault], found=cells[fault])


def check_reference(data: bytes, instance: Instance) -> Score:
    """Hold a reference file against its case: two anchors that a play can reach; raises Rejected if they are not.

    The score is that of the play the anchor `best` was taken from.
    """
    try:
        par, best = _read_anchors(data)
    except ValueError as error:
        raise Rejected(str(error)) from None
    most = max(instance.pieces - 1, 0)
    if not 0 <= par <= best <= most:
        raise Rejected.at(
            Phrase("reference"),
            expected=Phrase("0 <= par <= best <= %(most)s", most=most),
            found=Phrase("par %(par)s, best %(best)s", par=par, best=best),
        )
    return Score(best, most, Fraction(1))


def _read_anchors(reference: bytes) -> tuple[int, int]:
    words = reference.split()
    if len(words) != 4 or words[0] != b"par" or words[2] != b"best" or not (words[1] + words[3]).isdigit():
        raise ValueError(f"reference: expected lines 'par X' and 'best Y', found {quote(reference)}")
    return int(words[1]), int(words[3])


def _multiplier(eaten: int, par: int, best: int) -> Fraction:
    if eaten >= best:
        return Fraction(1)
    share = Fraction(eaten - par, best - par) if best > par else Fraction(0)
    return max(share, LEAST_MULTIPLIER if eaten >= 1 else Fraction(0))


@njit(cache=True, nogil=True)
def _replay(cells: NDArray[np.uint8], size: int, jumps: Integers) -> tuple[int, int]:  # pragma: no cover - compiled
    """Play the jumps on `cells`, which is changed; return (jump, fault) of the first illegal one, or (K, FINE)."""
    for at in range(len(jumps)):
        r1, c1, r2, c2 = jumps[at, 0], jumps[at, 1], jumps[at, 2], jumps[at, 3]
        if r1 >= size or c1 >= size or r2 >= size or c2 >= size:
            return at, OFF_BOARD
        rows = abs(r2 - r1)
        columns = abs(c2 - c1)
        if not ((rows == 0 or rows == 2) and (columns == 0 or columns == 2) and rows + columns > 0):
            return at, NOT_A_JUMP
        start = r1 * size + c1
        middle = (r1 + r2) // 2 * size + (c1 + c2) // 2
        landing = r2 * size + c2
        if cells[start] == 0:
            return at, NO_PIECE
        if cells[middle] == 0:
            return at, NOTHING_TO_EAT
        if cells[landing] != 0:
            return at, TAKEN
        cells[start] = 0
        cells[middle] = 0
        cells[landing] = 1
    return len(jumps), FINE


@njit(cache=True, nogil=True)
def _has_jump(cells: NDArray[np.uint8], size: int) -> bool:  # pragma: no cover - compiled
    """Say whether any piece can jump."""
    for row in range(size):
        for column in range(size):
            for down in range(-1, 2):
                for right in range(-1, 2):
                    r2 = row + 2 * down
                    c2 = column + 2 * right
                    if r2 < 0 or r2 >= size or c2 < 0 or c2 >= size:
                        continue
                    middle = (row + down) * size + column + right
                    if cells[row * size + column] and cells[middle] and not cells[r2 * size + c2]:
                        return True
    return False
