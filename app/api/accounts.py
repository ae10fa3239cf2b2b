"""Accounts: who may log in, as what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Response
from sqlalchemy.orm import Session

from app.api import tsv
from app.api.account_bodies import AccountBody, AccountChange, AccountView, is_id, merged, view
from app.api.auth import Viewer
from app.api.bodies import Document, TheDocument, found, openapi_body, read_items, refuse, same_id
from app.api.contests import contest_of
from app.api.deps import (
    AdminOnly,
    CurrentViewer,
    JudgeOrAdmin,
    LoggedIn,
    Reading,
    TheAuthenticator,
    Writing,
    after_commit,
)
from app.api.errors import BadRequest, Conflict, NotFound
from app.api.filters import matching
from app.api.middleware import API
from app.api.standings import TheStanding
from app.grading.boards import Standing
from app.passwords import hash_password
from app.storage import accounts as stored
from app.storage import directory, teams
from app.storage.tables import AccountRow, PersonRow

router = APIRouter(tags=["accounts"])
HASHES_AT_ONCE = 2
Replace = Annotated[bool, Query(description="replace those that are there already, instead of refusing them")]


@router.get("/account", summary="Who am I")
def own_account(viewer: LoggedIn, session: Reading) -> AccountView:
    """The account that asks."""
    return view(account_of(session, str(viewer.account_id)))


@router.get("/accounts", summary="All accounts")
def accounts(_viewer: JudgeOrAdmin, session: Reading) -> list[AccountView]:
    """Without their passwords."""
    return [view(row) for row in stored.accounts(session)]


@router.get("/accounts/{account_id}", summary="One account")
def account(_viewer: JudgeOrAdmin, session: Reading, account_id: str) -> AccountView:
    """Without its password."""
    return view(account_of(session, account_id))


@router.post(
    "/accounts",
    summary="Make or import accounts",
    status_code=201,
    response_model=None,
    openapi_extra=openapi_body(AccountBody),
)
def make_accounts(
    _viewer: AdminOnly,
    session: Writing,
    authenticator: TheAuthenticator,
    document: TheDocument,
    response: Response,
    replace: Replace = False,
) -> AccountView | list[AccountView]:
    """One object or a list, in JSON or YAML, or accounts.tsv. All of them or, with every fault listed, none."""
    places = _read(document)
    hashes = hash_all([body.password for body, _ in places])  # before the transaction: others wait for those that write
    check_links(session, places, replace=replace)
    rows = [put(session, body, hashed) for (body, _), hashed in zip(places, hashes, strict=True)]
    after_commit(session, authenticator.forget)
    _keep_an_admin(session)
    if document.many:
        return [view(row) for row in rows]
    response.headers["Location"] = f"{API}/accounts/{rows[0].id}"
    return view(rows[0])


@router.put("/accounts/{account_id}", summary="Make or replace an account")
def put_account(
    _viewer: AdminOnly, session: Writing, authenticator: TheAuthenticator, account_id: str, body: AccountBody
) -> AccountView:
    """The body is the whole account; a password that is left out stays as it was, since nobody can read it."""
    _check_id(account_id, body.id)
    body.id = account_id
    hashed = hash_all([body.password])[0]
    check_links(session, [(body, "body")], replace=True)
    row = put(session, body, hashed)
    after_commit(session, authenticator.forget)
    _keep_an_admin(session)
    return view(row)


@router.patch("/accounts/{account_id}", summary="Change an account")
def change_account(
    _viewer: AdminOnly, session: Writing, authenticator: TheAuthenticator, account_id: str, body: AccountChange
) -> AccountView:
    """What is left out stays."""
    _check_id(account_id, body.id)
    hashed = hash_all([body.password])[0]
    row = account_of(session, account_id)
    changed = merged(row, body)
    check_links(session, [(changed, "body")], replace=True)
    put(session, changed, hashed)
    after_commit(session, authenticator.forget)
    _keep_an_admin(session)
    return view(row)


@router.delete("/accounts/{account_id}", summary="Delete an account", status_code=204)
def delete_account(_viewer: AdminOnly, session: Writing, authenticator: TheAuthenticator, account_id: str) -> None:
    """With its tokens; only one without submissions and jobs."""
    row = account_of(session, account_id)
    if uses := stored.uses(session, account_id):
        raise Conflict(f"the account has {', '.join(f'{count} {name}' for name, count in uses.items())}")
    session.delete(row)
    after_commit(session, authenticator.forget)
    _keep_an_admin(session)


@router.get("/contests/{contest_id}/accounts", summary="The accounts of a contest", response_model=list[AccountView])
def contest_accounts(
    viewer: CurrentViewer,
    standing: TheStanding,
    session: Reading,
    team_id: Annotated[str | None, Query(description="only those of this team; empty: of none")] = None,
    person_id: Annotated[str | None, Query(description="only those of this person; empty: of nobody")] = None,
) -> Any:
    """All for judges, their own for everybody else; 404 for those who have none."""
    if not viewer.logged_in:
        raise NotFound("not logged in")
    return matching(documents(viewer, standing, session), team_id=team_id, person_id=person_id)


@router.get("/contests/{contest_id}/accounts/{account_id}", summary="One account of a contest")
def contest_account(viewer: CurrentViewer, session: Reading, contest_id: str, account_id: str) -> AccountView:
    """404 for what the client may not see."""
    for row in _visible(session, viewer, contest_id):
        if row.id == account_id:
            return view(row)
    raise NotFound(f"no account {account_id!r} in contest {contest_id!r}")


@router.get("/contests/{contest_id}/account", summary="Who am I, in a contest")
def own_contest_account(viewer: CurrentViewer, session: Reading, contest_id: str) -> AccountView:
    """404 for those who are not logged in."""
    contest_of(session, contest_id)
    if viewer.account_id is None:
        raise NotFound("not logged in")
    return view(account_of(session, viewer.account_id))


def documents(viewer: Viewer, standing: Standing, session: Session) -> list[Mapping[str, Any]]:
    """The contest's accounts that this viewer may see, by id."""
    return [view(row).model_dump() for row in _visible(session, viewer, standing.contest.id)]


