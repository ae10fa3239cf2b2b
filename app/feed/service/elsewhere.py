"""The part of a publisher that reads contests which another process publishes, and asks that one for looks.

One process publishes a contest's feed: the one that has its lock. The others append what it has written to their own
logs when they are told, so that a stream is the same wherever it is read. A request for a look goes to the publishing
process as a notice, and comes back as one with the event that the log has to reach. When the lock is free, whoever
follows the contest takes it, and compares everything once with what was published.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Sequence
from concurrent.futures import Future

from sqlalchemy.orm import Session

from app.core.clock import utc_now
from app.core.db import by_id
from app.core.db.by_id import Kind
from app.core.service import Service
from app.feed import queries as feed_queries
from app.feed.service.followed import SECONDS_BETWEEN_TRIES, Asked, Followed, Waiter
from app.feed.service.log import Log

AT_ONCE = 500
REQUEST_BYTES = 8


def lock_of(contest_id: str) -> str:
    """The name of the lock that the publisher of a contest has."""
    return f"feed of {contest_id}"


def is_here(service: Service, followed: Followed) -> bool:
    """Whether this process publishes the contest, from now on if need be; then nothing is asked of others any more."""
    followed.tried = time.monotonic()
    elsewhere = not service.locks.take(lock_of(followed.contest_id))
    if followed.elsewhere and not elsewhere:
        # What was published meanwhile is in the log alone, so that everything is compared once.
        followed.fingerprint, followed.sweep = None, []
        followed.waiting += followed.asking
        followed.asked, followed.answered = {}, []
    followed.elsewhere = elsewhere
    followed.holding = not elsewhere and service.database.origin is not None
    return not elsewhere


def leave(service: Service, followed: Followed) -> None:
    """Let another process publish a contest that nobody follows here."""
    if followed.holding and not followed.followers and not followed.waiting:
        service.locks.give_back(lock_of(followed.contest_id))
        followed.holding = False


def ask(service: Service, followed: Followed, waiting: Sequence[Waiter]) -> None:
    """Ask the process that publishes a contest for looks; what it has not answered is asked for again each second.

    All that wait share a notice: each is a write, and anybody may ask for a feed.
    """
    now = time.monotonic()
    for number, asked in list(followed.asked.items()):
        if all(waiter.future.cancelled() for waiter in asked.waiters):
            del followed.asked[number]
    for complete in (True, False):
        if some := [waiter for waiter in waiting if waiter.complete == complete]:
            followed.asked[secrets.token_hex(REQUEST_BYTES)] = Asked(some, complete)
    for number, asked in followed.asked.items():
        if now - asked.sent >= SECONDS_BETWEEN_TRIES:
            asked.sent = now
            service.writer.submit(by_id.send, (Kind.LOOK.value, followed.contest_id, number, int(asked.complete)))


def answer(service: Service, looked: Future[Log | None], number: str) -> None:
    """Tell the process that asked for a look how far the log has come by it."""
    if looked.cancelled() or looked.exception() is not None:
        return  # it asks again
    log = looked.result()
    service.writer.submit(by_id.send, (Kind.LOOKED.value, number, -1 if log is None else log.head))


def answered(followed: Followed) -> list[tuple[Waiter, Log | None]]:
    """Take out the requests that the log, as it is read by now, has reached; with None where the contest is gone."""
    head = -1 if followed.log is None else followed.log.head
    reached = [
        (waiter, followed.log if wanted >= 0 else None) for waiter, wanted in followed.answered if wanted <= head
    ]
    followed.answered = [pair for pair in followed.answered if pair[1] > head]
    return reached


def new_rows(session: Session, log: Log) -> list[feed_queries.Event] | None:
    """The next events of a log that other processes have written; None where it is no continuation of what is known."""
    if (
        feed_queries.secret(session, log.contest_id) != log.epoch
        or feed_queries.last(session, log.contest_id) < log.head
    ):
        return None
    return feed_queries.between(session, log.contest_id, log.head + 1, log.head + AT_ONCE)


def note_superfluous(followed: Followed, kind: str, replaced: Sequence[int], replaceable: str) -> None:
    """Remember replaced events, which this process deletes should it come to publish the contest."""
    if kind == replaceable:
        followed.superfluous.add(utc_now(), replaced)
