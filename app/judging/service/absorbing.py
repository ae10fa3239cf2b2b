"""Applying a rejudging while teams submit: what came last is judged while further submissions wait at the gate.

A rejudging that changes a problem has to judge every submission to it before it is applied. While teams submit there
is always one that came a moment ago; so the last few are waited for with the gate closed, for submissions to that
problem in the contests concerned alone.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

import structlog

from app.core.db.database import Database
from app.core.messages import N_, Message
from app.judging.queries import rejudging_steps, rejudgings
from app.judging.queries.rejudging_steps import NotJudgedYet
from app.judging.queries.rejudgings import OPEN, UNDONE
from app.submissions.service.gate import Gate, Place

log = structlog.get_logger()

FEW = 8
"""So many judgements may be left when the gate closes; with more of them the rejudging is not near its end yet."""
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
        if row.state not in {OPEN, UNDONE} or not rejudgings.grows(row):
            return [], []
        rejudging_steps.take_in_newcomers(session, row)
        places = [(contest_id, row.changes["problem_id"]) for contest_id in rejudgings.contests_of(row)]
        return places, rejudgings.unjudged(session, row)


def _too_many(database: Database, rejudging_id: int) -> Message:
    with database.read() as session:
        progress = rejudgings.progress(session, [rejudging_id])[rejudging_id]
    return Message(
        N_("%(count)s of %(total)s judgements are not done yet"),
        count=progress.total - progress.done,
        total=progress.total,
    )
