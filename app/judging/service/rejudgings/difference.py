"""The difference a rejudging makes, as documents: submissions case by case, teams, and how many of everything."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from pydantic import BaseModel

from app.contests.service.visibility import shown_type, worth_of
from app.core.clics import format_reltime, number
from app.domain.counting import Attempt
from app.judging.service.rejudging import Difference, Side
from app.judging.service.rejudgings.problem_changes import RejudgingView
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.tables import SubmissionRow

VERSION = re.compile(r"([0-9]{1,18})-[0-9a-f]{16}")


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


class TeamSide(BaseModel):
    """A team's place on a board; null where it is not on it (but points, where the board is that of a group)."""

    rank: int | None
    points: float | None


class TeamDifference(BaseModel):
    """A team on the judges' board, and on the board as everybody sees it."""

    team_id: str
    name: str
    before: TeamSide
    after: TeamSide
    public_before: TeamSide
    public_after: TeamSide


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

    `version` is another one whenever the difference is; `newcomers` are the submissions that came after the version
    asked about (`since`), else those that came after the rejudging was opened.
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
    everything: bool,
    came_after: Callable[[SubmissionRow], bool],
) -> DifferenceView:
    """Show what is different, or everything that was looked at; newcomers are those that `came_after` picks."""
    tries = [
        {attempt.id: attempt for attempt in side.judges.attempts} for side in (difference.before, difference.after)
    ]
    submissions = [
        _submission(difference, rows[id_], tries[0][id_], tries[1][id_])
        for id_ in difference.submissions
        if id_ in rows and id_ in tries[0]
    ]
    teams = _teams(difference)
    changed = [
        each for each in submissions if each.before != each.after or any(c.before != c.after for c in each.cases)
    ]
    moved = [each for each in teams if _moved(each)]
    types = Counter((each.before.judgement_type_id, each.after.judgement_type_id) for each in submissions)
    counts = Counts(
        submissions=len(submissions),
        submissions_changed=len(changed),
        cases_changed=sum(case.before != case.after for each in changed for case in each.cases),
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
        newcomers=[rows[id_].shown_id for id_ in difference.submissions if id_ in rows and came_after(rows[id_])],
        counts=counts,
        submissions=submissions if everything else [_only_changed(each) for each in changed],
        teams=teams if everything else moved,
    )


def version(difference: Difference, teams: Sequence[TeamDifference] | None = None) -> str:
    """The version of a difference: the last submission in it, and a digest of all that it is made of."""
    known = _teams(difference) if teams is None else teams
    places = [team.model_dump(mode="json") for team in known]
    judgements = [(submission, *pair) for submission, pair in difference.judgements.items()]
    digest = hashlib.sha256(json.dumps([difference.changes, judgements, places]).encode()).hexdigest()
    return f"{max(difference.submissions, default=0)}-{digest[:16]}"


def last_submission(version: str) -> int | None:
    """The last submission that a version knows of; None where it is no version."""
    match = VERSION.fullmatch(version)
    return None if match is None else int(match[1])


def _only_changed(submission: SubmissionDifference) -> SubmissionDifference:
    return submission.model_copy(update={"cases": [case for case in submission.cases if case.before != case.after]})


def _moved(team: TeamDifference) -> bool:
    return team.before != team.after or team.public_before != team.public_after


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
