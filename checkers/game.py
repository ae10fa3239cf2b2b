"""A game against the judge is won, and its transcript is the answer: the checker of problems that are played.

Instance
    Lines `game NAME` and `opponent NAME`, then `side 0` or `side 1` where the contestant has another side than usual,
    and below them the position at the start as the rules of the game write it.
Answer
    The transcript of one game from that position against that opponent, as the service writes it when a game ends.
Raw score
    1 for a game that is won.
Rejected when
    It is no transcript, or that of another game, position, side or opponent; a move in it is not what the rules allow,
    or not what the opponent plays with its seed; or the game is not won, for the reason that the message gives.
Source
    Jurado: games are played over the API, and their transcripts are kept where other problems have answer files.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from checkers.doors import Message, Rejected, Score, quote

SIDES = {"side 0": 0, "side 1": 1}
REASONS = {
    "resigned": "one that was resigned",
    "late": "one that was lost on time",
    "illegal": "one that was lost by an illegal move",
    "broken": "one that was broken off",
}


@dataclass(frozen=True, slots=True)
class Start:
    """The start of a game: its rules and the opponent by name, the contestant's side, and the position as text.

    side  0 or 1; None: the game's own choice for whoever asks
    """

    game: str
    opponent: str
    side: int | None
    instance: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A transcript as it was read: text for `write_answer`, the rest as `games.transcript` has it."""

    text: str
    transcript: Any


def read_instance(data: bytes) -> Start:
    """Parse the start of a game, and hold its position against the rules; raises Rejected."""
    try:
        lines = data.decode().split("\n", 2)
    except UnicodeDecodeError:
        raise Rejected.at("input", expected="text in UTF-8", found="other bytes") from None
    game, opponent = (_named(lines, at, word) for at, word in enumerate(("game", "opponent")))
    rest = lines[2] if len(lines) > 2 else ""
    head, _, below = rest.partition("\n")
    side = SIDES.get(head)
    rules = _games().get(game)
    if rules is None:
        raise Rejected.at("line 1", expected=f"game and one of {', '.join(_games())}", found=quote(game.encode()))
    if opponent not in rules.opponents:
        known = ", ".join(rules.opponents)
        raise Rejected.at("line 2", expected=f"opponent and one of {known}", found=quote(opponent.encode()))
    instance = rest if side is None else below
    rules.start(instance)
    return Start(game, opponent, side, instance)


def read_answer(data: bytes, instance: Start) -> Answer:
    """Parse a transcript of a game from the instance's start; raises Rejected for any other file."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise Rejected.at("transcript", expected="text in UTF-8", found="other bytes") from None
    transcript = import_module("games.transcript").read(text)
    rules = _games()[instance.game]
    side = rules.asker if instance.side is None else instance.side
    for name, expected, actual in (
        ("game", instance.game, transcript.game),
        ("opponent", instance.opponent, transcript.opponent),
        ("side", side, transcript.contestant),
        ("position", _same_text(rules, instance.instance), _same_text(rules, transcript.instance)),
    ):
        if expected != actual:
            raise Rejected.at(name, expected=quote(str(expected).encode()), found=quote(str(actual).encode()))
    return Answer(text, transcript)


def write_answer(answer: Answer) -> str:
    """Give the transcript's text."""
    return answer.text


def score_answer(instance: Start, answer: Answer, reference: bytes | None = None) -> Score:
    """Replay the game, the opponent's moves too; raises Rejected unless the contestant has won it.

    `reference` is not needed: the rules alone tell who has won.
    """
    transcripts = import_module("games.transcript")
    transcript = answer.transcript
    outcome, moves = transcripts.replay(transcript), len(transcript.moves)
    if outcome.fault is not None:
        where = "end" if outcome.fault.number is None else f"move {outcome.fault.number}"
        raise Rejected(f"{where}: {outcome.fault.message.text}", key="game-fault", where=where)
    if not transcripts.won_by_contestant(transcript, outcome):
        raise Rejected.at(f"move {moves}", expected="a game that is won", found=_lost(transcript.end))
    return Score(1, 1, 1, Message("game-won", f"won in {moves} moves", {"moves": moves}))


def _lost(end: Any) -> str:
    """Say how a game was not won, from its end as the transcript has it."""
    if end is None:
        return "one that goes on"
    reason = REASONS.get(end.reason, "a draw" if end.winner is None else "one that is lost")
    return f"{reason} ({end.text})" if end.text else reason


def _named(lines: list[str], at: int, word: str) -> str:
    line = lines[at] if at < len(lines) else ""
    name = line.removeprefix(f"{word} ")
    if name == line or not name:
        raise Rejected.at(f"line {at + 1}", expected=f"{word} and a name", found=quote(line.encode()))
    return name


def _same_text(rules: Any, instance: str) -> str:
    return str(rules.to_text(rules.start(instance)))


def _games() -> Any:
    # Not imported above: the rules of games are read by checkers of their own, which are in this room.
    return import_module("games.catalog").games()
