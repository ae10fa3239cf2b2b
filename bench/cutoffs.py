"""States of netgame's searches with and without memory, cut-offs and useless ropes: what each idea of the source saves.

The first columns count the nodes of the search without memory, which do not depend on useless ropes: every play of the
game, and those that are left once a search stops at the first winning cut. The others count the sets of ropes settled
with memory: useless ropes kept or dropped, all cuts tried or not. "-" stands for more sets than the table holds. Ropes
are tried in the order of the net; another order gives other numbers. The last column is the number of sets of cells.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numba import njit
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from checkers.netgame import Sets
from checkers.rules.netgame import Instance
from solvers.doors import Unsolved
from solvers.netgame.net import Net, net_of
from solvers.netgame.ropes import Rules, settle
from solvers.parts.clock import Clock

BLOCKS = ((1, 8), (2, 2), (2, 3), (2, 4), (3, 3), (3, 4), (4, 4), (4, 5))
SECONDS = 600.0


def main() -> int:
    """Print the table; 1 if dropping useless ropes leaves more sets than there are sets of cells."""
    rules = {"kept": Rules(False, False), "kept, cut-offs": Rules(False), "dropped": Rules(True, False)}
    rules["dropped, cut-offs"] = Rules()
    table = Table("cells", "N", "plays", "with cut-offs", *rules, "2^cells", title="States of a search")
    odd = False
    for width, height in BLOCKS:
        net = net_of(block(width, height))
        plain, cut = count_nodes(net)
        settled = {name: count_sets(net, rule) for name, rule in rules.items()}
        most = 1 << len(net.corners)
        odd |= not all(sets is not None and sets <= most for sets in (settled["dropped"], settled["dropped, cut-offs"]))
        cells = (f"{sets:,}" if sets is not None else "-" for sets in settled.values())
        table.add_row(f"{width} x {height}", str(len(net.sides)), *nodes_shown(plain, cut), *cells, f"{most:,}")
    Console(width=150).print(table)
    return int(odd)


def block(width: int, height: int) -> Instance:
    """Make the net of a block of cells, the level ropes first."""
    level = [(x, y, x + 1, y) for x in range(width) for y in range(height + 1)]
    upright = [(x, y, x, y + 1) for x in range(width + 1) for y in range(height)]
    return Instance((*level, *upright))


def count_nodes(net: Net) -> tuple[float, float]:
    """Count the nodes of the search without memory: all plays' beginnings, and those met with cut-offs."""
    sides = np.array([cells for cells in net.sides if cells], np.int64)
    plain, cut = _count(len(net.corners), sides)
    return float(plain), float(cut)


def nodes_shown(plain: float, cut: float) -> Iterator[str]:
    """Write two counts, the second with its share of the first."""
    yield f"{plain:,.0f}" if plain < 1e9 else f"{plain:.2g}"
    yield (f"{cut:,.0f}" if cut < 1e9 else f"{cut:.2g}") + f" (1/{plain / cut:.3g})"


def count_sets(net: Net, rules: Rules) -> int | None:
    """Count the sets of ropes that a search with memory settles; None if they are too many."""
    try:
        return settle(net, Clock(SECONDS), rules).settled
    except Unsolved:
        return None


@njit(cache=True, nogil=True)
def _count(cells: int, sides: Sets) -> tuple[float, float]:  # pragma: no cover - compiled
    """Fill both counts for every set of cells, from the small ones up: the ropes are tried in their order."""
    plain = np.ones(1 << cells, np.float64)
    cut = np.ones(1 << cells, np.float64)
    won: NDArray[np.bool_] = np.zeros(1 << cells, np.bool_)
    for whole in range(1 << cells):
        for side in sides:
            if side & whole:
                after = whole & ~side
                plain[whole] += plain[after]
                if not won[whole]:
                    cut[whole] += cut[after]
                    won[whole] = not won[after]
    return plain[-1], cut[-1]
