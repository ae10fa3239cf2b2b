"""Transcripts of games: text that people read, and that one function verifies move by move.

    transcript of a game, version 1
    game: lasttreat
    contestant: first
    opponent: adversarial
    seed: 17
    position:
        2 5 2
    moves:
        1 first 0.532 s: 0 1
        2 second 0.001 s: 2 2
        3 first 4.210 s: 0 2
    end: over, first won

Moves are numbered from 1, each with its player, the seconds it took, and its text. `opponent: none` says that no one of
the catalogue played the other side, so that its moves may be any legal ones; otherwise they must be those that the
opponent chooses with the numbers drawn for the seed and the move's number. The position's lines, its `start` text, are
indented by four spaces. A game that continues has no `end`; the other ends are `resigned`, `late`, `illegal` and
`broken` (the connection or the program), each with the winner, and `illegal` with the reason behind a colon.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from checkers.doors import Message, Phrase, Rejected
from games.catalog import names, open_game
from games.doors import FIRST, MOVE, SECOND, AnyGame, Position, Side, begin, draws, other, shown

MAGIC = "transcript of a game, version 1"
INDENT = "    "
NOBODY = "none"
LARGEST_SEED = 2**63 - 1
MOVE_LINE = re.compile(r" {4}([1-9][0-9]{0,8}) (\S{1,40}) ([0-9]{1,9}\.[0-9]{3}) s: (.*)", re.ASCII)
NUMBER = re.compile(r"0|[1-9][0-9]{0,18}", re.ASCII)
END_LINE = re.compile(r"([a-z]{1,20}), (?:(\S{1,40}) won|draw)(?:: (.*))?", re.ASCII)

Reason = Literal["over", "resigned", "late", "illegal", "broken"]
REASONS: tuple[Reason, ...] = get_args(Reason)


@dataclass(frozen=True, slots=True)
class Move:
    """A move: its player, its text, and the seconds it took, to a thousandth."""

    side: Side
    text: str
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class End:
    """How a game ended: by its rules (`over`), or because a player resigned, was late, moved illegally or fell silent.

    winner  None for a draw
    text    one line that says more, such as what was wrong with an illegal move
    """

    reason: Reason
    winner: Side | None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Transcript:
    """A game as it was played. `opponent` is a name of the catalogue, None where anyone played the other side."""

    game: str
    instance: str
    contestant: Side
    opponent: str | None
    seed: int
    moves: tuple[Move, ...]
    end: End | None = None


@dataclass(frozen=True, slots=True)
class Fault:
    """The first thing wrong with a transcript: at a move (from 1), or, with number None, at its position or its end.

    The message says where it is, with the number of the move.
    """

    number: int | None
    message: Message


@dataclass(frozen=True)
class Outcome:
    """What replaying a transcript gives: the last position that is sound, who won, and what is wrong, if anything."""

    position: Position
    winner: Side | None
    fault: Fault | None = None


def replay(transcript: Transcript, watch: Callable[[int, Move, Any], None] | None = None) -> Outcome:
    """Play a game again and verify everything: whose moves, legal moves, the opponent's own moves, and the end.

    `watch` is called after each sound move with its number, the move, and the position that it leads to.
    """
    game = open_game(transcript.game)
    position: Position = None
    number: int | None = None
    try:
        position = begin(game, transcript.instance)
        for number, move in enumerate(transcript.moves, start=1):
            verify_move(game, transcript, position, number)
            position = game.apply(position, move.text)
            if watch is not None:
                watch(number, move, position)
        number = None
        return Outcome(position, verified_winner(game, transcript.end, position))
    except Rejected as error:
        return Outcome(position, None, Fault(number, _numbered(error.message, number)))


def _numbered(message: Message, number: int | None) -> Message:
    """Say of which move a message is; None: of none."""
    if number is None:
        return message
    about, where = Phrase("move %(move)s", move=number), message.args.get("where")
    if where is None:
        return Message(message.key, f"{about}, {message.text}", message.args)
    place = about if where == MOVE else Phrase("move %(move)s, %(where)s", move=number, where=where)
    return Rejected.at(
        place, expected=cast(str, message.args["expected"]), found=cast(str, message.args["found"])
    ).message


def verify_move(game: AnyGame, transcript: Transcript, position: Position, number: int) -> None:
    """Raise Rejected unless a move is its player's turn, and the opponent's own where it is the opponent's."""
    move = transcript.moves[number - 1]
    if game.over(position):
        raise Rejected.at(MOVE, expected=Phrase("no move, as the game is over"), found=shown(move.text))
    turn = game.to_move(position)
    if move.side != turn:
        raise Rejected.at(
            MOVE,
            expected=Phrase("a move of %(sides)s", sides=game.sides[turn]),
            found=Phrase("one of %(sides)s", sides=game.sides[move.side]),
        )
    if transcript.opponent is not None and turn != transcript.contestant:
        own = game.opponents[transcript.opponent].choose(position, draws(transcript.seed, number))
        if own != move.text:
            expected = Phrase(
                "%(move)s, the move of %(opponent)s with seed %(seed)s",
                move=shown(own),
                opponent=transcript.opponent,
                seed=transcript.seed,
            )
            raise Rejected.at(MOVE, expected=expected, found=shown(move.text))


