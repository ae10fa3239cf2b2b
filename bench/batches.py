"""What the rows of a submission cost on PostgreSQL from its arrival to its verdict, in batches of 32 teams.

Processor time of the process that stores, for each submission, of four steps: it is accepted, claimed by a grader, read
and its outcome recorded; alone on its database, and beside other servers, where limits are counted under locks and each
commit sends notices. Without HTTP and graders, so that it says the same on a machine that is busy with other work.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TypeVar

from sqlalchemy import event, func, select

from app.core.db.database import Database
from app.domain.documents import FoundScore
from app.domain.verdicts import CaseVerdict
from app.judging.queries import judging_tasks
from app.submissions.queries import judgements, submissions
from app.submissions.queries.judgements import Claim, Outcome
from app.submissions.queries.submissions import Accepted, NewAnswer, NewSubmission
from app.submissions.queries.usage import Allowance
from app.tables import TestCaseRow
from bench._figures import report
from bench._installations import POSTGRESQL, installation
from bench.acceptance import CONNECTIONS, padded_answer
from bench.stage import CONTEST, prepare

BATCHES = 60
FIRST = 10
"""Batches that are not counted: statements are prepared, and caches filled."""
T = TypeVar("T")


class Batches:
    """A database, and the processor seconds of each step on it."""

    def __init__(self, url: str, *, shared: bool) -> None:
        self.database = Database(url, shared=shared)
        self.shared = shared
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.statements = 0
        self._known = judging_tasks.KnownGrounds()
        for engine in (self.database.engine, self.database.writers):
            event.listen(engine, "before_cursor_execute", self._count)
        with self.database.read() as session:
            self._case_id = session.scalar(select(func.min(TestCaseRow.id))) or 0

    def _count(self, *_: object) -> None:
        self.statements += 1

    def run(self) -> None:
        """Take a batch of submissions, one of each team, to their verdicts."""
        ids = self._timed("accepted", self._accept)
        self._timed("claimed", lambda: self._claim(ids))
        self._timed("read", lambda: self._read(ids))
        self._timed("recorded", lambda: self._record(ids))

    def _timed(self, step: str, act: Callable[[], T]) -> T:
        began = time.process_time()
        result = act()
        self.seconds[step] += time.process_time() - began
        return result

    def _accept(self) -> list[int]:
        data, now = padded_answer(), datetime.now(UTC)
        arriving = [
            NewSubmission(
                CONTEST,
                "comesolo",
                f"team{at}",
                f"team{at}",
                now,
                3_600_000,
                [NewAnswer(self._case_id, "101-n05-p70.out", len(data), None, data)],
                allowance=Allowance(CONTEST, f"team{at}", 10**6, 10**12) if self.shared else None,
            )
            for at in range(1, CONNECTIONS + 1)
        ]
        with self.database.transaction(self.database.writers) as connection:
            taken = submissions.accept(connection, arriving)
        return [each.judgement_id or 0 for each in taken if isinstance(each, Accepted)]

    def _claim(self, ids: list[int]) -> None:
        with self.database.transaction(self.database.writers) as connection:
            judgements.begin_many(connection, [Claim(id_, None, alone=False) for id_ in ids])

    def _read(self, ids: list[int]) -> None:
        with self.database.read() as session:
            judging_tasks.load_tasks(session, dict.fromkeys(ids, 1), self._known)

    def _record(self, ids: list[int]) -> None:
        score = FoundScore(self._case_id, CaseVerdict.ACCEPTED, 1, 2, 1, {"key": "ok", "text": "ok", "args": {}}, 3)
        now = datetime.now(UTC)
        with self.database.transaction(self.database.writers) as connection:
            judgements.record_many(connection, [Outcome(id_, 1, "AC", [score], now) for id_ in ids])


def main(batches: int = BATCHES) -> int:
    """Print the microseconds of each step for a submission, and the statements of a batch."""
    for name, shared in (("alone", False), ("beside others", True)):
        with installation(POSTGRESQL) as installed:
            prepare(installed.home, teams=CONNECTIONS, database_url=installed.database_url)
            measured = Batches(installed.database_url, shared=shared)
            for at in range(FIRST + batches):
                if at == FIRST:
                    measured.seconds.clear()
                    measured.statements = 0
                measured.run()
            measured.database.close()
        for step, seconds in measured.seconds.items():
            report(f"{name}: {step}, processor time each", seconds / batches / CONNECTIONS * 1e6, "us")
        report(f"{name}: all four", sum(measured.seconds.values()) / batches / CONNECTIONS * 1e6, "us")
        report(f"{name}: statements of a batch of {CONNECTIONS}", measured.statements / batches)
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m bench.batches")
    parser.add_argument("--batches", type=int, default=BATCHES)
    sys.exit(main(parser.parse_args().batches))
