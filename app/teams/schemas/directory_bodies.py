"""Documents of groups, organizations and persons; properties without a value are left out."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from app.core.bodies import Body, Line, Sparse, shows
from app.core.clics import Id
from app.core.errors import describe_pattern
from app.core.files.file_references import Files
from app.core.messages import N_, Message, WrongProperty

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


class Location(Body):
    """A place on the earth, in degrees."""

    latitude: float = Field(ge=-90, le=90, allow_inf_nan=False)
    longitude: float = Field(ge=-180, le=180, allow_inf_nan=False)


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
