"""The terms of self-registration for a contest: queries and commands of its organisers."""

from __future__ import annotations

from sqlalchemy.orm import Session

from app.accounts.queries import registrations as stored
from app.accounts.schemas.registration_bodies import PublicTerms, RegisteredView, TermsChange, TermsView
from app.accounts.service.reach import reach_of
from app.accounts.service.viewer import Viewer
from app.contests.service.changes import refuse_final
from app.contests.service.contests import contest_of
from app.core.bodies import mismatch, refuse
from app.core.clics import format_time, format_time_or_none
from app.core.clock import utc_now
from app.core.db import by_id
from app.core.errors import Conflict
from app.core.messages import N_, Message
from app.core.passwords import random_letters
from app.tables import ContestRow, GroupRow, PersonRow, RegistrationRow
from app.teams.queries import teams

MOST_AT_FIRST = 100
LETTERS_OF_A_PART = 5


def make_code() -> str:
    """Make a code that nobody guesses over the network and everybody can type, such as k7fmq-2xwrt: 49 random bits."""
    return "-".join(random_letters(LETTERS_OF_A_PART) for _ in range(2))


def terms(session: Session, viewer: Viewer, contest_id: str) -> TermsView | PublicTerms:
    """The terms of a contest: all of them for owners and admins."""
    contest = contest_of(session, contest_id)
    row = stored.terms(session, contest_id) or _new(contest_id)
    return _view(session, contest, row) if viewer.manages else _public(session, contest, row)


def change(session: Session, viewer: Viewer, contest_id: str, body: TermsChange) -> TermsView:
    """Change the terms that the body names; raises BadRequest for an unknown group, Forbidden for a final contest."""
    contest, row = _locked(session, contest_id)
    named = body.model_fields_set
    reach = reach_of(session, viewer)
    if body.group_id is not None and not reach.within(by_id.known(session, GroupRow, [body.group_id]), reach.groups):
        refuse([mismatch("group_id", Message(N_("a group that exists")), repr(body.group_id))])
    if body.open is not None:
        if body.open:
            refuse_final(contest)
        row.is_open = body.open
        row.code = row.code or (make_code() if body.open else None)
    row.most = row.most if body.most is None else body.most
    row.team_size = row.team_size if body.team_size is None else body.team_size
    row.until = body.until if "until" in named else row.until
    row.group_id = body.group_id if "group_id" in named else row.group_id
    return _view(session, contest, row)


def renew_code(session: Session, contest_id: str) -> TermsView:
    """Put a new code in place of the old one, by which nobody registers any more."""
    contest, row = _locked(session, contest_id)
    row.code = make_code()
    return _view(session, contest, row)


def registered(session: Session, contest_id: str) -> list[RegisteredView]:
    """The accounts that registered for a contest, the first one first."""
    contest_of(session, contest_id)
    rows = stored.registered(session, contest_id)
    names = {team.id: team.name for team in teams.teams(session)}
    person_ids = [account.person_id for _, account in rows if account.person_id is not None]
    persons = by_id.rows(session, PersonRow, person_ids)
    views = []
    for row, account in rows:
        person = persons.get(str(account.person_id))
        views.append(
            RegisteredView(
                account_id=account.id,
                username=account.username,
                name=account.name or account.username,
                team_id=account.team_id,
                team=names.get(str(account.team_id)),
                email=None if person is None else person.details.get("email"),
                time=format_time(row.time),
            )
        )
    return views


def why_closed(contest: ContestRow, row: RegistrationRow) -> Message | None:
    """Why nobody registers for a contest now, whatever the code; None where it is open."""
    if contest.finalized is not None:
        return Message(
            N_("the contest %(contest)r is final: nobody can register for it any more"), contest=contest.name
        )
    if not row.is_open or row.code is None:
        return Message(N_("registration for %(contest)r is not open"), contest=contest.name)
    if row.until is not None and row.until <= utc_now():
        return Message(
            N_("registration for %(contest)r ended at %(time)s"), contest=contest.name, time=format_time(row.until)
        )
    return None


def refuse_full(session: Session, contest: ContestRow, row: RegistrationRow) -> None:
    """Raise Conflict where every place is taken."""
    if stored.count(session, contest.id) >= row.most:
        full = (
            N_("registration for %(contest)r is full: the only place is taken; ask its organisers")
            if row.most == 1
            else N_("registration for %(contest)r is full: all %(count)s places are taken; ask its organisers")
        )
        raise Conflict(full, contest=contest.name, count=row.most)


def _locked(session: Session, contest_id: str) -> tuple[ContestRow, RegistrationRow]:
    """A contest and its terms, these locked: two organisers change them one after the other.

    The contest itself is not: whoever registers locks its terms first, and refers to it then.
    """
    contest = contest_of(session, contest_id)
    row = stored.terms(session, contest_id, for_update=True)
    if row is None:
        row = _new(contest_id)
        session.add(row)
    return contest, row


def _new(contest_id: str) -> RegistrationRow:
    return RegistrationRow(contest_id=contest_id, is_open=False, most=MOST_AT_FIRST, team_size=1)


def _public(session: Session, contest: ContestRow, row: RegistrationRow) -> PublicTerms:
    full = stored.count(session, contest.id) >= row.most
    is_open = why_closed(contest, row) is None
    return PublicTerms(open=is_open, full=full, until=format_time_or_none(row.until), team_size=row.team_size)


def _view(session: Session, contest: ContestRow, row: RegistrationRow) -> TermsView:
    public = _public(session, contest, row)
    return TermsView(
        **dict(public),
        code=row.code,
        most=row.most,
        registered=stored.count(session, contest.id),
        group_id=row.group_id,
    )
