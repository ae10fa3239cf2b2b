"""Clarifications: questions of teams to the jury, its answers, and announcements."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from math import ceil
from typing import Protocol, TypeVar

from pydantic import Field
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.queries import clock, contest_of
from app.contests.service.capabilities import capabilities, need, problem_called
from app.core.bodies import Body, Lines, Sparse, mismatch, refuse, same_id
from app.core.clics import Id, Reltime, Time, format_reltime, format_time
from app.core.clock import utc_now
from app.core.db.locks import lock_names
from app.core.messages import (
    N_,
    NOTHING,
    BadRequest,
    Conflict,
    Fault,
    Forbidden,
    Message,
    NotFound,
    TooManyRequests,
)
from app.messages import queries as messages_queries
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.tables import ClarificationRow, ContestRow
from app.teams import queries as teams_queries
from app.teams.service.teams import visible

MINUTE = timedelta(minutes=1)
# Questions one team may ask in a minute: each lets the boards be looked at again, and a judge read it.
MOST_IN_A_MINUTE = 10
RECIPIENTS = ("to_team_ids", "to_group_ids")


class Addressed(Protocol):
    """What decides who may read a message."""

    @property
    def from_team_id(self) -> str | None:
        """The team that asks; None: from the jury."""

    @property
    def to_team_ids(self) -> Sequence[str] | None:
        """The teams that it is for."""

    @property
    def to_group_ids(self) -> Sequence[str] | None:
        """The groups that it is for."""

    @property
    def problem_id(self) -> str | None:
        """The problem that it is about."""


M = TypeVar("M", bound=Addressed)


class ClarificationBody(Body):
    """A clarification to be sent. What must not be given depends on who sends it."""

    id: Id | None = None
    from_team_id: Id | None = None
    to_team_ids: list[Id] | None = None
    to_group_ids: list[Id] | None = None
    reply_to_id: Id | None = None
    problem_id: Id | None = None
    text: Lines
    time: Time | None = Field(None, description="set by judges and admins; default: now")
    contest_time: Reltime | None = None


class ClarificationView(Sparse):
    """A clarification as CLICS shows it. Without a sender it is from the jury; without a recipient it is to all."""

    id: str
    from_team_id: str | None
    to_team_ids: list[str] | None = None
    to_group_ids: list[str] | None = None
    reply_to_id: str | None
    problem_id: str | None
    text: str
    time: str
    contest_time: str


def documents(viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> list[ClarificationView]:
    """The clarifications that the viewer may read, oldest first."""
    contest = contest_of(session, snapshot.contest.id)
    seen = readable(viewer, snapshot, messages_queries.clarifications(session, contest.id))
    # An answer to all may follow on a question that only its team reads.
    known = {row.id for row in seen}
    team_ids = {row.id for row in visible(session, viewer, contest)} if seen else set()
    return [_view(row, known, team_ids) for row in seen]


def one(viewer: Viewer, snapshot: ContestSnapshot, session: Session, clarification_id: str) -> ClarificationView:
    """A clarification; raises NotFound where the viewer may not see it."""
    for each in documents(viewer, snapshot, session):
        if each.id == clarification_id:
            return each
    raise NotFound(
        N_("no clarification %(clarification)r in contest %(contest)r"),
        clarification=clarification_id,
        contest=snapshot.contest.id,
    )


def send(viewer: Viewer, snapshot: ContestSnapshot, session: Session, body: ClarificationBody) -> ClarificationView:
    """Store a question, an answer or an announcement; raises Forbidden, BadRequest or TooManyRequests."""
    contest = contest_of(session, snapshot.contest.id)
    if body.id is not None:
        refuse([mismatch("id", N_("none, as the server gives it"), repr(body.id))])
    check_rights(session, viewer, contest, body)
    lock_messages(session, contest.id)  # of two at once, one is counted, and numbered, first
    check_pace(session, viewer, contest)
    free_id = messages_queries.next_id(session, ClarificationRow, contest.id)
    row = clarification_row(session, viewer, snapshot, contest, body, free_id)
    session.add(row)
    return after(session, viewer, snapshot, contest, row)


def lock_messages(session: Session, contest_id: str) -> None:
    """Let no one else send a message in the contest until the end of this transaction."""
    lock_names(session, [f"clarifications of {contest_id}"])


def bring_in(
    viewer: Viewer, snapshot: ContestSnapshot, session: Session, clarification_id: str, body: ClarificationBody
) -> tuple[ClarificationView, bool]:
    """Store a clarification of another system; returns it and whether it is new. Raises Conflict for another text."""
    contest = contest_of(session, snapshot.contest.id)
    need(viewer, capabilities_of(session, viewer, contest), "admin_clar")
    refuse([mismatch(name, N_("a value"), NOTHING) for name in ("id", "time") if getattr(body, name) is None])
    same_id(clarification_id, body.id)
    row = clarification_row(session, viewer, snapshot, contest, body, clarification_id)
    old = messages_queries.clarification(session, contest.id, clarification_id)
    if old is not None and facts(old) != facts(row):
        raise Conflict(
            N_("there is a clarification %(clarification)r already, and it says something else"),
            where="id",
            clarification=clarification_id,
        )
    if old is None:
        session.add(row)
    return after(session, viewer, snapshot, contest, old or row), old is None


def _view(row: ClarificationRow, known: set[str], team_ids: set[str]) -> ClarificationView:
    """A clarification as its reader sees it; it refers only to what its reader may see."""
    shown = ClarificationView(
        id=row.id,
        from_team_id=row.from_team_id,
        reply_to_id=row.reply_to_id if row.reply_to_id in known else None,
        problem_id=row.problem_id,
        text=row.text,
        time=format_time(row.time),
        contest_time=format_reltime(timedelta(milliseconds=row.contest_time_ms)),
    )
    if row.to_team_ids is not None:
        shown.to_team_ids = [team_id for team_id in row.to_team_ids if team_id in team_ids]
    if row.to_group_ids is not None:
        shown.to_group_ids = row.to_group_ids
    return shown


def readable(viewer: Viewer, snapshot: ContestSnapshot, messages: Iterable[M]) -> list[M]:
    """Those of a contest's messages that the viewer may read."""
    groups = _groups_of(snapshot, viewer.team_id)
    problems = {problem.id for problem in snapshot.problems}
    return [message for message in messages if _may_see(viewer, message, groups, problems)]


