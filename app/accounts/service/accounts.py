"""Accounts: who may log in, as what.

- The viewer's own account, and the change of its password.
- Commands on accounts: import many, replace, change, delete. The edge forgets cached credentials after the commit.
"""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Annotated

from anyio.to_thread import run_sync
from pydantic import Field
from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.accounts import schemas
from app.accounts.service import grants, registration
from app.accounts.service.reach import Reach, account_within, concern, reach_of
from app.accounts.service.viewer import Viewer
from app.contests.queries import contest_of
from app.core import bodies, clics
from app.core.db import by_id
from app.core.messages import N_, BadRequest, Conflict, Forbidden, NotFound
from app.core.passwords import hash_all, hash_password, make_password
from app.core.service import Service
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.tables import AccountRow, ContestRow
from app.teams import queries as teams_queries


def documents(viewer: Viewer, snapshot: ContestSnapshot, session: Session) -> list[clics.JsonObject]:
    """The contest's accounts that this viewer may see, by id."""
    return [each.model_dump() for each in visible(session, viewer, snapshot.contest.id)]


def account_of(session: Session, account_id: str) -> AccountRow:
    """The account; raises NotFound."""
    row = session.get(AccountRow, account_id)
    if row is None:
        raise NotFound(N_("no account %(account)r"), account=account_id)
    return row


def visible(session: Session, viewer: Viewer, contest_id: str) -> list[schemas.AccountView]:
    """The accounts of a contest that the viewer may see: judges all, others their own."""
    contest = contest_of(session, contest_id)
    roles = {row.account_id: row.role for row in accounts_queries.roles_at(session, "contests", contest_id)}
    if viewer.sees_all:
        return [in_contest(row, roles.get(row.id)) for row in of_contest(session, contest, set(roles))]
    return [] if viewer.account_id is None else [in_contest(account_of(session, viewer.account_id), None)]


def of_contest(session: Session, contest: ContestRow, role_ids: Collection[str]) -> list[AccountRow]:
    """The accounts of a contest, by id: those with a role in it, those of its teams, and those without a team.

    Of the latter, those with roles elsewhere are the business of their contests.
    """
    taking_part = {row.id for row in teams_queries.taking_part(session, contest)}
    elsewhere = accounts_queries.without_team_elsewhere(session)
    return [
        row
        for row in accounts_queries.accounts(session)
        if row.id in role_ids or (row.id not in elsewhere if row.team_id is None else row.team_id in taking_part)
    ]


def in_contest(row: AccountRow, role: str | None) -> schemas.AccountView:
    """Show an account as it stands in a contest in which it may have a role."""
    shown = schemas.view(row)
    if role is None or row.type == "admin":
        return shown
    return shown.model_copy(update={"type": "admin" if role == grants.OWNER else "judge", "team_id": None})


def check_id(expected: str, sent: str | None) -> None:
    """Raise Conflict for two ids that differ, BadRequest for what is no id."""
    bodies.same_id(expected, sent)
    if not schemas.is_id(expected):
        raise BadRequest(
            N_("expected letters, digits, . _ or -, at most 36, found %(found)r"), where="id", found=expected[:80]
        )


PasswordCheck = Callable[[str, str], Awaitable[Viewer | None]]
WRONG = N_("expected the password of the account, found another")


class OwnChange(bodies.Body):
    """A new password. It revokes the account's tokens except the one used for the request."""

    old_password: str = Field(max_length=1024, description="also where the request is sent with a token")
    password: schemas.Password


def own_account(session: Session, viewer: Viewer) -> schemas.AccountView:
    """The account that asks."""
    return schemas.view(account_of(session, str(viewer.account_id)))


async def change_password(
    service: Service, viewer: Viewer, body: OwnChange, check_password: PasswordCheck
) -> schemas.AccountView:
    """Change the viewer's password and take back its other tokens.

    `check_password` gives the account that a username and a password fit. Raises BadRequest for a weak password and
    Forbidden for a wrong old one.
    """
    username = await run_sync(_username_of, service, viewer)
    schemas.refuse_weak(body.password, viewer.account_id, username)
    known = await check_password(username, body.old_password)
    if known is None:
        raise Forbidden(WRONG, where="old_password")
    return await run_sync(_change, service, known, viewer.credential.digest, body)


def _username_of(service: Service, viewer: Viewer) -> str:
    """The viewer's username."""
    with service.database.read() as session:
        return account_of(session, str(viewer.account_id)).username


