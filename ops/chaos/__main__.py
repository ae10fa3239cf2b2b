"""Play faults against a real server, and hold what is left against what was acknowledged.

    python -m ops.chaos [NAME...] [--database sqlite|postgresql] [--submissions 120] [--kills 3] [--seconds 20]

Each scenario has a home and a database of its own; a table at the end says what was found. `--list` lists the
scenarios; exit code 1 if a promise did not hold, 2 for a name that is none. To mount file systems, some need root.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from ops.chaos.audit_result import Audit
from ops.chaos.model import BOTH, Scenario, all_scenarios
from ops.chaos.stage import Ground, Size, Stage, own_cluster
from tests import s3
from tests.rabbitmq import own_broker

COUNTS = ("acknowledged", "lost", "doubled", "judged_twice", "feed_faults")


@dataclass(frozen=True)
class Played:
    """What a scenario on a kind of database has led to; `fault` is empty if all promises held."""

    name: str
    kind: str
    audits: Sequence[Audit]
    slowest: float | None
    fault: str


def main() -> int:
    """Play the scenarios named, or all, print a line for each, and the table."""
    scenarios = all_scenarios()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="scenarios to play (default: all)", metavar="NAME")
    parser.add_argument("--database", choices=BOTH, help="only on this kind (default: both)")
    parser.add_argument("--submissions", type=int, default=120, help="how many are sent under load")
    parser.add_argument("--kills", type=int, default=3, help="how often something is killed under load")
    parser.add_argument("--seconds", type=float, default=20, help="how long a stall lasts")
    parser.add_argument("--list", action="store_true", help="list the scenarios and end")
    given = parser.parse_args()
    if unknown := [name for name in given.names if name not in scenarios]:
        parser.error(f"no scenario {unknown[0]!r}; there are {', '.join(scenarios)}")
    if given.list:
        for each in scenarios.values():
            print(f"{each.name:<26} {each.summary}")
        return 0
    chosen = [scenarios[name] for name in given.names or scenarios]
    kinds = [given.database] if given.database else BOTH
    size = Size(given.submissions, given.kills, given.seconds)
    rows = []
    with (
        tempfile.TemporaryDirectory(prefix="jurado-chaos-") as folder,
        own_cluster() as cluster,
        own_broker(Path(folder)) as broker,
        s3.own_server() as s3_port,
    ):
        ground = Ground(Path(folder), cluster, broker=broker, s3_port=s3_port)
        for each in chosen:
            rows += [play(ground, each, kind, size) for kind in kinds if kind in each.databases]
    print_table(rows)
    return 1 if any(row.fault for row in rows) else 0


def play(ground: Ground, each: Scenario, kind: str, size: Size) -> Played:
    """Play one scenario and print a line on it."""
    began, fault = time.perf_counter(), ""
    with ground.stage(kind, size) as setting:
        try:
            line = each.play(setting)
        except Exception as error:
            traceback.print_exc()
            line = fault = str(error).partition("\n")[0] or type(error).__name__
            print(f"the logs are kept in {keep_logs(ground, setting, each.name)}")
    print(f"{each.name} on {kind} ({time.perf_counter() - began:.0f} s): {line}", flush=True)
    return Played(each.name, kind, setting.audits, max(setting.recoveries, default=None), fault)


def keep_logs(ground: Ground, setting: Stage, name: str) -> Path:
    """Copy the logs of servers, workers, brokers and PostgreSQL to a folder that stays; returns it."""
    folder = Path(tempfile.mkdtemp(prefix=f"jurado-{name}-"))
    places = [setting.folder, ground.folder, *([] if setting.cluster is None else [setting.cluster])]
    for place in places:
        for path in (*place.glob("*.log"), *place.glob("rabbitmq/*.txt")):
            shutil.copy(path, folder / f"{place.name}-{path.name}")
    return folder


def print_table(rows: Sequence[Played]) -> None:
    """What was acknowledged and what of it was lost, doubled, judged twice or told otherwise, in all audits."""
    table = Table("scenario", "database", *(name.replace("_", " ") for name in COUNTS), "slowest recovery", "verdict")
    for row in rows:
        counts = [sum(getattr(each, name) for each in row.audits) for name in COUNTS[1:]]
        acknowledged = max((each.acknowledged for each in row.audits), default=0)
        slowest = "" if row.slowest is None else f"{row.slowest:.1f} s"
        verdict = f"DID NOT HOLD: {row.fault[:200]}" if row.fault else "held"
        table.add_row(row.name, row.kind, str(acknowledged), *map(str, counts), slowest, verdict)
    Console(width=None if sys.stdout.isatty() else 150).print(table)


if __name__ == "__main__":
    sys.exit(main())
