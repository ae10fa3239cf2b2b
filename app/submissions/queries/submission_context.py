"""The context that a submission is checked by: the contest's clock, its teams, and the problem's open test cases.

- The submissions of a contest as judges look through them: filtered, newest first, page by page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from app.contests import queries as contests_queries
from app.contests.queries import clock
from app.contests.schemas import NO_LIMITS, ContestSettings, Limits
from app.core.db.database import Database
from app.domain.contests import CaseKind, Clock
from app.domain.participation import Participation, ParticipationKind, own_clock
from app.packages.names import PATTERNS
from app.problems.queries import pins
from app.problems.queries.scoring_input import contest_teams, extra_of
from app.submissions.tables import DONE
from app.tables import (
    ContestProblemRow,
    ContestRow,
    JudgementRow,
    ProblemRow,
    SubmissionRow,
    TestCaseRow,
    TestGroupRow,
)

PLACE = "{case}"


class OpenCase(NamedTuple):
    """A case that answers are taken for: its row, its name, and the bytes an answer may have."""

    id: int
    name: str
    limit: int


# Every file name that is taken, with its cases: one, or all where the pattern has no place for a case.
Names = Mapping[str, Sequence[OpenCase]]


def file_names(cases: Sequence[OpenCase], pattern: str | None) -> Names:
    """Every file name that is taken, and its cases. Earlier patterns win where two cases could claim one name.

    A pattern without a place for the case names one file that is the answer to all of them.
    """
    if pattern and PLACE not in pattern:
        return {pattern: cases} if cases else {}
    names: dict[str, Sequence[OpenCase]] = {}
    for each in (pattern,) if pattern else PATTERNS:
        for case in cases:
            names.setdefault(each.replace(PLACE, case.name), (case,))
    return names


@dataclass(frozen=True, slots=True)
class Entry:
    """A contest's problem as one may submit to it: its cases, and the names of their files.

    `cases` are open to all, `all_cases` to those who have the inputs of final cases; `limits` say how often a team may
    submit; once the results are `final`, nothing that counts is taken. `game` names the rules of a problem that is
    played. `extra` is the extra time of the teams that have some.
    """

    contest_id: str
    problem_id: str
    clock: Clock
    teams: frozenset[str]
    settings: ContestSettings
    cases: Sequence[OpenCase]
    names: Names
    all_cases: Sequence[OpenCase]
    all_names: Names
    limits: Limits = NO_LIMITS
    final: bool = False
    game: str | None = None
    extra: Mapping[str, timedelta] = field(default_factory=dict)

    @property
    def asks_the_team(self) -> bool:
        """Whether admission depends on the team: its own clock, its extra time, or its request for final inputs."""
        has_timer = bool(self.final_cases) and self.settings.finals.window is not None
        return has_timer or self.settings.personal_duration is not None or self.settings.virtual or bool(self.extra)

    @property
    def final_cases(self) -> Sequence[OpenCase]:
        """The cases that decide after the end."""
        return self.all_cases[len(self.cases) :]

    def open_cases(self, team: Entrant, now: datetime) -> tuple[Sequence[OpenCase], Names]:
        """The cases answers are taken for from a team now, and the names of their files."""
        if self.final_cases and self.settings.finals.taken(self.clock, now, team.asked):
            return self.all_cases, self.all_names
        return self.cases, self.names


@dataclass(frozen=True, slots=True)
class Entrant:
    """A team as one who submits: the clock it goes by, its participation, and when it asked for final inputs."""

    clock: Clock
    participation: Participation | None = None
    asked: datetime | None = None

    @property
    def is_virtual(self) -> bool:
        """Whether it takes part after the contest, by a clock of its own."""
        return self.participation is not None and self.participation.kind is ParticipationKind.VIRTUAL


def read_entrant(session: Session, entry: Entry, team_id: str) -> Entrant:
    """Read what a team has done for itself in a contest."""
    participation = contests_queries.participation(session, entry.contest_id, team_id)
    asked = contests_queries.asked(session, entry.contest_id, team_id, entry.problem_id)
    extra = entry.extra.get(team_id, timedelta(0))
    times = own_clock(entry.clock, entry.settings.personal_duration, participation, extra)
    return Entrant(times, participation, asked)


class SubmissionContexts:
    """Entries kept in memory while no admin changes anything: most submissions need no reading at all."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._cached: dict[tuple[str, str], tuple[int, Entry | None]] = {}

    def known(self, contest_id: str, problem_id: str) -> Entry | None:
        """The entry if it is at hand and nothing has changed since it was read."""
        generation, entry = self._cached.get((contest_id, problem_id), (-1, None))
        return entry if generation == self._database.generation else None

    def read(self, contest_id: str, problem_id: str) -> Entry | None:
        """Read the entry; None if there is no such contest, or it does not have the problem."""
        generation = self._database.generation  # before reading: a change meanwhile makes what is read out of date
        with self._database.read() as session:
            entry = read_entry(session, contest_id, problem_id)
        if entry is not None:
            self._cached[contest_id, problem_id] = (generation, entry)
        return entry


