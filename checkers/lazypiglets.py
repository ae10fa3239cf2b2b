"""Bring up to four piglets onto as many haystacks in the fewest steps, where a piglet may jump over one other.

Instance
    `N` (1..22), then N rows of N characters: `.` free, `#` a tree. Then `P` (1..4), P lines `r c` with the piglets and
    P lines `r c` with the haystacks, 1-based, all on free cells; no two piglets share a cell, and no two haystacks.
Answer
    The least number of steps on the first line, or `-1` where no number is enough. A plan may follow: as many
    quadruples `r1 c1 r2 c2` (1-based), each the step of one piglet. A file has at most 64 KiB.
Raw score
    1 for the least number of steps. Without a reference file only the plan is judged, and there is no multiplier.
Rejected when
    a number is not canonical, the number of steps is below -1 or above 2000, the plan has not as many steps as the
    first line says, a step is illegal (off the map, neither one cell nor a jump of two, no piglet to move, a tree or a
    piglet where it lands, a tree or no piglet where it jumps over), the plan does not end with a piglet on every
    haystack, or the number is not the least.
Source
    'O lenivých prasiatkach', Slovak olympiad in informatics, A-III-4; the format, the limits and -1 are set here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checkers.doors import N_, Phrase, Rejected, Score, message_of, quote
from checkers.numbers import Integers, place, read_integers

LARGEST_SIZE = 22
MOST_PIGS = 4
MOST_STEPS = 2000
"""No instance needs as many: piglets that need not be told apart never walk more than 483 steps each."""

UNREACHABLE = -1
FREE, TREE = b".#"

Cell = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Instance:
    """A map. `trees` has size * size bytes, row by row: 1 a tree. Cells are (row, column), counted from 1."""

    size: int
    trees: bytes
    pigs: tuple[Cell, ...]
    haystacks: tuple[Cell, ...]

    def is_tree(self, cell: Cell) -> bool:
        """Say whether a tree stands on a cell of the map."""
        return self.trees[(cell[0] - 1) * self.size + cell[1] - 1] == 1

    def is_inside(self, cell: Cell) -> bool:
        """Say whether a cell is on the map."""
        return 1 <= cell[0] <= self.size and 1 <= cell[1] <= self.size


@dataclass(frozen=True, slots=True)
class Answer:
    """A number of steps, or UNREACHABLE. `plan` has four bytes a step: r1, c1, r2, c2; none if no plan is given."""

    steps: int
    plan: bytes = b""

    @property
    def has_plan(self) -> bool:
        """True where the steps are proved to be enough."""
        return bool(self.plan) or self.steps == 0

    def moves(self) -> list[tuple[Cell, Cell]]:
        """List the plan's steps: from which cell to which."""
        flat = self.plan
        return [((flat[i], flat[i + 1]), (flat[i + 2], flat[i + 3])) for i in range(0, len(flat), 4)]


def read_instance(data: bytes) -> Instance:
    """Parse an input file; raises Rejected unless it is a map with piglets and haystacks on free cells."""
    lines = data.split(b"\n")
    size = _read_count(lines, 0, N_("a size from 1 to %(most)s"), LARGEST_SIZE)
    rows = [_read_row(lines, number, size) for number in range(1, size + 1)]
    trees = b"".join(rows).translate(bytes.maketrans(b".#", b"\0\1"))
    count = _read_count(lines, size + 1, N_("a number of piglets from 1 to %(most)s"), MOST_PIGS)
    pigs = _read_cells(lines, size + 2, count, size, trees)
    haystacks = _read_cells(lines, size + 2 + count, count, size, trees)
    end = size + 2 + 2 * count
    if lines[end:] != [b""]:
        actual = (
            Phrase("no line feed")
            if len(lines) == end
            else Phrase("%(count)s more lines or no last line feed", count=len(lines) - end - 1)
        )
        raise Rejected.at(
            Phrase("end of file"), expected=Phrase("%(end)s lines, each ended by a line feed", end=end), found=actual
        )
    return Instance(size, trees, pigs, haystacks)