def _may_see(viewer: Viewer, row: Addressed, groups: Sequence[str], problems: set[str]) -> bool:
    if viewer.sees_all:
        return True
    if row.problem_id is not None and row.problem_id not in problems:  # not before the problem may be seen
        return False
    if row.from_team_id is not None:
        return row.from_team_id == viewer.team_id
    if row.to_team_ids is None and row.to_group_ids is None:
        return True
    return viewer.team_id in (row.to_team_ids or ()) or not set(groups).isdisjoint(row.to_group_ids or ())


def _groups_of(snapshot: ContestSnapshot, team_id: str | None) -> Sequence[str]:
    return next((team.group_ids for team in snapshot.contest.teams if team.id == team_id), ())


def capabilities_of(session: Session, viewer: Viewer, contest: ContestRow) -> tuple[str, ...]:
    """The capabilities of the viewer in the contest."""
    takes_part = viewer.team_id is not None and teams_queries.takes_part(session, contest, viewer.team_id)
    return capabilities(viewer, contest.settings, takes_part=takes_part)


def check_rights(session: Session, viewer: Viewer, contest: ContestRow, body: ClarificationBody) -> None:
    """Raise Forbidden or BadRequest for what the sender may not send, by the rules of each capability."""
    allowed = capabilities_of(session, viewer, contest)
    need(viewer, allowed, "post_clar", "proxy_clar", "admin_clar")
    given = {name for name in type(body).model_fields if getattr(body, name) is not None}
    if body.time is not None and "admin_clar" in allowed:
        return  # another system took it, by its own rules
    refuse(
        [
            mismatch(name, N_("none, as the server sets it"), Message(N_("one")))
            for name in ("time", "contest_time")
            if name in given
        ]
    )
    if viewer.role == "team":
        if given & set(RECIPIENTS):
            raise Forbidden(N_("a team cannot send clarifications to teams or groups, only to the jury"))
        if body.from_team_id not in {None, viewer.team_id}:
            raise Forbidden(N_("a team may ask only for itself"), where="from_team_id")
    elif body.from_team_id is not None:
        need(viewer, allowed, "proxy_clar")
    elif "post_clar" not in allowed:
        raise BadRequest(N_("expected the team that asks, found nothing"), where="from_team_id")
    if contest.finalized is not None:
        raise Forbidden(N_("the contest is final: questions and answers are closed"))


