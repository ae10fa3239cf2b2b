"""The import of accounts: read, checked against what exists, given passwords, stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from sqlalchemy.orm import Session

from app.accounts.queries import accounts as stored
from app.accounts.schemas.account_bodies import AccountBody, AccountMade, is_id, view
from app.accounts.service import tsv
from app.accounts.service.reach import EVERYTHING, Reach
from app.core import table_rows
from app.core.bodies import Document, NewIds, mismatch, read_all, refuse_all
from app.core.clock import utc_now
from app.core.db import by_id
from app.core.db.locks import lock_names
from app.core.errors import Conflict, place
from app.core.messages import N_, Fault, Message
from app.core.passwords import hash_all
from app.tables import AccountRow, PersonRow, TeamRow

Place = tuple[AccountBody, str]


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
    items = tsv.items(document, tsv.accounts, table_rows.ACCOUNTS)
    return Wanted(*read_all(items, AccountBody, _without_id))


def _without_id(body: AccountBody, where: str) -> list[Fault]:
    if body.id is not None or is_id(body.username):
        return []
    return [mismatch(place(where, "id"), Message(N_("an id, as the username cannot be one")), Message(N_("nothing")))]


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
    hint = (
        N_("%(count)s ids or usernames are taken")
        if replace
        else N_("%(count)s ids or usernames are taken; replace=true replaces accounts of the same id")
    )
    refuse_all(wrong, taken, Message(hint, count=len(taken)))


def missing_links(session: Session, places: Sequence[Place], reach: Reach) -> list[Fault]:
    """List every team and person that an account names and that does not exist."""
    team_ids = by_id.known(session, TeamRow, [body.team_id for body, _ in places if body.team_id is not None])
    known = reach.within(team_ids, reach.teams)
    team, person = (
        (Message(N_("a team that exists")), Message(N_("a person that exists")))
        if reach.whole
        else (
            Message(N_("a team that exists, and was made for a contest of yours")),
            Message(N_("a person that exists, and was made for a contest of yours")),
        )
    )
    missing = [
        mismatch(place(where, "team_id"), team, repr(body.team_id))
        for body, where in places
        if body.team_id is not None and body.team_id not in known
    ]
    ids_ = [body.person_id for body, _ in places if body.person_id is not None]
    persons = reach.within(by_id.known(session, PersonRow, ids_), reach.persons)
    return missing + [
        mismatch(place(where, "person_id"), person, repr(body.person_id))
        for body, where in places
        if body.person_id is not None and body.person_id not in persons
    ]


def _other_types(places: Sequence[Place]) -> list[Fault]:
    """Accounts that an owner of contests would make with rights beyond those of a team."""
    return [
        mismatch(place(where, "type"), Message(N_("team, as only admins make other accounts")), repr(body.type))
        for body, where in places
        if body.type != "team"
    ]


def taken_names(session: Session, places: Sequence[Place], *, replace: bool, reach: Reach = EVERYTHING) -> list[Fault]:
    """List every id and username that is another account's, or given twice."""
    owners = stored.usernames(session)
    known_ids = set(owners.values())
    new = NewIds("account", known_ids - reach.within(known_ids, reach.accounts) if replace else known_ids)
    usernames: set[str] = set()
    taken = []
    for body, where in places:
        account_id = id_of(body)
        taken += new.check(account_id, where)
        if owners.get(body.username, account_id) != account_id or body.username in usernames:
            taken.append(
                mismatch(place(where, "username"), Message(N_("a username that is free")), repr(body.username))
            )
        usernames.add(body.username)
    return taken


def hashed(passwords: Passwords) -> dict[str, str | None]:
    """Hash all passwords, by account id. This takes long, and must be done outside of transactions."""
    wanted = {**passwords.given, **passwords.made}
    return dict(zip(wanted, hash_all(list(wanted.values())), strict=True))


def shown_once(row: AccountRow, password: str | None) -> AccountMade:
    """Show an account as it was made, with the password that was made for it, if one was."""
    shown = view(row).model_dump()
    return AccountMade(**shown) if password is None else AccountMade(**shown, password=password)


def id_of(body: AccountBody) -> str:
    """Give the id that an account has or gets."""
    return body.id or body.username


def put(
    session: Session,
    body: AccountBody,
    password_hash: str | None,
    known: Mapping[str, AccountRow] | None = None,
) -> AccountRow:
    """Make or replace an account, looked up in `known` if it is given; without a new password the old one stays.

    A new password takes all tokens of the account back: whoever knew the old one may have made some.
    """
    account_id = id_of(body)
    old = stored.get(session, account_id) if known is None else known.get(account_id)
    row = old or AccountRow(id=account_id, created=utc_now())
    row.username = body.username
    row.name = body.name
    row.type = body.type
    row.team_id = body.team_id
    row.person_id = body.person_id
    if password_hash is not None:
        row.password_hash = password_hash
        if old is not None:
            stored.remove_tokens(session, account_id)
    session.add(row)
    return row


def keep_an_admin(session: Session) -> None:
    """Raise Conflict where no admin with a password is left."""
    session.flush()
    lock_names(session, ["admins"])  # of two who take the rights of each other, one waits and is refused
    if stored.admin_count(session) == 0:
        raise Conflict(N_("nobody could change anything any more: the last admin with a password must stay one"))
