"""Accounts with their tokens, and teams."""

from __future__ import annotations

from typing import NotRequired

from pydantic import JsonValue
from typing_extensions import TypedDict


class NewAccount(TypedDict):
    """An account that an import made or changed, with the password that the server made for it."""

    username: str
    name: str
    team_id: str | None
    team: NotRequired[str | None]
    has_password: NotRequired[bool]
    password: NotRequired[str]


class Change(TypedDict):
    """A property before and after an import; of a secret both are null."""

    property: str
    before: str | bool | None
    after: str | bool | None


class Person(NewAccount):
    """An account of a class list: made, changed or unchanged."""

    where: str
    account: str
    changes: list[Change]


class TeamChanged(TypedDict):
    """A team that was there, and what an import changes of it."""

    team_id: str
    changes: list[Change]


class ClassList(TypedDict):
    """An imported class list: its people, the ids of what is new, and the teams that change."""

    people: list[Person]
    changed_teams: list[TeamChanged]
    teams: list[str]
    organizations: list[str]
    groups: list[str]


class TeamName(TypedDict):
    """A team's id and name."""

    id: str
    name: str


class AuditEntry(TypedDict):
    """A change, by whom and from where."""

    id: str
    time: str
    username: str
    role: str
    address: str
    credential: str
    operation: str
    method: str
    path: str
    account_id: str | None
    contest_id: str | None
    problem_id: str | None
    changes: dict[str, JsonValue]


class Identified(TypedDict):
    """Anything that has an id."""

    id: str
