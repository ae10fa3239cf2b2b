"""HTTP routes: tokens: secrets that stand for an account's password in programs, and can be taken back one by one."""

from __future__ import annotations

import secrets
from typing import Annotated

from fastapi import APIRouter, Query

from app.api.http.deps import LoggedIn, QuietWriting, Reading, TheAuthenticator
from app.api.http.gated import GatedRoute
from app.domain.clock import utc_now
from app.services.clics import format_time
from app.services.errors import BadRequest, Conflict, NotFound
from app.services.people.tokens import ID_LENGTH, NewToken, TokenBody, TokenView, facts
from app.services.transactions import after_commit
from app.services.viewer import digest
from app.storage import accounts as stored
from app.storage.tables import TokenRow

router = APIRouter(route_class=GatedRoute, prefix="/account/tokens", tags=["accounts"])
MOST = 100


@router.get("", summary="The tokens of the account")
def list_tokens(viewer: LoggedIn, session: Reading) -> list[TokenView]:
    """What they are called, not what they are."""
    used = viewer.credential.digest
    return [TokenView.model_validate(facts(row, used)) for row in stored.tokens(session, str(viewer.account_id))]


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
    return NewToken.model_validate({**facts(row, viewer.credential.digest), "token": token})


@router.delete("", summary="Take all tokens of the account back", status_code=204)
def delete_tokens(
    viewer: LoggedIn,
    session: QuietWriting,
    authenticator: TheAuthenticator,
    others: Annotated[bool, Query(description="leave the token that the request is sent with")] = False,
) -> None:
    """Also the one this request may have been sent with, unless `others` leaves it."""
    stored.remove_tokens(session, str(viewer.account_id), but=viewer.credential.digest if others else None)
    after_commit(session, lambda: authenticator.forget(viewer.account_id))


@router.delete("/{token_id}", summary="Take a token back", status_code=204)
def delete_token(viewer: LoggedIn, session: QuietWriting, authenticator: TheAuthenticator, token_id: str) -> None:
    """By the id that the list shows."""
    if len(token_id) != ID_LENGTH or not stored.remove_tokens(session, str(viewer.account_id), token_id):
        raise NotFound(f"no token {token_id!r}")
    after_commit(session, lambda: authenticator.forget(viewer.account_id))