def _change(service: Service, known: Viewer, used: str | None, body: OwnChange) -> schemas.AccountView:
    """Change the viewer's password and take back its other tokens; raises Forbidden where it changed meanwhile."""
    hashed = hash_password(body.password)
    with service.database.write(quiet=True) as session:
        row = account_of(session, str(known.account_id))
        if row.password_hash != known.credential.password_hash:  # someone has changed it since it was checked
            raise Forbidden(WRONG, where="old_password")
        row.password_hash = hashed
        accounts_queries.remove_tokens(session, row.id, but=used)
        return schemas.view(row)


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """The options of an import of accounts; the edge rolls a dry run back."""

    replace: Annotated[bool, Field(description="replace existing ones instead of refusing them")] = False
    generate_passwords: Annotated[
        bool, Field(description="make a password for each account that has none and is given none")
    ] = False
    renew_passwords: Annotated[
        bool, Field(description="make new passwords also for accounts that have one, which ends with it")
    ] = False
    dry_run: Annotated[bool, Field(description="keep nothing, and answer 200 with what would be made")] = False

    def passwords_for(self, session: Session, bodies: Sequence[schemas.AccountBody]) -> registration.Passwords:
        """Make the passwords that are asked for; in a dry run, none.

        An account that is given one gets that. Without `renew_passwords`, one that has a password keeps it: a request
        that is sent again changes nothing.
        """
        given = {registration.id_of(body): body.password for body in bodies if body.password is not None}
        if self.dry_run or not (self.generate_passwords or self.renew_passwords):
            return registration.Passwords(given)
        settled = set(given) if self.renew_passwords else {*given, *accounts_queries.with_passwords(session)}
        made = {registration.id_of(body): make_password() for body in bodies if registration.id_of(body) not in settled}
        return registration.Passwords(given, made)


def listed(session: Session) -> list[schemas.AccountView]:
    """The accounts of the server; passwords are left out."""
    return [schemas.view(row) for row in accounts_queries.accounts(session)]


def one(session: Session, account_id: str) -> schemas.AccountView:
    """An account; raises NotFound."""
    return schemas.view(account_of(session, account_id))


def one_of_contest(session: Session, viewer: Viewer, contest_id: str, account_id: str) -> schemas.AccountView:
    """An account of a contest; raises NotFound where the viewer may not see it."""
    for each in visible(session, viewer, contest_id):
        if each.id == account_id:
            return each
    raise NotFound(N_("no account %(account)r in contest %(contest)r"), account=account_id, contest=contest_id)


def own(session: Session, viewer: Viewer, contest_id: str) -> schemas.AccountView:
    """The viewer's account, asked for in a contest; raises NotFound for viewers without one."""
    contest_of(session, contest_id)
    if viewer.account_id is None:
        raise NotFound(N_("not logged in"))
    role = viewer.role if viewer.contest_id is not None else None
    return in_contest(account_of(session, viewer.account_id), role)


def bring_in(
    session: Session, service: Service, viewer: Viewer, document: bodies.Document, options: ImportOptions
) -> list[schemas.AccountMade]:
    """Make or replace the accounts of a document, all or none; raises BadRequest or Conflict with every fault."""
    wanted = registration.read(document)
    with service.database.read() as before:  # whoever is refused has not waited for thousands of hashes
        registration.refuse_links(before, *wanted, replace=options.replace, reach=reach_of(before, viewer))
        passwords = options.passwords_for(before, [body for body, _ in wanted.places])
    hashes = {} if options.dry_run else hash_all({**passwords.given, **passwords.made})
    # Again in this transaction: others may have changed accounts while passwords were hashed.
    reach = reach_of(session, viewer)
    registration.refuse_links(session, *wanted, replace=options.replace, reach=reach)
    concern(session, reach, [body.team_id for body, _ in wanted.places])
    known = {row.id: row for row in accounts_queries.accounts(session)}
    rows = [registration.put(session, body, hashes.get(registration.id_of(body)), known) for body, _ in wanted.places]
    registration.keep_an_admin(session)
    return [registration.shown_once(row, passwords.made.get(row.id)) for row in rows]


def replace(session: Session, viewer: Viewer, account_id: str, body: schemas.AccountBody) -> schemas.AccountView:
    """Make an account or replace it; without a password in the body the old one stays."""
    check_id(account_id, body.id)
    body.id = account_id
    return _put(session, reach_of(session, viewer), body, body.password)


def change(session: Session, viewer: Viewer, account_id: str, changes: bodies.Document) -> schemas.AccountView:
    """Change the properties that the document names; raises BadRequest for what would be no account."""
    row = account_within(session, viewer, account_id)
    old = {name: getattr(row, name) for name in schemas.AccountView.model_fields}
    body = bodies.read_one(changes, schemas.AccountBody, old=old)
    check_id(account_id, body.id)
    return _put(session, reach_of(session, viewer), body, body.password)


def _put(session: Session, reach: Reach, body: schemas.AccountBody, password: str | None) -> schemas.AccountView:
    password_hash = None if password is None else hash_password(password)
    registration.refuse_links(session, [(body, "body")], replace=True, reach=reach)
    concern(session, reach, [body.team_id])
    row = registration.put(session, body, password_hash)
    registration.keep_an_admin(session)
    return schemas.view(row)


def delete(session: Session, viewer: Viewer, account_id: str) -> None:
    """Delete an account with its tokens; raises Conflict where it has submissions or jobs, or is the last admin."""
    row = account_within(session, viewer, account_id)
    if uses := accounts_queries.uses(session, account_id):
        raise Conflict(N_("the account has %(uses)s"), uses=by_id.counted(uses))
    session.delete(row)
    registration.keep_an_admin(session)
