"""Netgame: who wins the game of cutting ropes, and by which first cut.

Methods
    figures   a table of lost figures, for nets of at most 13 ropes
    ropes-all search with memory over sets of ropes, for nets of some 30 ropes
    ropes     the same without the ropes that bound no whole cell, as the source prunes it
    cells     search with memory over sets of whole cells
    dp        a table of all sets of whole cells, bottom up
    grundy    Grundy numbers, every piece of the net on its own
Instance, Answer
    those of checkers/netgame.py
Raw score
    1 for a right answer
Source
    'Setevaya igra', All-Russian olympiad 2005, problem 5, and its editorial (figures, ropes, cells, dp); grundy: ours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

from checkers.netgame import FIRST, SECOND, Answer, read_instance
from checkers.rules.netgame import Instance
from solvers.doors import Method, Progress
from solvers.netgame.cells import solve_by_cells
from solvers.netgame.figures import solve_by_figures
from solvers.netgame.net import Net, net_of, winning_ropes
from solvers.netgame.ropes import solve_by_all_ropes, solve_by_ropes
from solvers.netgame.tables import solve_by_dp, solve_by_grundy, won_table
from solvers.parts.clock import Clock

Search = Callable[[Net, Clock], Answer]
METHODS: Mapping[str, Method[Search]] = MappingProxyType(
    {
        "figures": Method("a table of lost figures, at most 13 ropes", solve_by_figures, seconds=1.0),
        "ropes-all": Method("search with memory over sets of ropes, about 30 ropes", solve_by_all_ropes, seconds=1.0),
        "ropes": Method("the same without the ropes that bound no whole cell", solve_by_ropes, seconds=1.0),
        "cells": Method("search with memory over sets of whole cells", solve_by_cells, seconds=1.0),
        "dp": Method("a table of all sets of whole cells", solve_by_dp, seconds=1.0),
        "grundy": Method("Grundy numbers, piece by piece", solve_by_grundy, seconds=1.0),
    }
)
REFERENCE = "cells"


def solve(
    instance: Instance,
    *,
    method: str,
    seed: int,
    seconds: float,
    steps: int | None = None,
    progress: Progress | None = None,
) -> Answer:
    """Say who wins; raises Unsolved where the method cannot (too many ropes or sets, out of time or steps, stopped).

    A step is a state settled. Nothing is drawn, so `seed` changes nothing; compiling does not count as time.
    """
    warm_up(method)
    clock = Clock(seconds, steps, progress)
    answer = METHODS[method].search(net_of(instance), clock)
    clock.report(states=clock.taken, note="optimal", final=True)
    return answer


def write_reference(instance: Instance, answer: Answer, *, seed: int) -> str:
    """Render the winner and all winning ropes; raises ValueError if the answer given is not right."""
    net = net_of(instance)
    won = won_table(net, Clock(1.0, steps=1 << len(net.corners)))
    winning = list(winning_ropes(net, lambda cells: not won[cells]))
    if (answer.rope not in winning) if answer.winner == FIRST else bool(winning):
        raise ValueError(f"netgame: expected a right answer to make a reference of, found {answer}")
    return f"{FIRST}\n{' '.join(map(str, winning))}\n" if winning else f"{SECOND}\n"


@cache
def warm_up(method: str) -> None:
    """Run a method on a tiny net, so that its kernels are compiled or loaded before a clock starts; once."""
    tiny = read_instance(b"4\n0 0 0 1\n0 0 1 0\n1 0 1 1\n0 1 1 1\n")
    METHODS[method].search(net_of(tiny), Clock(1.0, 100))
