"""The difference that a rejudging makes: the two sides of a contest, by the one function that makes boards.

For an open rejudging one side is the contest as it is, the other the contest as applying would leave it; for an applied
one the contest as it is, and as undoing would leave it. Views show it by submission, case and team, with counts.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.contests.service.visibility import shown_type, worth_of
from app.contests.tables import APPLIED
from app.core.clics import format_reltime, number
from app.domain.counting import Attempt
from app.judging.queries import rejudgings
from app.judging.service.problem_changes import RejudgingView
from app.problems.queries import problem_diff
from app.problems.queries.scoring_input import ScoredContest, scored_contest
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.queries.scoreboard_cache import make_snapshot
from app.submissions.queries import attempts
from app.tables import RejudgingRow, SubmissionRow


@dataclass(frozen=True, slots=True)
class Side:
    """A contest before or after: its boards for judges and for everyone, and the type of each judged submission."""

    judges: ContestSnapshot
    public: ContestSnapshot
    types: Mapping[int, str | None]


@dataclass(frozen=True, slots=True)
class Difference:
    """Both sides of a rejudging in one contest.

    `judgements` are of each submission that was judged again there, in their order, the one that stands and the one on
    the other side; `changes` is what becomes different in the problem.
    """

    before: Side
    after: Side
    judgements: Mapping[int, tuple[int | None, int | None]]
    changes: str


def difference(session: Session, row: RejudgingRow, contest_id: str, now: datetime) -> Difference:
    """Compute both sides; the contest must exist."""
    contest = scored_contest(session, contest_id)
    assert contest is not None, "the contest exists"
    tries = attempts.attempts(session, contest_id)
    judged = rejudgings.judged(session, contest_id, row)
    types = {each.id: each.type for each in judged}
    current = {each.submission_id: each.id for each in judged if each.current}
    applied = row.state == APPLIED
    own = [each for each in judged if each.rejudging_id == row.id]
    other_ids = {each.submission_id: each.replaced_id if applied else each.id for each in own}
    live = _side(contest, tries, {submission: types.get(id_) for submission, id_ in current.items()}, now)
    other = _side(
        _changed(session, contest, row),
        _with(session, tries, other_ids),
        {submission: types.get(id_) for submission, id_ in {**current, **other_ids}.items() if id_ is not None},
        now,
    )
    before, after = (other, live) if applied else (live, other)
    judgements = {submission: (current.get(submission), other_ids[submission]) for submission in sorted(other_ids)}
    changes = hashlib.sha256(json.dumps(row.changes, sort_keys=True).encode()).hexdigest()
    return Difference(before, after, judgements, changes)


def _side(contest: ScoredContest, tries: Sequence[Attempt], types: Mapping[int, str | None], now: datetime) -> Side:
    judges, public = (make_snapshot(contest, tries, now, public=public) for public in (False, True))
    return Side(judges, public, types)


def _changed(session: Session, contest: ScoredContest, row: RejudgingRow) -> ScoredContest:
    """The contest with the changes of the rejudging, or where it has been applied, without them."""
    changes = row.undo if row.state == APPLIED else row.changes
    if not changes:
        return contest
    problem_id = row.changes["problem_id"]
    version = problem_diff.merged(problem_diff.document(session, problem_id, contest.id), changes)
    scored = problem_diff.scored(version, problem_id, contest.id)
    problems = [scored if problem.id == problem_id else problem for problem in contest.problems]
    references = dict(contest.references)
    references.pop(problem_id, None)
    if scored.rule.reference_counts:
        references[problem_id] = problem_diff.reference_scores(version)
    return replace(contest, problems=problems, references=references)


def _with(session: Session, tries: Sequence[Attempt], judgements: Mapping[int, int | None]) -> list[Attempt]:
    """The attempts as these judgements have them; one without a judgement waits for one."""
    scores = attempts.scores_of(session, sorted(id_ for id_ in judgements.values() if id_ is not None))
    of = {submission: None if id_ is None else scores.get(id_, {}) for submission, id_ in judgements.items()}
    return [replace(each, scores=of[each.id]) if each.id in of else each for each in tries]


class CaseSide(BaseModel):
    """A judgement's result at a case; null where it has none."""

    verdict: str | None
    raw: int | float | None
    points: float | None


class CaseDifference(BaseModel):
    """A case of a submission, before and after."""

    name: str
    before: CaseSide
    after: CaseSide


class SubmissionSide(BaseModel):
    """The result of a submission, and its points at the BEST of this side."""

    judgement_type_id: str | None
    points: float | None


class SubmissionDifference(BaseModel):
    """A submission that was judged again."""

    submission_id: str
    team_id: str | None
    problem_id: str
    contest_time: str
    before: SubmissionSide
    after: SubmissionSide
    cases: list[CaseDifference]

    @property
    def changed_cases(self) -> list[CaseDifference]:
        """The cases that differ."""
        return [case for case in self.cases if case.before != case.after]

    @property
    def is_changed(self) -> bool:
        """Whether its result or that of a case differs."""
        return self.before != self.after or bool(self.changed_cases)


class TeamSide(BaseModel):
    """A team's place on a board; null where it is not on it (but points, where the board is that of a group)."""

    rank: int | None
    points: float | None


class TeamDifference(BaseModel):
    """A team on the judges' board and on the public board."""

    team_id: str
    name: str
    before: TeamSide
    after: TeamSide
    public_before: TeamSide
    public_after: TeamSide

    @property
    def is_moved(self) -> bool:
        """Whether its place on either board differs."""
        return self.before != self.after or self.public_before != self.public_after


