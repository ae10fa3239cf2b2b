"""(being written)"""

from solvers.rollingballs.greedy import solve_greedy as solve_beam_local

__all__ = ["solve_beam_local"]
