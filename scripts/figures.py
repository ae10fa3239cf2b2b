"""Draw the pictures of the statements from the samples that they explain: the same bytes each time.

    python -m scripts.figures           write them (`make figures`)
    python -m scripts.figures --check   name those that are not as they would be drawn

A picture holds digits and no words, so that all languages share it, and follows the light or dark theme by itself.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from itertools import pairwise
from pathlib import Path

from checkers import comesolo, lazypiglets, netgame, optimiza, rollingballs
from checkers.rules.lasttreat import is_lost
from games import checker as played
from games.catalog import open_game
from games.transcript import read, replay

PROBLEMS = Path(__file__).resolve().parents[1] / "problems"
SIDE = 40
STYLE = """\
<style>
text { font: 600 16px system-ui, sans-serif; fill: #191b1e; text-anchor: middle; dominant-baseline: central; }
.index { font-weight: 400; font-size: 12px; fill: #565b63; }
.cell { fill: #ffffff; stroke: #8a8f98; }
.wall { fill: #8a8f98; stroke: #8a8f98; }
.mark { fill: #dbe7ff; stroke: #8a8f98; }
.goal { fill: none; stroke: #a34a00; stroke-width: 3; stroke-dasharray: 5 4; }
.piece { fill: #1a4fb0; }
.piece + text { fill: #ffffff; }
.gone { fill: none; stroke: #811b00; stroke-width: 3; }
.way { fill: none; stroke: #a34a00; stroke-width: 3; }
.head { fill: #a34a00; }
.rope { stroke: #191b1e; stroke-width: 3; stroke-linecap: round; }
.best { stroke: #a34a00; stroke-width: 6; stroke-linecap: round; }
.plate { fill: #ffffff; }
.page { fill: #ffffff; }
@media (prefers-color-scheme: dark) {
  text { fill: #e9eaec; }
  .index { fill: #a6acb5; }
  .cell { fill: #181b1f; stroke: #6c727b; }
  .wall { fill: #6c727b; stroke: #6c727b; }
  .mark { fill: #203a66; stroke: #6c727b; }
  .goal, .way { stroke: #ffb45c; }
  .head { fill: #ffb45c; }
  .piece { fill: #8fb6ff; }
  .piece + text { fill: #101215; }
  .gone { stroke: #ff7b78; }
  .rope { stroke: #e9eaec; }
  .best { stroke: #ffb45c; }
  .plate, .page { fill: #181b1f; }
}
</style>
"""
Place = tuple[float, float]


class Drawing:
    """Shapes on a board; places are (row, column) counted from 0, and may lie between cells."""

    def __init__(self, rows: float, columns: float, margin: float = 1.5) -> None:
        self._size = (rows, columns)
        self._margin = margin  # cells left of the middle of the first one, and above
        self._shapes: list[str] = []

    def box(self, place: Place, kind: str) -> None:
        """A cell."""
        x, y = self._at(place)
        half = SIDE / 2
        self._shapes.append(f'<rect class="{kind}" x="{x - half:g}" y="{y - half:g}" width="{SIDE}" height="{SIDE}"/>')

    def goal(self, place: Place) -> None:
        """A dashed frame in a cell."""
        x, y = self._at(place)
        self._shapes.append(f'<rect class="goal" x="{x - 16:g}" y="{y - 16:g}" width="32" height="32" rx="5"/>')

    def block(self, corner: Place, side: float) -> None:
        """A tinted square whose top left corner is a place."""
        x, y = self._at(corner)
        self._shapes.append(
            f'<rect class="mark" x="{x:g}" y="{y:g}" width="{side * SIDE:g}" height="{side * SIDE:g}"/>'
        )

    def disc(self, place: Place, kind: str, radius: float = 13) -> None:
        """A piece, a ball, or a ring around one."""
        x, y = self._at(place)
        self._shapes.append(f'<circle class="{kind}" cx="{x:g}" cy="{y:g}" r="{radius:g}"/>')

    def text(self, place: Place, text: object, kind: str = "") -> None:
        """A number."""
        x, y = self._at(place)
        named = f' class="{kind}"' if kind else ""
        self._shapes.append(f'<text{named} x="{x:g}" y="{y:g}">{text}</text>')

    def line(self, start: Place, end: Place, kind: str) -> None:
        """A straight line."""
        (x1, y1), (x2, y2) = self._at(start), self._at(end)
        self._shapes.append(f'<line class="{kind}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>')

    def arrow(self, start: Place, end: Place) -> None:
        """A line from near one place to near another, with a head."""
        (x1, y1), (x2, y2) = self._at(start), self._at(end)
        length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
        dx, dy = (x2 - x1) / length, (y2 - y1) / length
        x1, y1, x2, y2 = x1 + 15 * dx, y1 + 15 * dy, x2 - 13 * dx, y2 - 13 * dy
        back = (x2 - 10 * dx, y2 - 10 * dy)
        self._shapes.append(f'<line class="way" x1="{x1:.1f}" y1="{y1:.1f}" x2="{back[0]:.1f}" y2="{back[1]:.1f}"/>')
        corners = [(x2, y2), (back[0] - 6 * dy, back[1] + 6 * dx), (back[0] + 6 * dy, back[1] - 6 * dx)]
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        self._shapes.append(f'<polygon class="head" points="{points}"/>')

    def arc(self, start: Place, end: Place) -> None:
        """A bow over what lies between two places of a row, with a head."""
        (x1, y1), (x2, y2) = self._at(start), self._at(end)
        top = y1 - 0.72 * SIDE
        self._shapes.append(
            f'<path class="way" d="M{x1:g} {y1 - 15:g}C{x1:g} {top:g} {x2:g} {top:g} {x2:g} {y2 - 16:g}"/>'
            f'<polygon class="head" points="{x2:g},{y2 - 7:g} {x2 - 6:g},{y2 - 17:g} {x2 + 6:g},{y2 - 17:g}"/>'
        )

    def indices(self, rows: int, columns: int, first: int) -> None:
        """The numbers of rows and columns along the border."""
        for row in range(rows):
            self.text((row, -0.8), row + first, "index")
        for column in range(columns):
            self.text((-0.8, column), column + first, "index")

    def svg(self) -> str:
        """The whole file."""
        height, width = ((each + self._margin) * SIDE for each in self._size)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            f'viewBox="0 0 {width:g} {height:g}">\n{STYLE}'
            f'<rect class="page" width="{width:g}" height="{height:g}"/>\n' + "\n".join(self._shapes) + "\n</svg>\n"
        )

    def _at(self, place: Place) -> Place:
        return (place[1] + self._margin) * SIDE, (place[0] + self._margin) * SIDE


def sample(slug: str, name: str) -> bytes:
    """A file of the samples."""
    return (PROBLEMS / slug / "data/sample" / name).read_bytes()


def cells(drawing: Drawing, places: Iterable[Place], kind: str = "cell") -> None:
    """Cells of one kind."""
    for place in places:
        drawing.box(place, kind)


def square(rows: int, columns: int) -> list[tuple[int, int]]:
    """All places of a board."""
    return [(row, column) for row in range(rows) for column in range(columns)]


def jump_of_comesolo() -> str:
    """The second sample's board, and the first jump of its answer."""
    board = comesolo.read_instance(sample("comesolo", "02-sample.in"))
    answer = comesolo.read_answer(sample("comesolo", "02-sample.out"), board)
    r1, c1, r2, c2 = map(int, answer.rows()[0])
    drawing = Drawing(board.size, board.size)
    drawing.indices(board.size, board.size, 0)
    cells(drawing, square(board.size, board.size))
    for at, piece in enumerate(board.board):
        if piece:
            drawing.disc(divmod(at, board.size), "piece")
    drawing.disc(((r1 + r2) / 2, (c1 + c2) / 2), "gone", 17)
    drawing.arrow((r1, c1), (r2, c2))
    return drawing.svg()


def roll_of_rollingballs() -> str:
    """The first sample's start with its targets, and the longest roll that can be made there."""
    maze = rollingballs.read_instance(sample("rollingballs", "seed-001.in"))
    drawing = Drawing(maze.height, maze.width)
    drawing.indices(maze.height, maze.width, 0)
    places = square(maze.height, maze.width)
    cells(drawing, places)
    cells(drawing, (place for place in places if maze.walls[place]), "wall")
    for place in places:
        if maze.target[place] >= 0:
            drawing.goal(place)
    balls = [place for place in places if maze.start[place] >= 0]
    for place in balls:
        drawing.disc(place, "piece")
        drawing.text(place, maze.start[place])
    start, end = max(((ball, _rolled(maze, ball, step)) for ball in balls for step in STEPS), key=_length)
    drawing.arrow(start, end)
    return drawing.svg()


STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))


def _rolled(maze: rollingballs.Instance, ball: tuple[int, int], step: tuple[int, int]) -> tuple[int, int]:
    row, column = ball
    while True:
        after = (row + step[0], column + step[1])
        if not (0 <= after[0] < maze.height and 0 <= after[1] < maze.width) or maze.start[after] != rollingballs.EMPTY:
            return row, column
        row, column = after


def _length(roll: tuple[tuple[int, int], tuple[int, int]]) -> int:
    (r1, c1), (r2, c2) = roll
    return abs(r1 - r2) + abs(c1 - c2)


def jump_of_lazypiglets() -> str:
    """The first sample's map and the first step of its plan, which is a jump."""
    map_ = lazypiglets.read_instance(sample("lazypiglets", "01-sample.in"))
    plan = lazypiglets.read_answer(sample("lazypiglets", "01-sample.out"), map_).moves()
    drawing = Drawing(map_.size, map_.size)
    drawing.indices(map_.size, map_.size, 1)
    for row, column in square(map_.size, map_.size):
        drawing.box((row, column), "wall" if map_.is_tree((row + 1, column + 1)) else "cell")
    for row, column in map_.haystacks:
        drawing.goal((row - 1, column - 1))
    for row, column in map_.pigs:
        drawing.disc((row - 1, column - 1), "piece")
    (r1, c1), (r2, c2) = plan[0]
    drawing.arc((r1 - 1, c1 - 1), (r2 - 1, c2 - 1))
    return drawing.svg()


def moves_of_lasttreat() -> str:
    """All moves from the fourth position of the second sample, as cells of the table of positions."""
    line = sample("lasttreat", "02-sample.in").split(b"\n")[4]
    a, b, k = map(int, line.split())
    drawing = Drawing(a + 1, b + 1)
    drawing.indices(a + 1, b + 1, 0)
    cells(drawing, square(a + 1, b + 1))
    taken = range(1, k + 1)
    moves = [(a - i, b) for i in taken] + [(a, b - i) for i in taken] + [(a - i, b - i) for i in taken]
    places = [(row, column) for row, column in moves if row >= 0 and column >= 0]
    cells(drawing, places, "mark")
    drawing.disc((a, b), "piece")
    for end in ((min(row for row, _ in places), b), (a, min(column for row, column in places if row == a))):
        drawing.arrow((a, b), end)
    drawing.arrow((a, b), min(place for place in places if place[0] < a and place[1] < b))
    return drawing.svg()


def game_of_lasttreat() -> str:
    """The table of positions of the first sample, lost ones tinted, and the trap in which the mirror move fails."""
    a, b, k = open_game("lasttreat").start(started("lasttreatduel", "01-sample")).piles
    drawing = Drawing(a + 1, b + 1)
    drawing.indices(a + 1, b + 1, 0)
    places = square(a + 1, b + 1)
    cells(drawing, places)
    cells(drawing, (place for place in places if is_lost(*place, k)), "mark")
    drawing.disc((a, b), "piece")
    way = [(a, b), (a, b - 1), (a - k, b - 1 - k), (0, 0)]
    for start, end in pairwise(way):
        drawing.arrow(start, end)
    return drawing.svg()


def walk_of_the_duel() -> str:
    """The first sample's board; small numbers tell the order in which the piece stands on its cells."""
    text = sample("games/optimizaduel", "01-sample.ans").decode()
    walk = replay(read(text)).position.walk
    board = optimiza.read_instance(started("optimizaduel", "01-sample").partition("walk")[0].encode())
    drawing = board_of_optimiza(board)
    for at, cell in enumerate(walk, start=1):
        row, column = divmod(cell, board.size)
        drawing.text((row - 0.32, column - 0.32), at, "index")
    return drawing.svg()


def started(slug: str, name: str) -> str:
    """The position of a sample that is played."""
    return played.read_instance(sample(f"games/{slug}", f"{name}.in")).instance


def board_of_optimiza(board: optimiza.Instance) -> Drawing:
    """A board with its numbers."""
    drawing = Drawing(board.size, board.size)
    drawing.indices(board.size, board.size, 1)
    for row, column in square(board.size, board.size):
        if value := board.values[row * board.size + column]:
            drawing.box((row, column), "cell")
            drawing.text((row, column), value)
    return drawing


def walk_of_optimiza() -> str:
    """The first sample's board; small numbers tell the order in which the walk of its answer visits the cells."""
    board = optimiza.read_instance(sample("optimiza", "01-sample.in"))
    walk = optimiza.read_answer(sample("optimiza", "01-sample.out"), board).cells
    drawing = board_of_optimiza(board)
    for at, (row, column) in enumerate(walk, start=1):
        drawing.text((row - 1.32, column - 1.32), at, "index")
    return drawing.svg()


def moves_of_optimiza(name: str, cell: tuple[int, int]) -> str:
    """A sample's board, a cell (1-based), and where its move leads: tinted, and ringed where the number is less."""
    board = optimiza.read_instance(sample("optimiza", f"{name}.in"))
    drawing = board_of_optimiza(board)
    start = (cell[0] - 1, cell[1] - 1)
    ends = optimiza.destinations(board)[start[0] * board.size + start[1]]
    value = board.values[start[0] * board.size + start[1]]
    for end in sorted({int(each) for each in ends if each >= 0}):
        row, column = divmod(end, board.size)
        drawing.box((row, column), "mark")
        drawing.text((row, column), board.values[end])
        if board.values[end] < value:
            drawing.disc((row, column), "gone", 15)
    drawing.disc(start, "piece", 15)
    drawing.text(start, value)
    return drawing.svg()


def net_of_netgame(data: bytes) -> str:
    """A net: ropes with their numbers, whole cells tinted, the ropes that win marked."""
    net = netgame.read_instance(data)
    left = min(min(x1, x2) for x1, _, x2, _ in net.ropes)
    top = max(max(y1, y2) for _, y1, _, y2 in net.ropes)
    scale = 2

    def place(x: float, y: float) -> Place:
        return (top - y) * scale, (x - left) * scale

    rows = (top - min(min(y1, y2) for _, y1, _, y2 in net.ropes)) * scale
    columns = (max(max(x1, x2) for x1, _, x2, _ in net.ropes) - left) * scale
    drawing = Drawing(rows + 0.5, columns + 0.5, margin=0.5)
    for x, y in netgame.whole_cells(net):
        drawing.block(place(x, y + 1), scale)
    winning = netgame.winning_ropes(net)
    for number, (x1, y1, x2, y2) in enumerate(net.ropes, start=1):
        drawing.line(place(x1, y1), place(x2, y2), "best" if number in winning else "rope")
        middle = place((x1 + x2) / 2, (y1 + y2) / 2)
        drawing.disc(middle, "plate", 11)
        drawing.text(middle, number)
    return drawing.svg()


FIGURES: dict[str, Callable[[], str]] = {
    "comesolo/statement/jump.svg": jump_of_comesolo,
    "rollingballs/statement/roll.svg": roll_of_rollingballs,
    "lazypiglets/statement/jump.svg": jump_of_lazypiglets,
    "lasttreat/statement/moves.svg": moves_of_lasttreat,
    "optimiza/statement/walk.svg": walk_of_optimiza,
    "optimiza/statement/torus8.svg": lambda: moves_of_optimiza("02-n05-torus8", (2, 2)),
    "optimiza/statement/klein8.svg": lambda: moves_of_optimiza("05-n05-klein8", (1, 1)),
    "optimiza/statement/hex.svg": lambda: moves_of_optimiza("06-n05-hex", (5, 3)),
    "netgame/statement/net.svg": lambda: net_of_netgame(sample("netgame", "01-sample.in")),
    "netgame/statement/square.svg": lambda: net_of_netgame(sample("netgame", "02-sample.in")),
    "games/lasttreatduel/statement/game.svg": game_of_lasttreat,
    "games/netgameduel/statement/net.svg": lambda: net_of_netgame(started("netgameduel", "01-sample").encode()),
    "games/optimizaduel/statement/walk.svg": walk_of_the_duel,
}
"""What draws each picture, by its path below problems/."""


def outdated() -> list[str]:
    """The pictures that are missing, or not as they would be drawn."""
    paths = {name: PROBLEMS / name for name in FIGURES}
    return [name for name, path in paths.items() if not path.is_file() or path.read_text("utf-8") != FIGURES[name]()]


def main() -> None:
    """Write all pictures, or name those that are outdated."""
    if sys.argv[1:] == ["--check"]:
        names = outdated()
        sys.exit("\n".join(f"{name}: not as it would be drawn: make figures" for name in names) or 0)
    for name, draw in FIGURES.items():
        (PROBLEMS / name).write_text(draw(), "utf-8")
        print(f"problems/{name}")


if __name__ == "__main__":
    main()
