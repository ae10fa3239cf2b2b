"""The first pair of boards, the judges' and the public one, of a large contest: CPU seconds of a process that has none.

The contest is that of `bench.growth`: `python -m bench.cold_boards --submissions 50000 --home DIR` keeps it for the
next run. Each figure is of a process of its own, so that nothing is warm but the disk; the best of some runs counts.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timedelta
from pathlib import Path

from app.core.clock import utc_now
from app.core.db.database import Database
from app.core.settings import Settings
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.tables import ContestRow, TestGroupRow
from bench._figures import report
from bench.growth import Size, stage
from bench.stage import CONTEST

GOAL = 2.0
STATES = ("open", "frozen", "embargoed")
"""Both boards show the same; everybody's lacks its second half; everybody's lacks the final cases of one problem."""
RUNS = 3


def main() -> int:
    """Measure a contest of 10,000 submissions."""
    with tempfile.TemporaryDirectory() as folder:
        return measure(Path(folder), Size())


def measure(home: Path, size: Size) -> int:
    """Print one line a state; 1 if a goal is missed."""
    stage(home, size)
    print(f"{size.submissions} submissions of {size.teams} teams, {size.cases} cases each; CPU seconds, best of {RUNS}")
    missed = 0
    for state in STATES:
        put_into(home, state)
        command = [sys.executable, "-m", "bench.cold_boards", "--once", "--home", str(home)]
        outputs = [subprocess.run(command, check=True, capture_output=True, text=True).stdout for _ in range(RUNS)]
        missed += report(state, min(map(float, outputs)), "s", most=GOAL)
    put_into(home, STATES[0])
    return int(missed > 0)


def put_into(home: Path, state: str) -> None:
    """Let the contest be as a state says; it lasts for days, and its submissions came in its first hour."""
    database = Database(Settings(home=home, database_url="", files_url="").database)
    with database.write() as session:
        row = session.get_one(ContestRow, CONTEST)
        frozen_at: datetime = (row.start_time or utc_now()) + timedelta(minutes=30)
        since = (frozen_at - (row.start_time or frozen_at)) // timedelta(milliseconds=1)
        row.freeze_ms = row.duration_ms - since if state == "frozen" else None
        for group in session.query(TestGroupRow).filter_by(problem_id="comesolo"):
            if group.kind != "sample":
                group.kind = "final" if state == "embargoed" else "provisional"
    database.close()


def cpu_seconds(home: Path) -> float:
    """What both boards take in this process, of all its threads."""
    database = Database(Settings(home=home, database_url="", files_url="").database)
    with database.read() as session:
        session.get_one(ContestRow, CONTEST)  # the connection is there, as in a server
    boards = ScoreboardCache(database)
    began = time.process_time()
    for public in (False, True):
        snapshot = boards.snapshot(CONTEST, public=public)
        assert snapshot is not None
        assert len(snapshot.board.rows) > 0
    seconds = time.process_time() - began
    database.close()
    return seconds


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m bench.cold_boards")
    for name, value in (("submissions", 10_000), ("teams", 500), ("cases", 2), ("answer", 200)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--home", type=Path, help="made if it is not there, and kept")
    parser.add_argument("--once", action="store_true", help="print the seconds of this process, and nothing else")
    flags = parser.parse_args()
    wanted = Size(flags.submissions, flags.teams, flags.cases, flags.answer)
    if flags.once:
        print(cpu_seconds(flags.home))
        sys.exit(0)
    if flags.home is not None:
        sys.exit(measure(flags.home, wanted))
    with tempfile.TemporaryDirectory() as folder_name:
        sys.exit(measure(Path(folder_name), wanted))