def read_entry(session: Session, contest_id: str, problem_id: str) -> Entry | None:
    """Read it; None if there is no such contest, or it does not have the problem."""
    contest = session.get(ContestRow, contest_id)
    place = session.get(ContestProblemRow, (contest_id, problem_id))
    if contest is None or place is None:
        return None
    settings, problem = contest.settings, pins.row(session, contest_id, problem_id)
    limit, pattern = answer_rules(problem, settings)
    cases = open_cases(session, contest_id, problem_id, limit)
    all_cases = [*cases, *open_cases(session, contest_id, problem_id, limit, final=True)]
    teams = contest_teams(session, contest)
    return Entry(
        contest_id,
        problem_id,
        clock(contest),
        frozenset(team.id for team in teams),
        settings,
        cases,
        file_names(cases, pattern),
        all_cases,
        file_names(all_cases, pattern),
        place.limits.over(settings.limits),
        contest.finalized is not None,
        None if (game := problem.settings.get("game")) is None else game["name"],
        extra_of(teams),
    )


def answer_rules(problem: ProblemRow, settings: ContestSettings) -> tuple[int, str | None]:
    """The bytes that an answer to a problem may have, and the pattern of its files' names, if it has one."""
    answers = problem.settings["answers"]
    return answers["limit"], settings.answer_pattern or answers.get("pattern")


def open_cases(
    session: Session, contest_id: str, problem_id: str, limit: int, *, final: bool = False
) -> list[OpenCase]:
    """The cases of a contest's problem with an expected answer: samples and provisional ones, or the final ones."""
    if pins.number(session, contest_id, problem_id) is not None:
        kinds = {group.name: group.kind for group in pins.groups(session, contest_id, problem_id)}
        cases = [each for each in pins.cases(session, contest_id, problem_id) if each.answer_sha256 is not None]
        own = [each for each in cases if (kinds[each.group_name] == CaseKind.FINAL) is final]
        return [OpenCase(each.id, each.name, limit) for each in own]
    kind = TestGroupRow.kind == CaseKind.FINAL
    group = (TestGroupRow.problem_id == TestCaseRow.problem_id) & (TestGroupRow.name == TestCaseRow.group_name)
    query = (
        select(TestCaseRow.id, TestCaseRow.name)
        .join(TestGroupRow, group)
        .where(TestCaseRow.problem_id == problem_id, kind if final else ~kind)
        .where(TestCaseRow.answer_sha256.is_not(None), TestCaseRow.removed.is_(False))
        .order_by(TestCaseRow.ordinal)
    )
    return [OpenCase(row[0], row[1], limit) for row in session.execute(query)]


# In place of a judgement type: not judged yet.
WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class StreamFilter:
    """The submissions asked for; None: any. `type` is a judgement type or WAITING; `before` a submission's number."""

    problem_id: str | None = None
    team_id: str | None = None
    type: str | None = None
    before: int | None = None


def stream(session: Session, contest_id: str, wanted: StreamFilter, most: int) -> Sequence[SubmissionRow]:
    """The submissions, newest first."""
    query = select(SubmissionRow).where(SubmissionRow.contest_id == contest_id)
    if wanted.problem_id is not None:
        query = query.where(SubmissionRow.problem_id == wanted.problem_id)
    if wanted.team_id is not None:
        query = query.where(SubmissionRow.team_id == wanted.team_id)
    if wanted.before is not None:
        query = query.where(SubmissionRow.id < wanted.before)
    if wanted.type is not None:
        query = query.join(JudgementRow, JudgementRow.submission_id == SubmissionRow.id)
        query = query.where(JudgementRow.current.is_(True))
        is_done = JudgementRow.state == DONE
        query = query.where(~is_done if wanted.type == WAITING else is_done & (JudgementRow.type == wanted.type))
    return session.scalars(query.order_by(SubmissionRow.id.desc()).limit(most)).all()


def counts_by_team(session: Session, contest_id: str) -> dict[str, int]:
    """The number of submissions of each team that has sent any."""
    query = select(SubmissionRow.team_id, func.count()).where(SubmissionRow.contest_id == contest_id)
    rows = session.execute(query.group_by(SubmissionRow.team_id))
    return {team_id: count for team_id, count in rows if team_id is not None}
