"""Tokens: secrets that stand for an account's password in programs, and can be taken back one by one."""

from __future__ import annotations

import secrets
from datetime import timedelta

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app.accounts.queries import accounts as stored
from app.accounts.service.viewer import Viewer, digest
from app.core.bodies import Body, Line
from app.core.clics import Time, format_time, format_time_or_none
from app.core.clock import utc_now
from app.core.db.locks import lock_names
from app.core.errors import BadRequest, Conflict, NotFound
from app.core.examples import TIME, example
from app.core.messages import N_
from app.tables import TokenRow

ID_LENGTH = 16
MOST = 100
SESSION = "browser"
"""The label of tokens that logins on pages make."""
SESSION_COOKIE = "jurado_session"
"""The cookie that holds such a token."""
SESSION_LASTS = timedelta(days=14)
MOST_SESSIONS = 20


@example({"label": "take_part.py", "expires": "2026-12-31T00:00:00.000Z"})
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
    current: bool = Field(description="it is the one that this request was sent with")


@example(
    {
        "id": "k3",
        "label": "take_part.py",
        "created": TIME,
        "expires": None,
        "current": False,
        "token": "2Yb0mTbB3l",
    }
)
class NewToken(TokenView):
    """A token with its secret, which is shown this once."""

    token: str = Field(description="send it as `Authorization: Bearer ...`")


def listed(session: Session, viewer: Viewer) -> list[TokenView]:
    """The tokens of the viewer's account, without their secrets."""
    used = viewer.credential.digest
    return [TokenView.model_validate(_facts(row, used)) for row in stored.tokens(session, str(viewer.account_id))]


def create(session: Session, viewer: Viewer, body: TokenBody) -> NewToken:
    """Make a token, of which only the digest is stored; raises BadRequest or Conflict."""
    now = utc_now()
    if body.expires is not None and body.expires <= now:
        raise BadRequest(
            N_("expected a time to come, found %(found)s"), where="expires", found=format_time(body.expires)
        )
    lock_names(session, [f"tokens of {viewer.account_id}"])
    if len(stored.tokens(session, str(viewer.account_id))) >= MOST:
        raise Conflict(N_("the account has %(count)s tokens; take one back first"), count=MOST)
    token = secrets.token_urlsafe(32)
    row = TokenRow(
        digest=digest(token),
        account_id=str(viewer.account_id),
        label=body.label or "",
        created=now,
        expires=body.expires,
    )
    session.add(row)
    return NewToken.model_validate({**_facts(row, viewer.credential.digest), "token": token})


def begin_session(session: Session, viewer: Viewer) -> str:
    """Make the token of a login on a page, and return its secret; the oldest of more than 20 such logins end."""
    now = utc_now()
    begun = [row for row in stored.tokens(session, str(viewer.account_id)) if row.label == SESSION]
    live = [row for row in begun if row.expires is not None and row.expires > now]
    for row in set(begun) - set(live[1 - MOST_SESSIONS :]):
        session.delete(row)
    session.flush()
    body = TokenBody.model_validate({"label": SESSION, "expires": format_time(now + SESSION_LASTS)})
    return create(session, viewer, body).token


def end_session(session: Session, viewer: Viewer) -> None:
    """Take the token back that the viewer is known by."""
    stored.remove_tokens(session, str(viewer.account_id), str(viewer.credential.digest))


def delete_all(session: Session, viewer: Viewer, *, others: bool) -> None:
    """Take all tokens of the viewer's account back; `others`: all but the one of this request."""
    stored.remove_tokens(session, str(viewer.account_id), but=viewer.credential.digest if others else None)


def delete(session: Session, viewer: Viewer, token_id: str) -> None:
    """Take one token of the viewer's account back; raises NotFound."""
    if len(token_id) != ID_LENGTH or not stored.remove_tokens(session, str(viewer.account_id), token_id):
        raise NotFound(N_("no token %(token)r"), token=token_id)


def _facts(row: TokenRow, used: str | None) -> dict[str, str | bool | None]:
    """The properties shown of a token, never the token itself; `used` is the digest of the request's own token."""
    return {
        "id": row.digest[:ID_LENGTH],
        "label": row.label,
        "created": format_time(row.created),
        "expires": format_time_or_none(row.expires),
        "last_used": format_time_or_none(row.last_used),
        "current": row.digest == used,
    }
