"""Queries of the event log and of webhooks."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from secrets import token_hex
from typing import NamedTuple

from sqlalchemy import ColumnElement, Connection, delete, func, insert, select, update
from sqlalchemy.orm import Session

from app.core.db import by_id
from app.submissions.queries.submission_queries import is_of, is_visible
from app.submissions.tables import DONE
from app.tables import AccountRow, ContestRow, EventRow, JudgementRow, SubmissionRow, WebhookRow

AT_ONCE = 500


class NewEvent(NamedTuple):
    """An event to be written down; what the properties mean stands at `EventRow`."""

    audience: str
    owner: str | None
    type: str
    object_id: str | None
    data: str | None


@dataclass(frozen=True, slots=True)
class Append:
    """Events of one contest, to follow the event `after` and no other."""

    contest_id: str
    after: int
    events: Sequence[NewEvent]
    time: datetime


def append(connection: Connection, appends: Sequence[Append]) -> list[bool]:
    """Write events down, a handler of the writer; False where the log has gone on meanwhile, or its contest is gone."""
    return [_append(connection, each) for each in appends]


def _append(connection: Connection, new: Append) -> bool:
    last = select(func.max(EventRow.id)).where(EventRow.contest_id == new.contest_id)
    if (connection.execute(last).scalar() or 0) != new.after:
        return False
    rows = [
        {"contest_id": new.contest_id, "id": at, "time": new.time, **event._asdict()}
        for at, event in enumerate(new.events, start=new.after + 1)
    ]
    connection.execute(insert(EventRow), rows)
    by_id.tell(connection, by_id.Kind.EVENTS, new.contest_id, new.after + len(rows))
    return True


def secret(session: Session, contest_id: str) -> str:
    """The secret that veils the tokens of a contest's feed; empty if there is no such contest."""
    return session.scalar(select(ContestRow.secret).where(ContestRow.id == contest_id)) or ""


def refuse_given_tokens(connection: Connection) -> None:
    """Let all feeds refuse the tokens given so far: events that a backup lacks had numbers that others will have.

    Webhooks keep their places: those are of the backup, as the events are.
    """
    renewed = {}
    for contest_id, known in connection.execute(select(ContestRow.id, ContestRow.secret)).all():
        renewed[contest_id, known] = other = f"{known.partition(':')[0]}:{token_hex(8)}"
        connection.execute(update(ContestRow).where(ContestRow.id == contest_id).values(secret=other))
    for hook_id, positions in connection.execute(select(WebhookRow.id, WebhookRow.positions)).all():
        places = {
            contest_id: [renewed.get((contest_id, str(epoch)), epoch), event]
            for contest_id, (epoch, event) in positions.items()
        }
        connection.execute(update(WebhookRow).where(WebhookRow.id == hook_id).values(positions=places))


def last(session: Session, contest_id: str) -> int:
    """The last event of a contest; 0 if there is none."""
    return session.scalar(select(func.max(EventRow.id)).where(EventRow.contest_id == contest_id)) or 0


class Event(NamedTuple):
    """An event as its row says it, without the mapper; what the properties mean stands at `EventRow`."""

    id: int
    audience: str
    owner: str | None
    type: str
    object_id: str | None
    data: str | None
    time: datetime


COLUMNS = tuple(getattr(EventRow, name) for name in Event._fields)


def scan(session: Session, contest_id: str, time: datetime) -> Iterator[Event]:
    """All events of a contest in order, a few at a time, as if of this `time`: half of the work is to read theirs."""
    query = select(*COLUMNS[:-1]).where(EventRow.contest_id == contest_id).order_by(EventRow.id)
    rows = session.connection().execute(query.execution_options(yield_per=AT_ONCE))
    return (Event._make((*row, time)) for row in rows)


def between(session: Session, contest_id: str, first: int, last: int, type_: str | None = None) -> list[Event]:
    """The events from `first` to `last`, both included, in order; those of one type or all."""
    query = (
        select(*COLUMNS)
        .where(EventRow.contest_id == contest_id, EventRow.id >= first, EventRow.id <= last)
        .order_by(EventRow.id)
    )
    if type_ is not None:
        query = query.where(EventRow.type == type_)
    return [Event(*row) for row in session.execute(query)]


