"""Documents of groups, organizations and persons; properties without a value are left out.

- Documents of class lists: their rows, and the people made from them.
"""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field, StringConstraints, model_validator

from app.accounts.schemas import Password, Username
from app.core.bodies import Body, Line, Location, Sparse, shows
from app.core.clics import Id
from app.core.files.file_references import Files
from app.core.messages import N_, Message, WrongProperty, describe_pattern

Country = Annotated[
    str,
    StringConstraints(
        pattern=describe_pattern(r"^[A-Z]{3}$", Message(N_("a country code of three capital letters, such as SVK")))
    ),
]
Subdivision = Annotated[
    str,
    StringConstraints(
        pattern=describe_pattern(r"^[A-Z]{2}-[A-Z0-9]{1,3}$", Message(N_("a subdivision code such as SK-BL")))
    ),
]
IN_TEAMS = frozenset({"contestant", "coach"})


class GroupBody(Body):
    """A group to be kept. Without an id it gets one from its name."""

    id: Id | None = None
    icpc_id: Line | None = None
    name: Line
    type: Line | None = None
    location: Location | None = None


class OrganizationBody(Body):
    """An organization to be kept. Without an id it gets one from its name."""

    id: Id | None = None
    icpc_id: Line | None = None
    name: Line
    formal_name: Line | None = None
    country: Country | None = None
    country_flag: Files = None
    country_subdivision: Subdivision | None = None
    country_subdivision_flag: Files = None
    url: Line | None = None
    twitter_hashtag: Line | None = None
    twitter_account: Line | None = None
    location: Location | None = None
    logo: Files = None


class PersonBody(Body):
    """A person to be kept. Without an id they get one from their name; contestants and coaches have a team."""

    id: Id | None = None
    icpc_id: Line | None = None
    team_ids: list[Id] | None = None
    name: Line
    title: Line | None = None
    email: Line | None = None
    sex: Literal["male", "female"] | None = None
    role: Literal["contestant", "coach", "staff", "other"]
    photo: Files = None

    @model_validator(mode="after")
    def _team_of_contestants(self) -> Self:
        if self.role in IN_TEAMS and not self.team_ids:
            raise WrongProperty(N_("expected the team of a %(role)s, found nothing"), where="team_ids", role=self.role)
        return self


DirectoryBody = GroupBody | OrganizationBody | PersonBody


@shows(GroupBody)
class GroupView(Sparse):
    """A group of teams."""

    id: str
    name: str
    location: dict[str, float] | None = None


@shows(OrganizationBody)
class OrganizationView(Sparse):
    """An organization teams belong to."""

    id: str
    name: str
    location: dict[str, float] | None = None


@shows(PersonBody)
class PersonView(Sparse):
    """A person; how to reach them is for judges."""

    id: str
    name: str
    role: str


class PersonRowBody(Body):
    """A row of a class list. Only the name is needed; teams, organizations and groups are named by id or name."""

    name: Line
    username: Username | None = Field(None, description="default: made of the name, such as maria.lopez")
    password: Password | None = None
    team: Line | None = Field(None, description="default: a new team with their name")
    organization: Line | None = None
    group: Line | None = None


class Change(BaseModel):
    """A property before and after an import; passwords are shown as null."""

    property: str
    before: str | None
    after: str | None


class PersonMade(Sparse):
    """A stored row of a class list."""

    where: str = Field(description="the line, or the place in the list")
    name: str
    username: str
    account_id: str
    account: Literal["made", "changed", "unchanged"]
    changes: list[Change] = Field([], description="of a changed account")
    team_id: str
    team: str
    has_password: bool = Field(description="whether they can log in with one")
    password: str | None = Field(None, description="what the server made; it is shown in this reply and never again")


class PeopleMade(Sparse):
    """The result of a class list: ids of new teams, organizations and groups, old teams that change, and all people."""

    dry_run: bool
    teams: list[str]
    changed_teams: list[str]
    organizations: list[str]
    groups: list[str]
    people: list[PersonMade]
