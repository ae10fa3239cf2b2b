"""Commands on accounts: import many, replace, change, delete. The edge forgets cached credentials after the commit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.accounts.queries import accounts as stored
from app.accounts.schemas.account_bodies import (
    AccountBody,
    AccountChange,
    AccountMade,
    AccountView,
    merged,
    refuse_weak,
    view,
)
from app.accounts.service.account_import import (
    Passwords,
    hashed,
    id_of,
    keep_an_admin,
    put,
    read,
    refuse_links,
    shown_once,
)
from app.accounts.service.accounts import account_of, check_id, in_contest, visible
from app.accounts.service.reach import Reach, account_within, concern, reach_of
from app.accounts.service.viewer import Viewer
from app.contests.service.contests import contest_of
from app.core.bodies import Document
from app.core.errors import Conflict, NotFound
from app.core.messages import N_, counted
from app.core.passwords import hash_all, make_password
from app.core.service import Service


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The options of an import of accounts.

    replace   existing accounts are replaced instead of refused
    generate  accounts without a password get one
    renew     accounts with a password get a new one as well
    dry_run   the edge rolls everything back
    """

    replace: bool = False
    generate: bool = False
    renew: bool = False
    dry_run: bool = False

    def passwords_for(self, session: Session, bodies: Sequence[AccountBody]) -> Passwords:
        """Make the passwords that are asked for; in a dry run, none.

        An account that is given one gets that. Without `renew`, one that has a password keeps it: a request that is
        sent again changes nothing.
        """
        given = {id_of(body): body.password for body in bodies if body.password is not None}
        if self.dry_run or not (self.generate or self.renew):
            return Passwords(given)
        settled = set(given) if self.renew else {*given, *stored.with_passwords(session)}
        made = {id_of(body): make_password() for body in bodies if id_of(body) not in settled}
        return Passwords(given, made)


def listed(session: Session) -> list[AccountView]:
    """The accounts of the server; passwords are left out."""
    return [view(row) for row in stored.accounts(session)]


def one(session: Session, account_id: str) -> AccountView:
    """An account; raises NotFound."""
    return view(account_of(session, account_id))


def one_of_contest(session: Session, viewer: Viewer, contest_id: str, account_id: str) -> AccountView:
    """An account of a contest; raises NotFound where the viewer may not see it."""
    for each in visible(session, viewer, contest_id):
        if each.id == account_id:
            return each
    raise NotFound(N_("no account %(account)r in contest %(contest)r"), account=account_id, contest=contest_id)


def own(session: Session, viewer: Viewer, contest_id: str) -> AccountView:
    """The viewer's account, asked for in a contest; raises NotFound for viewers without one."""
    contest_of(session, contest_id)
    if viewer.account_id is None:
        raise NotFound(N_("not logged in"))
    role = viewer.role if viewer.contest_id is not None else None
    return in_contest(account_of(session, viewer.account_id), role)


def bring_in(
    session: Session, service: Service, viewer: Viewer, document: Document, options: ImportOptions
) -> list[AccountMade]:
    """Make or replace the accounts of a document, all or none; raises BadRequest or Conflict with every fault."""
    wanted = read(document)
    with service.database.read() as before:  # whoever is refused has not waited for thousands of hashes
        refuse_links(before, *wanted, replace=options.replace, reach=reach_of(before, viewer))
        passwords = options.passwords_for(before, [body for body, _ in wanted.places])
    hashes = {} if options.dry_run else hashed(passwords)
    reach = reach_of(session, viewer)
    refuse_links(session, *wanted, replace=options.replace, reach=reach)
    concern(session, reach, [body.team_id for body, _ in wanted.places])
    known = {row.id: row for row in stored.accounts(session)}
    rows = [put(session, body, hashes.get(id_of(body)), known) for body, _ in wanted.places]
    keep_an_admin(session)
    return [shown_once(row, passwords.made.get(row.id)) for row in rows]


def replace(session: Session, viewer: Viewer, account_id: str, body: AccountBody) -> AccountView:
    """Make an account or replace it; without a password in the body the old one stays."""
    check_id(account_id, body.id)
    body.id = account_id
    return _put(session, reach_of(session, viewer), body, body.password)


def change(session: Session, viewer: Viewer, account_id: str, body: AccountChange) -> AccountView:
    """Change the properties that the body names; raises BadRequest for what would be no account."""
    check_id(account_id, body.id)
    row = account_within(session, viewer, account_id)
    changed = merged(row, body)
    refuse_weak(body.password, row.id, changed.username)
    return _put(session, reach_of(session, viewer), changed, body.password)


def _put(session: Session, reach: Reach, body: AccountBody, password: str | None) -> AccountView:
    password_hash = hash_all([password])[0]
    refuse_links(session, [(body, "body")], replace=True, reach=reach)
    concern(session, reach, [body.team_id])
    row = put(session, body, password_hash)
    keep_an_admin(session)
    return view(row)


def delete(session: Session, viewer: Viewer, account_id: str) -> None:
    """Delete an account with its tokens; raises Conflict where it has submissions or jobs, or is the last admin."""
    row = account_within(session, viewer, account_id)
    if uses := stored.uses(session, account_id):
        raise Conflict(N_("the account has %(uses)s"), uses=counted(uses))
    session.delete(row)
    keep_an_admin(session)