def account_of(session: Session, account_id: str) -> AccountRow:
    """The account; raises NotFound."""
    row = stored.get(session, account_id)
    if row is None:
        raise NotFound(f"no account {account_id!r}")
    return row


def hash_all(passwords: Sequence[str | None]) -> list[str | None]:
    """Hash passwords, a few at a time in threads: it is slow by intent, and lets go of the interpreter."""
    if not any(passwords):
        return [None] * len(passwords)
    with ThreadPoolExecutor(HASHES_AT_ONCE) as threads:
        return list(threads.map(lambda password: hash_password(password) if password else None, passwords))


def put(
    session: Session,
    body: AccountBody,
    password_hash: str | None,
    there: Mapping[str, AccountRow] | None = None,
) -> AccountRow:
    """Make or replace an account, one of those `there` if they are read; without a new password the old one stays."""
    account_id = body.id or body.username
    old = stored.get(session, account_id) if there is None else there.get(account_id)
    row = old or AccountRow(id=account_id, created=datetime.now(UTC))
    row.username = body.username
    row.name = body.name
    row.type = body.type
    row.team_id = body.team_id
    row.person_id = body.person_id
    row.password_hash = password_hash or row.password_hash
    session.add(row)
    return row


def _visible(session: Session, viewer: Viewer, contest_id: str) -> list[AccountRow]:
    contest = contest_of(session, contest_id)
    if viewer.sees_all:
        taking_part = {row.id for row in teams.taking_part(session, contest)}
        return [row for row in stored.accounts(session) if row.team_id is None or row.team_id in taking_part]
    return [] if viewer.account_id is None else [account_of(session, viewer.account_id)]


def _read(document: Document) -> list[tuple[AccountBody, str]]:
    items = document.items if document.lines is None else tsv.accounts(document.lines)
    places: list[tuple[AccountBody, str]] = []

    def check(body: AccountBody, where: str) -> list[dict[str, str]]:
        places.append((body, where))
        if body.id is not None or is_id(body.username):
            return []
        return [found(f"{where}.id", "an id, as the username cannot be one", "nothing")]

    read_items(items, AccountBody, check)
    return places


def check_links(session: Session, places: Sequence[tuple[AccountBody, str]], *, replace: bool) -> None:
    """Raise BadRequest or Conflict with every team that is not there and every id or username that is taken."""
    known = teams.known(session, [body.team_id for body, _ in places if body.team_id is not None])
    missing = [
        found(f"{where}.team_id", "a team that exists", repr(body.team_id))
        for body, where in places
        if body.team_id is not None and body.team_id not in known
    ]
    ids_ = [body.person_id for body, _ in places if body.person_id is not None]
    persons = directory.known(session, PersonRow, ids_)
    missing += [
        found(f"{where}.person_id", "a person that exists", repr(body.person_id))
        for body, where in places
        if body.person_id is not None and body.person_id not in persons
    ]
    refuse(missing)
    owners = stored.usernames(session)
    ids = set(owners.values())
    given: set[str] = set()
    usernames: set[str] = set()
    taken = []
    for body, where in places:
        account_id = body.id or body.username
        if account_id in given or (account_id in ids and not replace):
            taken.append(found(f"{where}.id", "a new account", f"{account_id!r} of an old one"))
        if owners.get(body.username, account_id) != account_id or body.username in usernames:
            taken.append(found(f"{where}.username", "a username that is free", repr(body.username)))
        given.add(account_id)
        usernames.add(body.username)
    if taken:
        hint = "" if replace else "; replace=true replaces accounts of the same id"
        raise Conflict(f"{len(taken)} ids or usernames are taken{hint}", errors=taken)


def _keep_an_admin(session: Session) -> None:
    session.flush()
    if stored.admin_count(session) == 0:
        raise Conflict("nobody could change anything any more: the last admin with a password must stay one")


def _check_id(expected: str, sent: str | None) -> None:
    same_id(expected, sent)
    if not is_id(expected):
        raise BadRequest(f"id: expected letters, digits, . _ or -, at most 36, found {expected[:80]!r}")