def verified_winner(game: AnyGame, end: End | None, position: Position) -> Side | None:
    """Give the winner of a game that came to this position and ended so; raises Rejected where that cannot be."""
    over = game.over(position)
    if over and (end is None or end.reason != "over"):
        raise Rejected.at(
            Phrase("end"), expected=Phrase("over"), found="a game that goes on" if end is None else end.reason
        )
    if end is None:
        return None
    if not over and end.reason == "over":
        raise Rejected.at(
            Phrase("end"), expected=Phrase("another reason, as the game is not over"), found=Phrase("over")
        )
    winner = game.winner(position) if over else end.winner
    if winner != end.winner or (winner is None and not over):
        expected = Phrase("a winner") if winner is None and not over else _winner(game, winner)
        raise Rejected.at(Phrase("end"), expected=expected, found=_winner(game, end.winner))
    return winner


def write(transcript: Transcript) -> str:
    """Write a transcript so that `read` gives it back."""
    game = open_game(transcript.game)
    lines = [
        MAGIC,
        f"game: {transcript.game}",
        f"contestant: {game.sides[transcript.contestant]}",
        f"opponent: {transcript.opponent or NOBODY}",
        f"seed: {transcript.seed}",
        "position:",
        *(INDENT + line for line in transcript.instance.removesuffix("\n").split("\n")),
        "moves:",
    ]
    for number, move in enumerate(transcript.moves, start=1):
        lines.append(f"{INDENT}{number} {game.sides[move.side]} {move.seconds:.3f} s: {move.text}")
    if (end := transcript.end) is not None:
        lines.append(f"end: {end.reason}, {_winner(game, end.winner)}" + (f": {end.text}" if end.text else ""))
    return "\n".join(lines) + "\n"


def is_transcript(data: bytes) -> bool:
    """Tell whether a file says that it is a transcript."""
    return data.startswith(MAGIC.encode())


def read(text: str) -> Transcript:
    """Read a transcript; raises Rejected at the first line that is not as this module's docstring says.

    What it tells is not verified here: see `replay`.
    """
    lines = _Lines(text)
    lines.expect(MAGIC)
    game = open_game(lines.one_of("game", names()))
    contestant = game.sides.index(lines.one_of("contestant", game.sides))
    opponent = lines.one_of("opponent", (*game.opponents, NOBODY))
    seed = lines.number("seed")
    lines.expect("position:")
    position = lines.indented()
    lines.expect("moves:")
    moves = tuple(_read_move(lines, game, number) for number, _ in enumerate(lines.indented(ahead=True), start=1))
    end = _read_end(lines, game)
    lines.finish()
    return Transcript(
        game.slug,
        "".join(f"{line[len(INDENT) :]}\n" for line in position),
        _side(contestant),
        None if opponent == NOBODY else opponent,
        seed,
        moves,
        end,
    )


