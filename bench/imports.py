"""Imports: peak memory of server and client for packages of 10 cases, of 10,000 cases, and of 2 GB."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from app.accounts.commands.accounts import new_login
from app.commands.fresh_service import Running, fresh_service
from app.sandbox.child import environment, module_command

MIB = 2**20
FILES: Mapping[str, str] = {
    "problem.yaml": """\
problem_format_version: 2025-09
type: [scoring, submit-answer]
name: {en: Many}
uuid: 5ad5d4a7-3d1c-4d6a-9c1f-3f6d0a3cbb10
license: public domain
""",
    "jurado.yaml": """\
checker: tokens
scoring: {kind: absolute, direction: maximise}
inputs: {limit: 67108864}
""",
    "statement/problem.en.md": "Say the number of the case.\n",
    "input_validators/validate.py": "raise SystemExit(42)\n",
    "data/sample/sample.in": "1\n",
    "data/sample/sample.ans": "1\n",
}
SMALL, MANY = 10, 10_000
LARGE_CASES, LARGE_INPUT = 42, 48 * MIB
PERIOD = 16 * 1024
"""Inputs repeat so many bytes: the upload is 2 GB all the same, as it is not compressed, and the disk keeps little."""
MOST_GROWTH_MIB = 400
"""MiB by which the peak of the server may lie above that of the small package."""
SECONDS_BETWEEN_LOOKS = 0.02


class Imported(NamedTuple):
    """An import: its cases and bytes, seconds on the clock and of processors, and the peaks of memory in MiB."""

    name: str
    cases: int
    size: int
    seconds: float
    processor: float
    server: float
    reader: float
    client: float


def main() -> int:
    """Print the table; 1 if the server's or the client's memory grows with the package."""
    with tempfile.TemporaryDirectory(prefix="jurado-bench-") as name:
        folder = Path(name)
        rows = [
            imported(folder, "small", SMALL, 1000),
            imported(folder, "many cases", MANY, 1000),
            imported(folder, "2 GB", LARGE_CASES, LARGE_INPUT),
        ]
    table = Table("", ">cases", ">MB", ">seconds", ">of processor", ">server, MiB", ">reader, MiB", ">client, MiB")
    for row in rows:
        peaks = (f"{peak:.0f}" for peak in row[5:])
        times = f"{row.seconds:.1f}", f"{row.processor:.1f}"
        table.add_row(row.name, str(row.cases), f"{row.size / 1e6:.0f}", *times, *peaks)
    Console().print(table)
    first = rows[0]
    grown = max(max(row.server - first.server, row.client - first.client) for row in rows)
    print(f"peaks grow by at most {grown:.0f} MiB beyond the small package; {MOST_GROWTH_MIB} are allowed")
    return 0 if grown <= MOST_GROWTH_MIB else 1


def imported(folder: Path, name: str, cases: int, size: int) -> Imported:
    """Bring a package to a server of its own with `jurado package import`, and watch both."""
    home = folder / name.replace(" ", "-")
    home.mkdir()
    archive = home / "many.zip"
    write_package(archive, cases, size)
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: Any, **options: Any) -> subprocess.Popen[str]:
        started.append(subprocess.Popen(*arguments, **options))
        return started[0]

    settings = {"JURADO_GRADERS": "1", "TMPDIR": str(home)}
    with fresh_service(home, settings, start) as running, watched(started[0].pid) as peaks:
        began, used = perf_counter(), processor_seconds(started[0].pid)
        client, spent = client_peak(running, archive, home)
        seconds = perf_counter() - began
        peaks.look()
        processor = processor_seconds(started[0].pid) - used + spent
        return Imported(name, cases, archive.stat().st_size, seconds, processor, peaks.server, peaks.reader, client)


def write_package(target: Path, cases: int, size: int) -> None:
    """Write a package of so many cases with inputs of so many bytes as a zip that is stored, not compressed."""
    random = Random(1)
    block = "".join(f"{random.randrange(10**7):07}\n" for _ in range(PERIOD // 8)).encode()
    text = (block * (size // PERIOD + 1))[: size // 8 * 8]
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        for name, content in FILES.items():
            archive.writestr(f"many/{name}", content)
        for number in range(cases):
            archive.writestr(f"many/data/secret/{number:05}.in", text)
            for name in (f"data/secret/{number:05}.ans", f"submissions/accepted/all/{number:05}.out"):
                archive.writestr(f"many/{name}", f"{number}\n")


def client_peak(running: Running, archive: Path, home: Path) -> tuple[float, float]:
    """Run the client to its end; gives the peak of its memory in MiB, and its seconds of processor."""
    login = new_login(running.url, "admin", running.password)
    variables = {**environment(), "JURADO_URL": running.url, "JURADO_TOKEN": login.token, "TMPDIR": str(home)}
    client = subprocess.Popen(
        module_command("app.commands", "package", "import", str(archive)), env=variables, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(client.pid, 0)
    client.returncode = os.waitstatus_to_exitcode(status)
    if client.returncode != 0:
        raise RuntimeError(f"the import of {archive} ended with {client.returncode}")
    return usage.ru_maxrss / 1024, usage.ru_utime + usage.ru_stime


def processor_seconds(pid: int) -> float:
    """The seconds of processor that a process, those below it and those it has waited for have taken."""
    ticks = 0
    for each in (pid, *below(pid)):
        try:
            fields = Path(f"/proc/{each}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


class Peaks:
    """The peaks of the server's memory and of its reader's, in MiB, as far as they were looked at."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self.server = self.reader = 0.0

    def look(self) -> None:
        """Look at the processes again."""
        self.server = max(self.server, high_water(self._pid))
        for pid in below(self._pid):
            if "app.programs.apart" in words_of(pid):
                self.reader = max(self.reader, high_water(pid))


@contextmanager
def watched(pid: int) -> Iterator[Peaks]:
    """Look at a server and its reader again and again, until the block ends."""
    peaks, over = Peaks(pid), threading.Event()

    def watch() -> None:
        while not over.wait(SECONDS_BETWEEN_LOOKS):
            peaks.look()

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield peaks
    finally:
        over.set()
        thread.join()


def high_water(pid: int) -> float:
    """The peak of a process's memory in MiB; 0 where it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), 0.0)


def below(pid: int) -> list[int]:
    """The processes that a process has started, and those that they have."""
    children: list[int] = []
    for each in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children += map(int, each.read_text(encoding="utf-8").split())
        except OSError:
            continue
    return [*children, *(deeper for child in children for deeper in below(child))]


def words_of(pid: int) -> str:
    """The command line of a process; empty where it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8").replace("\0", " ")
    except OSError:
        return ""
