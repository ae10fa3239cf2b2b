"""HTTP routes: accounts: who may log in, as what."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from app.accounts.routes.account_import import TheOptions, WritingAccounts, finish
from app.accounts.routes.made import many_or_one
from app.accounts.schemas.account_bodies import AccountBody, AccountChange, AccountMade, AccountView
from app.accounts.service import account_changes
from app.core.bodies import openapi_body
from app.core.errors import NotFound
from app.core.http.bodies import TheDocument
from app.core.http.deps import CurrentViewer, Reading, TheService
from app.core.http.gated import GatedRoute
from app.core.http.lists.reply import TheLists
from app.core.http.snapshot import TheSnapshot
from app.core.messages import N_
from app.core.transactions import DRY
from app.feed.service.collections import BY_NAME

router = APIRouter(route_class=GatedRoute, tags=["accounts"])


@router.get("/accounts", summary="All accounts")
def list_accounts(_viewer: CurrentViewer, session: Reading) -> list[AccountView]:
    """Without their passwords."""
    return account_changes.listed(session)


@router.get("/accounts/{account_id}", summary="One account")
def get_account(_viewer: CurrentViewer, session: Reading, account_id: str) -> AccountView:
    """Without its password."""
    return account_changes.one(session, account_id)


@router.post(
    "/accounts",
    summary="Make or import accounts",
    status_code=201,
    response_model=AccountMade | list[AccountMade],
    responses={200: {"model": AccountMade | list[AccountMade], "description": DRY}},
    openapi_extra=openapi_body(AccountBody),
)
def create_accounts(
    viewer: CurrentViewer,
    service: TheService,
    session: WritingAccounts,
    document: TheDocument,
    response: Response,
    options: TheOptions,
) -> AccountMade | list[AccountMade]:
    """One object or a list, in JSON, YAML, CSV or TSV. All of them or, with every fault listed, none.

    Passwords that the server makes are in this reply and nowhere else. A dry run keeps nothing and answers 200.
    Owners of contests make accounts for the teams that were made for these.
    """
    made = account_changes.bring_in(session, service, viewer, document, options)
    finish(options, session, response, secret=any(each.password for each in made))
    address = f"accounts/{made[0].id}" if made else ""
    return many_or_one(session, response, made, address, many=document.many, dry_run=False)


@router.put("/accounts/{account_id}", summary="Make or replace an account")
def put_account(viewer: CurrentViewer, session: WritingAccounts, account_id: str, body: AccountBody) -> AccountView:
    """The body is the whole account; a password that is left out stays as it was, since nobody can read it."""
    return account_changes.replace(session, viewer, account_id, body)


@router.patch("/accounts/{account_id}", summary="Change an account")
def change_account(
    viewer: CurrentViewer, session: WritingAccounts, account_id: str, body: AccountChange
) -> AccountView:
    """What is left out stays."""
    return account_changes.change(session, viewer, account_id, body)


@router.delete("/accounts/{account_id}", summary="Delete an account", status_code=204)
def delete_account(viewer: CurrentViewer, session: WritingAccounts, account_id: str) -> None:
    """With its tokens; only one without submissions and jobs."""
    account_changes.delete(session, viewer, account_id)


@router.get("/contests/{contest_id}/accounts", summary="The accounts of a contest", response_model=list[AccountView])
async def list_contest_accounts(
    viewer: CurrentViewer,
    snapshot: TheSnapshot,
    lists: TheLists,
    team_id: Annotated[str | None, Query(description="only those of this team; empty: of none")] = None,
    person_id: Annotated[str | None, Query(description="only those of this person; empty: of nobody")] = None,
) -> Response:
    """All for judges, their own for everybody else; 404 for those who have none."""
    if not viewer.logged_in:
        raise NotFound(N_("not logged in"))
    return await lists.small(BY_NAME["accounts"], viewer, snapshot, team_id=team_id, person_id=person_id)


@router.get("/contests/{contest_id}/accounts/{account_id}", summary="One account of a contest")
def get_contest_account(viewer: CurrentViewer, session: Reading, contest_id: str, account_id: str) -> AccountView:
    """404 for what the client may not see."""
    return account_changes.one_of_contest(session, viewer, contest_id, account_id)


@router.get("/contests/{contest_id}/account", summary="Who am I, in a contest")
def get_own_contest_account(viewer: CurrentViewer, session: Reading, contest_id: str) -> AccountView:
    """404 for those who are not logged in."""
    return account_changes.own(session, viewer, contest_id)
