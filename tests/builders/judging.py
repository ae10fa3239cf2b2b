"""Judges what waits in a service's tables, in this process and only when told: for tests that look at each step."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection, select, update
from sqlalchemy.orm import Session

from app.core.db.writer import Writer
from app.core.service import Service
from app.judging.queries import judging_tasks, rejudging_steps, rejudgings
from app.judging.service.grader import Grader
from app.judging.service.judging import outcome
from app.judging.service.messages import Grade
from app.submissions.queries import judgements
from app.submissions.queries.judgements import Outcome
from app.submissions.tables import DONE, RUNNING
from app.tables import JudgementRow


def queued(session: Session, *, rejudging: bool = False) -> list[int]:
    """Ids of every judgement that is not done, oldest first: of submissions, or of rejudgings."""
    lane = JudgementRow.rejudging_id.is_not(None) if rejudging else JudgementRow.rejudging_id.is_(None)
    query = select(JudgementRow.id).where(JudgementRow.state != DONE, lane)
    return list(session.scalars(query.order_by(JudgementRow.id)))


def judge(service: Service, *, most: int | None = None) -> int:
    """Judge what waits, submissions first and rejudgings after; returns how many. `most`: stop after so many."""
    take_in_newcomers(service)
    with service.database.read() as session:
        waiting = queued(session) + queued(session, rejudging=True)
    chosen = waiting[:most]
    attempts = {id_: begin(service.writer, id_) or 0 for id_ in chosen}
    with service.database.read() as session:
        tasks = judging_tasks.load_tasks(session, attempts)
    grader = Grader(service.files)
    for task in tasks:
        scores = [graded.score for graded in grader.grade(Grade(task.settings["checker"], task.answers))]
        service.writer.submit(judgements.record_many, outcome(task, scores)).result()
        if task.rejudging_id is None:
            service.boards.changed(task.contest_id)
    return len(tasks)


def take_in_newcomers(service: Service) -> None:
    """Queue judgements of submissions that open rejudgings lack, as an engine does twice a second."""
    with service.database.write(quiet=True) as session:
        for row in rejudgings.still_open(session):
            rejudging_steps.take_in_newcomers(session, row)


def judge_with_errors(service: Service) -> None:
    """End what waits as judge errors, as if the checker had failed."""
    with service.database.read() as session:
        waiting = queued(session, rejudging=True)
    for id_ in waiting:
        attempt = begin(service.writer, id_) or 0
        ended = Outcome(id_, attempt, "JE", [], datetime.now(UTC), "the checker has a fault")
        service.writer.submit(judgements.record_many, ended).result()


def begin(writer: Writer, judgement_id: int, process_id: str | None = None) -> int | None:
    """Begin an attempt at a judgement, as a grader of that process; returns the attempt, None if it is done."""
    return writer.submit(_begin, (judgement_id, process_id)).result()


def _begin(connection: Connection, claims: Sequence[tuple[int, str | None]]) -> list[int | None]:
    begun = []
    for id_, process_id in claims:
        row = update(JudgementRow).where(JudgementRow.id == id_, JudgementRow.state != DONE)
        values = {"state": RUNNING, "attempt": JudgementRow.attempt + 1, "process_id": process_id}
        begun.append(connection.scalar(row.values(values).returning(JudgementRow.attempt)))
    return begun
