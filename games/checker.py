"""A game against the judge is won, and its transcript is the answer: the checker `game` of problems that are played.

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
from itertools import zip_longest
from typing import cast

from checkers.doors import Message, Phrase, Rejected, Score, quote
from games.catalog import names, open_game
from games.doors import FIRST, SECOND, Side, begin
from games.transcript import NOBODY, End, Reason, Transcript, read, replay, won_by_contestant

SIDES: dict[str, Side] = {"side 0": FIRST, "side 1": SECOND}
REASONS: dict[Reason, str] = {
    "resigned": Phrase("a resigned game"),
    "late": Phrase("a game lost on time"),
    "illegal": Phrase("a game lost by an illegal move"),
    "broken": Phrase("an interrupted game"),
}


@dataclass(frozen=True, slots=True)
class Start:
    """The start of a game: its rules and the opponent by name, the contestant's side, and the position as text.

    side  None: the game's own choice for whoever asks
    """

    game: str
    opponent: str
    side: Side | None
    instance: str

    @property
    def contestant(self) -> Side:
        """The side that the contestant has."""
        return open_game(self.game).asker if self.side is None else self.side

    @property
    def lines_before(self) -> int:
        """The number of lines above the position."""
        return 2 if self.side is None else 3


@dataclass(frozen=True, slots=True)
class Answer:
    """A transcript as it was read, and its text for `write_answer`."""

    text: str
    transcript: Transcript


def read_instance(data: bytes) -> Start:
    """Parse the start of a game, and hold its position against the rules; raises Rejected."""
    try:
        lines = data.decode().split("\n", 2)
    except UnicodeDecodeError:
        raise Rejected.at(Phrase("input"), expected=Phrase("text in UTF-8"), found=Phrase("other bytes")) from None
    game, opponent = (_named(lines, at, word) for at, word in enumerate(("game", "opponent")))
    rest = lines[2] if len(lines) > 2 else ""
    head, _, below = rest.partition("\n")
    if game not in names():
        raise Rejected.at(
            Phrase("line %(number)s", number=1),
            expected=Phrase("game and one of %(names)s", names=", ".join(names())),
            found=quote(game.encode()),
        )
    rules = open_game(game)
    if opponent not in rules.opponents:
        known = ", ".join(rules.opponents)
        raise Rejected.at(
            Phrase("line %(number)s", number=2),
            expected=Phrase("opponent and one of %(known)s", known=known),
            found=quote(opponent.encode()),
        )
    side = SIDES.get(head)
    start = Start(game, opponent, side, rest if side is None else below)
    try:
        rules.start(start.instance)
    except Rejected as error:
        raise _further_down(error, start.lines_before) from None
    return start


def check_instance(instance: Start) -> None:
    """Raise Rejected unless a game begins here that the contestant can win, as far as perfect play is known."""
    rules = open_game(instance.game)
    where, expected = (
        Phrase("line %(number)s", number=instance.lines_before + 1),
        Phrase("a position that can be won by %(sides)s", sides=rules.sides[instance.contestant]),
    )
    try:
        position = begin(rules, instance.instance)
    except Rejected:
        raise Rejected.at(where, expected=expected, found=Phrase("a finished game")) from None
    outlook = rules.outlook(position)
    if outlook.won is not None and outlook.won is not (rules.to_move(position) == instance.contestant):
        raise Rejected.at(where, expected=expected, found=Phrase("a lost game (%(note)s)", note=outlook.note))


def read_answer(data: bytes, instance: Start) -> Answer:
    """Parse a transcript of a game from the instance's start; raises Rejected for any other file."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise Rejected.at(Phrase("transcript"), expected=Phrase("text in UTF-8"), found=Phrase("other bytes")) from None
    transcript, rules = read(text), open_game(instance.game)
    _same("game", instance.game, transcript.game)
    _same("opponent", instance.opponent, transcript.opponent or NOBODY)
    _same("side", rules.sides[instance.contestant], rules.sides[transcript.contestant])
    ours, theirs = (_lines(instance.game, text) for text in (instance.instance, transcript.instance))
    for number, (expected, actual) in enumerate(zip_longest(ours, theirs, fillvalue=""), start=1):
        _same(Phrase("position, line %(number)s", number=number), expected, actual)
    return Answer(text, transcript)


def write_answer(answer: Answer) -> str:
    """Give the transcript's text."""
    return answer.text


def score_answer(instance: Start, answer: Answer, reference: bytes | None = None) -> Score:
    """Replay the game, the opponent's moves too; raises Rejected unless the contestant has won it.

    `reference` is not needed: the rules alone tell who has won.
    """
    transcript = answer.transcript
    outcome, moves = replay(transcript), len(transcript.moves)
    if outcome.fault is not None:
        message = outcome.fault.message
        raise Rejected(message.text, key=message.key, **message.args)
    if not won_by_contestant(transcript, outcome):
        raise Rejected.at(
            Phrase("move %(move)s", move=moves), expected=Phrase("a game that is won"), found=_lost(transcript.end)
        )
    return Score(1, 1, 1, Message("game-won", f"won in {moves} moves", {"moves": moves}))


def _lost(end: End | None) -> str:
    """Say how a game was not won, from its end as the transcript has it."""
    if end is None:
        return Phrase("an unfinished game")
    reason = REASONS.get(end.reason, Phrase("a draw") if end.winner is None else Phrase("a lost game"))
    return Phrase("%(reason)s (%(text)s)", reason=reason, text=end.text) if end.text else reason


def _named(lines: list[str], at: int, word: str) -> str:
    line = lines[at] if at < len(lines) else ""
    name = line.removeprefix(f"{word} ")
    if name == line or not name:
        raise Rejected.at(
            Phrase("line %(number)s", number=at + 1),
            expected=Phrase("%(word)s and a name", word=word),
            found=quote(line.encode()),
        )
    return name


def _further_down(error: Rejected, lines: int) -> Rejected:
    """Give a rejection of a position that begins below so many lines, with the line of the file."""
    where, args = error.message.args.get("where"), error.message.args
    if not isinstance(where, Phrase) or "number" not in where.values:
        return error
    number = cast(int, where.values["number"]) + lines
    moved = Phrase(where.source, **{**where.values, "number": number})
    return Rejected.at(moved, expected=cast(str, args["expected"]), found=cast(str, args["found"]))


def _same(name: str, expected: str, actual: str) -> None:
    """Raise Rejected unless a transcript has what the case has."""
    if expected != actual:
        raise Rejected.at(name, expected=quote(expected.encode()), found=quote(actual.encode()))


def _lines(game: str, instance: str) -> list[str]:
    """Give the lines of a position as its game writes it."""
    rules = open_game(game)
    return rules.to_text(rules.start(instance)).splitlines()
