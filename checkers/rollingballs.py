"""Roll coloured balls through a maze until they stand as another maze shows.

Instance
    `H`, H rows of the start, `H` again, H rows of the target. `#` wall, `.` empty, `0`..`9` a ball of that colour.
    Both sides are 10..60; walls and the number of balls of each colour are the same in both mazes.
Answer
    `N`, then N rolls `R C D` (row, column, direction; 0-based): the ball at (R, C) rolls until the next cell is a wall,
    a ball or the border. D is 0 for column-1, 1 for row+1, 2 for column+1, 3 for row-1. A blocked roll is legal.
Raw score
    Over the target's ball cells: 2 for a ball of the right colour at the end, 1 for one of another colour. At most
    2 x balls. The number of rolls is told, not scored.
Rejected when
    a token is not a canonical number, N is above 20 x balls, numbers are missing or too many, a roll names a cell
    outside the maze or without a ball at that moment, or a direction above 3.
Source
    Topcoder Marathon Match 90, "RollingBalls" (December 2015).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from checkers.doors import N_, Message, Phrase, Rejected, Score, quote
from checkers.numbers import Integers, place, read_integers

Cells = NDArray[np.int8]

SHORTEST_SIDE, LONGEST_SIDE = 10, 60
ROLLS_PER_BALL = 20
LARGEST_ANSWER = 4 * 2**20
WALL, EMPTY = -2, -1
DIRECTIONS = ("left", "down", "right", "up")


@dataclass(frozen=True, slots=True, eq=False)
class Instance:
    """A start and a target maze, each int8[height, width]: WALL, EMPTY or a colour 0..9."""

    height: int
    width: int
    start: Cells
    target: Cells
    balls: int

    @property
    def walls(self) -> NDArray[np.bool_]:
        """The walls, bool[height, width]; the same in both mazes."""
        return np.asarray(self.start == WALL)

    @property
    def most_rolls(self) -> int:
        """The number of rolls an answer may have."""
        return ROLLS_PER_BALL * self.balls


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The rolls in order: int64[N, 3] of row, column, direction."""

    rolls: Integers


def read_instance(data: bytes) -> Instance:
    """Parse and validate an input: LF line ends, no blank lines, nothing behind the last row; otherwise Rejected."""
    lines = data.split(b"\n")
    if lines.pop() != b"":
        raise Rejected.at(Phrase("end of file"), expected=Phrase("a line feed"), found=Phrase("none"))
    height = _read_height(lines, 0)
    start = _read_maze(lines, 1, height)
    if _read_height(lines, height + 1) != height:
        raise Rejected.at(
            Phrase("line %(number)s", number=height + 2), expected=str(height), found=quote(lines[height + 1])
        )
    target = _read_maze(lines, height + 2, height)
    if len(lines) > 2 * height + 2:
        actual = quote(lines[2 * height + 2])
        raise Rejected.at(
            Phrase("line %(number)s", number=2 * height + 3), expected=Phrase("end of file"), found=actual
        )
    _same_parts(start, target)
    return Instance(height, start.shape[1], start, target, int((start >= 0).sum()))


def read_answer(data: bytes, instance: Instance) -> Answer:
    """Parse and validate the rolls, each against the maze as it stands at that moment; raises only Rejected."""
    if len(data) > LARGEST_ANSWER:
        raise Rejected.at(
            Phrase("file"),
            expected=Phrase("at most %(most)s bytes", most=LARGEST_ANSWER),
            found=Phrase("%(count)s bytes", count=len(data)),
        )
    count = _read_count(data, instance)
    values, offsets = read_integers(data, most=1 + 3 * count)
    if len(values) < 1 + 3 * count:
        expected = Phrase("%(numbers)s numbers, three a roll and their count", numbers=1 + 3 * count)
        raise Rejected.at(Phrase("end of file"), expected=expected, found=str(len(values)))
    rolls = values[1:].reshape(count, 3)
    _roll_all(instance, rolls, data, offsets)
    return Answer(rolls)


def write_answer(answer: Answer) -> str:
    """Render an answer: the number of rolls, then one roll a line."""
    return f"{len(answer.rolls)}\n" + "".join(f"{r} {c} {d}\n" for r, c, d in answer.rolls.tolist())


def score_answer(instance: Instance, answer: Answer, reference: bytes | None = None) -> Score:
    """Roll the balls and compare with the target; `reference` is not needed, since no answer can pass 2 x balls."""
    final = _roll_all(instance, answer.rolls)
    right = int(((final == instance.target) & (final >= 0)).sum())
    covered = int(((final >= 0) & (instance.target >= 0)).sum())
    points2 = right + covered
    return Score(
        points2, 2 * instance.balls, Fraction(points2, 2 * instance.balls), _tell(instance, right, covered, answer)
    )


def _tell(instance: Instance, right: int, covered: int, answer: Answer) -> Message:
    balls, rolls = instance.balls, len(answer.rolls)
    text = f"{right} of {balls} cells have the right colour, {covered - right} another colour, after {rolls} rolls"
    return Message(
        "rollingballs-score", text, {"right": right, "other": covered - right, "balls": balls, "rolls": rolls}
    )


def _read_count(data: bytes, instance: Instance) -> int:
    """Read the number of rolls alone, so that nothing is allocated for a number that is too large."""
    first = _FIRST_TOKEN.match(data)
    if first is None:
        raise Rejected.at(Phrase("end of file"), expected=Phrase("the number of rolls"), found=Phrase("nothing"))
    values, offsets = read_integers(first.group(), most=1)
    count = int(values[0])
    if count > instance.most_rolls:
        expected = Phrase("at most %(count)s rolls", count=instance.most_rolls)
        raise Rejected.at(place(data, int(offsets[0])), expected=expected, found=str(count))
    return count