class _Lines:
    """The lines of a file, read in order; every fault is a Rejected with the line's number."""

    def __init__(self, text: str) -> None:
        *self.lines, rest = text.split("\n")
        self.at = 0
        if rest:
            where = Phrase("line %(number)s", number=len(self.lines) + 1)
            raise Rejected.at(where, expected=Phrase("a line feed at the end of the file"), found=shown(rest))

    @property
    def line(self) -> str | None:
        return self.lines[self.at] if self.at < len(self.lines) else None

    def refusal(self, expected: str) -> Rejected:
        actual = Phrase("the end of the file") if self.line is None else shown(self.line)
        return Rejected.at(Phrase("line %(number)s", number=self.at + 1), expected=expected, found=actual)

    def expect(self, line: str) -> None:
        if self.line != line:
            raise self.refusal(f'"{line}"')
        self.at += 1

    def field(self, name: str, expected: str, fits: Callable[[str], bool]) -> str:
        value = (self.line or "").removeprefix(f"{name}: ")
        if self.line != f"{name}: {value}" or not fits(value):
            raise self.refusal(f'"{name}: " and {expected}')
        self.at += 1
        return value

    def one_of(self, name: str, known: tuple[str, ...]) -> str:
        return self.field(name, f"one of {', '.join(known)}", lambda value: value in known)

    def number(self, name: str) -> int:
        def fits(value: str) -> bool:
            return NUMBER.fullmatch(value) is not None and int(value) <= LARGEST_SEED

        return int(self.field(name, f"a number from 0 to {LARGEST_SEED}", fits))

    def indented(self, *, ahead: bool = False) -> list[str]:
        """Give the indented lines from here on; they are read unless `ahead` asks only to look."""
        end = self.at
        while end < len(self.lines) and self.lines[end].startswith(INDENT):
            end += 1
        lines = self.lines[self.at : end]
        self.at = self.at if ahead else end
        return lines

    def finish(self) -> None:
        if self.line is not None:
            raise self.refusal("the end of the file")


def _read_move(lines: _Lines, game: AnyGame, number: int) -> Move:
    match = MOVE_LINE.fullmatch(lines.line or "")
    if match is None or int(match[1]) != number or match[2] not in game.sides:
        raise lines.refusal(f'move {number} as "{number} PLAYER SECONDS s: MOVE", by {" or ".join(game.sides)}')
    lines.at += 1
    return Move(_side(game.sides.index(match[2])), match[4], float(match[3]))


def _read_end(lines: _Lines, game: AnyGame) -> End | None:
    if lines.line is None:
        return None
    reasons = ", ".join(REASONS)
    expected = Phrase('"end: REASON, PLAYER won" with a reason of %(reasons)s, or "end: over, draw"', reasons=reasons)
    match = END_LINE.fullmatch(lines.line.removeprefix("end: ")) if lines.line.startswith("end: ") else None
    if match is None or match[1] not in REASONS or match[2] not in {*game.sides, None} or match[3] == "":
        raise lines.refusal(expected)
    lines.at += 1
    winner = None if match[2] is None else _side(game.sides.index(match[2]))
    return End(cast("Reason", match[1]), winner, match[3] or "")


def _winner(game: AnyGame, winner: Side | None) -> str:
    return "draw" if winner is None else f"{game.sides[winner]} won"


def _side(at: int) -> Side:
    return SECOND if at else FIRST


def won_by_contestant(transcript: Transcript, outcome: Outcome) -> bool:
    """Tell whether the contestant has won a game that is sound to its end."""
    return outcome.fault is None and transcript.end is not None and outcome.winner == transcript.contestant


def loser_end(reason: Reason, loser: Side, text: str = "") -> End:
    """Make the end of a game that a player lost otherwise than by its rules; the text becomes one line."""
    return End(reason, other(loser), " ".join(text.split()))
