"""How many milliseconds each netgame method takes on blocks of 4 x 5 cells, the largest there are."""

from __future__ import annotations

from time import perf_counter

from rich.console import Console
from rich.table import Table

from checkers.netgame import Instance
from solvers import netgame

METHODS = ("cells", "dp", "grundy")
GOAL = 50.0
RUNS = 7


def main() -> int:
    """Print the best and the worst of some runs; 1 if the best of `cells` is above 50 ms on a net."""
    table = Table("net", *METHODS, title=f"milliseconds, best (worst) of {RUNS}; cells must stay below {GOAL:g}")
    block = [(x, y, x + 1, y) for x in range(5) for y in range(5)] + [
        (x, y, x, y + 1) for x in range(6) for y in range(4)
    ]
    nets = {"block": block, "without an inner rope": [rope for rope in block if rope != (1, 2, 2, 2)]}
    short = False
    for name, ropes in nets.items():
        times = {method: measure(Instance(tuple(ropes)), method) for method in METHODS}
        short |= min(times["cells"]) >= GOAL
        table.add_row(name, *(f"{min(runs):.1f} ({max(runs):.1f})" for runs in times.values()))
    Console().print(table)
    return int(short)


def measure(instance: Instance, method: str) -> list[float]:
    """Solve an instance some times, compiled; milliseconds of each run, with the making of the table."""
    netgame.warm_up(method)
    found = []
    for _ in range(RUNS):
        started = perf_counter()
        netgame.solve(instance, method=method, seed=1, seconds=10.0)
        found.append((perf_counter() - started) * 1000)
    return found


if __name__ == "__main__":
    raise SystemExit(main())
