"""Compile or load every kernel of a method, so that none is compiled while a clock runs.

The kernels of the arena are compiled where their module is loaded; the others where they are called first.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from checkers.rollingballs import read_instance
from solvers.parts.clock import Clock
from solvers.rollingballs.board.flat import lay_out
from solvers.rollingballs.bound.maximum import find_maximum
from solvers.rollingballs.forward.greedy import solve_greedy
from solvers.rollingballs.forward.printed_beam import solve_printed_beam

WIDTH, ROWS = 10, 10


def _board(*rows: str) -> str:
    """Write the height and the rows, with empty rows below them."""
    empty = "." * WIDTH
    return "\n".join([str(ROWS), *(f"{row:.<{WIDTH}}" for row in rows), *[empty] * (ROWS - len(rows))]) + "\n"


START = _board("0..1..2...", "..........", "##########", ".3........", "##########")
TARGET = _board("...1......", "..0...2...", "##########", "......3...", "##########")
TINY = (START + TARGET).encode()
"""Three parts, one of them small enough to be searched, and balls that do not stand where they belong."""


@cache
def warm_up(method: str) -> None:
    """Load the kernels of a method or call them on a tiny maze; the first time in a process only."""
    instance = read_instance(TINY)
    if method == "greedy":
        solve_greedy(instance, Clock(60.0, 2), 1)
    elif method == "beam-local":
        solve_printed_beam(instance, Clock(60.0, 1), 1)
    else:
        import_module("solvers.rollingballs.two_sided.loop")

        find_maximum(lay_out(instance))
