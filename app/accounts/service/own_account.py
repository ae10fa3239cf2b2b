"""The viewer's own account, and the change of its password."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from anyio.to_thread import run_sync
from pydantic import Field
from sqlalchemy.orm import Session

from app.accounts.queries import accounts as stored
from app.accounts.schemas.account_bodies import AccountView, Password, refuse_weak, view
from app.accounts.service.accounts import account_of
from app.accounts.service.viewer import Viewer
from app.core.bodies import Body
from app.core.errors import Forbidden
from app.core.messages import N_
from app.core.passwords import hash_password
from app.core.service import Service

PasswordCheck = Callable[[str, str], Awaitable[Viewer | None]]
WRONG = N_("expected the password of the account, found another")


class OwnChange(Body):
    """Another password. It takes back the account's tokens, but for the one that the request was sent with."""

    old_password: str = Field(max_length=1024, description="also where the request is sent with a token")
    password: Password
    keep_tokens: bool = Field(False, description="leave all tokens as they are")


def own_account(session: Session, viewer: Viewer) -> AccountView:
    """The account that asks."""
    return view(account_of(session, str(viewer.account_id)))


async def change_password(
    service: Service, viewer: Viewer, body: OwnChange, check_password: PasswordCheck
) -> AccountView:
    """Change the viewer's password and take back its other tokens.

    `check_password` gives the account that a username and a password fit. Raises BadRequest for a weak password and
    Forbidden for a wrong old one.
    """
    username = await run_sync(_username_of, service, viewer)
    refuse_weak(body.password, viewer.account_id, username)
    known = await check_password(username, body.old_password)
    if known is None:
        raise Forbidden(WRONG, where="old_password")
    return await run_sync(_change, service, known, viewer.credential.digest, body)


def _username_of(service: Service, viewer: Viewer) -> str:
    """The viewer's username."""
    with service.database.read() as session:
        return account_of(session, str(viewer.account_id)).username


def _change(service: Service, known: Viewer, used: str | None, body: OwnChange) -> AccountView:
    """Change the viewer's password and take back its other tokens; raises Forbidden where it changed meanwhile."""
    hashed = hash_password(body.password)
    with service.database.write(quiet=True) as session:
        row = account_of(session, str(known.account_id))
        if row.password_hash != known.credential.password_hash:  # somebody has changed it since it was checked
            raise Forbidden(WRONG, where="old_password")
        row.password_hash = hashed
        if not body.keep_tokens:
            stored.remove_tokens(session, row.id, but=used)
        return view(row)
