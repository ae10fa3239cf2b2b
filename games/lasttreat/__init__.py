"""The last treat: take treats from one of two piles, or equally many from both; who takes the last one wins.

Instance
    `A B K`: A cakes, B pieces of fruit (0..10^18), and K (1..10^18), the most that a move takes from a pile. In a
    position whose mover is the second player a line `second to move` follows.
Move
    `x y`: x cakes and y pieces of fruit, where x = 0, y = 0 or x = y, at least one treat, at most K from each pile.
Won by
    whoever takes the last treat.
Opponents
    `optimal` wins whatever can be won, by a formula; `adversarial` does so too, and sets traps where it cannot;
    `random`, `one` (a single treat) and `greedy` (as much as it can) play badly, as they say.
Source
    Posledná dobrota, Slovak Olympiad in Informatics, A-III-5, where it is a library task.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from checkers.doors import N_, Phrase, Rejected
from checkers.rules.lasttreat import LARGEST, illegality, is_lost
from games.doors import (
    FIRST,
    MOVE,
    SECOND,
    Game,
    Legal,
    Opponent,
    Outlook,
    Picture,
    Side,
    check_length,
    json_number,
    number_of,
    other,
    read_numbers,
    shown,
)
from games.lasttreat.opponents import OPPONENTS
from games.lasttreat.position import Position

MOST_LISTED = 60
MOST_DRAWN = 40
SECOND_LINE = "second to move"
EXPECTED_MOVE = Phrase("two numbers x y: take x cakes and y pieces of fruit")


@dataclass(frozen=True)
class LastTreat:
    """The rules; where a position is lost is told by the closed form."""

    slug: str = "lasttreat"
    title: str = N_("The Last Treat")
    sides: tuple[str, str] = (N_("first"), N_("second"))
    asker: Side = FIRST
    sample: str = "7 9 4\n"
    opponents: Mapping[str, Opponent[Position]] = field(default_factory=lambda: MappingProxyType(OPPONENTS))

    def start(self, instance: str) -> Position:
        """Read `A B K`, with a line `second to move` or without; raises Rejected."""
        first, feed, rest = instance.partition("\n")
        what = Phrase("three numbers A B K from 0 to %(largest)s, K at least 1", largest=LARGEST)
        cakes, fruit, most = read_numbers(
            first, 3, where=Phrase("line %(number)s", number=1), what=what, largest=LARGEST
        )
        if most == 0:
            raise Rejected.at(Phrase("line %(number)s", number=1), expected=what, found=shown(first))
        if rest not in {"", SECOND_LINE, SECOND_LINE + "\n"}:
            raise Rejected.at(
                Phrase("line %(number)s", number=2),
                expected=Phrase('nothing or "%(second_line)s"', second_line=SECOND_LINE),
                found=shown(rest),
            )
        return Position(cakes, fruit, most, SECOND if feed and rest else FIRST)

    def instance(self, parameters: Mapping[str, object]) -> str:
        """Write the instance of the parameters a, b and k; raises Rejected."""
        if unknown := sorted(map(str, parameters.keys() - {"a", "b", "k"})):
            raise Rejected.at(Phrase("parameters"), expected=Phrase("a, b and k"), found=shown(unknown[0]))
        cakes, fruit = (number_of(parameters, name, 0, LARGEST) for name in ("a", "b"))
        return f"{cakes} {fruit} {number_of(parameters, 'k', 1, LARGEST)}\n"

    def to_text(self, position: Position) -> str:
        """Write `A B K`, and whose move it is unless it is the first player's."""
        line = f"{position.cakes} {position.fruit} {position.most}\n"
        return line if position.turn == FIRST else f"{line}{SECOND_LINE}\n"

    def to_move(self, position: Position) -> Side:
        """Tell whose move it is."""
        return position.turn

    def legal(self, position: Position) -> Legal:
        """List up to 60 moves; more are a rule."""
        a, b, k = position.piles
        rule = Phrase(
            "take 1 to %(most)s from one pile, or the same number from both; there are %(cakes)s cakes and %(fruit)s "
            "pieces of fruit",
            most=k,
            cakes=a,
            fruit=b,
        )
        if min(k, a) + min(k, b) + min(k, a, b) > MOST_LISTED:
            return Legal(None, rule)
        cakes = [f"{i} 0" for i in range(1, min(k, a) + 1)]
        fruit = [f"0 {i}" for i in range(1, min(k, b) + 1)]
        both = [f"{i} {i}" for i in range(1, min(k, a, b) + 1)]
        return Legal((*cakes, *fruit, *both), rule)

    def apply(self, position: Position, move: str) -> Position:
        """Take treats; raises Rejected where the move is malformed or illegal."""
        if self.over(position):
            raise Rejected.at(MOVE, expected=Phrase("no move, as the game is over"), found=shown(move))
        check_length(move)
        x, y = read_numbers(move, 2, where=MOVE, what=EXPECTED_MOVE, largest=LARGEST)
        if reason := illegality(*position.piles, x, y):
            expected, actual = reason
            raise Rejected.at(MOVE, expected=expected, found=actual)
        return Position(position.cakes - x, position.fruit - y, position.most, other(position.turn))

    def over(self, position: Position) -> bool:
        """Tell whether the piles are empty."""
        return position.cakes == position.fruit == 0

    def winner(self, position: Position) -> Side | None:
        """Name who took the last treat: whoever is not to move."""
        return other(position.turn) if self.over(position) else None

    def outlook(self, position: Position) -> Outlook:
        """Tell by the closed form whether the player to move wins."""
        return Outlook(not is_lost(*position.piles), N_("proved: closed form of the lost positions"))

    def render(self, position: Position) -> dict[str, Any]:
        """Give the piles and K."""
        a, b, k = (json_number(each) for each in position.piles)
        return {"a": a, "b": b, "k": k}

    def picture(self, position: Position) -> Picture:
        """Draw each pile: a sign for each treat, or a bar in proportion where there are many."""
        a, b, k = position.piles
        width = len(str(max(a, b)))
        return (
            ((f"cakes  {a:>{width}}  ", "plain"), (pile(a, max(a, b), "o"), "move")),
            ((f"fruit  {b:>{width}}  ", "plain"), (pile(b, max(a, b), "*"), "move")),
            ((f"at most {k} from a pile", "dim"),),
        )


def pile(treats: int, largest: int, sign: str) -> str:
    """Draw a pile: its treats one by one, in fives, or a bar beside the largest pile's."""
    if largest > MOST_DRAWN:
        return "=" * (-(-MOST_DRAWN * treats // largest)) + (">" if treats else "")
    return " ".join(sign * min(5, treats - at) for at in range(0, treats, 5))


GAME: Game[Position] = LastTreat()
