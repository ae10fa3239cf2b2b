"""Accounts, teams, groups and organizations in every form that CLICS and the ICPC's tools write them."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
import yaml

from tests.builders.contests import add_contest
from tests.builders.service import Api

TSV = {"Content-Type": "text/tab-separated-values"}
YAML = {"Content-Type": "application/yaml"}

GROUPS: list[dict[str, Any]] = [
    {"id": "15", "icpc_id": "15", "name": "South Pacific"},
    {"id": "23", "icpc_id": "23", "name": "Latin America", "type": "site"},
]
ORGANIZATIONS: list[dict[str, Any]] = [
    {
        "id": "433",
        "icpc_id": "433",
        "name": "Sydney",
        "formal_name": "University of Sydney",
        "country": "AUS",
        "url": "https://sydney.edu.au",
        "twitter_hashtag": "#usyd",
        "location": {"latitude": -33.8889, "longitude": 151.1873},
    },
    {"id": "7012", "icpc_id": "7012", "name": "UNAL", "formal_name": "Universidad Nacional", "country": "COL"},
]
TEAMS: list[dict[str, Any]] = [
    {"id": "1", "icpc_id": "447047", "name": "¡i¡i¡", "group_ids": ["15"], "organization_id": "433", "label": "1"},
    {"id": "2", "icpc_id": "447836", "name": "Pleading not FAUlty", "group_ids": ["23"], "organization_id": "7012"},
]
ACCOUNTS: list[dict[str, Any]] = [
    {
        "id": "team-001",
        "username": "team-001",
        "password": "P3xm33imve",
        "type": "team",
        "name": "¡i¡i¡",
        "team_id": "1",
    },
    {"id": "judge1", "username": "judge1", "password": "x7Yu22o9pq", "type": "judge", "name": "Per Austrin"},
]
GROUPS_TSV = "groups\t1\r\n15\tSouth Pacific\r\n23\tLatin America\r\n"
INSTITUTIONS_TSV = (
    "File_Version\t0.5\n"
    "INST-U-0433\tUniversity of Sydney\tSydney\t15\tAUS\thttps://sydney.edu.au\t#usyd\t-33.8889\t151.1873\n"
    "INST-U-7012\tUniversidad Nacional\tUNAL\t23\tCOL\n"
)
TEAMS_TSV = (
    "teams\t1\n"
    "1\t447047\t15\t¡i¡i¡\tUniversity of Sydney\tSydney\tAUS\tINST-433\n"
    "2\t447836\t23\tPleading not FAUlty\tUniversidad Nacional\tUNAL\tCOL\tINST-7012\n"
)
ACCOUNTS_TSV = "accounts\t1\nteam\t¡i¡i¡\tteam-001\tP3xm33imve\njudge\tPer Austrin\tjudge1\tx7Yu22o9pq\n"


@pytest.fixture
def world(quick_api: Api) -> Api:
    """A server with a contest that brings groups and organizations."""
    add_contest(quick_api.service, "c", problem_id=None)
    return quick_api


def send(api: Api, path: str, data: object, **query: Any) -> httpx.Response:
    """Send objects as JSON, or a text in the form that it begins with."""
    if not isinstance(data, str):
        return api.post(path, user="admin", json=data, params=query)
    headers = YAML if data.startswith("- ") else TSV
    return api.post(path, user="admin", content=data, headers=headers, params=query)


def shown(api: Api, path: str) -> dict[str, dict[str, Any]]:
    """What the server has, by id, without those that every test has."""
    rows = api.get(path, user="admin").json()
    known = {"team", "other", "admin", "judge", "staff"}
    return {row["id"]: row for row in rows if row["id"] not in known}


def in_yaml(objects: list[dict[str, Any]]) -> str:
    text: str = yaml.safe_dump(objects, allow_unicode=True)
    return text


def has(row: dict[str, Any], given: dict[str, Any]) -> bool:
    """Whether an object is shown as it was given, but for its password."""
    return all(row.get(name) == value for name, value in given.items() if name != "password")


@pytest.mark.parametrize("form", ["json", "yaml", "tsv"])
def test_the_files_of_a_contest_come_in_in_each_form(world: Api, form: str) -> None:
    texts = {"groups": GROUPS_TSV, "organizations": INSTITUTIONS_TSV, "teams": TEAMS_TSV, "accounts": ACCOUNTS_TSV}
    given = {"groups": GROUPS, "organizations": ORGANIZATIONS, "teams": TEAMS, "accounts": ACCOUNTS}
    for kind, objects in given.items():
        path = kind if kind in {"teams", "accounts"} else f"contests/c/{kind}"
        data: object = objects if form == "json" else in_yaml(objects) if form == "yaml" else texts[kind]
        assert send(world, path, data, dry_run=True).status_code == 200
        assert shown(world, path) == {}
        made = send(world, path, data)
        assert made.status_code == 201, made.text
        rows = shown(world, path)
        for each in objects:
            less = {"icpc_id", "type"} if kind == "groups" else {"location"}
            less = less if form == "tsv" else set()
            assert has(rows[each["id"]], {name: value for name, value in each.items() if name not in less}), kind
        assert send(world, path, data).status_code == 409, "nothing comes twice unless it replaces"
        assert send(world, path, data, replace=True).status_code == 201
        assert shown(world, path) == rows, "the same again changes nothing"
    assert world.get("account", auth=("team-001", "P3xm33imve")).json()["team_id"] == "1"


def test_institutions_of_teams_tsv_are_organizations_known_by_number_or_name(world: Api) -> None:
    refused = send(world, "teams", TEAMS_TSV)
    assert refused.status_code == 400
    assert [fault["where"] for fault in refused.json()["errors"]] == [
        "line 2, column organization_id",
        "line 3, column organization_id",
    ]
    assert shown(world, "teams") == {}
    assert send(world, "contests/c/organizations", ORGANIZATIONS).status_code == 201
    made = send(world, "teams", TEAMS_TSV)
    assert made.status_code == 201, made.text
    assert [team["organization_id"] for team in made.json()] == ["433", "7012"]
    assert made.json()[0]["group_ids"] == [], "a group that is not there is left out"
    assert world.post("contests/c/organizations", user="admin", json={"id": "u", "name": "UdeA"}).status_code == 201
    lines = "teams\t1\n8\t\t\tEight\tUniversidad de Antioquia\tUdeA\tCOL\n9\t\t\tNine\t\t\tPOL\n"
    made = send(world, "teams", lines)
    assert made.status_code == 201, made.text
    assert [team.get("organization_id") for team in made.json()] == ["u", None]


def test_an_institution_is_none_of_the_same_name_with_another_number(world: Api) -> None:
    assert send(world, "contests/c/organizations", ORGANIZATIONS).status_code == 201
    refused = send(world, "teams", "teams\t1\n9\t\t\tNine\tUniversity of Sydney\tSydney\tAUS\tINST-99\n")
    assert (refused.status_code, refused.json()["errors"][0]["found"]) == (400, "'99'")


def test_faults_of_files_of_the_icpc_are_refused(world: Api) -> None:
    for path, text in (
        ("contests/c/organizations", "institutions\t1\nINST-1\tA\n"),
        ("contests/c/organizations", "institutions\t9\n"),
        ("contests/c/groups", "institutions\t1\n1\tA\n"),
    ):
        assert send(world, path, text).status_code == 400, text
