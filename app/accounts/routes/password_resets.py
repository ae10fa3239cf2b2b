"""HTTP routes: passwords that an admin resets, and codes with which people set new ones."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter, Request, Response

from app.accounts.schemas.account_bodies import AccountView
from app.accounts.service.password_resets import (
    NewPassword,
    PasswordMade,
    ResetBody,
    ResetMade,
    make_reset,
    renew_password,
    use_reset_in_turn,
)
from app.core.heavy import run_heavy
from app.core.http.deps import CurrentViewer, QuietWriting, TheAuthenticator, TheService, address_of
from app.core.http.gated import GatedRoute

router = APIRouter(route_class=GatedRoute, tags=["accounts"])
NO_STORE = {"Cache-Control": "no-store"}


@router.post("/accounts/{account_id}/password", summary="Give an account another password", status_code=201)
async def create_password(
    viewer: CurrentViewer, service: TheService, authenticator: TheAuthenticator, response: Response, account_id: str
) -> PasswordMade:
    """The server makes it, and this reply is the only one that shows it. Tokens of the account are taken back."""
    made = await run_heavy(partial(renew_password, service, viewer, account_id))
    authenticator.forget(account_id)
    response.headers.update(NO_STORE)
    return made


@router.post("/accounts/{account_id}/password-reset", summary="Make a code that sets a password once", status_code=201)
def create_password_reset(
    viewer: CurrentViewer, session: QuietWriting, response: Response, account_id: str, body: ResetBody
) -> ResetMade:
    """For its owner, who sets a password of their own with it. A new code takes the place of an older one."""
    response.headers.update(NO_STORE)
    return make_reset(session, viewer, account_id, body)


@router.post("/account/password-reset", summary="Set a password with a code")
async def change_forgotten_password(
    _viewer: CurrentViewer, request: Request, service: TheService, authenticator: TheAuthenticator, body: NewPassword
) -> AccountView:
    """Nobody need log in. A wrong code is a guess like a wrong password; a right one is good once."""
    address = address_of(request)
    account = await use_reset_in_turn(service, body, authenticator.turn(body.username, address), address)
    authenticator.forget(account.id)
    return account
