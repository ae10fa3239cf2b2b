"""Passwords reset by an admin: a new one at once, or a code with which its owner sets one, once and in time."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from functools import partial
from hmac import compare_digest

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app.accounts.queries import accounts as stored
from app.accounts.queries.audit import Actor, acting
from app.accounts.schemas.account_bodies import AccountView, Password, Username, refuse_weak, view
from app.accounts.service.guesses import Attempt
from app.accounts.service.reach import account_within
from app.accounts.service.rights import Place, check, who_may
from app.accounts.service.viewer import Viewer, digest, known_viewer
from app.core.bodies import Body
from app.core.clics import format_time
from app.core.clock import utc_now
from app.core.errors import Forbidden, NotFound
from app.core.examples import example
from app.core.heavy import run_heavy
from app.core.messages import N_
from app.core.passwords import hash_password, make_password
from app.core.service import Service
from app.tables import AccountRow, PasswordResetRow

HOURS = 24
MOST_HOURS = 24 * 7
WRONG = N_("expected the code of this account that has not been used and has not expired, found another")


@example({"hours": 24})
class ResetBody(Body):
    """A code to be made; the old password is good until the code is used."""

    hours: int = Field(HOURS, ge=1, le=MOST_HOURS, description="how long it is good")


@example({"account_id": "ants", "username": "ants", "code": "k7fmq-2xwrt-hn9bd", "expires": "2026-12-31T00:00:00.000Z"})
class ResetMade(BaseModel):
    """A code that sets the password of an account once. It is shown in this reply and never again."""

    account_id: str
    username: str
    code: str
    expires: str


@example({"account_id": "ants", "username": "ants", "password": "k7fmq-2xwrt-hn9bd"})
class PasswordMade(BaseModel):
    """A password that the server made. It is shown in this reply and never again."""

    account_id: str
    username: str
    password: str


@example({"username": "ants", "code": "k7fmq-2xwrt-hn9bd", "password": "open, sesame seeds"})
class NewPassword(Body):
    """The password that the owner of an account sets with a code. It takes all tokens of the account back."""

    username: Username
    code: str = Field(max_length=64)
    password: Password


def make_reset(session: Session, viewer: Viewer, account_id: str, body: ResetBody) -> ResetMade:
    """Make a code for an account, in place of an older one; raises NotFound."""
    account = account_within(session, viewer, account_id)
    now = utc_now()
    code, expires = make_password(), now + timedelta(hours=body.hours)
    row = session.get(PasswordResetRow, account_id) or PasswordResetRow(account_id=account_id)
    row.digest, row.created, row.expires, row.issued_by = digest(code), now, expires, str(viewer.account_id)
    session.add(row)
    return ResetMade(account_id=account_id, username=account.username, code=code, expires=format_time(expires))


def renew_password(service: Service, viewer: Viewer, account_id: str) -> PasswordMade:
    """Give an account another password and take back its tokens and codes; raises NotFound."""
    with service.database.read() as session:
        account_within(session, viewer, account_id)  # before the hash
    password = make_password()
    password_hash = hash_password(password)
    with service.database.write(quiet=True) as session:
        row = account_within(session, viewer, account_id)
        _set_password(session, row, password_hash)
    return PasswordMade(account_id=account_id, username=row.username, password=password)


async def use_reset_in_turn(
    service: Service, body: NewPassword, turn: AbstractAsyncContextManager[Attempt], address: str
) -> AccountView:
    """Set a password with a code, once it is the turn of whoever asks: a wrong code is a guess like a wrong password.

    Raises what `use_reset` raises.
    """
    async with turn as attempt:
        try:
            return await run_heavy(partial(use_reset, service, body, address))
        except Forbidden:
            attempt.failed = True
            raise


def use_reset(service: Service, body: NewPassword, address: str) -> AccountView:
    """Set a password with a code; raises Forbidden for a wrong one, BadRequest for a weak password.

    The audit log notes the account that issued the code as the credential, and the `address` of the client.
    """
    with service.database.read() as session:
        account, code = _admitted(session, body)
        refuse_weak(body.password, account.id, account.username, account.name)
    password_hash = hash_password(body.password)
    with acting(_user_of(account, code, address)), service.database.write(quiet=True) as session:
        account, _ = _admitted(session, body, for_update=True)
        _set_password(session, account, password_hash)
        return view(account)


def _user_of(account: AccountRow, code: PasswordResetRow, address: str) -> Actor:
    return Actor(
        account_id=account.id,
        role=account.type,
        address=address,
        credential=f"reset code of {code.issued_by}",
        operation="change_forgotten_password",
        method="POST",
        path="/account/password-reset",
    )


def _admitted(session: Session, body: NewPassword, *, for_update: bool = False) -> tuple[AccountRow, PasswordResetRow]:
    """Return the account whose code this is, and the code. The same refusal hides whether the username is known."""
    account = stored.by_username(session, body.username)
    row = None if account is None else session.get(PasswordResetRow, account.id, with_for_update=for_update)
    if account is None or row is None or row.expires <= utc_now():
        raise Forbidden(WRONG, where="code")
    if not compare_digest(row.digest, digest(body.code.strip().lower())):
        raise Forbidden(WRONG, where="code")
    _refuse_unentitled(session, row)
    return account, row


def _refuse_unentitled(session: Session, row: PasswordResetRow) -> None:
    """Raise Forbidden if the issuer of a code could not issue it for this account now."""
    viewer = known_viewer(session, session.get_one(AccountRow, row.issued_by))
    try:
        check(who_may("create_password_reset"), viewer, Place())
        account_within(session, viewer, row.account_id)
    except (Forbidden, NotFound):
        raise Forbidden(WRONG, where="code") from None


def _set_password(session: Session, account: AccountRow, password_hash: str) -> None:
    account.password_hash = password_hash
    stored.remove_tokens(session, account.id)
