"""The doors every game opens: its rules over immutable positions, and opponents by name.

A game is a folder `games/<slug>/` whose `__init__.py` has a constant `GAME` that satisfies :class:`Game`; its docstring
has the headings statement in one sentence, Instance, Move, Won by, Opponents, Source. Positions are values: hashable,
never changed, and written as text from which they can be read again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Generic, Literal, Protocol, TypeVar

from checkers.doors import Phrase, Rejected, quote

Side = Literal[0, 1]
"""A player: 0 makes the first move of a game, 1 is the other one."""

FIRST: Side = 0
SECOND: Side = 1

Style = Literal["plain", "dim", "move", "mark"]
"""How a part of a picture is set: as it is, weak (used up), legal to choose, or where the game stands."""

Picture = tuple[tuple[tuple[str, Style], ...], ...]
"""A position drawn with characters: lines of texts, each with its style. It must be clear without the styles too."""

P = TypeVar("P", bound=Hashable)

EXACT_IN_JSON = 2**53

MOVE = Phrase("move")
"""Where a move that is refused is wrong."""
LONGEST_MOVE = 100
"""The most characters of a move's text; a longer one is malformed in every game."""


@dataclass(frozen=True, slots=True)
class Legal:
    """The legal moves of a position: all of them where they are few, otherwise None beside their rule as a sentence."""

    moves: tuple[str, ...] | None
    rule: str


@dataclass(frozen=True, slots=True)
class Outlook:
    """What perfect play makes of a position.

    won   whether the player to move wins, or None where that was not settled within the bounds of the search
    note  how that is known, for people: a proof, or how far a search went
    """

    won: bool | None
    note: str


@dataclass(frozen=True)
class Opponent(Generic[P]):
    """A way to play. `choose` gives a legal move of a position that is not over.

    The move depends on the position and on what is drawn from the random numbers, on nothing else: no clock, no memory
    of earlier moves. Stored games are replayed, so an opponent never changes: a better one takes a new name. `summary`
    is one sentence that says how it plays, honest about its bounds. A `quick` one chooses in about a millisecond, so
    that a server need not give it a thread.
    """

    summary: str
    choose: Callable[[P, Random], str]
    quick: bool = False


class Game(Protocol[P]):
    """The rules of one game. Every function is pure; those that take text raise Rejected and nothing else."""

    @property
    def slug(self) -> str:
        """The name of the game's folder: lowercase letters and digits."""
        ...

    @property
    def title(self) -> str:
        """The name of the game for people."""
        ...

    @property
    def sides(self) -> tuple[str, str]:
        """What the players 0 and 1 are called."""
        ...

    @property
    def asker(self) -> Side:
        """The side of whoever asks for a game, unless another one is asked for."""
        ...

    @property
    def sample(self) -> str:
        """An instance that is won for the asker: what is played where none is named."""
        ...

    @property
    def opponents(self) -> Mapping[str, Opponent[P]]:
        """The opponents by name; `optimal` and `random` are in every game."""
        ...

    def start(self, instance: str) -> P:
        """Read a position; raises Rejected unless the text is written exactly as the game's docstring says."""
        ...

    def to_text(self, position: P) -> str:
        """Write a position: `start` gives it back."""
        ...

    def to_move(self, position: P) -> Side:
        """Tell whose move it is, or would be if the game were not over."""
        ...

    def legal(self, position: P) -> Legal:
        """List the legal moves, or their rule; an empty list where the game is over."""
        ...

    def apply(self, position: P, move: str) -> P:
        """Make a move; raises Rejected where it is malformed or illegal, and where the game is over."""
        ...

    def over(self, position: P) -> bool:
        """Tell whether the game has ended."""
        ...

    def winner(self, position: P) -> Side | None:
        """Tell who won; None while the game is not over, and for a draw in games that have them."""
        ...

    def outlook(self, position: P) -> Outlook:
        """Tell what perfect play makes of a position, as far as the game's `optimal` knows."""
        ...

    def render(self, position: P) -> dict[str, Any]:
        """Give a position as JSON: what a page draws. Integers beyond 2^53 are strings."""
        ...

    def picture(self, position: P) -> Picture:
        """Draw a position for a terminal, in 80 columns where that is possible."""
        ...


def instance_of(game: Game[P], parameters: Mapping[str, object]) -> str:
    """Write the instance of parameters: `instance` is its text, others are of games that have a method `instance`.

    Raises Rejected for parameters that the game does not have; `start` has yet to read what comes of them.
    """
    text = parameters.get("instance")
    if parameters.keys() == {"instance"} and isinstance(text, str):
        return text
    own = getattr(game, "instance", None)
    if own is None:
        names = ", ".join(map(str, parameters)) or "none"
        raise Rejected.at(Phrase("parameters"), expected=Phrase("instance, a text"), found=shown(names))
    return str(own(parameters))


def number_of(parameters: Mapping[str, object], name: str, least: int, largest: int) -> int:
    """Read a parameter that is an integer, or its canonical decimals beyond 2^53; raises Rejected."""
    value = parameters.get(name)
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= len(str(largest)):
        value = int(value) if value == str(int(value)) else value
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= largest:
        actual = Phrase("nothing") if value is None else shown(str(value))
        raise Rejected.at(
            Phrase("parameters.%(name)s", name=name),
            expected=Phrase("a number from %(least)s to %(largest)s", least=least, largest=largest),
            found=actual,
        )
    return value


def other(side: Side) -> Side:
    """Give the other player."""
    return 1 if side == 0 else 0


def begin(game: Game[P], instance: str) -> P:
    """Read the position of a new game; raises Rejected for a finished game, as well as for malformed text."""
    position = game.start(instance)
    if game.over(position):
        raise Rejected.at(Phrase("position"), expected=Phrase("one with a legal move"), found=Phrase("a finished game"))
    return position


def json_number(value: int) -> int | str:
    """Give an integer as JSON: a string where a reader of doubles would round it."""
    return value if abs(value) <= EXACT_IN_JSON else str(value)


def draws(seed: int, number: int) -> Random:
    """Make the random numbers of one move: the same for the same seed of the game and number of the move (from 1).

    An opponent's move can so be found again from a transcript, after a restart and on another machine.
    """
    return Random(f"{seed}/{number}")


def read_numbers(text: str, count: int, *, where: str, what: str, largest: int) -> list[int]:
    """Read canonical decimals 0..largest with single spaces between; raises Rejected with `what` was expected.

    Only ASCII digits count: Python's `int` takes signs, underscores and digits of other scripts.
    """
    words = text.split(" ")
    digits = len(str(largest))
    for word in words:
        canonical = word.isascii() and word.isdigit() and (word == "0" or word[0] != "0")
        if not canonical or len(word) > digits or int(word) > largest:
            raise Rejected.at(where, expected=what, found=shown(text))
    if len(words) != count:
        raise Rejected.at(where, expected=what, found=shown(text))
    return [int(word) for word in words]


def check_length(move: str) -> None:
    """Raise Rejected for a move that is too long to be one in any game."""
    if len(move) > LONGEST_MOVE:
        raise Rejected.at(MOVE, expected=Phrase("at most %(most)s characters", most=LONGEST_MOVE), found=shown(move))


def shown(text: str) -> str:
    """Show a piece of a text in a message: short, in quotes, with every odd character spelt out."""
    return quote(text[:1000].encode("utf-8", "backslashreplace"))


# Any: whoever opens a game by its name hands its positions back to it, and never looks into them.
Position = Any
AnyGame = Game[Any]
AnyOpponent = Opponent[Any]