class TypeChange(BaseModel):
    """The number of submissions that change from one judgement type to another; null: not judged."""

    before: str | None
    after: str | None
    count: int


class Counts(BaseModel):
    """The numbers of submissions judged again, and of those, cases and teams that differ."""

    submissions: int
    submissions_changed: int
    cases_changed: int
    teams_changed: int
    ranks_changed: int
    public_changed: int
    types: list[TypeChange]


class DifferenceView(BaseModel):
    """The changes of a rejudging in a contest.

    `version` is another one whenever the difference is; `newcomers` came after the rejudging was opened.
    """

    rejudging: RejudgingView
    version: str
    newcomers: list[str]
    counts: Counts
    submissions: list[SubmissionDifference]
    teams: list[TeamDifference]


def view(
    rejudging: RejudgingView,
    difference: Difference,
    rows: Mapping[int, SubmissionRow],
    *,
    opened: datetime,
    everything: bool,
) -> DifferenceView:
    """Show what is different, or everything that was looked at."""
    tries = [
        {attempt.id: attempt for attempt in side.judges.attempts} for side in (difference.before, difference.after)
    ]
    submissions = [
        _submission(difference, rows[id_], tries[0][id_], tries[1][id_])
        for id_ in difference.judgements
        if id_ in rows and id_ in tries[0]
    ]
    teams = _teams(difference)
    changed = [each for each in submissions if each.is_changed]
    types = Counter((each.before.judgement_type_id, each.after.judgement_type_id) for each in submissions)
    counts = Counts(
        submissions=len(submissions),
        submissions_changed=len(changed),
        cases_changed=sum(len(each.changed_cases) for each in changed),
        teams_changed=sum(each.before != each.after for each in teams),
        ranks_changed=sum(each.before.rank != each.after.rank for each in teams),
        public_changed=sum(each.public_before != each.public_after for each in teams),
        types=[
            TypeChange(before=before, after=after, count=count)
            for (before, after), count in sorted(types.items(), key=lambda item: (-item[1], str(item[0])))
            if everything or before != after
        ],
    )
    return DifferenceView(
        rejudging=rejudging,
        version=version(difference, teams),
        newcomers=[rows[id_].shown_id for id_ in difference.judgements if id_ in rows and rows[id_].time > opened],
        counts=counts,
        submissions=submissions
        if everything
        else [each.model_copy(update={"cases": each.changed_cases}) for each in changed],
        teams=teams if everything else [each for each in teams if each.is_moved],
    )


def version(difference: Difference, teams: Sequence[TeamDifference] | None = None) -> str:
    """The version of a difference: a digest of all that it is made of."""
    known = _teams(difference) if teams is None else teams
    places = [team.model_dump(mode="json") for team in known]
    judgements = [(submission, *pair) for submission, pair in difference.judgements.items()]
    return hashlib.sha256(json.dumps([difference.changes, judgements, places]).encode()).hexdigest()[:16]


def _submission(difference: Difference, row: SubmissionRow, before: Attempt, after: Attempt) -> SubmissionDifference:
    names = list(dict.fromkeys([*(before.scores or {}), *(after.scores or {})]))
    return SubmissionDifference(
        submission_id=row.shown_id,
        team_id=row.team_id,
        problem_id=row.problem_id,
        contest_time=format_reltime(timedelta(milliseconds=row.contest_time_ms)),
        before=_submission_side(difference.before, row),
        after=_submission_side(difference.after, row),
        cases=[
            CaseDifference(
                name=name,
                before=_case_side(difference.before.judges, row, before, name),
                after=_case_side(difference.after.judges, row, after, name),
            )
            for name in sorted(names)
        ],
    )


def _submission_side(side: Side, row: SubmissionRow) -> SubmissionSide:
    worth = worth_of(side.judges, row)
    return SubmissionSide(
        judgement_type_id=shown_type(side.judges, side.types.get(row.id)),
        points=None if worth is None else worth.points.points,
    )


def _case_side(snapshot: ContestSnapshot, row: SubmissionRow, attempt: Attempt, name: str) -> CaseSide:
    score = (attempt.scores or {}).get(name)
    if score is None:
        return CaseSide(verdict=None, raw=None, points=None)
    worth = worth_of(snapshot, row)
    points = None if worth is None else worth.points.case_points.get(name)
    return CaseSide(verdict=score.verdict.value, raw=number(score.raw), points=points)


def _teams(difference: Difference) -> list[TeamDifference]:
    """The teams of the boards, in the order of the board after."""
    boards = [
        _places(side)
        for side in (
            difference.before.judges,
            difference.after.judges,
            difference.before.public,
            difference.after.public,
        )
    ]
    nowhere = TeamSide(rank=None, points=None)
    names = {
        row.team.id: row.team.name for side in (difference.after, difference.before) for row in side.judges.board.rows
    }
    return [
        TeamDifference(
            team_id=team,
            name=name,
            before=boards[0].get(team, nowhere),
            after=boards[1].get(team, nowhere),
            public_before=boards[2].get(team, nowhere),
            public_after=boards[3].get(team, nowhere),
        )
        for team, name in names.items()
    ]


def _places(side: ContestSnapshot) -> dict[str, TeamSide]:
    ranks = {row.team.id: row.rank for row in side.main.rows}
    return {row.team.id: TeamSide(rank=ranks.get(row.team.id), points=row.points) for row in side.board.rows}
