"""Documents of self-registration: its terms, what people send, and who has registered."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import BaseModel, Field, StringConstraints, model_validator

from app.accounts.schemas.account_bodies import Password, Username
from app.core.bodies import Body, Line, Sparse
from app.core.clics import Id, Time
from app.core.errors import describe_pattern
from app.core.examples import TIME, example
from app.core.messages import N_, Message, WrongProperty

MOST = 100_000
LARGEST_TEAM = 100
Email = Annotated[
    str,
    StringConstraints(
        pattern=describe_pattern(
            r"^[^\x00-\x20\x7f@]+@[^\x00-\x20\x7f@]+$", Message(N_("an address such as ana@example.org"))
        ),
        max_length=254,
    ),
]
Code = Annotated[str, StringConstraints(min_length=1, max_length=64)]


@example({"open": True, "most": 40, "until": "2026-12-01T12:00:00.000Z"})
class TermsChange(Body):
    """Terms of self-registration to change; what is left out stays. The first opening makes a code."""

    open: bool | None = None
    most: int | None = Field(None, ge=0, le=MOST, description="accounts that may register in all; at first 100")
    until: Time | None = Field(None, description="the moment from which nobody registers; null: none")
    team_size: int | None = Field(None, ge=1, le=LARGEST_TEAM, description="accounts a registered team may have")
    group_id: Id | None = Field(None, description="the group of registered teams; null: none")

    @model_validator(mode="after")
    def _not_null(self) -> Self:
        for name in ("open", "most", "team_size"):
            if name in self.model_fields_set and getattr(self, name) is None:
                raise WrongProperty(N_("expected a value, found null"), where=name)
        return self


class PublicTerms(Sparse):
    """The terms as everybody may read them."""

    open: bool = Field(description="somebody with the code could register now")
    full: bool
    until: str | None
    team_size: int


class TermsView(PublicTerms):
    """The terms as organisers read them."""

    code: str | None
    most: int
    registered: int
    group_id: str | None


@example({
    "code": "k7fmq-2xwrt",
    "name": "Ana Pérez",
    "team": "The Ants",
    "email": "ana@example.org",
    "password": "open, sesame seeds",
})  # fmt: skip
class RegistrationBody(Body):
    """Somebody who registers: with a new team, or joining one by the code that its first member got."""

    code: Code = Field(description="the contest's code, which its organisers hand out")
    username: Username | None = Field(None, description="default: made of the name, such as ana.perez")
    name: Line
    team: Line | None = Field(None, description="a new team; default: one with the person's name")
    team_code: Code | None = Field(None, description="joins the team whose code this is")
    email: Email = Field(description="only judges see it")
    password: Password

    @model_validator(mode="after")
    def _one_team(self) -> Self:
        if self.team is not None and self.team_code is not None:
            raise WrongProperty(N_("expected nothing beside team, found both"), where="team_code")
        return self


@example({"account_id": "ana.perez", "username": "ana.perez", "name": "Ana Pérez", "team_id": "the-ants-4k7f",
          "team": "The Ants", "team_code": None})  # fmt: skip
class Registration(BaseModel):
    """An account that somebody has registered. `team_code` lets others join the team, where it has room for them."""

    account_id: str
    username: str
    name: str
    team_id: str
    team: str
    team_code: str | None


@example({"account_id": "ana.perez", "username": "ana.perez", "name": "Ana Pérez", "team_id": "the-ants-4k7f",
          "team": "The Ants", "email": "ana@example.org", "time": TIME})  # fmt: skip
class RegisteredView(BaseModel):
    """Somebody who registered for a contest, as its organisers see them."""

    account_id: str
    username: str
    name: str
    team_id: str | None
    team: str | None
    email: str | None
    time: str
