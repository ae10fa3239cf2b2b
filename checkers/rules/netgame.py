"""Rules of the net game: nets as text, whole cells, and which ropes may be cut."""

from __future__ import annotations

from dataclasses import dataclass

from checkers.doors import Phrase, Rejected, quote

MOST_ROPES = 50
LARGEST_COORDINATE = 50

Rope = tuple[int, int, int, int]
Cells = dict[tuple[int, int], tuple[int, int, int, int]]


@dataclass(frozen=True, slots=True)
class Instance:
    """A net. Each rope is `(x1, y1, x2, y2)` with its smaller end first; all are different."""

    ropes: tuple[Rope, ...]


def read_net(data: bytes) -> Instance:
    """Parse an input file; raises Rejected at the first line that is not as it must be."""
    if not data.endswith(b"\n"):
        raise Rejected.at(Phrase("end of file"), expected=Phrase("a line feed"), found=quote(data[-1:]))
    first, *lines = data[:-1].split(b"\n")
    count = read_number(first, MOST_ROPES)
    if not count:
        raise Rejected.at(
            Phrase("line %(number)s", number=1),
            expected=Phrase("a number of ropes from 1 to %(most)s", most=MOST_ROPES),
            found=quote(first),
        )
    if len(lines) != count:
        raise Rejected.at(
            Phrase("end of file"),
            expected=Phrase("%(count)s ropes", count=count),
            found=Phrase("%(count)s lines", count=len(lines)),
        )
    seen: dict[Rope, int] = {}
    for number, line in enumerate(lines, start=2):
        rope = _read_rope(line, number)
        if rope in seen:
            raise Rejected.at(
                Phrase("line %(number)s", number=number),
                expected=Phrase("a new rope"),
                found=Phrase("the rope of line %(number)s again", number=seen[rope]),
            )
        seen[rope] = number
    return Instance(tuple(seen))


def write_net(instance: Instance) -> str:
    """Render a net so that `read_net` gives it back."""
    lines = [str(len(instance.ropes)), *(" ".join(map(str, rope)) for rope in instance.ropes)]
    return "\n".join(lines) + "\n"


def whole_cells(instance: Instance) -> Cells:
    """Find the cells with all four ropes, row by row: lower left corner to the four ropes (counted from 0)."""
    places = {rope: at for at, rope in enumerate(instance.ropes)}
    corners = sorted((y, x) for x, y, x2, _ in instance.ropes if x2 == x + 1)
    cells = {}
    for y, x in corners:
        around = (x, y, x + 1, y), (x, y + 1, x + 1, y + 1), (x, y, x, y + 1), (x + 1, y, x + 1, y + 1)
        a, b, c, d = (places.get(rope, -1) for rope in around)
        if min(a, b, c, d) >= 0:
            cells[x, y] = a, b, c, d
    return cells


def sides_of(cells: Cells, ropes: int) -> list[int]:
    """Give for each rope the set of cells it is a side of, as bits: none, one or two."""
    sides = [0] * ropes
    for cell, around in enumerate(cells.values()):
        for rope in around:
            sides[rope] |= 1 << cell
    return sides


def read_number(token: bytes, most: int) -> int | None:
    """Give a canonical number 0..most (of at most two digits), or None."""
    if not (token.isdigit() and len(token) <= 2) or (token[:1] == b"0" and len(token) > 1):
        return None
    return int(token) if int(token) <= most else None


def _read_rope(line: bytes, number: int) -> Rope:
    coordinates = [read_number(token, LARGEST_COORDINATE) for token in line.split(b" ")]
    known = [coordinate for coordinate in coordinates if coordinate is not None]
    if len(coordinates) != 4 or len(known) != 4:
        expected = Phrase("four numbers from 0 to %(most)s with single spaces", most=LARGEST_COORDINATE)
        raise Rejected.at(Phrase("line %(number)s", number=number), expected=expected, found=quote(line))
    x1, y1, x2, y2 = known
    if abs(x1 - x2) + abs(y1 - y2) != 1:
        raise Rejected.at(
            Phrase("line %(number)s", number=number),
            expected=Phrase("a rope of length 1 along a grid line"),
            found=quote(line),
        )
    (a, b), (c, d) = sorted([(x1, y1), (x2, y2)])
    return a, b, c, d
