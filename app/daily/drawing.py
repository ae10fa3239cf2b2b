"""Puzzles and their solutions as SVG, for pages without script, sheets of paper and files.

Attributes draw them in black on white; the classes are those of the boards' style sheet, which has the page's colours.
"""

from collections.abc import Iterable
from xml.sax.saxutils import quoteattr

from app.daily.service import Puzzle
from checkers.rules.netgame import read_net, sides_of, whole_cells

CELL, EDGE = 24, 6
NET_CELL, NET_EDGE = 34, 14
TINTS = 6
INK = "#14181f"
FONT = 'font-family="sans-serif" text-anchor="middle"'


def drawing(puzzle: Puzzle, label: str, *, solved: bool = False) -> str:
    """Draw a puzzle, or its best answer: the order of the cells, the numbered jumps, the cut.

    `label` names the drawing for those who do not see it.
    """
    return DRAWERS[puzzle.kind](puzzle, label, solved)


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
        kind = "last" if number == cut else "legal" if sides[number - 1] else "rope"
        shapes.append(_rope(number, at(*rope[:2]), at(*rope[2:]), kind))
    return _drawing(wide * NET_CELL + 2 * NET_EDGE, tall * NET_CELL + 2 * NET_EDGE, label, shapes)


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
