"""Compile or load every kernel of a method, so that none is compiled while a clock runs.

Numba compiles what a kernel calls together with it, so that each needs to be called once only, with nothing to do.
"""

from __future__ import annotations

from functools import cache

from checkers.rollingballs import read_instance
from solvers.parts.clock import Clock
from solvers.rollingballs.board.flat import Board, lay_out, seed_random
from solvers.rollingballs.bound.maximum import find_maximum
from solvers.rollingballs.forward.beam_local import roll_back
from solvers.rollingballs.forward.goal_exchanges import go_on_excursions
from solvers.rollingballs.forward.greedy import solve_greedy
from solvers.rollingballs.forward.repair import make_mending
from solvers.rollingballs.two_sided.drop_goals import give_up
from solvers.rollingballs.two_sided.join_boards import land, shorten_both
from solvers.rollingballs.two_sided.match_boards import make_pair
from solvers.rollingballs.two_sided.one_board_beams import go_on
from solvers.rollingballs.two_sided.pair_exchanges import go_on_trips
from solvers.rollingballs.two_sided.two_boards import restart

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
    """Call the kernels of a method on a tiny maze; the first time in a process only."""
    instance = read_instance(TINY)
    if method == "greedy":
        solve_greedy(instance, Clock(60.0, 2), 1)
    elif method == "beam-local":
        side = make_mending(lay_out(instance), seed_random(1)).side
        go_on(side, instance.balls, 0, 0, 0)
        roll_back(side, 0)
    else:
        _warm_two_sided(lay_out(instance))


def _warm_two_sided(board: Board) -> None:
    find_maximum(board)
    pair, mending = make_pair(board, seed_random(1)), make_mending(board, seed_random(1))
    restart(pair.two, board)
    for side in (pair.rolling, pair.unrolling, mending.side):
        go_on(side, board.balls, 0, 0, 0)
    for play in (pair.play, mending.play):
        go_on_excursions(play, board.balls, 0, 0, 0)
    go_on_trips(pair.two, board.balls, 0, 0, 0, 0)
    give_up(pair.two, pair.goals)
    shorten_both(pair.two, board)
    land(pair.two, board)
