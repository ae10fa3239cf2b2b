"""Positions on a terminal: the game's own picture, in colours where there are any."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from games.doors import Game

STYLES = {"plain": "", "dim": "dim", "move": "green", "mark": "bold reverse"}


def picture(game: Game[Any], position: Any) -> Text:
    """Draw a position; lines are cut at the width of the terminal and never folded, as folded boards are unreadable."""
    text = Text(no_wrap=True, overflow="crop")
    for line in game.picture(position):
        for part, style in line:
            text.append(part, STYLES[style])
        text.append("\n")
    text.right_crop(1)
    return text
