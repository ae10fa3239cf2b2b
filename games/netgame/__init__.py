"""The net game: players cut ropes of a net in turn, each a side of a whole cell; who has none to cut loses.

Instance
    `N` (1..50), then N lines `x1 y1 x2 y2`: different ropes of length 1 between grid points 0..50, as for
    `checkers/netgame.py`. In a position later in a game a line `cut` follows with the numbers of the ropes that have
    been cut, rising: the second player is to move where their count is odd.
Move
    The number of a rope, 1..N, that is a side of a cell all four of whose ropes are uncut.
Won by
    whoever cuts last: the player without a rope to cut loses.
Opponents
    `optimal` wins whatever can be won, by a table of all sets of whole cells; `adversarial` does so too, and where it
    cannot leaves the greatest share of replies that lose; `random`; `one` (takes one cell) and `greedy` (takes two).
Source
    'Setevaya igra', All-Russian olympiad 2005, problem 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from checkers.doors import N_, Phrase, Rejected
from checkers.rules.netgame import read_net, write_net
from games.doors import (
    FIRST,
    MOVE,
    Game,
    Legal,
    Opponent,
    Outlook,
    Picture,
    Side,
    check_length,
    other,
    read_numbers,
    shown,
)
from games.netgame.drawing import drawn_net
from games.netgame.opponents import OPPONENTS, wins
from games.netgame.position import Position, cells_of

CUT = "cut "
RULE = N_("cut a rope that is a side of a whole cell")
ROW_OF_THREE = "10\n0 0 1 0\n1 0 2 0\n2 0 3 0\n0 1 1 1\n1 1 2 1\n2 1 3 1\n0 0 0 1\n1 0 1 1\n2 0 2 1\n3 0 3 1\n"


@dataclass(frozen=True)
class NetGame:
    """The rules; ropes keep their numbers from the first cut to the last."""

    slug: str = "netgame"
    title: str = N_("The Net Game")
    sides: tuple[str, str] = (N_("first"), N_("second"))
    asker: Side = FIRST
    sample: str = ROW_OF_THREE
    opponents: Mapping[str, Opponent[Position]] = field(default_factory=lambda: MappingProxyType(OPPONENTS))

    def start(self, instance: str) -> Position:
        """Read a net, with a line of cut ropes or without; raises Rejected."""
        text, cut, numbers = instance.rpartition("\n" + CUT)
        if not cut:
            return Position(read_net(_bytes(instance)))
        net = read_net(_bytes(text + "\n"))
        count = len(net.ropes)
        what = Phrase("numbers of ropes, rising, from 1 to %(count)s, and a line feed", count=count)
        words = numbers.removesuffix("\n")
        ropes = read_numbers(
            words, words.count(" ") + 1, where=Phrase("line %(number)s", number=count + 2), what=what, largest=count
        )
        if not numbers.endswith("\n") or 0 in ropes or ropes != sorted(set(ropes)):
            raise Rejected.at(Phrase("line %(number)s", number=count + 2), expected=what, found=shown(numbers))
        return Position(net, frozenset(ropes))

    def to_text(self, position: Position) -> str:
        """Write the net, and the ropes cut so far."""
        net = write_net(position.net)
        return f"{net}{CUT}{' '.join(map(str, sorted(position.cut)))}\n" if position.cut else net

    def to_move(self, position: Position) -> Side:
        """Tell whose move it is."""
        return position.turn

    def legal(self, position: Position) -> Legal:
        """List the ropes that may be cut."""
        return Legal(tuple(map(str, position.cuttable)), RULE)

    def apply(self, position: Position, move: str) -> Position:
        """Cut a rope; raises Rejected where the move is malformed or illegal."""
        ropes = position.cuttable
        if not ropes:
            raise Rejected.at(MOVE, expected=Phrase("no move, as the game is over"), found=shown(move))
        check_length(move)
        count = len(position.net.ropes)
        (rope,) = read_numbers(
            move, 1, where=MOVE, what=Phrase("the number of a rope, 1 to %(count)s", count=count), largest=count
        )
        if rope not in ropes:
            actual = (
                Phrase("%(rope)s, which is cut already", rope=rope)
                if rope in position.cut
                else Phrase("%(rope)s, one of no whole cell", rope=rope)
                if rope
                else Phrase("rope 0")
            )
            raise Rejected.at(MOVE, expected=Phrase("a rope that is a side of a whole cell"), found=actual)
        return position.after(rope)

    def over(self, position: Position) -> bool:
        """Tell whether no cell is whole."""
        return position.whole == 0

    def winner(self, position: Position) -> Side | None:
        """Name who cut last: whoever is not to move."""
        return other(position.turn) if self.over(position) else None

    def outlook(self, position: Position) -> Outlook:
        """Tell by the table of all sets of whole cells whether the player to move wins."""
        return Outlook(wins(position), N_("proved: table of all sets of whole cells"))

    def render(self, position: Position) -> dict[str, Any]:
        """Give the ropes with their numbers, which of them are cut, and the lower left corners of the whole cells."""
        corners, _ = cells_of(position.net)
        whole, may_be_cut = position.whole, set(position.cuttable)
        ropes = [
            {"number": n, "x1": a, "y1": b, "x2": c, "y2": d, "cut": n in position.cut, "legal": n in may_be_cut}
            for n, (a, b, c, d) in enumerate(position.net.ropes, start=1)
        ]
        return {"ropes": ropes, "cells": [[x, y] for at, (x, y) in enumerate(corners) if whole >> at & 1]}

    def picture(self, position: Position) -> Picture:
        """Draw the net: ropes that may be cut have their numbers, the others are lines."""
        return drawn_net(position)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


GAME: Game[Position] = NetGame()