def read_answer(data: bytes, instance: Instance) -> Answer:
    """Parse an answer file and play its plan, if it has one; raises Rejected at the first thing wrong with it."""
    values, offsets = read_integers(data, most=1 + 4 * MOST_STEPS, negative=True)
    steps = _read_steps(data, values, offsets)
    expected, actual = 4 * max(steps, 0), len(values) - 1
    if 0 < actual < expected:
        raise Rejected.at(
            Phrase("end of file"),
            expected=Phrase("no plan, or %(numbers)s numbers for %(steps)s steps", numbers=expected, steps=steps),
            found=str(actual),
        )
    if actual > expected:
        answer_text = "-1" if steps == UNREACHABLE else Phrase("%(steps)s steps", steps=steps)
        where = place(data, int(offsets[1 + expected]))
        raise Rejected.at(
            where,
            expected=Phrase("nothing after %(count)s", count=answer_text),
            found=Phrase("%(count)s more numbers", count=actual - expected),
        )
    moves = [tuple(move) for move in values[1:].reshape(-1, 4).tolist()]
    if moves or steps == 0:
        _play(instance, moves, [place(data, int(offset)) for offset in offsets[1::4]])
    return Answer(steps, bytes(number for move in moves for number in move))


def write_answer(answer: Answer) -> str:
    """Render an answer: the number of steps, then a line for each step of the plan."""
    moves = (f"{r1} {c1} {r2} {c2}" for (r1, c1), (r2, c2) in answer.moves())
    return "\n".join([str(answer.steps), *moves]) + "\n"


def score_answer(instance: Instance, answer: Answer, reference: bytes | None = None) -> Score:
    """Accept the least number of steps, which the reference file tells; raises Rejected for another number.

    Nothing is said about which number is right. Raises ValueError if the reference file is malformed, or if a legal
    plan is shorter than the reference says: that is the judge's fault.
    """
    if reference is None:
        return Score(1, 1, None, message_of("lazypiglets-unknown", answer=_described(answer)))
    try:
        least = read_answer(reference, instance).steps
    except Rejected as error:
        raise ValueError(f"reference: {error}") from None
    if answer.has_plan and (least == UNREACHABLE or answer.steps < least):
        raise ValueError(f"reference: expected at most {answer.steps} steps, as a legal plan has, found {least}")
    if answer.steps != least:
        legal = Phrase("%(steps)s, whose plan is legal but not the shortest", steps=answer.steps)
        shown = legal if answer.has_plan else str(answer.steps)
        raise Rejected.at(
            Phrase("line %(number)s", number=1), expected=Phrase("the least number of steps"), found=shown
        )
    return Score(1, 1, 1, message_of("lazypiglets-right", answer=_described(answer)))


def _described(answer: Answer) -> str:
    if answer.steps == UNREACHABLE:
        return Phrase("the haystacks cannot be reached")
    if answer.has_plan:
        return Phrase("%(steps)s steps with a plan", steps=answer.steps)
    return Phrase("%(steps)s steps", steps=answer.steps)


def _read_count(lines: Sequence[bytes], at: int, what: str, most: int) -> int:
    line = lines[at] if at < len(lines) else b""
    if line not in [b"%d" % count for count in range(1, most + 1)]:
        raise Rejected.at(Phrase("line %(number)s", number=at + 1), expected=Phrase(what, most=most), found=quote(line))
    return int(line)


def _read_row(lines: Sequence[bytes], at: int, size: int) -> bytes:
    line = lines[at] if at < len(lines) else b""
    if len(line) != size:
        raise Rejected.at(
            Phrase("line %(number)s", number=at + 1),
            expected=Phrase("%(size)s characters", size=size),
            found=f"{len(line)}: {quote(line)}",
        )
    for column, cell in enumerate(line, start=1):
        if cell not in (FREE, TREE):
            where = Phrase("line %(number)s, column %(column)s", number=at + 1, column=column)
            raise Rejected.at(where, expected=Phrase('"." or "#"'), found=quote(bytes([cell])))
    return line


