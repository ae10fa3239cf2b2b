"""A net drawn with characters, four columns a cell."""

from __future__ import annotations

from checkers.rules.netgame import Rope
from games.doors import Picture, Style
from games.netgame.position import Position, cells_of

WIDTH = 4
Spans = list[tuple[str, Style]]


def drawn_net(position: Position) -> Picture:
    """Draw the net, y upwards; columns and rows of the grid without a rope are left out."""
    ropes = {rope: number for number, rope in enumerate(position.net.ropes, start=1)}
    columns = sorted({x for rope in ropes for x in (rope[0], rope[2])})
    rows = sorted({y for rope in ropes for y in (rope[1], rope[3])}, reverse=True)
    ends = {end for rope in ropes for end in (rope[:2], rope[2:])}
    corners, _ = cells_of(position.net)
    whole = {corner for at, corner in enumerate(corners) if position.whole >> at & 1}
    may_be_cut = set(position.cuttable)

    def rope(key: Rope, line: str) -> tuple[str, Style]:
        number = ropes.get(key)
        if number is None or number in position.cut:
            return " " * len(line), "plain"
        return (str(number), "move") if number in may_be_cut else (line, "dim")

    picture: list[Spans] = []
    for y in rows:
        knots: Spans = []
        for x in columns:
            text, style = rope((x, y, x + 1, y), "---")
            knots += [
                ("+" if (x, y) in ends else " ", "dim"),
                (text.center(WIDTH - 1, "-" if text.strip() else " "), style),
            ]
        picture.append(knots)
        if y == rows[-1]:
            break
        sides: Spans = []
        for x in columns:
            text, style = rope((x, y - 1, x, y), "|")
            inside = "#" if (x, y - 1) in whole else " "
            sides += [(text.ljust(2), style), (inside.ljust(WIDTH - 2), "mark" if inside == "#" else "plain")]
        picture.append(sides)
    return tuple(map(tuple, picture))
