"""Self-registration and reset passwords."""

from __future__ import annotations

from typing_extensions import TypedDict


class PublicTerms(TypedDict):
    """The terms of self-registration that everybody may read."""

    open: bool
    full: bool
    until: str | None
    team_size: int


class Terms(PublicTerms):
    """The terms of self-registration as organisers read them."""

    code: str | None
    most: int
    registered: int
    group_id: str | None


class Registered(TypedDict):
    """Somebody who registered."""

    account_id: str
    username: str
    name: str
    team_id: str | None
    team: str | None
    email: str | None
    time: str


class Registration(TypedDict):
    """An account just registered."""

    username: str
    team: str
    team_code: str | None


class MadePassword(TypedDict):
    """A password that the server made: the only reply that shows it."""

    username: str
    password: str


class MadeReset(TypedDict):
    """A code that sets a password once: the only reply that shows it."""

    username: str
    code: str
    expires: str