def forget(session: Session, contest_id: str, ids: Sequence[int]) -> None:
    """Delete events that newer ones have made superfluous."""
    for some in by_id.portions(ids):
        session.execute(delete(EventRow).where(EventRow.contest_id == contest_id, EventRow.id.in_(some)))


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a contest's submissions up to which the feed has read: the last ids, and judgements unsettled then."""

    submission: int = 0
    judgement: int = 0
    open: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class NewSince:
    """News since a mark: submissions to look at, the verdicts among them, and the next mark.

    verdicts  (team or None, problem) of each judgement that was not settled at the mark and is done now
    """

    submissions: frozenset[int]
    verdicts: frozenset[tuple[str | None, str]]
    mark: Mark


def new_since(session: Session, contest_id: str, mark: Mark, changed_ids: Collection[int] = ()) -> NewSince:
    """Submissions and judgements that have come or have been decided since the mark.

    `changed_ids` are submissions that have changed: of those of two processes, a later one may be seen earlier.
    """
    new = select(SubmissionRow.id).where(SubmissionRow.contest_id == contest_id, SubmissionRow.id > mark.submission)
    submissions = set(session.scalars(new))
    mine = SubmissionRow.contest_id == contest_id if mark == Mark() else is_of(contest_id)
    judgements = list(_judgements(session, mine, JudgementRow.id > mark.judgement))
    for some in by_id.portions(mark.open):
        judgements += _judgements(session, mine, JudgementRow.id.in_(some))
    late = changed_ids if mark != Mark() else ()
    for some in by_id.portions(late):
        judgements += _judgements(session, mine, JudgementRow.submission_id.in_(some))
    verdicts = {(team, problem) for _, _, state, team, problem in judgements if state == DONE}
    open_ = {id_ for id_, _, state, _, _ in judgements if state != DONE}
    touched = submissions | set(late) | {submission for _, submission, _, _, _ in judgements}
    last = max([mark.judgement, *(row[0] for row in judgements)])
    return NewSince(
        frozenset(touched), frozenset(verdicts), Mark(max([mark.submission, *submissions]), last, frozenset(open_))
    )


def _judgements(
    session: Session, mine: ColumnElement[bool], which: ColumnElement[bool]
) -> Iterable[tuple[int, int, str, str | None, str]]:
    query = (
        select(
            JudgementRow.id,
            JudgementRow.submission_id,
            JudgementRow.state,
            SubmissionRow.team_id,
            SubmissionRow.problem_id,
        )
        .join(SubmissionRow, SubmissionRow.id == JudgementRow.submission_id)
        .where(mine, is_visible(), which)
    )
    return [(row[0], row[1], row[2], row[3], row[4]) for row in session.execute(query)]


def tried_together(session: Session, contest_id: str, pairs: Collection[tuple[str | None, str]]) -> set[int]:
    """All submissions of the same teams to the same problems: a verdict may change what the others stand for."""
    query = select(SubmissionRow.id, SubmissionRow.team_id, SubmissionRow.problem_id).where(
        SubmissionRow.contest_id == contest_id
    )
    ids: set[int] = set()
    for teams in by_id.portions(team for team, _ in pairs if team is not None):
        rows = session.execute(query.where(SubmissionRow.team_id.in_(teams)))
        ids.update(id_ for id_, team, problem in rows if (team, problem) in pairs)
    return ids


def submission_ids(session: Session, contest_id: str) -> list[int]:
    """All submissions of a contest, in order."""
    query = select(SubmissionRow.id).where(SubmissionRow.contest_id == contest_id).order_by(SubmissionRow.id)
    return list(session.scalars(query))


def judged_again(session: Session, contest_id: str) -> tuple[int, int]:
    """A pair that moves whenever other judgements become the current ones; first judgements leave it alone."""
    query = (
        select(func.count(), func.coalesce(func.sum(JudgementRow.id), 0))
        .join(SubmissionRow, SubmissionRow.id == JudgementRow.submission_id)
        .where(SubmissionRow.contest_id == contest_id, is_visible())
        .where(JudgementRow.current.is_(False) | JudgementRow.rejudging_id.is_not(None))
    )
    count, total = session.execute(query).one()
    return int(count), int(total)


def webhooks(session: Session) -> Sequence[WebhookRow]:
    """All webhooks, oldest first."""
    return session.scalars(select(WebhookRow).order_by(WebhookRow.created, WebhookRow.id)).all()


def with_account(session: Session, webhook_id: str) -> tuple[WebhookRow, AccountRow] | None:
    """A webhook and the account whose eyes it sees with."""
    row = session.get(WebhookRow, webhook_id)
    return None if row is None else (row, session.get_one(AccountRow, row.account_id))


def active(session: Session) -> set[str]:
    """The webhooks that are called."""
    return set(session.scalars(select(WebhookRow.id).where(WebhookRow.active.is_(True))))
