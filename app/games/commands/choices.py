"""What commands for games are asked for: a game, its positions, an opponent, a side.

- A transcript as `jurado check` takes it: replayed from its first move to its end.
"""

from collections.abc import Sequence
from pathlib import Path

from app.core.commands.output import Failure, nearest, read_file
from checkers.doors import Message, Rejected, Score
from games.catalog import names, open_game
from games.doors import FIRST, SECOND, AnyGame, AnyOpponent, Side, begin
from games.transcript import Transcript, is_transcript, read, replay, won_by_contestant

LARGEST_POSITION = 2**20


def game_named(name: str) -> AnyGame:
    """Open a game by its name; raises Failure with the nearest one where there is none."""
    if name not in names():
        raise nearest("game", name, names())
    return open_game(name)


def opponent_named(game: AnyGame, name: str) -> AnyOpponent:
    """Find an opponent of a game; raises Failure with the nearest one where there is none."""
    if name not in game.opponents:
        raise nearest(f"opponent for {game.slug}", name, game.opponents)
    return game.opponents[name]


def side_named(game: AnyGame, name: str | None) -> Side:
    """Find a side by what the game calls it, or by 1 and 2; the asker's where none is named."""
    if name is None:
        return game.asker
    known: dict[str, Side] = {game.sides[0].lower(): FIRST, game.sides[1].lower(): SECOND, "1": FIRST, "2": SECOND}
    if name.lower() not in known:
        raise Failure(f"--as: expected {game.sides[0]} or {game.sides[1]}, found {name!r}")
    return known[name.lower()]


def positions(game: AnyGame, texts: Sequence[str]) -> list[str]:
    """Give the texts of the positions asked for: each a file, `-`, or a position on one line; the sample for none."""
    return [position_text(game, text) for text in texts] or [game.sample]


def position_text(game: AnyGame, text: str) -> str:
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


LARGEST = 64 * 2**20


def transcript_file(path: Path) -> bytes:
    """Read a transcript; raises Failure where the file is something else."""
    data = read_file(path, "transcript", limit=LARGEST)
    if not is_transcript(data):
        raise Failure(f"{path}: expected a transcript of a game, or PROBLEM INPUT ANSWER, found something else")
    return data


def score_transcript(data: bytes) -> Score:
    """Replay a transcript: raw score 1 where the contestant won, 0 where not; raises Rejected at its first fault."""
    if len(data) > LARGEST:
        raise Rejected.at("file", expected=f"at most {LARGEST} bytes", found="more")
    transcript = read(data.decode("utf-8", "backslashreplace"))
    outcome = replay(transcript)
    if outcome.fault is not None:
        message = outcome.fault.message
        raise Rejected(message.text, key=message.key, **message.args)
    won = won_by_contestant(transcript, outcome)
    return Score(int(won), 1, int(won), Message("game-replayed", summary(transcript, won=won)))


def summary(transcript: Transcript, *, won: bool) -> str:
    """Say in one line how a sound game ended."""
    game, end = game_named(transcript.game), transcript.end
    against = "" if transcript.opponent is None else f" against {transcript.opponent}"
    if end is None:
        result = "goes on"
    elif end.winner is None:
        result = "is a draw"
    else:
        result = f"is {'won' if won else 'lost'} ({end.reason})"
    side = game.sides[transcript.contestant]
    return f"{game.slug}: the game of {side}{against} {result} after {len(transcript.moves)} moves"
