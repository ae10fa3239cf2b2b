"""States that lazypiglets' A* expands and meets with each estimate of the source: none, half, with jumps, exact.

The estimates are those of `solvers.lazypiglets.astar.ESTIMATES`. The exact one needs a table of all states, so that the
maps are small: those of the package's secret cases with up to 12 x 12 cells and at most MOST_STATES states.
"""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from checkers.lazypiglets import read_instance
from solvers.lazypiglets.astar import ESTIMATES, search_by
from solvers.lazypiglets.maps import Field, field_of
from solvers.lazypiglets.work import Work
from solvers.parts.clock import Clock

DATA = Path(__file__).parents[1] / "problems/lazypiglets/data/secret"
CASES = ("2-n8/201-rand", "2-n8/208-empty-far", "2-n8/210-maze", "3-n12/301-rand", "3-n12/303-gather", "3-n12/306-maze")
MOST_STATES = 20_000_000
SECONDS = 600.0


def main() -> int:
    """Print the table; 1 if the exact estimate expands most states anywhere, or the estimates disagree on the steps."""
    title = "States expanded / met by A* with each estimate"
    table = Table("map", "states", "steps", *ESTIMATES, title=title)
    odd = False
    for name in CASES:
        field = field_of(read_instance((DATA / f"{name}.in").read_bytes()))
        if field.states > MOST_STATES or not field.is_reachable():
            continue
        counts = count(field)
        expanded = [states for _, states, _ in counts.values()]
        odd |= len({steps for steps, _, _ in counts.values()}) > 1 or expanded != sorted(expanded, reverse=True)
        cells = [f"{states:,} / {met:,}" for _, states, met in counts.values()]
        table.add_row(name.partition("/")[2], f"{field.states:,}", str(counts["0"][0]), *cells)
    Console(width=130).print(table)
    return int(odd)


def count(field: Field) -> dict[str, tuple[int, int, int]]:
    """Search with every estimate: the steps, the states expanded and the states met."""
    return {name: search_by(make(field), field, Work(Clock(SECONDS))) for name, make in ESTIMATES.items()}
