"""HTTP routes: one's own account: who am I, and another password."""

from __future__ import annotations

from functools import partial

from fastapi import APIRouter, Request

from app.accounts.schemas.account_bodies import AccountView
from app.accounts.service.own_account import OwnChange, change_password, own_account
from app.core.http.deps import CurrentViewer, Reading, TheAuthenticator, TheService, address_of
from app.core.http.gated import GatedRoute

router = APIRouter(route_class=GatedRoute, tags=["accounts"])


@router.get("/account", summary="Who am I")
def get_own_account(viewer: CurrentViewer, session: Reading) -> AccountView:
    """The account that asks."""
    return own_account(session, viewer)


@router.patch("/account", summary="Change one's own password")
async def change_own_account(
    request: Request, viewer: CurrentViewer, service: TheService, authenticator: TheAuthenticator, body: OwnChange
) -> AccountView:
    """A wrong old password is a guess like another one. Streams that were asked for with what is taken back end."""
    check_password = partial(authenticator.check_password, address=address_of(request))
    changed = await change_password(service, viewer, body, check_password)
    authenticator.forget(viewer.account_id)
    return changed
