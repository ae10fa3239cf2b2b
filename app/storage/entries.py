"""What a submission is held against: the contest's clock, who takes part, and the problem's open test cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.domain.contests import CaseKind, Clock
from app.storage.database import Database
from app.storage.scored import clock, contest_teams
from app.storage.tables import ContestProblemRow, ContestRow, ProblemRow, TestCaseRow, TestGroupRow


@dataclass(frozen=True, slots=True)
class Entry:
    """A contest's problem as one may submit to it. `cases` are (row id, name); `limit` bytes an answer may have."""

    contest_id: str
    problem_id: str
    clock: Clock
    teams: frozenset[str]
    settings: Mapping[str, Any]
    cases: Sequence[tuple[int, str]]
    limit: int
    pattern: str | None


class Entries:
    """Entries kept in memory while no admin changes anything: most submissions need no reading at all."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._kept: dict[tuple[str, str], tuple[int, Entry | None]] = {}

    def known(self, contest_id: str, problem_id: str) -> Entry | None:
        """The entry if it is at hand and nothing has changed since it was read."""
        generation, entry = self._kept.get((contest_id, problem_id), (-1, None))
        return entry if generation == self._database.generation else None

    def read(self, contest_id: str, problem_id: str) -> Entry | None:
        """Read the entry; None if there is no such contest, or it does not have the problem."""
        generation = self._database.generation  # before reading: a change meanwhile makes what is read out of date
        with self._database.read() as session:
            entry = read_entry(session, contest_id, problem_id)
        if entry is not None:
            self._kept[contest_id, problem_id] = (generation, entry)
        return entry


def read_entry(session: Session, contest_id: str, problem_id: str) -> Entry | None:
    """Read it; None if there is no such contest, or it does not have the problem."""
    contest = session.get(ContestRow, contest_id)
    problem = session.get(ProblemRow, problem_id)
    if contest is None or problem is None or session.get(ContestProblemRow, (contest_id, problem_id)) is None:
        return None
    answers = problem.settings["answers"]
    return Entry(
        contest_id,
        problem_id,
        clock(contest),
        frozenset(team.id for team in contest_teams(session, contest)),
        contest.settings,
        open_cases(session, problem_id),
        answers["limit"],
        contest.settings.get("answer_pattern") or answers.get("pattern"),
    )


def open_cases(session: Session, problem_id: str) -> Sequence[tuple[int, str]]:
    """The cases answers are taken for: samples and provisional ones that have an expected answer."""
    group = (TestGroupRow.problem_id == TestCaseRow.problem_id) & (TestGroupRow.name == TestCaseRow.group_name)
    query = (
        select(TestCaseRow.id, TestCaseRow.name)
        .join(TestGroupRow, group)
        .where(TestCaseRow.problem_id == problem_id, TestGroupRow.kind != CaseKind.FINAL)
        .where(TestCaseRow.answer_sha256.is_not(None), TestCaseRow.removed.is_(False))
        .order_by(TestCaseRow.ordinal)
    )
    return [(row[0], row[1]) for row in session.execute(query)]
