"""The difference that a rejudging makes: a contest's boards on its two sides, by the one function that makes boards.

Of an open rejudging the one side is the contest as it is, the other the contest as applying would leave it. Of an
applied one it is the other way round: the contest as it is, and as undoing would leave it.

- Applying a rejudging while teams submit: what came last is judged while further submissions wait at the gate.
- The engine and the jobs of a server: beside it, or at workers that a broker feeds.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

import structlog
from sqlalchemy.orm import Session

from app.contests.tables import APPLIED, OPEN, UNDONE
from app.core.db.database import Database
from app.core.db.locks import Locks
from app.core.db.writer import Writer
from app.core.files.files import Files
from app.core.json_documents import ProblemChanges
from app.core.messages import N_, Message
from app.core.service import Engine, Jobs
from app.core.settings import Settings
from app.judging.queries import rejudging_steps, rejudgings
from app.judging.queries.rejudging_refusals import NotJudgedYet
from app.judging.service.engine import Engine as EmbeddedEngine
from app.judging.service.references import JobRunner
from app.judging.service.staff import engine_settings
from app.problems.queries import problem_diff
from app.problems.queries.scoring_input import ScoredContest, scored_contest
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.queries.kept_boards import make_snapshot
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.submissions.queries import attempts
from app.submissions.queries.attempts import Read, Scores, contests_of, grows
from app.submissions.service.gate import Gate, Place
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


log = structlog.get_logger()

# So many judgements may be left when the gate closes; with more of them the rejudging is not near its end yet.
FEW = 8
MOST_SECONDS_CLOSED = 20.0


class Judges(Protocol):
    """A judge of waiting judgements."""

    def take_up(self) -> None:
        """Say that judgements of a rejudging have been queued."""
        ...

    def finish(self, judgement_ids: Sequence[int], seconds: float) -> bool:
        """Judge these before all others and wait for it; False where that takes longer than `seconds`."""
        ...


@contextmanager
def absorbed(database: Database, engine: Judges, gate: Gate, rejudging_id: int) -> Iterator[None]:
    """Keep a rejudging complete until the end of the block: all that was submitted is judged, and nothing is added.

    Raises NotJudgedYet where more than a few of its judgements are left to do, or these take too long.
    """
    places, unjudged = _take_in(database, rejudging_id)
    if not places:
        yield
        return
    engine.take_up()
    if len(unjudged) > FEW:
        raise NotJudgedYet(_too_many(database, rejudging_id))
    closed = time.monotonic()
    with gate.closed(places, MOST_SECONDS_CLOSED) as emptied:
        judged = 0
        _, unjudged = _take_in(database, rejudging_id)
        while unjudged or not emptied:  # more than once where other servers' gates have closed a moment later
            left = MOST_SECONDS_CLOSED - (time.monotonic() - closed)
            if not (emptied and left > 0 and engine.finish(unjudged, left)):
                raise NotJudgedYet(
                    N_(
                        "%(count)s judgements of rejudging %(rejudging)s are not done yet: apply it again in "
                        "a moment, or pause the contest first where its submissions come faster than they "
                        "are judged"
                    ),
                    count=len(unjudged),
                    rejudging=rejudging_id,
                )
            judged += len(unjudged)
            _, unjudged = _take_in(database, rejudging_id)
        yield
        log.info(
            "a rejudging's last submissions were judged while others waited",
            rejudging=rejudging_id,
            judged=judged,
            milliseconds=round(1000 * (time.monotonic() - closed)),
        )


def _take_in(database: Database, rejudging_id: int) -> tuple[list[Place], list[int]]:
    """Take in what the rejudging has no judgement of; returns the places it is about, and what has to be judged.

    No place at all: it takes nothing in, or has ended.
    """
    with database.write(quiet=True) as session:
        row = rejudging_steps.lock(session, rejudging_id)
        if row.state not in {OPEN, UNDONE} or not grows(row):
            return [], []
        rejudging_steps.take_in_newcomers(session, row)
        places = [(contest_id, row.changes["problem_id"]) for contest_id in contests_of(row)]
        return places, rejudgings.unjudged(session, row)


def _too_many(database: Database, rejudging_id: int) -> Message:
    with database.read() as session:
        progress = rejudgings.progress(session, [rejudging_id])[rejudging_id]
    return Message(
        N_("%(count)s of %(total)s judgements are not done yet"),
        count=progress.total - progress.done,
        total=progress.total,
    )


def start_engine(
    settings: Settings,
    database: Database,
    files: Files,
    writer: Writer,
    boards: ScoreboardCache,
    locks: Locks,
    process_id: str,
) -> tuple[Engine, Jobs]:
    """Start what grades the submissions of a server and runs its jobs, as its settings say."""
    if settings.distributed:
        return _start_distributed(settings, database, files, writer, boards, locks)
    asked = replace(engine_settings(settings, files), process_id=process_id)
    engine = EmbeddedEngine(database, writer, asked, boards.changed)
    engine.start()
    jobs = JobRunner(database, files, engine, lambda _problem_id: boards.all_changed())
    jobs.start()
    return engine, jobs


def _start_distributed(
    settings: Settings, database: Database, files: Files, writer: Writer, boards: ScoreboardCache, locks: Locks
) -> tuple[Engine, Jobs]:
    from app.judging.service.distributed.broker import open_broker
    from app.judging.service.distributed.engine import DistributedEngine, DistributedJobs
    from app.judging.service.distributed.reconciler import Reconciler, Sender

    sender = Sender(open_broker(settings.broker_url))
    reconciler = Reconciler(database, sender, open_broker(settings.broker_url), locks)
    asked = replace(engine_settings(settings, files), takes_rows=False)
    desk = EmbeddedEngine(database, writer, asked, boards.changed)
    engine = DistributedEngine(database, desk, sender, reconciler)
    engine.start()
    scoring = JobRunner(database, files, desk, lambda _problem_id: boards.all_changed())
    jobs = DistributedJobs(database, sender, scoring, locks)
    jobs.start()
    return engine, jobs
