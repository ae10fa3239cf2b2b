"""Teams are made one by one or many at once, all or none, and take part in contests."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders.examples import sqlite_first
from tests.builders.service import Api

TSV = {"Content-Type": "text/tab-separated-values"}
YAML = {"Content-Type": "application/yaml"}


def ids(api: Api) -> set[str]:
    """The ids of all teams but those every test has."""
    return {team["id"] for team in api.get("teams", user="judge").json()} - {"team", "other"}


@sqlite_first
def test_a_team_that_was_made_is_found(api: Api) -> None:
    made = api.post("teams", user="admin", json={"id": "t1", "name": "Ñandúes", "group_ids": [], "icpc_id": None})
    assert made.status_code == 201, made.text
    assert made.headers["Location"] == "/api/teams/t1"
    shown = {"id": "t1", "name": "Ñandúes", "label": "t1", "display_name": None, "hidden": False, "group_ids": []}
    assert made.json() == shown == api.get("teams/t1", user="judge").json()


@sqlite_first
def test_teams_come_as_json(api: Api) -> None:
    made = api.post("teams", user="admin", json=[{"id": "1", "name": "One"}, {"id": "2", "name": "Two", "label": "B"}])
    assert made.status_code == 201
    assert [team["label"] for team in made.json()] == ["1", "B"]


@sqlite_first
def test_teams_come_as_yaml(api: Api) -> None:
    text = "- id: '1'\n  name: One\n  hidden: true\n- {id: two, name: Two}\n"
    made = api.post("teams", user="admin", content=text, headers=YAML)
    assert [(team["id"], team["hidden"]) for team in made.json()] == [("1", True), ("two", False)]


@pytest.mark.parametrize("header", ["teams\t1", "teams2\t2", "File_Version\t2", "file_version\t1"])
def test_teams_come_as_tab_separated_lines(quick_api: Api, header: str) -> None:
    lines = [header, "1\t200433\t24\tShanghai Tigers\t\t\tCHN", "2\t\t24\tCMU1", ""]
    made = quick_api.post("teams", user="admin", content="\r\n".join(lines), headers=TSV)
    assert [(team["id"], team["name"]) for team in made.json()] == [("1", "Shanghai Tigers"), ("2", "CMU1")]


@sqlite_first
def test_every_fault_of_an_import_is_listed_and_nothing_is_kept(api: Api) -> None:
    sent: list[Any] = [
        {"id": "good", "name": "Good"},
        {"id": "no good", "name": ""},
        {"id": "good", "name": "Twice"},
        {"id": "x", "name": "X", "organization_id": "uni"},
        7,
    ]
    refused = api.post("teams", user="admin", json=sent)
    assert refused.status_code == 400
    assert [fault["where"] for fault in refused.json()["errors"]] == [
        "[1].id",
        "[1].name",
        "[3].organization_id",
        "[4]",
        "[2].id",
    ]
    assert "and 4 more" in refused.json()["message"]
    assert ids(api) == set()


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("", "line 1"),
        ("accounts\t1\n", "line 1"),
        ("teams\t3\n", "line 1"),
        ("teams\t1\n1\t\t\n", "line 2"),
        ("teams\t1\n1\t\t\t\n", "line 2, column name"),
        ("teams\t1\n1\t\t\tOne\n\n1\t\t\t\n", "line 4, column name"),
    ],
)
def test_a_line_that_is_wrong_is_named(quick_api: Api, text: str, where: str) -> None:
    refused = quick_api.post("teams", user="admin", content=text, headers=TSV)
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["where"] == where
    assert ids(quick_api) == set()


@pytest.mark.parametrize(
    ("headers", "content", "code"),
    [
        ({"Content-Type": "text/html"}, b"1,2", 415),
        (YAML, b"a: [", 400),
        (YAML, b"a: b: c", 400),
        (YAML, b"!!python/object/apply:os.getcwd []", 400),
        (YAML, b"\xff\xfe", 400),
        (YAML, b"[" * 5000, 400),
        ({"Content-Type": "application/json"}, b"[" * 100_000, 400),
        ({"Content-Type": "application/json"}, b"", 400),
        ({"Content-Type": "application/json"}, b"null", 400),
        ({"Content-Type": "application/json"}, b'{"id": "a", "name": "\\ud800"}', 400),
        ({"Content-Type": "application/json"}, b'{"id": "a", "name": "\\u0000"}', 400),
    ],
)
def test_what_cannot_be_read_is_refused(quick_api: Api, headers: dict[str, str], content: bytes, code: int) -> None:
    refused = quick_api.post("teams", user="admin", content=content, headers=headers)
    assert refused.status_code == refused.json()["code"] == code, refused.text


@sqlite_first
def test_an_old_team_is_replaced_only_on_request(api: Api) -> None:
    api.post("teams", user="admin", json={"id": "t1", "name": "Old"})
    both = [{"id": "t1", "name": "New"}, {"id": "t2", "name": "Two"}]
    refused = api.post("teams", user="admin", json=both)
    assert (refused.status_code, ids(api)) == (409, {"t1"})
    assert refused.json()["errors"][0]["where"] == "[0].id"
    assert api.post("teams?replace=true", user="admin", json=both).status_code == 201
    assert api.get("teams/t1", user="judge").json()["name"] == "New"


@sqlite_first
def test_a_team_is_put_changed_and_deleted(api: Api) -> None:
    assert api.put("teams/t1", user="admin", json={"id": "t2", "name": "One"}).status_code == 409
    for name in ("One", "Uno"):
        put = api.put("teams/t1", user="admin", json={"id": "t1", "name": name, "display_name": "1"})
        assert (put.status_code, put.json()["name"]) == (200, name)
    changed = api.patch("teams/t1", user="admin", json={"hidden": True, "display_name": None})
    assert changed.json() == {
        "id": "t1",
        "name": "Uno",
        "label": "t1",
        "display_name": None,
        "hidden": True,
        "group_ids": [],
    }
    assert api.patch("teams/none", user="admin", json={"hidden": True}).status_code == 404
    assert api.delete("teams/t1", user="admin").status_code == 204
    assert api.delete("teams/t1", user="admin").status_code == 404


@sqlite_first
def test_a_team_with_accounts_stays(api: Api) -> None:
    refused = api.delete("teams/team", user="admin")
    assert refused.status_code == 409
    assert refused.json()["message"] == "the team has 1 accounts"


@sqlite_first
def test_teams_take_part_until_they_are_withdrawn(api: Api) -> None:
    api.post("contests", user="admin", json={"id": "c", "name": "C", "duration": "1:00:00"})
    refused = api.post("contests/c/teams", user="admin", json={"team_ids": ["team", "none", "nobody"]})
    assert [fault["where"] for fault in refused.json()["errors"]] == ["team_ids[1]", "team_ids[2]"]
    assert api.get("contests/c/teams").json() == []
    for team_ids in (["team"], ["team", "other"]):
        assert api.post("contests/c/teams", user="admin", json={"team_ids": team_ids}).status_code == 200
    assert [team["id"] for team in api.get("contests/c/teams").json()] == ["other", "team"]
    assert api.delete("contests/c/teams/other", user="admin").status_code == 204
    assert api.delete("contests/c/teams/other", user="admin").status_code == 404
    assert api.get("contests/c/teams/other").status_code == 404
    assert api.get("contests/c/teams/team").status_code == 200


@sqlite_first
def test_every_team_takes_part_in_a_contest_open_to_all(api: Api) -> None:
    api.post("contests", user="admin", json={"id": "c", "name": "C", "duration": "1:00:00", "open_to_all": True})
    assert [team["id"] for team in api.get("contests/c/teams").json()] == ["other", "team"]


@sqlite_first
def test_a_hidden_team_is_seen_by_judges_and_itself_only(api: Api) -> None:
    api.post("contests", user="admin", json={"id": "c", "name": "C", "duration": "1:00:00", "open_to_all": True})
    api.patch("teams/team", user="admin", json={"hidden": True})
    seen = {
        user: {team["id"] for team in api.get("contests/c/teams", user=user).json()}
        for user in (None, "other", "team", "judge")
    }
    assert seen == {None: {"other"}, "other": {"other"}, "team": {"other", "team"}, "judge": {"other", "team"}}
    codes = [api.get("contests/c/teams/team", user=user).status_code for user in (None, "other", "team", "judge")]
    assert codes == [404, 404, 200, 200]
