"""HTTP routes: one's own account: who am I, and another password."""

from __future__ import annotations

from anyio.to_thread import run_sync
from fastapi import APIRouter, Request

from app.api.http.deps import LoggedIn, Reading, TheAuthenticator, TheService, address_of
from app.api.http.gated import GatedRoute
from app.services.errors import Forbidden
from app.services.people.account_bodies import AccountView, refuse_weak, view
from app.services.people.accounts import account_of
from app.services.people.own_account import WRONG, OwnChange, change, username_of

router = APIRouter(route_class=GatedRoute, tags=["accounts"])


@router.get("/account", summary="Who am I")
def get_own_account(viewer: LoggedIn, session: Reading) -> AccountView:
    """The account that asks."""
    return view(account_of(session, str(viewer.account_id)))


@router.patch("/account", summary="Change one's own password")
async def change_own_account(
    request: Request, viewer: LoggedIn, service: TheService, authenticator: TheAuthenticator, body: OwnChange
) -> AccountView:
    """A wrong old password is a guess like another one. Streams that were asked for with what is taken back end."""
    username = await run_sync(username_of, service, viewer)
    refuse_weak(body.password, viewer.account_id, username)
    known = await authenticator.check_password(username, body.old_password, address_of(request))
    if known is None:
        raise Forbidden(WRONG)
    changed = await run_sync(change, service, known, viewer.credential.digest, body)
    authenticator.forget(viewer.account_id)
    return changed
