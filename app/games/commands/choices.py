"""What commands for games are asked for: a game, its positions, an opponent, a side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.core.commands.names import nearest, read_file
from app.core.commands.output import Failure
from checkers.doors import Rejected
from games.catalog import names, open_game
from games.doors import FIRST, SECOND, Game, Opponent, Side, begin

LARGEST_POSITION = 2**20


def game_named(name: str) -> Game[Any]:
    """Open a game by its name; raises Failure with the nearest one where there is none."""
    if name not in names():
        raise nearest("game", name, names())
    return open_game(name)


def opponent_named(game: Game[Any], name: str) -> Opponent[Any]:
    """Find an opponent of a game; raises Failure with the nearest one where there is none."""
    if name not in game.opponents:
        raise nearest(f"opponent for {game.slug}", name, game.opponents)
    return game.opponents[name]


def side_named(game: Game[Any], name: str | None) -> Side:
    """Find a side by what the game calls it, or by 1 and 2; the asker's where none is named."""
    if name is None:
        return game.asker
    known: dict[str, Side] = {game.sides[0].lower(): FIRST, game.sides[1].lower(): SECOND, "1": FIRST, "2": SECOND}
    if name.lower() not in known:
        raise Failure(f"--as: expected {game.sides[0]} or {game.sides[1]}, found {name!r}")
    return known[name.lower()]


def positions(game: Game[Any], texts: Sequence[str]) -> list[str]:
    """Give the texts of the positions asked for: each a file, `-`, or a position on one line; the sample for none."""
    return [position_text(game, text) for text in texts] or [game.sample]


def position_text(game: Game[Any], text: str) -> str:
    """Read one position; raises Failure unless a game can begin there."""
    position = read_position(text)
    try:
        return game.to_text(begin(game, position))
    except Rejected as error:
        hint = "" if text == "-" or Path(text).exists() else " (and there is no file of that name)"
        raise Failure(f"position {text}: {error}{hint}") from None


def read_position(text: str) -> str:
    """Give the text of a position: that of the file named, of standard input for `-`, or the words as they are."""
    if text != "-" and not Path(text).is_file():
        return text
    data = read_file(Path(text), "position", limit=LARGEST_POSITION)
    if len(data) > LARGEST_POSITION:
        raise Failure(f"position {text}: expected at most {LARGEST_POSITION} bytes, found more")
    return data.decode("utf-8", "backslashreplace")
