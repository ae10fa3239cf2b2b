"""Attack a real server on the loopback address and print a table: `python -m ops.attacks [NAME...]`.

Each attack gets a server of its own on a copy of one prepared home. `--against DIR` attacks the server of another
checkout (set up with `make setup`) in turn with this one's and prints the ratio of the costs; `--list` lists.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import httpx
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from ops.attacks.model import Attack, Cost, all_attacks
from ops.attacks.stage import Home


def main() -> int:
    """Run the attacks; exit code 1 if a promise did not hold, 2 for a name that is none."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="attacks to run (default: all)")
    parser.add_argument("--against", type=Path, metavar="DIR", help="another checkout to attack in turn")
    parser.add_argument("--list", action="store_true", help="list the attacks and end")
    given = parser.parse_args()
    attacks = all_attacks()
    if given.list:
        for each in attacks.values():
            print(f"{each.name:<28} {each.summary}")
        return 0
    for name in given.names:
        if name not in attacks:
            near = get_close_matches(name, attacks, 1, 0.5)
            print(f"attacks: no attack {name!r}; did you mean {near[0]}?" if near else f"attacks: no attack {name!r}")
            return 2
    chosen = [attacks[name] for name in given.names] or list(attacks.values())
    rows = run(chosen, given.against)
    print_table(rows)
    return 1 if any(now.faults for _, _, now in rows) else 0


def run(attacks: Sequence[Attack], against: Path | None) -> list[tuple[Attack, Cost | None, Cost]]:
    """Carry out the attacks one by one; on the other checkout first, where one is given."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="jurado-attacks-") as folder, Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task("preparing", total=len(attacks))
        ours = Home(Path(folder) / "now")
        theirs = Home(Path(folder) / "before", against) if against is not None else None
        for each in attacks:
            bar.update(task, description=each.name)
            before = None if theirs is None else carry_out(theirs, each)
            rows.append((each, before, carry_out(ours, each)))
            bar.advance(task)
    return rows


def carry_out(home: Home, each: Attack) -> Cost:
    """One attack on a server of its own. What the attacker meets is part of the result, a server that is gone too."""
    try:
        with home.attacked(each.name, each.settings) as stage:
            return each.run(stage)
    except (OSError, httpx.HTTPError, RuntimeError) as error:
        return Cost(math.nan, [f"{type(error).__name__}: {error}"[:200]])


def print_table(rows: Sequence[tuple[Attack, Cost | None, Cost]]) -> None:
    """Cost before and now, their ratio, and what did not hold."""
    table = Table("attack", "cost", "before", "now", "before / now", "did not hold now")
    for each, before, now in rows:
        earlier = "" if before is None else cost_text(each, before)
        ratio = "" if before is None else ratio_text(before.value, now.value)
        table.add_row(each.name, each.what, earlier, cost_text(each, now), ratio, "; ".join(now.faults) or "-")
    Console(width=None if sys.stdout.isatty() else 180).print(table)


def cost_text(each: Attack, cost: Cost) -> str:
    """A cost in its unit; where the attack could not be carried out to its end, why."""
    return "; ".join(cost.faults) if math.isnan(cost.value) else f"{cost.value:.3g} {each.unit}"


def ratio_text(before: float, now: float) -> str:
    """How many times as much an attack cost before; empty where that says nothing."""
    if math.isnan(before) or math.isnan(now) or before == now == 0:
        return ""
    return "all of it" if now == 0 else f"{before / now:.3g}"


if __name__ == "__main__":
    sys.exit(main())
