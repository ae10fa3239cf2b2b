"""Puzzles and their solutions as SVG, for pages without script, sheets of paper and files.

Attributes draw them in black on white; the classes are those of the boards' style sheet, which has the page's colours.

- The puzzles of the day as a feed (Atom, RFC 4287): an entry a day, the newest first, without solutions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from xml.etree import ElementTree
from xml.sax.saxutils import quoteattr

from app.daily.service.puzzles import Puzzle
from checkers.rules.netgame import read_net, sides_of, whole_cells

CELL, EDGE = 24, 6
NET_CELL, NET_EDGE = 34, 14
TINTS = 6
INK = "#14181f"
FONT = 'font-family="sans-serif" text-anchor="middle"'


def puzzle_drawing(puzzle: Puzzle, label: str) -> str:
    """The puzzle as it is given; `label` names the drawing for those who do not see it."""
    return DRAWERS[puzzle.kind](puzzle, label, False)


def solution_drawing(puzzle: Puzzle, label: str) -> str:
    """The puzzle with its best answer: the order of the cells, the numbered jumps, the cut."""
    return DRAWERS[puzzle.kind](puzzle, label, True)


def solution_steps(puzzle: Puzzle) -> list[list[str]]:
    """The best answer step by step: a cell's row and column, those a jump begins and ends at, the rope to cut."""
    lines = [line.split() for line in puzzle.answer.splitlines()]
    return lines[{"optimiza": 2, "comesolo": 1, "netgame": 1}[puzzle.kind] :]


def _optimiza(puzzle: Puzzle, label: str, solved: bool) -> str:
    rows = [line.split() for line in puzzle.instance.splitlines()[1:]]
    visits = _visits(puzzle) if solved else {}
    shapes = []
    for row, numbers in enumerate(rows):
        for column, number in enumerate(numbers):
            x, y = EDGE + column * CELL, EDGE + row * CELL
            visit = visits.get((row, column))
            kind = f"v{-(-int(number) * TINTS // len(rows))}" + (" seen" if visit else "")
            texts = _text(x + CELL / 2, y + 16, visit or number, 12)
            if visit:  # the order of the visit, and the number in the corner
                texts += _text(x + CELL - 4, y + 7, number, 6, "ax")
            shapes.append(f'<g class="{kind}">{_square(x, y, CELL)}{texts}</g>')
    return _drawing(len(rows) * CELL + 2 * EDGE, len(rows) * CELL + 2 * EDGE, label, shapes)


def _visits(puzzle: Puzzle) -> dict[tuple[int, int], int]:
    """When a walk visits each cell, both counted from 1 in the answer and cells from 0 here."""
    cells = (line.split() for line in puzzle.answer.splitlines()[2:])
    return {(int(row) - 1, int(column) - 1): visit for visit, (row, column) in enumerate(cells, start=1)}


def _comesolo(puzzle: Puzzle, label: str, _solved: bool) -> str:
    rows = puzzle.instance.splitlines()[1:]
    left = 2 * EDGE
    shapes = []
    for at in range(len(rows)):
        middle = left + (at + 0.5) * CELL
        shapes += [_text(middle, left - 3, at, 8, "ax"), _text(left / 2, middle + 3, at, 8, "ax")]
    for row, cells in enumerate(rows):
        for column, cell in enumerate(cells):
            x, y = left + column * CELL, left + row * CELL
            place = f'cx="{x + CELL / 2}" cy="{y + CELL / 2}"'
            shapes.append(_square(x, y, CELL, "sq"))
            piece = f'class="peg" r="{CELL * 0.36}"' if cell == "o" else f'class="hole" r="{CELL * 0.08}"'
            shapes.append(f'<circle {piece} {place} fill="{INK}"/>')
    side = len(rows) * CELL + left + EDGE
    return _drawing(side, side, label, shapes)


