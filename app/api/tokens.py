"""Tokens: secrets that stand for an account's password in programs, and can be taken back one by one."""

from __future__ import annotations

import secrets

from fastapi import APIRouter
from pydantic import BaseModel, Field

from app.api.auth import digest
from app.api.bodies import Body, Line
from app.api.clics import Time, format_time, format_time_or_none
from app.api.deps import LoggedIn, QuietWriting, Reading, TheAuthenticator, after_commit
from app.api.errors import BadRequest, Conflict, NotFound
from app.api.gated import GatedRoute
from app.domain.clock import utc_now
from app.storage import accounts as stored
from app.storage.tables import TokenRow

router = APIRouter(route_class=GatedRoute, prefix="/account/tokens", tags=["accounts"])
ID_LENGTH = 16
MOST = 100


class TokenBody(Body):
    """A token to be made; without an end it lasts until it is deleted."""

    label: Line | None = None
    expires: Time | None = None


class TokenView(BaseModel):
    """A token without its secret."""

    id: str
    label: str
    created: str
    expires: str | None
    last_used: str | None = Field(None, description="to a quarter of an hour; null: never")


class NewToken(TokenView):
    """A token with its secret, which is shown this once."""

    token: str = Field(description="send it as `Authorization: Bearer ...`")


@router.get("", summary="The tokens of the account")
def list_tokens(viewer: LoggedIn, session: Reading) -> list[TokenView]:
    """What they are called, not what they are."""
    return [TokenView.model_validate(_facts(row)) for row in stored.tokens(session, str(viewer.account_id))]


@router.post("", summary="Make a token", status_code=201)
def create_token(viewer: LoggedIn, session: QuietWriting, body: TokenBody) -> NewToken:
    """The answer is the only one that ever holds it: only its sha256 is kept."""
    now = utc_now()
    if body.expires is not None and body.expires <= now:
        raise BadRequest(f"expires: expected a time to come, found {format_time(body.expires)}")
    if len(stored.tokens(session, str(viewer.account_id))) >= MOST:
        raise Conflict(f"the account has {MOST} tokens; take one back first")
    token = secrets.token_urlsafe(32)
    row = TokenRow(
        digest=digest(token),
        account_id=str(viewer.account_id),
        label=body.label or "",
        created=now,
        expires=body.expires,
    )
    session.add(row)
    return NewToken.model_validate({**_facts(row), "token": token})


@router.delete("", summary="Take all tokens of the account back", status_code=204)
def delete_tokens(viewer: LoggedIn, session: QuietWriting, authenticator: TheAuthenticator) -> None:
    """Also the one this request may have been sent with."""
    stored.remove_tokens(session, str(viewer.account_id))
    after_commit(session, lambda: authenticator.forget(viewer.account_id))


@router.delete("/{token_id}", summary="Take a token back", status_code=204)
def delete_token(viewer: LoggedIn, session: QuietWriting, authenticator: TheAuthenticator, token_id: str) -> None:
    """By the id that the list shows."""
    if len(token_id) != ID_LENGTH or not stored.remove_tokens(session, str(viewer.account_id), token_id):
        raise NotFound(f"no token {token_id!r}")
    after_commit(session, lambda: authenticator.forget(viewer.account_id))


def _facts(row: TokenRow) -> dict[str, str | None]:
    return {
        "id": row.digest[:ID_LENGTH],
        "label": row.label,
        "created": format_time(row.created),
        "expires": format_time_or_none(row.expires),
        "last_used": format_time_or_none(row.last_used),
    }
