"""Tokens: secrets that stand for an account's password in programs, and can be taken back one by one."""

from __future__ import annotations

from pydantic import BaseModel, Field

from app.services.bodies import Body, Line
from app.services.clics import Time, format_time, format_time_or_none
from app.storage.tables import TokenRow

ID_LENGTH = 16


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


class NewToken(TokenView):
    """A token with its secret, which is shown this once."""

    token: str = Field(description="send it as `Authorization: Bearer ...`")


def facts(row: TokenRow, used: str | None) -> dict[str, str | bool | None]:
    """The properties shown of a token, never the token itself; `used` is the digest of the request's own token."""
    return {
        "id": row.digest[:ID_LENGTH],
        "label": row.label,
        "created": format_time(row.created),
        "expires": format_time_or_none(row.expires),
        "last_used": format_time_or_none(row.last_used),
        "current": row.digest == used,
    }
