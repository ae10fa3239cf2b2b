"""Puzzles of the day: three kinds in three sizes for each date, drawn from the date, measured, and proved.

Candidates are drawn in order, and the first one that is hard enough by measure is taken. Everything that decides is
counted in whole numbers by the rules of the puzzle alone, with no clock, no floating point and no compiled kernel: a
date gives the same puzzles on every machine and in every version.

Kinds
    optimiza   X, Y and Z as its author meant them for a newspaper: X < Y < Z, each a fifth of Z apart
    comesolo   all pieces but one can be eaten, and none of 200 random plays comes near it
    netgame    the first player wins, by exactly one cut
Sizes
    small, medium, large: see the constants of each kind
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from types import MappingProxyType

from solvers.daily.comesolo import make_comesolo
from solvers.daily.draws import draws_of
from solvers.daily.netgame import make_netgame
from solvers.daily.optimiza import make_optimiza
from solvers.daily.puzzle import SIZES, Draws, Puzzle

MAKERS: Mapping[str, Callable[[str, Draws], Puzzle]] = MappingProxyType(
    {"optimiza": make_optimiza, "comesolo": make_comesolo, "netgame": make_netgame}
)
"""The kinds, in the order in which a newspaper prints them."""


def make(day: date, kind: str, size: str) -> Puzzle:
    """Make the puzzle of a day; raises KeyError where there is no such kind or size."""
    return MAKERS[kind](size, draws_of(day, kind, size))


def make_all(day: date) -> list[Puzzle]:
    """Make all puzzles of a day, kind by kind, the small ones first."""
    return [make(day, kind, size) for kind in MAKERS for size in SIZES]