def _read_cells(lines: Sequence[bytes], first: int, count: int, size: int, trees: bytes) -> tuple[Cell, ...]:
    """Read the cells of one kind; they are free, and no cell comes twice."""
    numbers = {b"%d" % number: number for number in range(1, size + 1)}
    cells: list[Cell] = []
    for at in range(first, first + count):
        line = lines[at] if at < len(lines) else b""
        words = line.split(b" ")
        where = Phrase("line %(number)s", number=at + 1)
        if len(words) != 2 or not set(words) <= set(numbers):
            raise Rejected.at(
                where, expected=Phrase('a row and a column from 1 to %(size)s, as "r c"', size=size), found=quote(line)
            )
        row, column = (numbers[word] for word in words)
        if trees[(row - 1) * size + column - 1]:
            raise Rejected.at(
                where, expected=Phrase("a free cell"), found=Phrase("a tree at %(cell)s", cell=(row, column))
            )
        if (row, column) in cells:
            raise Rejected.at(
                where,
                expected=Phrase("another cell on each line"),
                found=Phrase("(%(row)s, %(column)s) again", row=row, column=column),
            )
        cells.append((row, column))
    return tuple(cells)


def _read_steps(data: bytes, values: Integers, offsets: Integers) -> int:
    if len(values) == 0:
        raise Rejected.at(place(data, len(data)), expected=Phrase("the number of steps"), found=Phrase("an empty file"))
    steps = int(values[0])
    if not UNREACHABLE <= steps <= MOST_STEPS:
        where = place(data, int(offsets[0]))
        raise Rejected.at(
            where, expected=Phrase("a number of steps up to %(most)s, or -1", most=MOST_STEPS), found=str(steps)
        )
    return steps


def _play(instance: Instance, moves: Sequence[tuple[int, ...]], places: Sequence[str]) -> None:
    """Play a plan step by step, as the statement says; raises Rejected at the first illegal step, or at the end."""
    pigs = set(instance.pigs)
    for number, (r1, c1, r2, c2) in enumerate(moves, start=1):
        fault = _fault(instance, pigs, (r1, c1), (r2, c2))
        if fault is not None:
            expected, actual = fault
            raise Rejected.at(
                Phrase("step %(number)s (%(line)s)", number=number, line=places[number - 1]),
                expected=expected,
                found=actual,
            )
        pigs.remove((r1, c1))
        pigs.add((r2, c2))
    for haystack in instance.haystacks:
        if haystack not in pigs:
            where = Phrase("end of the plan") if moves else Phrase("line %(number)s", number=1)
            raise Rejected.at(
                where,
                expected=Phrase("a piglet on every haystack after %(steps)s steps", steps=len(moves)),
                found=Phrase("none at %(cell)s", cell=haystack),
            )


def _fault(instance: Instance, pigs: set[Cell], start: Cell, landing: Cell) -> tuple[str, str] | None:
    """Say what a legal step would have (and what is there instead), or None if the step is legal."""
    for cell in (start, landing):
        if not instance.is_inside(cell):
            return Phrase("rows and columns from %(least)s to %(most)s", least=1, most=instance.size), str(cell)
    if start not in pigs:
        return Phrase("a piglet to move"), Phrase("none at %(cell)s", cell=start)
    shift = sorted((abs(landing[0] - start[0]), abs(landing[1] - start[1])))
    if shift not in ([0, 1], [0, 2]):
        step = Phrase("%(start)s to %(end)s", start=start, end=landing)
        return Phrase("one cell, or two over a piglet, in a row or a column"), step
    if instance.is_tree(landing):
        return Phrase("a free cell to land on"), Phrase("a tree at %(cell)s", cell=landing)
    if landing in pigs:
        return Phrase("a cell without a piglet to land on"), Phrase("a piglet at %(cell)s", cell=landing)
    middle = ((start[0] + landing[0]) // 2, (start[1] + landing[1]) // 2)
    if shift == [0, 2] and middle not in pigs:
        what = N_("a tree at %(cell)s") if instance.is_tree(middle) else N_("none at %(cell)s")
        return Phrase("a piglet to jump over"), Phrase(what, cell=middle)
    return None
