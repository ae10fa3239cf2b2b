"""Processor time of all that works for a measurement, by what it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

import psutil
import psycopg

from bench._figures import report

ROLES = """
SELECT pid, CASE WHEN backend_type = 'client backend' THEN application_name ELSE backend_type END FROM pg_stat_activity
"""


@contextmanager
def spending(database: str = "") -> Iterator[dict[str, float]]:
    """Count the processor seconds that each kind of process takes during the block, whatever else the machine does.

    Known are this process and those below it, such as a PostgreSQL of the measurement's own. With the address of a
    `database` (libpq's) the processes of PostgreSQL are told apart by whom they work for.
    """
    before, spent = _seconds(), defaultdict[str, float](float)
    yield spent
    roles = _roles(database) if database else {}
    for (pid, kind), seconds in _seconds().items():
        name = f"{kind}: {roles[pid]}" if pid in roles else kind
        spent[name] += seconds - before.get((pid, kind), 0.0)


def _roles(database: str) -> dict[int, str]:
    with psycopg.connect(database) as connection:
        return {pid: name for pid, name in connection.execute(ROLES)}  # noqa: C416 - a Row is no pair


def report_spent(name: str, spent: Mapping[str, float], count: int) -> None:
    """Print the microseconds of each kind of process for one of `count`, and of all together."""
    for kind, seconds in sorted(spent.items(), key=lambda each: -each[1]):
        if seconds:
            report(f"{name}: processor time each, {kind}", seconds / count * 1e6, "us")
    report(f"{name}: processor time each, all together", sum(spent.values()) / count * 1e6, "us")


def _seconds() -> dict[tuple[int, str], float]:
    own = psutil.Process()
    seconds: dict[tuple[int, str], float] = {}
    for each in (own, *own.children(recursive=True)):
        with suppress(psutil.NoSuchProcess):  # it has ended in the meantime
            kind = "contestants" if each == own else _kind(each)
            seconds[each.pid, kind] = sum(each.cpu_times()[:2])
    return seconds


def _kind(process: psutil.Process) -> str:
    name, words = process.name(), process.cmdline()
    if name == "postgres":
        return "PostgreSQL"
    if name.startswith("beam"):
        return "broker"
    if "app.commands" in words:
        return "workers" if "worker" in words else "servers"
    return "bare route" if "bench.bare:create_app" in words else "graders" if "-m" in words else "other"
