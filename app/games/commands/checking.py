"""A transcript as `jurado check` takes it: replayed from its first move to its end."""

from __future__ import annotations

from pathlib import Path

from app.core.commands.names import read_file
from app.core.commands.output import Failure
from app.games.commands.choices import game_named
from checkers.doors import Message, Rejected, Score
from games.transcript import Transcript, is_transcript, read, replay, won_by_contestant

LARGEST = 64 * 2**20


def transcript_file(path: Path) -> bytes:
    """Read a transcript; raises Failure where the file is something else."""
    data = read_file(path, "transcript", limit=LARGEST)
    if not is_transcript(data):
        raise Failure(f"{path}: expected a transcript of a game, or PROBLEM INPUT ANSWER, found something else")
    return data


def score_transcript(data: bytes, position: bytes | None = None) -> Score:
    """Replay a transcript: raw score 1 where the contestant won, 0 where not.

    Raises Rejected at its first fault, and where it does not begin at `position`, if one is given; Failure where that
    is no position of the game.
    """
    if len(data) > LARGEST:
        raise Rejected.at("file", expected=f"at most {LARGEST} bytes", found="more")
    transcript = read(data.decode("utf-8", "backslashreplace"))
    if position is not None:
        hold_start(transcript, position)
    outcome = replay(transcript)
    if outcome.fault is not None:
        message = outcome.fault.message
        raise Rejected(message.text, key=message.key, **message.args)
    won = won_by_contestant(transcript, outcome)
    return Score(int(won), 1, int(won), Message("game-replayed", summary(transcript, won=won)))


def hold_start(transcript: Transcript, position: bytes) -> None:
    """Raise Rejected unless a transcript begins at this position."""
    game = game_named(transcript.game)
    try:
        expected = game.start(position.decode("utf-8", "backslashreplace"))
    except Rejected as error:
        raise Failure(f"input: {error}") from None
    if game.start(transcript.instance) != expected:
        raise Rejected.at("position", expected="that of the input", found="another one")


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
