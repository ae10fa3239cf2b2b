"""The terms of self-registration for a contest: queries and commands of its organisers.

- The import of accounts: read, checked against what exists, given passwords, stored.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.accounts import schemas
from app.accounts.service import tsv
from app.accounts.service.reach import EVERYTHING, Reach, reach_of
from app.accounts.service.viewer import Viewer
from app.contests.queries import contest_of, refuse_final
from app.core import table_rows
from app.core.bodies import Document, mismatch, read_all, refuse, refuse_all, taken_ids
from app.core.clics import format_time, format_time_or_none
from app.core.clock import utc_now
from app.core.db import by_id, locks
from app.core.messages import N_, NOTHING, Conflict, Fault, Message, place
from app.core.passwords import random_letters
from app.tables import AccountRow, ContestRow, GroupRow, PersonRow, RegistrationRow, TeamRow
from app.teams import queries as teams_queries

MOST_AT_FIRST = 100
LETTERS_OF_A_PART = 5


def make_code() -> str:
    """Make a code that no one guesses over the network and everyone can type, such as k7fmq-2xwrt: 49 random bits."""
    return "-".join(random_letters(LETTERS_OF_A_PART) for _ in range(2))


def terms(session: Session, viewer: Viewer, contest_id: str) -> schemas.TermsView | schemas.PublicTerms:
    """The terms of a contest: all of them for owners and admins."""
    contest = contest_of(session, contest_id)
    row = accounts_queries.terms(session, contest_id) or _new(contest_id)
    return _view(session, contest, row) if viewer.manages else _public(session, contest, row)


def change(session: Session, viewer: Viewer, contest_id: str, body: schemas.TermsChange) -> schemas.TermsView:
    """Change the terms that the body names; raises BadRequest for an unknown group, Forbidden for a final contest."""
    contest, row = _locked(session, contest_id)
    named = body.model_fields_set
    reach = reach_of(session, viewer)
    if body.group_id is not None and not reach.within(by_id.known(session, GroupRow, [body.group_id]), reach.groups):
        refuse([mismatch("group_id", N_("a group that exists"), repr(body.group_id))])
    if body.open is not None:
        if body.open:
            refuse_final(contest)
        row.is_open = body.open
        row.code = row.code or (make_code() if body.open else None)
    row.most = row.most if body.most is None else body.most
    row.until = body.until if "until" in named else row.until
    row.group_id = body.group_id if "group_id" in named else row.group_id
    return _view(session, contest, row)


def renew_code(session: Session, contest_id: str) -> schemas.TermsView:
    """Put a new code in place of the old one, by which no one registers any longer."""
    contest, row = _locked(session, contest_id)
    row.code = make_code()
    return _view(session, contest, row)


def registered(session: Session, contest_id: str) -> list[schemas.RegisteredView]:
    """The accounts that registered for a contest, the first one first."""
    contest_of(session, contest_id)
    rows = accounts_queries.registered(session, contest_id)
    names = {team.id: team.name for team in teams_queries.teams(session)}
    person_ids = [account.person_id for _, account in rows if account.person_id is not None]
    persons = by_id.rows(session, PersonRow, person_ids)
    emails = {person.id: person.details.get("email") for person in persons.values()}
    return [
        schemas.RegisteredView(
            account_id=account.id,
            username=account.username,
            name=account.name or account.username,
            team_id=account.team_id,
            team=names.get(str(account.team_id)),
            email=emails.get(str(account.person_id)),
            time=format_time(row.time),
        )
        for row, account in rows
    ]


def why_closed(contest: ContestRow, row: RegistrationRow) -> Message | None:
    """Why no one registers for a contest now, whatever the code; None where it is open."""
    if contest.finalized is not None:
        return Message(N_("the contest %(contest)r is final: registration is closed"), contest=contest.name)
    if not row.is_open or row.code is None:
        return Message(N_("registration for %(contest)r is not open"), contest=contest.name)
    if row.until is not None and row.until <= utc_now():
        return Message(
            N_("registration for %(contest)r ended at %(time)s"), contest=contest.name, time=format_time(row.until)
        )
    return None


def refuse_full(session: Session, contest: ContestRow, row: RegistrationRow) -> None:
    """Raise Conflict where every place is taken."""
    if accounts_queries.count(session, contest.id) >= row.most:
        full = N_("registration for %(contest)r is full: all %(count)s places are taken; ask its organizers")
        raise Conflict(full, contest=contest.name, count=row.most)


def _locked(session: Session, contest_id: str) -> tuple[ContestRow, RegistrationRow]:
    """A contest and its terms, these locked: two organisers change them one after the other.

    The contest itself is not: whoever registers locks its terms first, and refers to it then.
    """
    contest = contest_of(session, contest_id)
    row = accounts_queries.terms(session, contest_id, for_update=True)
    if row is None:
        row = _new(contest_id)
        session.add(row)
    return contest, row


def _new(contest_id: str) -> RegistrationRow:
    return RegistrationRow(contest_id=contest_id, is_open=False, most=MOST_AT_FIRST)


def _public(session: Session, contest: ContestRow, row: RegistrationRow) -> schemas.PublicTerms:
    full = accounts_queries.count(session, contest.id) >= row.most
    is_open = why_closed(contest, row) is None
    return schemas.PublicTerms(open=is_open, full=full, until=format_time_or_none(row.until))


def _view(session: Session, contest: ContestRow, row: RegistrationRow) -> schemas.TermsView:
    public = _public(session, contest, row)
    return schemas.TermsView(
        **dict(public),
        code=row.code,
        most=row.most,
        registered=accounts_queries.count(session, contest.id),
        group_id=row.group_id,
    )


Place = tuple[schemas.AccountBody, str]


class Wanted(NamedTuple):
    """The accounts of a document with their places, and the faults of the others."""

    places: list[Place]
    faults: list[Fault]


@dataclass(frozen=True, slots=True)
class Passwords:
    """By the ids of accounts: the passwords `given` with them, and those `made` here."""

    given: Mapping[str, str] = field(default_factory=dict)
    made: Mapping[str, str] = field(default_factory=dict)


def read(document: Document) -> Wanted:
    """Read the accounts of a document, in whichever format."""
    items = tsv.items(document, "accounts", table_rows.ACCOUNTS)
    return Wanted(*read_all(items, schemas.AccountBody, _without_id))


def _without_id(body: schemas.AccountBody, where: str) -> list[Fault]:
    if body.id is not None or schemas.is_id(body.username):
        return []
    return [mismatch(place(where, "id"), N_("an id, as the username cannot be one"), NOTHING)]


def refuse_links(
    session: Session,
    places: Sequence[Place],
    faults: Sequence[Fault] = (),
    *,
    replace: bool,
    reach: Reach = EVERYTHING,
) -> None:
    """Raise BadRequest or Conflict with the faults there are already, links to nothing, and ids that are taken.

    What is out of `reach` cannot be named, and its ids are taken.
    """
    taken = taken_names(session, places, replace=replace, reach=reach)
    wrong = [*faults, *missing_links(session, places, reach), *(() if reach.whole else _other_types(places))]
    refuse_all(wrong, taken, replace=replace)


def missing_links(session: Session, places: Sequence[Place], reach: Reach) -> list[Fault]:
    """List every team and person that an account names and that does not exist."""
    team, person = (
        (Message(N_("a team that exists")), Message(N_("a person that exists")))
        if reach.whole
        else (
            Message(N_("a team that exists, and was made for a contest of yours")),
            Message(N_("a person that exists, and was made for a contest of yours")),
        )
    )
    teams = [(body.team_id, place(where, "team_id")) for body, where in places if body.team_id is not None]
    persons = [(body.person_id, place(where, "person_id")) for body, where in places if body.person_id is not None]
    known_teams = reach.within(by_id.known(session, TeamRow, dict(teams)), reach.teams)
    known_persons = reach.within(by_id.known(session, PersonRow, dict(persons)), reach.persons)
    return [
        *(mismatch(where, team, repr(id_)) for id_, where in teams if id_ not in known_teams),
        *(mismatch(where, person, repr(id_)) for id_, where in persons if id_ not in known_persons),
    ]


def _other_types(places: Sequence[Place]) -> list[Fault]:
    """Accounts that an owner of contests would make with rights beyond those of a team."""
    return [
        mismatch(place(where, "type"), N_("team, as only admins make other accounts"), repr(body.type))
        for body, where in places
        if body.type != "team"
    ]


def taken_names(session: Session, places: Sequence[Place], *, replace: bool, reach: Reach = EVERYTHING) -> list[Fault]:
    """List every id and username that is another account's, or given twice."""
    owners = accounts_queries.usernames(session)
    known_ids = set(owners.values())
    left = known_ids - reach.within(known_ids, reach.accounts) if replace else known_ids
    taken = taken_ids("account", ((id_of(body), where) for body, where in places), left)
    usernames: set[str] = set()
    for body, where in places:
        if owners.get(body.username, id_of(body)) != id_of(body) or body.username in usernames:
            taken.append(mismatch(place(where, "username"), N_("a username that is free"), repr(body.username)))
        usernames.add(body.username)
    return taken


