"""A board drawn with characters, with the numbers of its rows and columns."""

from __future__ import annotations

from games.doors import Picture, Style
from games.optimiza.position import Position

Spans = list[tuple[str, Style]]


def drawn_board(position: Position) -> Picture:
    """Draw the board, and below it who began and what has been collected."""
    size, values = position.board.size, position.board.values
    width = len(str(size)) + 2
    steps = set(position.steps) if position.starter is not None else set()
    heading: Spans = [(" " * width + "|" + "".join(f"{c:>{width - 1}} " for c in range(1, size + 1)), "dim")]
    lines: list[Spans] = [heading, [("-" * width + "+" + "-" * width * size, "dim")]]
    for row in range(size):
        spans: Spans = [(f"{row + 1:>{width - 1}} |", "dim")]
        for cell in range(row * size, row * size + size):
            if values[cell]:
                spans.append(_cell(position, cell, width, cell in steps))
        lines.append(spans)
    begins = "" if position.starter is None else f"{'AB'[position.starter]} began; "
    lines.append([(f"{begins}{position.prize} collected", "plain")])
    return tuple(map(tuple, lines))


def _cell(position: Position, cell: int, width: int, is_step: bool) -> tuple[str, Style]:
    value = str(position.board.values[cell])
    if position.walk and cell == position.cell:
        return f"[{value}]".rjust(width), "mark"
    if cell in position.walk:
        return ". ".rjust(width), "dim"
    return (f"({value})".rjust(width), "move") if is_step else (f"{value} ".rjust(width), "plain")
