"""HTTP routes: the audit log, for admins whole, and for owners that of their contest.

- HTTP routes: tokens: secrets that stand for an account's password in programs, and can be taken back one by one.
- HTTP routes: roles per contest and per problem, and who may make contests.
- HTTP routes: self-registration for a contest: its terms, and people who register.
- HTTP routes: new passwords and reset codes that an admin or owner creates.
"""

from functools import partial
from typing import Annotated, cast

from fastapi import APIRouter, Depends, Query, Request, Response

from app.accounts import schemas
from app.accounts.routes.accounts import NO_STORE, WritingAccounts
from app.accounts.service import reach, registering, registration, role_changes, tokens
from app.core.http.deps import (
    CurrentViewer,
    GatedRoute,
    QuietWriting,
    Reading,
    TheAuthenticator,
    TheService,
    address_of,
    forget_after,
)
from app.core.load import run_heavy, source_of

router = APIRouter(route_class=GatedRoute, tags=["audit"])


@router.get("/audit", summary="Who changed what, when, from where")
def list_audit(session: Reading, query: Annotated[schemas.AuditFilter, Depends()]) -> list[role_changes.AuditEntry]:
    """Newest first; the last entry's id as `before` gives the next page."""
    return role_changes.listed(session, query)


@router.get("/contests/{contest_id}/audit", summary="Who changed what in a contest")
def list_contest_audit(
    session: Reading, contest_id: str, query: Annotated[schemas.ContestAuditFilter, Depends()]
) -> list[role_changes.AuditEntry]:
    """Newest first; the last entry's id as `before` gives the next page."""
    return role_changes.listed_of_contest(session, contest_id, query)


tokens_router = APIRouter(route_class=GatedRoute, prefix="/account/tokens", tags=["accounts"])


@tokens_router.get("", summary="The tokens of the account")
def list_tokens(viewer: CurrentViewer, session: Reading) -> list[tokens.TokenView]:
    """What they are called, not what they are."""
    return tokens.listed(session, viewer)


@tokens_router.post("", summary="Make a token", status_code=201)
def create_token(viewer: CurrentViewer, session: QuietWriting, body: tokens.TokenBody) -> tokens.NewToken:
    """Only this reply contains it; the server stores its SHA-256."""
    return tokens.create(session, viewer, body)


@tokens_router.delete("", summary="Revoke all tokens of the account", status_code=204)
def delete_tokens(
    viewer: CurrentViewer,
    session: QuietWriting,
    authenticator: TheAuthenticator,
    others: Annotated[bool, Query(description="leave the token that the request is sent with")] = False,
) -> None:
    """Also the one this request may have been sent with, unless `others` leaves it."""
    tokens.delete_all(session, viewer, others=others)
    forget_after(session, authenticator, viewer.account_id)


@tokens_router.delete("/{token_id}", summary="Revoke a token", status_code=204)
def delete_token(viewer: CurrentViewer, session: QuietWriting, authenticator: TheAuthenticator, token_id: str) -> None:
    """By the id that the list shows."""
    tokens.delete(session, viewer, token_id)
    forget_after(session, authenticator, viewer.account_id)


roles_router = APIRouter(route_class=GatedRoute, tags=["roles"])


@roles_router.get("/contests/{contest_id}/roles", summary="The owners and judges of a contest")
def list_contest_roles(session: Reading, contest_id: str) -> list[role_changes.RoleView]:
    """By account. Judges and admins of the server are not among them."""
    return role_changes.roles_at(session, "contests", contest_id)


@roles_router.put("/contests/{contest_id}/roles/{account_id}", summary="Make an account owner or judge of a contest")
def put_contest_role(
    viewer: CurrentViewer, session: WritingAccounts, contest_id: str, account_id: str, body: role_changes.RoleBody
) -> role_changes.RoleView:
    """The account is named by its id or its username. A role replaces the one it had.

    Owners name accounts without a team, or accounts that were made for contests of theirs.
    """
    return role_changes.grant(session, viewer, "contests", contest_id, account_id, body)


@roles_router.delete(
    "/contests/{contest_id}/roles/{account_id}", summary="Take a role in a contest back", status_code=204
)
def delete_contest_role(viewer: CurrentViewer, session: WritingAccounts, contest_id: str, account_id: str) -> None:
    """Streams that the account has open as a judge end."""
    role_changes.revoke(session, viewer, "contests", contest_id, account_id)


@roles_router.get("/problems/{problem_id}/roles", summary="The owners and judges of a problem")
def list_problem_roles(session: Reading, problem_id: str) -> list[role_changes.RoleView]:
    """By account. Judges and admins of the server are not among them."""
    return role_changes.roles_at(session, "problems", problem_id)


@roles_router.put("/problems/{problem_id}/roles/{account_id}", summary="Make an account owner or judge of a problem")
def put_problem_role(
    viewer: CurrentViewer, session: WritingAccounts, problem_id: str, account_id: str, body: role_changes.RoleBody
) -> role_changes.RoleView:
    """A judge reads the problem's hidden data and may add it to their own contests; an owner can also change it."""
    return role_changes.grant(session, viewer, "problems", problem_id, account_id, body)


