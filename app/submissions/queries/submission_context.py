"""The context that a submission is checked by: the contest's clock, its teams, and the problem's open test cases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.contests.queries import participations
from app.contests.schemas.settings import NO_LIMITS, ContestSettings, Limits
from app.core.db.database import Database
from app.domain.contests import CaseKind, Clock
from app.domain.final_cases import Finals
from app.domain.participation import Participation, ParticipationKind, own_clock
from app.problems.queries import pins
from app.problems.queries.scoring_input import clock, contest_teams
from app.submissions.queries.usage import Usage
from app.tables import ContestProblemRow, ContestRow, ProblemRow, TestCaseRow, TestGroupRow


@dataclass(frozen=True, slots=True)
class Entry:
    """A contest's problem as one may submit to it. `cases` are (row id, name); `limit` bytes an answer may have.

    `final_cases` are answered only by those who have their inputs; `limits` say how often a team may submit; once the
    results are `final`, nothing that counts is taken. `game` names the rules of a problem that is played.
    """

    contest_id: str
    problem_id: str
    clock: Clock
    teams: frozenset[str]
    settings: ContestSettings
    cases: Sequence[tuple[int, str]]
    limit: int
    pattern: str | None
    final_cases: Sequence[tuple[int, str]] = ()
    limits: Limits = NO_LIMITS
    final: bool = False
    game: str | None = None

    @property
    def finals(self) -> Finals:
        """The contest's treatment of final cases."""
        return self.settings.finals

    @property
    def personal(self) -> timedelta | None:
        """The length of each team's own window, or None where all share one clock."""
        return self.settings.personal_duration

    @property
    def asks_the_team(self) -> bool:
        """Whether admission depends on earlier acts of the team: its own clock, or its request for final inputs."""
        has_timer = bool(self.final_cases) and self.finals.window is not None
        return has_timer or self.personal is not None or self.settings.virtual

    def open_cases(self, team: Entrant, now: datetime) -> Sequence[tuple[int, str]]:
        """The cases answers are taken for from a team now."""
        if self.final_cases and self.finals.taken(self.clock, now, team.asked):
            return [*self.cases, *self.final_cases]
        return self.cases


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
    participation = participations.participation(session, entry.contest_id, team_id)
    asked = participations.asked(session, entry.contest_id, team_id, entry.problem_id)
    return Entrant(own_clock(entry.clock, entry.personal, participation), participation, asked)


class SubmissionContexts:
    """Entries kept in memory while no admin changes anything: most submissions need no reading at all."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._cached: dict[tuple[str, str], tuple[int, Entry | None]] = {}
        self.usage = Usage(database)

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
    problem = pins.row(session, contest_id, problem_id)
    place = session.get(ContestProblemRow, (contest_id, problem_id))
    if contest is None or problem is None or place is None:
        return None
    settings = contest.settings
    limit, pattern = answer_rules(problem, settings)
    return Entry(
        contest_id,
        problem_id,
        clock(contest),
        frozenset(team.id for team in contest_teams(session, contest)),
        settings,
        open_cases(session, contest_id, problem_id),
        limit,
        pattern,
        open_cases(session, contest_id, problem_id, final=True),
        place.limits.over(settings.limits),
        contest.finalized is not None,
        None if (game := problem.settings.get("game")) is None else game["name"],
    )


def answer_rules(problem: ProblemRow, settings: ContestSettings) -> tuple[int, str | None]:
    """The bytes that an answer to a problem may have, and the pattern of its files' names, if it has one."""
    answers = problem.settings["answers"]
    return answers["limit"], settings.answer_pattern or answers.get("pattern")


def open_cases(session: Session, contest_id: str, problem_id: str, *, final: bool = False) -> Sequence[tuple[int, str]]:
    """The cases of a contest's problem with an expected answer: samples and provisional ones, or the final ones."""
    if pins.number(session, contest_id, problem_id) is not None:
        kinds = {group.name: group.kind for group in pins.groups(session, contest_id, problem_id)}
        cases = [each for each in pins.cases(session, contest_id, problem_id) if each.answer_sha256 is not None]
        return [(each.id, each.name) for each in cases if (kinds[each.group_name] == CaseKind.FINAL) is final]
    kind = TestGroupRow.kind == CaseKind.FINAL
    group = (TestGroupRow.problem_id == TestCaseRow.problem_id) & (TestGroupRow.name == TestCaseRow.group_name)
    query = (
        select(TestCaseRow.id, TestCaseRow.name)
        .join(TestGroupRow, group)
        .where(TestCaseRow.problem_id == problem_id, kind if final else ~kind)
        .where(TestCaseRow.answer_sha256.is_not(None), TestCaseRow.removed.is_(False))
        .order_by(TestCaseRow.ordinal)
    )
    return [(row[0], row[1]) for row in session.execute(query)]
