"""HTTP routes: accounts: who may log in, as what."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Response

from app.api.http.bodies import TheDocument
from app.api.http.deps import AdminOnly, CurrentViewer, JudgeOrAdmin, Reading, TheAuthenticator, TheService, Writing
from app.api.http.gated import GatedRoute
from app.api.http.lists.reply import Small, TheLists
from app.api.http.middleware import API
from app.api.http.snapshot import TheSnapshot
from app.api.people.account_import import TheWish
from app.passwords import hash_all
from app.services.bodies import openapi_body
from app.services.contests.contests import contest_of
from app.services.errors import Conflict, NotFound
from app.services.people.account_bodies import (
    AccountBody,
    AccountChange,
    AccountMade,
    AccountView,
    merged,
    refuse_weak,
    view,
)
from app.services.people.account_import import hashed, id_of, keep_an_admin, put, read, refuse_links, shown_once
from app.services.people.accounts import account_of, check_id, documents, visible
from app.services.transactions import DRY, after_commit
from app.storage import accounts as stored

router = APIRouter(route_class=GatedRoute, tags=["accounts"])


@router.get("/accounts", summary="All accounts")
def list_accounts(_viewer: JudgeOrAdmin, session: Reading) -> list[AccountView]:
    """Without their passwords."""
    return [view(row) for row in stored.accounts(session)]


@router.get("/accounts/{account_id}", summary="One account")
def get_account(_viewer: JudgeOrAdmin, session: Reading, account_id: str) -> AccountView:
    """Without its password."""
    return view(account_of(session, account_id))


@router.post(
    "/accounts",
    summary="Make or import accounts",
    status_code=201,
    response_model=AccountMade | list[AccountMade],
    responses={200: {"model": AccountMade | list[AccountMade], "description": DRY}},
    openapi_extra=openapi_body(AccountBody),
)
def create_accounts(
    _viewer: AdminOnly,
    service: TheService,
    session: Writing,
    authenticator: TheAuthenticator,
    document: TheDocument,
    response: Response,
    wish: TheWish,
) -> Any:
    """One object or a list, in JSON, YAML, CSV or TSV. All of them or, with every fault listed, none.

    Passwords that the server makes are in this reply and nowhere else. A dry run keeps nothing and answers 200.
    """
    wanted = read(document)
    with service.database.read() as before:  # whoever is refused has not waited for thousands of hashes
        refuse_links(before, *wanted, replace=wish.replace)
        passwords = wish.passwords_for(before, [body for body, _ in wanted.places])
    hashes = {} if wish.dry_run else hashed(passwords)
    refuse_links(session, *wanted, replace=wish.replace)
    there = {row.id: row for row in stored.accounts(session)}
    rows = [put(session, body, hashes.get(id_of(body)), there) for body, _ in wanted.places]
    after_commit(session, authenticator.forget)
    keep_an_admin(session)
    made = [shown_once(row, passwords.made.get(row.id)) for row in rows]
    wish.finish(session, response, secret=bool(passwords.made))
    if document.many:
        return made
    response.headers["Location"] = f"{API}/accounts/{made[0].id}"
    return made[0]


@router.put("/accounts/{account_id}", summary="Make or replace an account")
def put_account(
    _viewer: AdminOnly, session: Writing, authenticator: TheAuthenticator, account_id: str, body: AccountBody
) -> AccountView:
    """The body is the whole account; a password that is left out stays as it was, since nobody can read it."""
    check_id(account_id, body.id)
    body.id = account_id
    hashed = hash_all([body.password])[0]
    refuse_links(session, [(body, "body")], replace=True)
    row = put(session, body, hashed)
    after_commit(session, authenticator.forget)
    keep_an_admin(session)
    return view(row)


@router.patch("/accounts/{account_id}", summary="Change an account")
def change_account(
    _viewer: AdminOnly, session: Writing, authenticator: TheAuthenticator, account_id: str, body: AccountChange
) -> AccountView:
    """What is left out stays."""
    check_id(account_id, body.id)
    row = account_of(session, account_id)
    changed = merged(row, body)
    refuse_weak(body.password, row.id, changed.username)
    hashed = hash_all([body.password])[0]
    refuse_links(session, [(changed, "body")], replace=True)
    put(session, changed, hashed)
    after_commit(session, authenticator.forget)
    keep_an_admin(session)
    return view(row)


@router.delete("/accounts/{account_id}", summary="Delete an account", status_code=204)
def delete_account(_viewer: AdminOnly, session: Writing, authenticator: TheAuthenticator, account_id: str) -> None:
    """With its tokens; only one without submissions and jobs."""
    row = account_of(session, account_id)
    if uses := stored.uses(session, account_id):
        raise Conflict(f"the account has {', '.join(f'{count} {name}' for name, count in uses.items())}")
    session.delete(row)
    after_commit(session, authenticator.forget)
    keep_an_admin(session)


@router.get("/contests/{contest_id}/accounts", summary="The accounts of a contest", response_model=list[AccountView])
async def list_contest_accounts(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    lists: TheLists,
    team_id: Annotated[str | None, Query(description="only those of this team; empty: of none")] = None,
    person_id: Annotated[str | None, Query(description="only those of this person; empty: of nobody")] = None,
) -> Any:
    """All for judges, their own for everybody else; 404 for those who have none."""
    if not viewer.logged_in:
        raise NotFound("not logged in")
    return await lists.small(ACCOUNTS, viewer, snapshot, team_id=team_id, person_id=person_id)


@router.get("/contests/{contest_id}/accounts/{account_id}", summary="One account of a contest")
def get_contest_account(viewer: CurrentViewer, session: Reading, contest_id: str, account_id: str) -> AccountView:
    """404 for what the client may not see."""
    for row in visible(session, viewer, contest_id):
        if row.id == account_id:
            return view(row)
    raise NotFound(f"no account {account_id!r} in contest {contest_id!r}")


@router.get("/contests/{contest_id}/account", summary="Who am I, in a contest")
def get_own_contest_account(viewer: CurrentViewer, session: Reading, contest_id: str) -> AccountView:
    """404 for those who are not logged in."""
    contest_of(session, contest_id)
    if viewer.account_id is None:
        raise NotFound("not logged in")
    return view(account_of(session, viewer.account_id))


ACCOUNTS = Small("accounts", AccountView, documents, filters=("team_id", "person_id"))