_FIRST_TOKEN = re.compile(rb"[ \t\r\n]*[^ \t\r\n]+")


def _read_height(lines: list[bytes], at: int) -> int:
    line = lines[at] if at < len(lines) else b""
    allowed = {str(side).encode(): side for side in range(SHORTEST_SIDE, LONGEST_SIDE + 1)}
    if line not in allowed:
        expected = Phrase("a number of rows %(least)s..%(most)s", least=SHORTEST_SIDE, most=LONGEST_SIDE)
        raise Rejected.at(
            Phrase("line %(number)s", number=at + 1),
            expected=expected,
            found=quote(line) if line else Phrase("nothing"),
        )
    return allowed[line]


def _read_maze(lines: list[bytes], first: int, height: int) -> Cells:
    """Read `height` rows from line index `first`; all as long as line 2, of which the width is known."""
    width = len(lines[1]) if len(lines) > 1 else 0
    if not SHORTEST_SIDE <= width <= LONGEST_SIDE:
        raise Rejected.at(
            Phrase("line %(number)s", number=2),
            expected=Phrase("%(least)s..%(most)s cells", least=SHORTEST_SIDE, most=LONGEST_SIDE),
            found=str(width),
        )
    maze = np.empty((height, width), np.int8)
    for row in range(height):
        line = lines[first + row] if first + row < len(lines) else b""
        if len(line) != width:
            raise Rejected.at(
                Phrase("line %(number)s", number=first + row + 1),
                expected=Phrase("%(width)s cells", width=width),
                found=str(len(line)),
            )
        strange = line.translate(None, b"#.0123456789")
        if strange:
            raise Rejected.at(
                Phrase("line %(number)s", number=first + row + 1),
                expected=Phrase("cells #, . or 0..9"),
                found=quote(strange[:1]),
            )
        maze[row] = [_CELL_OF[cell] for cell in line]
    maze.setflags(write=False)
    return maze


_CELL_OF = {ord("#"): WALL, ord("."): EMPTY} | {ord(str(colour)): colour for colour in range(10)}


def _same_parts(start: Cells, target: Cells) -> None:
    """Raise Rejected unless both mazes have the same walls and the same balls, and at least one of these."""
    height = len(start)
    moved = np.argwhere((start == WALL) != (target == WALL))
    if len(moved):
        row, column = (int(x) for x in moved[0])
        wall, no_wall = Phrase("a wall"), Phrase("no wall")
        expected, actual = (wall, no_wall) if start[row, column] == WALL else (no_wall, wall)
        where = Phrase("line %(number)s, column %(column)s", number=height + 3 + row, column=column + 1)
        raise Rejected.at(where, expected=Phrase("%(expected)s, as in the start", expected=expected), found=actual)
    for colour in range(10):
        had, has = int((start == colour).sum()), int((target == colour).sum())
        if had != has:
            raise Rejected.at(
                Phrase("target"),
                expected=Phrase("%(had)s balls of colour %(colour)s, as in the start", had=had, colour=colour),
                found=str(has),
            )
    if not (start >= 0).any():
        raise Rejected.at(Phrase("start"), expected=Phrase("at least one ball"), found=Phrase("none"))


def _roll_all(instance: Instance, rolls: Integers, data: bytes = b"", offsets: Integers | None = None) -> Cells:
    """Return the maze after all rolls; raise Rejected at the first that is not possible."""
    cells = instance.start.copy()
    faulty = _simulate(cells, rolls)
    if faulty < len(rolls):
        roll = Phrase("roll %(number)s", number=faulty + 1)
        if offsets is not None:
            line = place(data, int(offsets[1 + 3 * faulty]))
            roll = Phrase("%(line)s, roll %(roll)s", line=line, roll=faulty + 1)
        _explain(instance, cells, rolls[faulty].tolist(), roll)
    return cells


def _explain(instance: Instance, cells: Cells, roll: list[int], where: str) -> None:
    """Say what is wrong with a roll, in the order row, column, direction, ball."""
    limits = (
        (N_("a row below %(size)s"), instance.height),
        (N_("a column below %(size)s"), instance.width),
        (N_("a direction below %(size)s"), len(DIRECTIONS)),
    )
    for (below, limit), value in zip(limits, roll, strict=True):
        if not 0 <= value < limit:
            raise Rejected.at(where, expected=Phrase(below, size=limit), found=str(value))
    row, column, _ = roll
    found_cell = Phrase("a wall") if cells[row, column] == WALL else Phrase("an empty cell")
    raise Rejected.at(where, expected=Phrase("a ball at %(cell)s", cell=(row, column)), found=found_cell)


@njit(cache=True, nogil=True)
def _simulate(cells: Cells, rolls: Integers) -> int:  # pragma: no cover - compiled; its slow twin is in the tests
    """Do the rolls on `cells`; return how many were possible."""
    height, width = cells.shape
    for i in range(len(rolls)):
        row, column, direction = rolls[i, 0], rolls[i, 1], rolls[i, 2]
        if not (0 <= row < height and 0 <= column < width and 0 <= direction < 4):
            return i
        ball = cells[row, column]
        if ball < 0:
            return i
        down = 1 if direction == 1 else (-1 if direction == 3 else 0)
        right = 1 if direction == 2 else (-1 if direction == 0 else 0)
        to_row, to_column = row + down, column + right
        while 0 <= to_row < height and 0 <= to_column < width and cells[to_row, to_column] == EMPTY:
            to_row += down
            to_column += right
        cells[row, column] = EMPTY
        cells[to_row - down, to_column - right] = ball
    return len(rolls)
