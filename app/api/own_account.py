"""One's own account: who am I, and another password."""

from __future__ import annotations

from anyio.to_thread import run_sync
from fastapi import APIRouter, Request
from pydantic import Field

from app.api.account_bodies import AccountView, Password, refuse_weak, view
from app.api.accounts import account_of
from app.api.auth import Viewer
from app.api.bodies import Body
from app.api.deps import LoggedIn, Reading, TheAuthenticator, TheService, address_of
from app.api.errors import Forbidden
from app.api.gated import GatedRoute
from app.passwords import hash_password
from app.service import Service
from app.storage import accounts as stored

router = APIRouter(route_class=GatedRoute, tags=["accounts"])
WRONG = "old_password: expected the password of the account, found another"


class OwnChange(Body):
    """Another password. It takes back the account's tokens, but for the one that the request was sent with."""

    old_password: str = Field(max_length=1024, description="also where the request is sent with a token")
    password: Password
    keep_tokens: bool = Field(False, description="leave all tokens as they are")


@router.get("/account", summary="Who am I")
def get_own_account(viewer: LoggedIn, session: Reading) -> AccountView:
    """The account that asks."""
    return view(account_of(session, str(viewer.account_id)))


@router.patch("/account", summary="Change one's own password")
async def change_own_account(
    request: Request, viewer: LoggedIn, service: TheService, authenticator: TheAuthenticator, body: OwnChange
) -> AccountView:
    """A wrong old password is a guess like another one. Streams that were asked for with what is taken back end."""
    username = await run_sync(_username, service, viewer)
    refuse_weak(body.password, viewer.account_id, username)
    known = await authenticator.check_password(username, body.old_password, address_of(request))
    if known is None:
        raise Forbidden(WRONG)
    changed = await run_sync(_change, service, known, viewer.credential.digest, body)
    authenticator.forget(viewer.account_id)
    return changed


def _username(service: Service, viewer: Viewer) -> str:
    with service.database.read() as session:
        return account_of(session, str(viewer.account_id)).username


def _change(service: Service, known: Viewer, used: str | None, body: OwnChange) -> AccountView:
    hashed = hash_password(body.password)
    with service.database.write(quiet=True) as session:
        row = account_of(session, str(known.account_id))
        if row.password_hash != known.credential.password_hash:  # somebody has changed it since it was checked
            raise Forbidden(WRONG)
        row.password_hash = hashed
        if not body.keep_tokens:
            stored.remove_tokens(session, row.id, but=used)
        return view(row)
