"""Opponents at the net game."""

from __future__ import annotations

from functools import lru_cache
from random import Random

import numpy as np
from numpy.typing import NDArray

from checkers.doors import N_
from checkers.rules.netgame import Instance
from games.doors import Opponent
from games.netgame.position import Position, cells_of

Words = NDArray[np.uint64]
TABLES_REMEMBERED = 64
"""At most 128 KiB each."""


@lru_cache(TABLES_REMEMBERED)
def solved(net: Instance) -> Words:
    """Work out who wins each set of cells of a net, once for all its games."""
    from games.netgame.table import won_sets  # loads the compiler of kernels, which only this needs

    corners, sides = cells_of(net)
    return won_sets(len(corners), sides)


def is_won(won: Words, cells: int) -> bool:
    """Look a set of cells up."""
    return bool(int(won[cells >> 6]) >> (cells & 63) & 1)


def wins(position: Position) -> bool:
    """Tell whether the player to move wins."""
    return is_won(solved(position.net), position.whole)


def winning_ropes(position: Position) -> list[int]:
    """List the ropes whose cut leaves a lost net."""
    won, whole, sides = solved(position.net), position.whole, position.sides
    return [rope for rope in position.cuttable if not is_won(won, whole & ~sides[rope - 1])]


def optimal(position: Position, random: Random) -> str:
    """Cut a winning rope, drawn; where all is lost any rope."""
    return str(random.choice(winning_ropes(position) or position.cuttable))


def adversarial(position: Position, random: Random) -> str:
    """Cut a winning rope; where all is lost one that leaves the greatest share of replies that lose."""
    winning = winning_ropes(position)
    if winning:
        return str(random.choice(winning))
    chances = {rope: chances_to_err(position.after(rope)) for rope in position.cuttable}
    most = max(chances.values())
    return str(random.choice([rope for rope in chances if chances[rope] == most]))


def chances_to_err(position: Position) -> float:
    """Give the share of the cuts that lose what could be won; 0 where there is none to make."""
    replies = len(position.cuttable)
    return 1 - len(winning_ropes(position)) / replies if replies else 0.0


def drawn(position: Position, random: Random) -> str:
    """Cut any rope."""
    return str(random.choice(position.cuttable))


def greedy(position: Position, random: Random) -> str:
    """Cut between two whole cells wherever two lie side by side."""
    return str(random.choice(taking(position, 2) or position.cuttable))


def one(position: Position, random: Random) -> str:
    """Cut a side of one whole cell only, wherever there is such a rope."""
    return str(random.choice(taking(position, 1) or position.cuttable))


def taking(position: Position, cells: int) -> list[int]:
    """List the ropes whose cut takes so many whole cells."""
    whole, sides = position.whole, position.sides
    return [rope for rope in position.cuttable if (sides[rope - 1] & whole).bit_count() == cells]


OPPONENTS = {
    N_("optimal"): Opponent(N_("wins every net that can be won, by a table of all sets of whole cells"), optimal),
    N_("adversarial"): Opponent(
        N_("wins what can be won; where all is lost it cuts so that the greatest share of replies lose"), adversarial
    ),
    N_("random"): Opponent(N_("cuts any rope, all equally likely"), drawn),
    N_("one"): Opponent(N_("takes one whole cell wherever it can"), one),
    N_("greedy"): Opponent(N_("takes two whole cells wherever it can"), greedy),
}
