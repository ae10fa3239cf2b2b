"""HTTP routes: accounts: who may log in, as what.

- HTTP routes: one's own account: who am I, and another password.
- How clients ask for an import of accounts, and how its reply keeps new passwords out of caches.
- The reply to a request that makes one object or many: shared by accounts, teams and the directory.
"""

from functools import partial
from typing import Annotated, TypeVar

from fastapi import APIRouter, Depends, Query, Request, Response
from sqlalchemy.orm import Session

from app.accounts.schemas import AccountBody, AccountMade, AccountView
from app.accounts.service import accounts
from app.core.bodies import one_body, openapi_body
from app.core.http import deps, lists, middleware
from app.core.http.errors import TheDocument
from app.core.messages import N_, NotFound
from app.feed.service.collections import BY_NAME

router = APIRouter(route_class=deps.GatedRoute, tags=["accounts"])


@router.get("/account", summary="Who am I")
def get_own_account(viewer: deps.CurrentViewer, session: deps.Reading) -> AccountView:
    """The account that asks."""
    return accounts.own_account(session, viewer)


@router.patch("/account", summary="Change one's own password")
async def change_own_account(
    request: Request,
    viewer: deps.CurrentViewer,
    service: deps.TheService,
    authenticator: deps.TheAuthenticator,
    body: accounts.OwnChange,
) -> AccountView:
    """A wrong old password counts as a failed login. Streams opened with revoked credentials end."""
    check_password = partial(authenticator.check_password, address=deps.address_of(request))
    changed = await accounts.change_password(service, viewer, body, check_password)
    authenticator.forget(viewer.account_id)
    return changed


NO_STORE = {"Cache-Control": "no-store"}


def _writing(session: deps.Writing, authenticator: deps.TheAuthenticator) -> Session:
    deps.forget_after(session, authenticator)
    return session


TheOptions = Annotated[accounts.ImportOptions, Depends()]
# A transaction after which no cached credential is trusted any longer.
WritingAccounts = Annotated[Session, Depends(_writing, scope="function")]


def finish(options: accounts.ImportOptions, session: Session, response: Response, *, secret: bool) -> None:
    """End an import: a dry run is rolled back, and no cache may store a reply with passwords."""
    if secret:
        response.headers.update(NO_STORE)
    if options.dry_run:
        deps.end_dry_run(session, response)


T = TypeVar("T")


def many_or_one(
    session: Session, response: Response, made: list[T], address: str, *, many: bool, dry_run: bool
) -> T | list[T]:
    """All objects where `many` were sent, otherwise the only one with its address; a dry run is rolled back."""
    if dry_run:
        deps.end_dry_run(session, response)
    if many:
        return made
    response.headers["Location"] = f"{middleware.API}/{address}"
    return made[0]


@router.get("/accounts", summary="All accounts")
def list_accounts(_viewer: deps.CurrentViewer, session: deps.Reading) -> list[AccountView]:
    """Without their passwords."""
    return accounts.listed(session)


@router.get("/accounts/{account_id}", summary="One account")
def get_account(_viewer: deps.CurrentViewer, session: deps.Reading, account_id: str) -> AccountView:
    """Without its password."""
    return accounts.one(session, account_id)


@router.post(
    "/accounts",
    summary="Make or import accounts",
    status_code=201,
    response_model=AccountMade | list[AccountMade],
    responses={200: {"model": AccountMade | list[AccountMade], "description": deps.DRY}},
    openapi_extra=openapi_body(AccountBody),
)
def create_accounts(
    viewer: deps.CurrentViewer,
    service: deps.TheService,
    session: WritingAccounts,
    document: TheDocument,
    response: Response,
    options: TheOptions,
) -> AccountMade | list[AccountMade]:
    """One object or a list, in JSON, YAML, CSV or TSV. All of them or, with every fault listed, none.

    Passwords that the server makes are in this reply and nowhere else. A dry run keeps nothing and answers 200.
    Owners of contests make accounts for the teams that were made for these.
    """
    made = accounts.bring_in(session, service, viewer, document, options)
    finish(options, session, response, secret=any(each.password for each in made))
    address = f"accounts/{made[0].id}" if made else ""
    return many_or_one(session, response, made, address, many=document.many, dry_run=False)


@router.put("/accounts/{account_id}", summary="Make or replace an account")
def put_account(
    viewer: deps.CurrentViewer, session: WritingAccounts, account_id: str, body: AccountBody
) -> AccountView:
    """The body is the whole account; an omitted password does not change."""
    return accounts.replace(session, viewer, account_id, body)


@router.patch("/accounts/{account_id}", summary="Change an account", openapi_extra=one_body("AccountChange"))
def change_account(
    viewer: deps.CurrentViewer, session: WritingAccounts, account_id: str, changes: TheDocument
) -> AccountView:
    """What is left out stays."""
    return accounts.change(session, viewer, account_id, changes)


@router.delete("/accounts/{account_id}", summary="Delete an account", status_code=204)
def delete_account(viewer: deps.CurrentViewer, session: WritingAccounts, account_id: str) -> None:
    """With its tokens; only one without submissions and jobs."""
    accounts.delete(session, viewer, account_id)


@router.get("/contests/{contest_id}/accounts", summary="The accounts of a contest", response_model=list[AccountView])
async def list_contest_accounts(
    viewer: deps.CurrentViewer,
    snapshot: deps.TheSnapshot,
    lists: lists.TheLists,
    team_id: Annotated[str | None, Query(description="only those of this team; empty: of none")] = None,
    person_id: Annotated[str | None, Query(description="only accounts of this person; empty: of no person")] = None,
) -> Response:
    """Judges see all accounts, others their own; 404 without one."""
    if not viewer.logged_in:
        raise NotFound(N_("not logged in"))
    return await lists.small(BY_NAME["accounts"], viewer, snapshot, team_id=team_id, person_id=person_id)


@router.get("/contests/{contest_id}/accounts/{account_id}", summary="One account of a contest")
def get_contest_account(
    viewer: deps.CurrentViewer, session: deps.Reading, contest_id: str, account_id: str
) -> AccountView:
    """404 for what the client may not see."""
    return accounts.one_of_contest(session, viewer, contest_id, account_id)


@router.get("/contests/{contest_id}/account", summary="Who am I, in a contest")
def get_own_contest_account(viewer: deps.CurrentViewer, session: deps.Reading, contest_id: str) -> AccountView:
    """404 without a login."""
    return accounts.own(session, viewer, contest_id)