def _netgame(puzzle: Puzzle, label: str, solved: bool) -> str:
    net = read_net(puzzle.instance.encode("ascii"))
    cells = whole_cells(net)
    sides = sides_of(cells, len(net.ropes))
    cut = int(puzzle.answer.split()[1]) if solved else 0
    wide, tall = max(rope[2] for rope in net.ropes), max(rope[3] for rope in net.ropes)

    def at(x: float, y: float) -> tuple[float, float]:
        return NET_EDGE + x * NET_CELL, NET_EDGE + (tall - y) * NET_CELL

    shapes = [_square(*at(x, y + 1), NET_CELL, "whole", border=False) for x, y in cells]
    for number, rope in enumerate(net.ropes, start=1):
        shapes.append(_rope(number, at(*rope[:2]), at(*rope[2:]), "last" if number == cut else _state(sides, number)))
    return _drawing(wide * NET_CELL + 2 * NET_EDGE, tall * NET_CELL + 2 * NET_EDGE, label, shapes)


def _state(sides: Sequence[int], number: int) -> str:
    return "legal" if sides[number - 1] else "rope"


def _rope(number: int, begin: tuple[float, float], end: tuple[float, float], kind: str) -> str:
    (x1, y1), (x2, y2) = begin, end
    x, y = (x1 + x2) / 2, (y1 + y2) / 2
    dashes = ' stroke-dasharray="4 4"' if kind == "last" else ""
    line = f'<line x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}" stroke="{INK}" stroke-width="3"{dashes}/>'
    plate = f'<circle class="plate" cx="{x}" cy="{y}" r="7.5" fill="#fff" stroke="{INK}"/>'
    return f'<g class="{kind}">{line}{plate}{_text(x, y + 3.2, number, 9, "no")}</g>'


def _square(x: float, y: float, side: float, kind: str = "", *, border: bool = True) -> str:
    name = f' class="{kind}"' if kind else ""
    stroke = f' stroke="{INK}" stroke-width="0.6"' if border else ""
    place = f'x="{x}" y="{y}" width="{side}" height="{side}"'
    return f'<rect{name} {place} fill="{"#fff" if border else "#e8eef5"}"{stroke}/>'


def _text(x: float, y: float, text: object, size: float, kind: str = "") -> str:
    name = f' class="{kind}"' if kind else ""
    return f'<text{name} x="{x:g}" y="{y:g}" font-size="{size}" {FONT} fill="{INK}">{text}</text>'


def _drawing(width: float, height: float, label: str, shapes: Iterable[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" class="bd" viewBox="0 0 {width:g} {height:g}" role="img"'
    return f"{head} aria-label={quoteattr(label)}>{''.join(shapes)}</svg>"


DRAWERS = {"optimiza": _optimiza, "comesolo": _comesolo, "netgame": _netgame}


ATOM = "http://www.w3.org/2005/Atom"


def feed(base: str, days: Sequence[date]) -> bytes:
    """The feed of days, the newest first; `base` is the address of the service without a slash at its end."""
    root = ElementTree.Element("feed", {"xmlns": ATOM, "xml:lang": "en"})
    _add(root, "title", "Puzzles of the day")
    _add(root, "subtitle", "Optimiza, Comesolo and The Net Game: three sizes each, new at 00:00 UTC")
    _add(root, "id", f"{base}/daily")
    _add(root, "updated", _moment(days[0]))
    _add(ElementTree.SubElement(root, "author"), "name", "Jurado")
    _add(root, "generator", "Jurado")
    _link(root, "self", f"{base}/daily/feed.atom", "application/atom+xml")
    _link(root, "alternate", f"{base}/daily", "text/html")
    for day in days:
        root.append(_entry(base, day))
    written: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return written + b"\n"


def _entry(base: str, day: date) -> ElementTree.Element:
    entry = ElementTree.Element("entry")
    _add(entry, "title", f"Puzzles of {day}")
    _add(entry, "id", f"{base}/daily/{day}")
    _add(entry, "published", _moment(day))
    _add(entry, "updated", _moment(day))
    _link(entry, "alternate", f"{base}/daily/{day}", "text/html")
    _link(entry, "related", f"{base}/daily/{day}/print", "text/html")
    _add(entry, "summary", f"Optimiza, Comesolo and The Net Game of {day}, to play or to print.")
    return entry


def _add(parent: ElementTree.Element, name: str, text: str) -> None:
    ElementTree.SubElement(parent, name).text = text


def _link(parent: ElementTree.Element, relation: str, address: str, kind: str) -> None:
    ElementTree.SubElement(parent, "link", {"rel": relation, "href": address, "type": kind})


def _moment(day: date) -> str:
    """The begin of a day."""
    return f"{day.isoformat()}T00:00:00Z"
