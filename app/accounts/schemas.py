"""Documents of accounts: bodies of requests, and replies.

- Documents of self-registration: its terms, what people send, and who has registered.
"""

from dataclasses import dataclass
from typing import Annotated, Literal, Self, cast

from pydantic import AfterValidator, AwareDatetime, BaseModel, Field, StringConstraints, ValidationInfo, model_validator

from app.core import bodies, passwords
from app.core.clics import EXAMPLES_TIME, ID, Id, Time, example
from app.core.messages import N_, BadRequest, Message, WrongProperty, WrongValue, describe_pattern
from app.core.passwords import LEAST
from app.tables import AccountRow

USERNAME_WORDS = Message(N_("a username: one line, not empty, without a colon"))
PASSWORD_WORDS = Message(N_("a password of at least %(count)s characters on one line"), count=LEAST)
# Usernames have no colon: HTTP Basic ends a username with one.
Username = Annotated[
    str, StringConstraints(pattern=describe_pattern(r"^[^\x00-\x1f\x7f:]+$", USERNAME_WORDS), max_length=255)
]


def not_weak(password: str, info: ValidationInfo) -> str:
    """Refuse what is easy to guess; the names are those of the object that stand before the password."""
    names = [info.data.get(name) for name in ("id", "username", "name")]
    if expected := passwords.weakness(password, *names):
        raise WrongValue(expected)
    return password


# Passwords have no control characters: HTTP Basic cannot send them.
Password = Annotated[
    str,
    StringConstraints(pattern=describe_pattern(rf"^[^\x00-\x1f\x7f]{{{LEAST},}}$", PASSWORD_WORDS), max_length=1024),
    AfterValidator(not_weak),
]
Type = Literal["team", "judge", "admin", "analyst", "staff"]


@example({"id": "ants", "username": "ants", "password": "open, sesame seeds", "type": "team", "team_id": "ants"})
class AccountBody(bodies.Body):
    """An account to store. Its id defaults to the username; without a password there is no password login."""

    id: Id | None = None
    username: Username
    password: Password | None = None
    name: bodies.Line | None = None
    type: Type
    team_id: Id | None = None
    person_id: Id | None = None
    ip: None = None

    @model_validator(mode="after")
    def _team_of_teams(self) -> Self:
        if self.type == "team" and self.team_id is None:
            raise WrongProperty(N_("expected the team of an account of type team, found nothing"), where="team_id")
        if self.type != "team" and self.team_id is not None:
            expected = N_("expected nothing for an account of type %(type)s, found %(team)r")
            raise WrongProperty(expected, where="team_id", type=self.type, team=self.team_id)
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


class AccountMade(AccountView, bodies.Sparse):
    """An account after it was created or replaced."""

    password: str | None = Field(None, description="what the server made; it is shown in this reply and never again")


def view(row: AccountRow) -> AccountView:
    """Show an account."""
    type_ = cast(Type, row.type)
    name = row.name or row.username
    return AccountView(
        id=row.id, username=row.username, name=name, type=type_, team_id=row.team_id, person_id=row.person_id
    )


def refuse_weak(password: str | None, *names: str | None) -> None:
    """Raise BadRequest for a password that is easy to guess for someone of these names."""
    if password is not None and (expected := passwords.weakness(password, *names)):
        raise BadRequest(N_("expected %(expected)s, found a secret"), where="password", expected=expected)


def is_id(text: str) -> bool:
    """Whether a text may be an id."""
    return ID.fullmatch(text) is not None


MOST = 100_000
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


class TermsProperties(bodies.Body):
    """The terms of self-registration that there may be none of."""

    until: Time | None = Field(None, description="when registration closes; null: never")
    group_id: Id | None = Field(None, description="the group of registered teams; null: none")


@example({"open": True, "most": 40, "until": "2026-12-01T12:00:00.000Z"})
class TermsChange(TermsProperties):
    """Terms of self-registration to change; what is left out stays. The first opening makes a code."""

    open: bool | None = None
    most: int | None = Field(None, ge=0, le=MOST, description="accounts that may register in all; at first 100")

    @model_validator(mode="after")
    def _not_null(self) -> Self:
        for name in ("open", "most"):
            if name in self.model_fields_set and getattr(self, name) is None:
                raise WrongProperty(N_("expected a value, found null"), where=name)
        return self


class PublicTerms(bodies.Sparse):
    """The public registration terms."""

    open: bool = Field(description="registration with the code is possible now")
    full: bool
    until: str | None


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
class RegistrationBody(bodies.Body):
    """A person who registers with a new team."""

    code: Code = Field(description="the contest's code, which its organisers hand out")
    username: Username | None = Field(None, description="default: made of the name, such as ana.perez")
    name: bodies.Line
    team: bodies.Line | None = Field(None, description="a new team; default: one with the person's name")
    email: Email = Field(description="only judges see it")
    password: Password


@example({"account_id": "ana.perez", "username": "ana.perez", "name": "Ana Pérez", "team_id": "the-ants-4k7f",
          "team": "The Ants"})  # fmt: skip
class Registration(BaseModel):
    """A registered account."""

    account_id: str
    username: str
    name: str
    team_id: str
    team: str


@example({"account_id": "ana.perez", "username": "ana.perez", "name": "Ana Pérez", "team_id": "the-ants-4k7f",
          "team": "The Ants", "email": "ana@example.org", "time": EXAMPLES_TIME})  # fmt: skip
class RegisteredView(BaseModel):
    """A registration for a contest, as its organizers see it."""

    account_id: str
    username: str
    name: str
    team_id: str | None
    team: str | None
    email: str | None
    time: str


RoleKind = Literal["contests", "problems"]
LARGEST_ID = 2**63 - 1
MOST_ENTRIES = 1000


@dataclass(frozen=True, slots=True)
class ContestAuditFilter:
    """Conditions on entries of a contest's audit log, None for any."""

    actor: Annotated[str | None, Field(max_length=255, description="only of this account, by id or username")] = None
    operation: Annotated[str | None, Field(max_length=64, description="only this operation, by its operationId")] = None
    since: Annotated[
        AwareDatetime | None, Field(description="only from this time on, such as 2026-11-22T09:00:00Z")
    ] = None
    before: Annotated[int | None, Field(ge=1, le=LARGEST_ID, description="only entries older than that of this id")] = (
        None
    )
    limit: Annotated[int, Field(ge=1, le=MOST_ENTRIES, description="at most so many")] = 100


@dataclass(frozen=True, slots=True)
class AuditFilter(ContestAuditFilter):
    """Conditions on entries of the audit log, None for any."""

    contest_id: Annotated[str | None, Field(max_length=255, description="only of this contest")] = None