def shown_once(row: AccountRow, password: str | None) -> schemas.AccountMade:
    """Show an account as it was made, with the password that was made for it, if one was."""
    shown = schemas.view(row).model_dump()
    return schemas.AccountMade(**shown) if password is None else schemas.AccountMade(**shown, password=password)


def id_of(body: schemas.AccountBody) -> str:
    """Give the id that an account has or gets."""
    return body.id or body.username


def put(
    session: Session,
    body: schemas.AccountBody,
    password_hash: str | None,
    known: Mapping[str, AccountRow] | None = None,
) -> AccountRow:
    """Make or replace an account, looked up in `known` if it is given; without a new password the old one stays.

    A new password takes all tokens of the account back: whoever knew the old one may have made some.
    """
    account_id = id_of(body)
    old = session.get(AccountRow, account_id) if known is None else known.get(account_id)
    row = old or AccountRow(id=account_id, created=utc_now())
    row.username = body.username
    row.name = body.name
    row.type = body.type
    row.team_id = body.team_id
    row.person_id = body.person_id
    if password_hash is not None:
        row.password_hash = password_hash
        if old is not None:
            accounts_queries.remove_tokens(session, account_id)
    session.add(row)
    return row


def keep_an_admin(session: Session) -> None:
    """Raise Conflict where no admin with a password is left."""
    session.flush()
    locks.lock_names(session, ["admins"])  # of two who take the rights of each other, one waits and is refused
    if accounts_queries.admin_count(session) == 0:
        raise Conflict(N_("the last admin with a password cannot be removed"))
