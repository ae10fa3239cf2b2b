"""Contests, problems and teams as the scoring rules see them, read from the tables."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from fractions import Fraction

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.contests.queries import choices, clock, participations
from app.contests.schemas import ContestSettings, Rule
from app.domain import board, contests, counting, documents
from app.domain.ids import VeiledIds
from app.domain.participation import Finals, Participation, ParticipationKind, own_clock
from app.problems.queries import pins
from app.tables import ContestProblemRow, ContestRow, ContestTeamRow, ProblemRow, TeamRow, TestCaseRow, TestGroupRow


@dataclass(frozen=True, slots=True)
class ScoredContest:
    """The input of scoring beside submissions: a contest's rules, teams and problems.

    extra  the extra time of the teams that have some
    memo   what readers of it compute or read once, until something but submissions changes and it is read again
    """

    id: str
    clock: contests.Clock
    finalized: datetime | None
    settings: ContestSettings
    problems: Sequence[contests.ScoredProblem]
    labels: Mapping[str, str]
    teams: Sequence[contests.Team]
    references: board.ReferenceScores
    revealed: frozenset[tuple[str, str]] = frozenset()
    chosen: board.Chosen = field(default_factory=dict)
    participations: Mapping[str, Participation] = field(default_factory=dict)
    on_board: frozenset[str] = frozenset()
    main_group: str | None = None
    late: frozenset[str] = frozenset()
    ids: VeiledIds = field(default=VeiledIds(""), repr=False)
    extra: Mapping[str, timedelta] = field(default_factory=dict)
    memo: dict[Hashable, object] = field(init=False, default_factory=dict, compare=False, repr=False)

    @property
    def finals(self) -> Finals:
        """Its treatment of final cases."""
        return self.settings.finals

    @property
    def personal(self) -> timedelta | None:
        """The length of each team's own window, or None where all share one clock."""
        return self.settings.personal_duration

    def without_final(self) -> ScoredContest:
        """The contest as if its problems had no final cases."""
        return replace(self, problems=[problem.without_final for problem in self.problems])

    @property
    def main_teams(self) -> frozenset[str] | None:
        """The teams of the main board, where that is only those of one group."""
        if self.main_group is None:
            return None
        return frozenset(t.id for t in self.teams if self.main_group in t.group_ids)

    @property
    def official_teams(self) -> list[contests.Team]:
        """The teams but for the virtual ones, and for those that came when the results were final."""
        return [team for team in self.teams if team.id not in self.late and not self.is_virtual(team.id)]

    def moments(self) -> list[datetime]:
        """Every moment at which something about it changes by itself."""
        moments = [*self.clock.moments(), self.finalized, self.finals.release]
        return [moment for moment in moments if moment is not None]

    def is_virtual(self, team_id: str) -> bool:
        """Whether a team takes part by a virtual clock, on no official board."""
        participation = self.participations.get(team_id)
        return participation is not None and participation.kind is ParticipationKind.VIRTUAL

    def own_clock(self, team_id: str | None) -> contests.Clock:
        """The clock a team's submissions are timed by."""
        id_ = team_id or ""
        return own_clock(self.clock, self.personal, self.participations.get(id_), self.extra.get(id_, timedelta(0)))

    def problem(self, problem_id: str) -> contests.ScoredProblem | None:
        """One of its problems, or None."""
        return next((problem for problem in self.problems if problem.id == problem_id), None)


def scored_contest(session: Session, contest_id: str) -> ScoredContest | None:
    """Read a contest with its problems in order and its teams; None if there is no such contest."""
    row = session.get(ContestRow, contest_id)
    if row is None:
        return None
    pairs = entries(session, contest_id)
    scored = [
        scored_of(
            problem.id,
            problem.settings,
            pins.groups(session, contest_id, problem.id),
            pins.cases(session, contest_id, problem.id),
            entry.rule,
        )
        for entry, problem in pairs
    ]
    labels = {entry.problem_id: entry.label for entry, _ in pairs}
    counted = [problem.id for problem in scored if problem.rule.reference_counts]
    references = {each: known_scores(pins.cases(session, contest_id, each)) for each in counted}
    teams = contest_teams(session, row)
    late = _late(session, row)
    settings = row.settings
    return ScoredContest(
        row.id,
        clock(row),
        row.finalized,
        settings,
        scored,
        labels,
        teams,
        references,
        frozenset((team_id, problem_id) for team_id, problem_id in row.revealed or ()),
        choices(session, contest_id) if settings.choose else {},
        participations(session, contest_id),
        frozenset(team.id for team in teams if team.counts and team.id not in late),
        row.main_scoreboard_group_id,
        late,
        VeiledIds(row.veil),
        extra_of(teams),
    )


