"""The difference that a rejudging makes: a contest's boards on its two sides, by the one function that makes boards.

Of an open rejudging the one side is the contest as it is, the other the contest as applying would leave it. Of an
applied one it is the other way round: the contest as it is, and as undoing would leave it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.orm import Session

from app.core.json_documents import ProblemChanges
from app.judging.queries import rejudgings
from app.judging.queries.rejudgings import APPLIED
from app.problems.queries import problem_diff
from app.problems.queries.scoring_input import ScoredContest, scored_contest
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.queries.kept_boards import make_snapshot
from app.submissions.queries import attempts
from app.submissions.queries.attempts import Read, Scores
from app.tables import RejudgingRow


@dataclass(frozen=True, slots=True)
class Side:
    """A contest before or after: its boards for judges and for everybody, and the type of each judged submission."""

    judges: ContestSnapshot
    public: ContestSnapshot
    types: Mapping[int, str | None]


@dataclass(frozen=True, slots=True)
class Difference:
    """Both sides of a rejudging in one contest, and the submissions that were judged again there.

    `judgements` are of each of these the one that stands and the one on the other side; `changes` is what becomes
    different in the problem.
    """

    before: Side
    after: Side
    submissions: Sequence[int]
    judgements: Mapping[int, tuple[int | None, int | None]]
    changes: str


def difference(session: Session, row: RejudgingRow, contest_id: str, now: datetime) -> Difference | None:
    """Compute both sides; None if there is no such contest."""
    contest = scored_contest(session, contest_id)
    if contest is None:
        return None
    reads = attempts.attempts(session, contest_id)
    pairs = rejudgings.pairs(session, row, contest_id)
    types = rejudgings.types(session, contest_id, row)
    applied = row.state == APPLIED
    current = rejudgings.current(session, contest_id, row)
    other_ids = {submission: pair[0] if applied else pair[1] for submission, pair in pairs.items()}
    live = _side(contest, reads, {submission: types.get(id_) for submission, id_ in current.items()}, now)
    other = _side(
        _changed(session, contest, row),
        _with(session, reads, other_ids),
        {submission: types.get(id_) for submission, id_ in {**current, **other_ids}.items() if id_ is not None},
        now,
    )
    before, after = (other, live) if applied else (live, other)
    judgements = {submission: (current.get(submission), other_ids[submission]) for submission in sorted(pairs)}
    return Difference(before, after, sorted(pairs), judgements, _digest(row.changes))


def _digest(changes: ProblemChanges) -> str:
    return hashlib.sha256(json.dumps(changes, sort_keys=True).encode()).hexdigest()


def _side(contest: ScoredContest, reads: Sequence[Read], types: Mapping[int, str | None], now: datetime) -> Side:
    judges, public = (make_snapshot(contest, reads, now, public=public) for public in (False, True))
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


def _with(session: Session, reads: Sequence[Read], judgements: Mapping[int, int | None]) -> list[Read]:
    """The attempts as these judgements have them; one without a judgement waits for one."""
    scores = attempts.scores_of(session, sorted(id_ for id_ in judgements.values() if id_ is not None))
    return [
        read
        if read.attempt.id not in judgements
        else replace(read, attempt=replace(read.attempt, scores=_scores(scores, judgements[read.attempt.id])))
        for read in reads
    ]


def _scores(known: Mapping[int, Scores], judgement_id: int | None) -> Scores | None:
    return None if judgement_id is None else known.get(judgement_id, {})