def check_pace(session: Session, viewer: Viewer, contest: ContestRow) -> None:
    """Raise TooManyRequests where a team asks faster than anyone could answer."""
    if viewer.role != "team":
        return
    now = utc_now()
    times = messages_queries.times_since(session, contest.id, str(viewer.account_id), now - MINUTE)
    if len(times) >= MOST_IN_A_MINUTE:
        wait = ceil((min(times) + MINUTE - now).total_seconds())
        raise TooManyRequests(
            N_("at most %(count)s questions a minute, try again later"), max(1, wait), count=MOST_IN_A_MINUTE
        )


def clarification_row(
    session: Session, viewer: Viewer, snapshot: ContestSnapshot, contest: ContestRow, body: ClarificationBody, id_: str
) -> ClarificationRow:
    """The row of a clarification; raises BadRequest with every reference to what the sender cannot see."""
    body.problem_id = body.problem_id and problem_called(snapshot, body.problem_id)
    sender = body.from_team_id or viewer.team_id
    seen = {each.id for each in documents(viewer, snapshot, session)} if body.reply_to_id is not None else set()
    refuse(
        [*_unknown(session, snapshot, contest, body, sender, seen - {id_})]
    )  # a repeated one may not reply to itself
    time = body.time or utc_now()
    in_contest = body.contest_time if body.contest_time is not None else clock(contest).contest_time(time)
    return ClarificationRow(
        id=id_,
        contest_id=contest.id,
        account_id=viewer.account_id,
        from_team_id=sender,
        to_team_ids=None if body.to_team_ids is None else list(dict.fromkeys(body.to_team_ids)),
        to_group_ids=None if body.to_group_ids is None else list(dict.fromkeys(body.to_group_ids)),
        reply_to_id=body.reply_to_id,
        problem_id=body.problem_id,
        text=body.text,
        time=time,
        contest_time_ms=in_contest // timedelta(milliseconds=1),
    )


def _unknown(
    session: Session,
    snapshot: ContestSnapshot,
    contest: ContestRow,
    body: ClarificationBody,
    sender: str | None,
    seen: set[str],
) -> Iterator[Fault]:
    """Faults of a clarification: references that its sender, who has `seen` others, may not make."""
    team_ids = {row.id for row in teams_queries.taking_part(session, contest)}
    groups = {row.id for row in teams_queries.groups(session, contest)} if body.to_group_ids else set()
    if sender is not None and (body.to_team_ids is not None or body.to_group_ids is not None):
        yield mismatch("from_team_id", N_("nothing together with to_team_ids and to_group_ids"), repr(sender))
    if sender is not None and sender not in team_ids:
        yield mismatch("from_team_id", N_("a team of contest %(contest)s"), repr(sender), contest=contest.id)
    if body.reply_to_id is not None and body.reply_to_id not in seen:
        yield mismatch("reply_to_id", N_("a clarification"), repr(body.reply_to_id))
    if body.problem_id is not None and body.problem_id not in {problem.id for problem in snapshot.problems}:
        yield mismatch("problem_id", N_("a problem of contest %(contest)s"), repr(body.problem_id), contest=contest.id)
    for name, known in (("to_team_ids", team_ids), ("to_group_ids", groups)):
        for each in getattr(body, name) or ():
            if each not in known:
                yield mismatch(name, N_("what is in contest %(contest)s"), repr(each), contest=contest.id)


def facts(row: ClarificationRow) -> tuple[object, ...]:
    """The values that make two clarifications the same."""
    names = ("from_team_id", *RECIPIENTS, "reply_to_id", "problem_id", "text", "contest_time_ms")
    return (format_time(row.time), *(getattr(row, name) for name in names))


def after(
    session: Session, viewer: Viewer, snapshot: ContestSnapshot, contest: ContestRow, row: ClarificationRow
) -> ClarificationView:
    """A clarification that was just written, as its sender sees it."""
    session.flush()
    known = {each.id for each in documents(viewer, snapshot, session)}
    return _view(row, known, {team.id for team in teams_queries.taking_part(session, contest)})