def entries(session: Session, contest_id: str) -> list[tuple[ContestProblemRow, ProblemRow]]:
    """A contest's problems, in order, each with its place in the contest."""
    query = (
        select(ContestProblemRow, ProblemRow)
        .join(ProblemRow, ProblemRow.id == ContestProblemRow.problem_id)
        .where(ContestProblemRow.contest_id == contest_id)
        .order_by(ContestProblemRow.ordinal, ContestProblemRow.problem_id)
    )
    return [(entry, pins.row(session, contest_id, problem.id)) for entry, problem in session.execute(query)]


def scored_of(
    problem_id: str,
    settings: documents.ProblemSettingsDocument,
    group_rows: Sequence[TestGroupRow],
    case_rows: Sequence[TestCaseRow],
    own: Rule,
) -> contests.ScoredProblem:
    """A problem as the rules see it: from its settings, groups and cases (in order), and a contest's rule for it."""
    groups = tuple(
        contests.Group(
            row.name,
            contests.CaseKind(row.kind),
            Fraction(row.max_points_num, row.max_points_den),
            contests.Aggregation(row.aggregation),
            tuple(row.require_pass),
        )
        for row in group_rows
    )
    cases = tuple(
        contests.Case(row.name, row.group_name, Fraction(row.points_num, row.points_den))
        for row in case_rows
        if row.answer_sha256 is not None  # without an expected answer it is not open yet
    )
    scoring = settings["scoring"]
    most = sum((group.max_points for group in groups), Fraction(0))
    rule = own.over(scoring["kind"], scoring["direction"], most)
    return contests.ScoredProblem(problem_id, rule, groups, cases)


def extra_of(teams: Iterable[contests.Team]) -> dict[str, timedelta]:
    """Return the extra time of the teams that have some."""
    return {team.id: team.extra for team in teams if team.extra}


def contest_teams(session: Session, contest: ContestRow) -> list[contests.Team]:
    """The teams that take part, hidden ones too: all there are in a contest open to all."""
    enrolled = (ContestTeamRow.team_id == TeamRow.id) & (ContestTeamRow.contest_id == contest.id)
    query = (
        select(
            TeamRow.id,
            TeamRow.name,
            TeamRow.hidden,
            TeamRow.group_ids,
            ContestTeamRow.disqualified,
            ContestTeamRow.extra_seconds,
        )
        .join(ContestTeamRow, enrolled, isouter=contest.open_to_all)
        .order_by(TeamRow.id)
    )
    return [
        contests.Team(id_, name, hidden, tuple(group_ids), bool(disqualified), timedelta(seconds=extra or 0))
        for id_, name, hidden, group_ids, disqualified, extra in session.execute(query)
    ]


def _late(session: Session, contest: ContestRow) -> frozenset[str]:
    """The teams that came to a contest open to all when it was final: all others are enrolled at that moment."""
    if contest.finalized is None or not contest.open_to_all:
        return frozenset()
    enrolled = select(ContestTeamRow.team_id).where(ContestTeamRow.contest_id == contest.id)
    return frozenset(session.scalars(select(TeamRow.id).where(TeamRow.id.not_in(enrolled))))


def known_scores(rows: Sequence[TestCaseRow]) -> dict[str, counting.RawScore]:
    """Scores of the expected answers of these cases, where they are known."""
    return {
        row.name: counting.RawScore(
            counting.CaseVerdict.ACCEPTED,
            counting.exact(row.reference_raw_num, row.reference_raw_den),
            counting.exact(row.reference_multiplier_num, row.reference_multiplier_den),
        )
        for row in rows
        if row.reference_raw_num is not None
    }
