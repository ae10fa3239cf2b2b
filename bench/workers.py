"""Graded answers a second from the queue to rows: embedded on SQLite and PostgreSQL, and with one and two workers.

Submissions of all 20 cases of comesolo lie in the queue, one grader a server or worker; the clock runs from the first
verdict to the last. The ceiling is one grader's checker alone, in the same run.
"""

from __future__ import annotations

import argparse
import sys
import time

from app.core.files.open_files import LocalFiles
from app.judging.service.grade import Grader
from bench._figures import report
from bench._installations import DISTRIBUTED, POSTGRESQL, SQLITE, Installation, installation
from bench.grading import checker_alone, reference_answers
from bench.rejudging import TEAMS, fill, opened, unjudged
from bench.stage import prepare

SUBMISSIONS = 1500
CASES = 20
SECOND_WORKER = 1.5
"""The least throughput of two workers, in that of one."""


def main(count: int = SUBMISSIONS) -> int:
    """Print answers a second of each; 1 if a second worker brings less than its goal."""
    rates: dict[tuple[str, int], float] = {}
    for kind, workers in ((SQLITE, 0), (POSTGRESQL, 0), (DISTRIBUTED, 1), (DISTRIBUTED, 2)):
        with installation(kind) as installed:
            installed.graders = 1
            ceiling, rates[kind, workers] = measure(installed, workers, count)
        beside = f", {workers} workers" if workers else ""
        report(f"the checker alone, before {kind}{beside}", ceiling, "/s")
        report(f"answers graded on {kind}{beside}", rates[kind, workers], "/s")
        report(f"answers graded on {kind}{beside}: share of the checker alone", rates[kind, workers] / ceiling)
    ratio = rates[DISTRIBUTED, 2] / rates[DISTRIBUTED, 1]
    return int(report("answers graded by two workers, in those of one", ratio, least=SECOND_WORKER))


def measure(installed: Installation, workers: int, count: int) -> tuple[float, float]:
    """Grade a queue; returns the answers a second of the checker alone, and of the installation."""
    prepare(installed.home, teams=TEAMS, database_url=installed.database_url)
    database = opened(installed)
    answered, _, seconds = checker_alone(
        Grader(LocalFiles(installed.home / "files")), "comesolo", reference_answers(database, "comesolo")
    )
    if not workers:
        fill(installed, count, CASES)
    with installed.running(workers=workers):
        if workers:  # all of them are there before the first message is sent
            fill(installed, count, CASES)
        while (left := unjudged(database)) == count:
            time.sleep(0.02)
        began = time.perf_counter()
        while unjudged(database):
            time.sleep(0.05)
        rate = left * CASES / (time.perf_counter() - began)
    database.close()
    return answered / seconds, rate


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m bench.workers")
    parser.add_argument("--submissions", type=int, default=SUBMISSIONS)
    sys.exit(main(parser.parse_args().submissions))
