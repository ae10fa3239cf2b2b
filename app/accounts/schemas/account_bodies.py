"""Documents of accounts: bodies of requests, and replies."""

from __future__ import annotations

from typing import Annotated, Literal, Self, cast

from pydantic import AfterValidator, BaseModel, Field, StringConstraints, ValidationInfo, model_validator

from app.core import passwords
from app.core.bodies import Body, Line, Sparse
from app.core.clics import ID, Id
from app.core.errors import BadRequest, describe_pattern
from app.core.examples import example
from app.core.messages import N_, Message, WrongProperty, WrongValue
from app.core.passwords import LEAST
from app.tables import AccountRow

USERNAME_WORDS = Message(N_("a username: one line, not empty, without a colon"))
PASSWORD_WORDS = Message(N_("a password of at least %(count)s characters on one line"), count=LEAST)
Username = Annotated[
    str, StringConstraints(pattern=describe_pattern(r"^[^\x00-\x1f\x7f:]+$", USERNAME_WORDS), max_length=255)
]
"""Usernames have no colon: HTTP Basic ends a username with one."""


def not_weak(password: str, info: ValidationInfo) -> str:
    """Refuse what is easy to guess; the names are those of the object that stand before the password."""
    names = [info.data.get(name) for name in ("id", "username", "name")]
    if expected := passwords.weakness(password, *names):
        raise WrongValue(expected)
    return password


Password = Annotated[
    str,
    StringConstraints(
        pattern=describe_pattern(rf"^[^\x00-\x1f\x7f]{{{LEAST},}}$", PASSWORD_WORDS),
        max_length=1024,
    ),
    AfterValidator(not_weak),
]
"""Passwords have no control characters: HTTP Basic cannot send them."""
Type = Literal["team", "judge", "admin", "analyst", "staff"]


class AccountChange(Body):
    """Properties to change; what is left out stays."""

    id: Id | None = None
    username: Username | None = None
    password: Password | None = None
    name: Line | None = None
    type: Type | None = None
    team_id: Id | None = None
    person_id: Id | None = None


@example(
    {
        "id": "ants",
        "username": "ants",
        "password": "open, sesame seeds",
        "type": "team",
        "team_id": "ants",
    }
)
class AccountBody(AccountChange):
    """An account to be kept. Without an id its username is its id; without a password nobody logs in with one."""

    username: Username
    type: Type
    ip: None = None

    @model_validator(mode="after")
    def _team_of_teams(self) -> Self:
        check_team(self.type, self.team_id)
        return self


@example({"id": "ants", "username": "ants", "name": "The Ants", "type": "team", "team_id": "ants", "person_id": None})
class AccountView(BaseModel):
    """An account as CLICS shows it; passwords are never shown."""

    id: str
    username: str
    name: str
    type: Type
    team_id: str | None
    person_id: str | None


class AccountMade(AccountView, Sparse):
    """An account as it was made or replaced."""

    password: str | None = Field(None, description="what the server made; it is shown in this reply and never again")


def view(row: AccountRow) -> AccountView:
    """Show an account."""
    type_ = cast(Type, row.type)
    name = row.name or row.username
    return AccountView(
        id=row.id, username=row.username, name=name, type=type_, team_id=row.team_id, person_id=row.person_id
    )


def refuse_weak(password: str | None, *names: str | None) -> None:
    """Raise BadRequest for a password that is easy to guess for somebody of these names."""
    if password is not None and (expected := passwords.weakness(password, *names)):
        raise BadRequest(N_("expected %(expected)s, found a secret"), where="password", expected=expected)


def merged(row: AccountRow, change: AccountChange) -> AccountBody:
    """An account as a change leaves it; raises BadRequest where it would be none."""
    named = {name: getattr(change, name) for name in change.model_fields_set - {"id", "password"}}
    old = {name: getattr(row, name) for name in ("id", "username", "name", "type", "team_id", "person_id")}
    for name in ("username", "type"):
        if name in named and named[name] is None:
            raise BadRequest(N_("expected a value, found null"), where=name)
    whole = {**old, **named}
    try:
        check_team(whole["type"], whole["team_id"])
    except WrongProperty as wrong:
        raise BadRequest(wrong.message, where=wrong.where) from None
    return AccountBody.model_validate(whole)


def check_team(type_: str, team_id: str | None) -> None:
    """Raise WrongProperty where an account of a type cannot have this team, or none."""
    if type_ == "team" and team_id is None:
        raise WrongProperty(N_("expected the team of an account of type team, found nothing"), where="team_id")
    if type_ != "team" and team_id is not None:
        raise WrongProperty(
            N_("expected nothing for an account of type %(type)s, found %(team)r"),
            where="team_id",
            type=type_,
            team=team_id,
        )


def is_id(text: str) -> bool:
    """Whether a text may be an id."""
    return ID.fullmatch(text) is not None