@roles_router.delete(
    "/problems/{problem_id}/roles/{account_id}", summary="Take a role at a problem back", status_code=204
)
def delete_problem_role(viewer: CurrentViewer, session: WritingAccounts, problem_id: str, account_id: str) -> None:
    """Contests that have the problem keep it."""
    role_changes.revoke(session, viewer, "problems", problem_id, account_id)


@roles_router.get("/organisers", summary="Accounts that may make contests, or have a role anywhere")
def list_organisers(session: Reading) -> list[role_changes.OrganiserView]:
    """By id, with their roles."""
    return role_changes.organisers(session)


@roles_router.put("/organisers/{account_id}", summary="Allow an account to create contests and problems")
def put_organiser(viewer: CurrentViewer, session: WritingAccounts, account_id: str) -> role_changes.OrganiserView:
    """It owns what it makes. The account is named by its id or its username."""
    return role_changes.allow(session, viewer, account_id)


@roles_router.delete("/organisers/{account_id}", summary="Revoke the right to create contests", status_code=204)
def delete_organiser(session: WritingAccounts, account_id: str) -> None:
    """The roles that it has stay."""
    role_changes.disallow(session, account_id)


registration_router = APIRouter(route_class=GatedRoute, tags=["accounts"])


@registration_router.get(
    "/contests/{contest_id}/registration",
    summary="Get the registration settings",
    response_model=schemas.TermsView | schemas.PublicTerms,
)
def get_registration(
    viewer: CurrentViewer, session: Reading, contest_id: str
) -> schemas.TermsView | schemas.PublicTerms:
    """Its code, its cap and how many have registered are for its owners and admins."""
    return registration.terms(session, viewer, contest_id)


@registration_router.patch(
    "/contests/{contest_id}/registration", summary="Open or close self-registration, or change its terms"
)
def change_registration(
    viewer: CurrentViewer, session: QuietWriting, contest_id: str, body: schemas.TermsChange
) -> schemas.TermsView:
    """What is left out stays. The first opening makes a code."""
    return registration.change(session, viewer, contest_id, body)


@registration_router.post("/contests/{contest_id}/registration/code", summary="Make a new code", status_code=201)
def create_registration_code(_viewer: CurrentViewer, session: QuietWriting, contest_id: str) -> schemas.TermsView:
    """The old code stops working."""
    return registration.renew_code(session, contest_id)


@registration_router.get("/contests/{contest_id}/registrations", summary="Who has registered")
def list_registrations(_viewer: CurrentViewer, session: Reading, contest_id: str) -> list[schemas.RegisteredView]:
    """The first one first. A place is free again once its account is deleted."""
    return registration.registered(session, contest_id)


@registration_router.post("/contests/{contest_id}/registrations", summary="Register for a contest", status_code=201)
async def create_registration(
    _viewer: CurrentViewer,
    request: Request,
    service: TheService,
    response: Response,
    contest_id: str,
    body: schemas.RegistrationBody,
) -> schemas.Registration:
    """No login is required, only the contest's code. 403 while it is closed, 409 once every place is taken."""
    cast(registering.Pace, request.app.state.registration_pace).take(source_of(address_of(request)))
    response.headers.update(NO_STORE)
    return await run_heavy(partial(registering.register, service, contest_id, body))


password_resets_router = APIRouter(route_class=GatedRoute, tags=["accounts"])


@password_resets_router.post(
    "/accounts/{account_id}/password", summary="Give an account another password", status_code=201
)
async def create_password(
    viewer: CurrentViewer, service: TheService, authenticator: TheAuthenticator, response: Response, account_id: str
) -> reach.PasswordMade:
    """The server creates it and shows it only in this reply. The account's tokens are revoked."""
    made = await run_heavy(partial(reach.renew_passwords, service, viewer, [account_id]))
    authenticator.forget(account_id)
    response.headers.update(NO_STORE)
    return made[0]


@password_resets_router.post("/accounts/passwords", summary="Create new passwords for accounts", status_code=201)
async def create_passwords(
    viewer: CurrentViewer,
    service: TheService,
    authenticator: TheAuthenticator,
    response: Response,
    body: reach.AccountIds,
) -> list[reach.PasswordMade]:
    """They are shown only in this reply. Tokens and reset codes of the accounts are revoked."""
    made = await run_heavy(partial(reach.renew_passwords, service, viewer, body.account_ids))
    authenticator.forget()
    response.headers.update(NO_STORE)
    return made


@password_resets_router.post("/accounts/password-resets", summary="Create reset codes for accounts", status_code=201)
def create_password_resets(
    viewer: CurrentViewer, session: QuietWriting, response: Response, body: reach.AccountIds
) -> list[reach.ResetMade]:
    """The owner of an account opens `/reset/CODE` and sets a password. A code works once and expires in three days."""
    response.headers.update(NO_STORE)
    return reach.make_resets(session, viewer, body.account_ids)


@password_resets_router.post("/account/password-reset", summary="Set a password with a reset code")
async def apply_password_reset(
    _viewer: CurrentViewer, service: TheService, authenticator: TheAuthenticator, body: reach.ForgottenChange
) -> schemas.AccountView:
    """No login is needed. Tokens of the account are revoked."""
    account = await run_heavy(partial(reach.use_reset, service, body))
    authenticator.forget(account.id)
    return account
