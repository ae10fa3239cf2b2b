"""Tables of accounts, teams and people: all of a table is kept or none, and passwords are shown once."""

from __future__ import annotations

import re
from typing import Any

import httpx
import pytest

from tests.builders.contests import add_contest
from tests.builders.service import Api

CLASS = """name;team;organization;group
Ana Pérez;Red;IES Sur;4A
José Ñandú;Red;;4A
Ana Pérez;Blue;IES Sur;
"""
MADE = re.compile("[2-9a-hjkmnp-z]{5}(-[2-9a-hjkmnp-z]{5}){2}")


def send(api: Api, path: str, table: str | bytes, **query: Any) -> httpx.Response:
    return api.post(path, user="admin", content=table, headers={"Content-Type": "text/csv"}, params=query)


def places(reply: httpx.Response) -> list[str]:
    return [fault["where"] for fault in reply.json()["errors"]]


def test_a_class_list_makes_accounts_teams_organizations_and_groups(api: Api) -> None:
    add_contest(api.service, "c", problem_id=None)
    made = send(api, "people", CLASS, generate_passwords=True, contest_id="c")
    assert made.status_code == 201, made.text
    assert made.headers["cache-control"] == "no-store"
    body = made.json()
    assert (body["teams"], body["organizations"], body["groups"]) == (["red", "blue"], ["ies-sur"], ["4a"])
    people = [(each["username"], each["team_id"], each["account"]) for each in body["people"]]
    assert people[:2] == [("ana.perez", "red", "made"), ("jose.nandu", "red", "made")]
    assert re.fullmatch("ana[.]perez-[a-z0-9]{4}", people[2][0])
    assert people[2][1:] == ("blue", "made")
    assert all(MADE.fullmatch(each["password"]) for each in body["people"])
    logged_in = api.get("account", auth=("jose.nandu", body["people"][1]["password"]))
    assert (logged_in.json()["name"], logged_in.json()["team_id"]) == ("José Ñandú", "red")
    red = api.get("contests/c/teams/red", user="admin").json()
    assert (red["name"], red["organization_id"], red["group_ids"]) == ("Red", "ies-sur", ["4a"])


def test_a_class_list_sent_again_changes_nothing_and_no_password(api: Api) -> None:
    first = send(api, "people", CLASS, generate_passwords=True).json()["people"]
    again = send(api, "people", CLASS, generate_passwords=True)
    assert again.status_code == 201, again.text
    assert [(each["account"], "password" in each) for each in again.json()["people"]] == [("unchanged", False)] * 3
    assert api.get("account", auth=("ana.perez", first[0]["password"])).status_code == 200
    renewed = send(api, "people", CLASS, renew_passwords=True).json()["people"]
    assert renewed[0]["password"] != first[0]["password"]
    assert api.get("account", auth=("ana.perez", first[0]["password"])).status_code == 401
    assert api.get("account", auth=("ana.perez", renewed[0]["password"])).status_code == 200


def test_people_of_one_name_are_told_apart_by_their_order(quick_api: Api) -> None:
    """Three of a name are three accounts; with another group of one they are the same three."""
    table = "name,team,group\nEva Malá,Red,\nEva Malá,Red,\nEva Malá,Red,4A\n"
    people = send(quick_api, "people", table).json()["people"]
    assert [each["account"] for each in people] == ["made"] * 3
    assert len({each["username"] for each in people}) == 3
    moved = send(quick_api, "people", table.replace("4A", "4B"), replace=True)
    assert [each["username"] for each in moved.json()["people"]] == [each["username"] for each in people]


def test_a_dry_run_keeps_nothing(api: Api) -> None:
    before = [api.get(path, user="admin").json() for path in ("accounts", "teams")]
    shown = send(api, "people", CLASS, generate_passwords=True, dry_run=True)
    assert (shown.status_code, shown.json()["dry_run"], shown.json()["teams"]) == (200, True, ["red", "blue"])
    assert send(api, "teams", "id,name\nx,X\n", dry_run=True).status_code == 200
    assert send(api, "accounts", "username,type\nx,judge\n", dry_run=True).status_code == 200
    assert [api.get(path, user="admin").json() for path in ("accounts", "teams")] == before
    assert send(api, "people", CLASS).status_code == 201


def test_a_dry_run_tells_what_would_change_of_accounts_and_teams(api: Api) -> None:
    assert send(api, "people", CLASS).status_code == 201
    table = (
        "name,username,team,organisation,group\nAna P. Pérez,ana.perez,Blue,IES Norte,4B\nJosé Ñandú,jose.nandu,Red,,\n"
    )
    shown = send(api, "people", table, dry_run=True, replace=True).json()
    changed, same = shown["people"]
    assert (same["account"], same["changes"]) == ("unchanged", [])
    assert [(each["property"], each["before"], each["after"]) for each in changed["changes"]] == [
        ("name", "Ana Pérez", "Ana P. Pérez"),
        ("team", "red", "blue"),
    ]
    assert shown["changed_teams"] == ["blue"]
    assert send(api, "people", table).status_code == 409
    assert send(api, "people", table, replace=True).status_code == 201
    again = send(api, "people", table).json()
    assert ([each["account"] for each in again["people"]], again["changed_teams"]) == (["unchanged"] * 2, [])


def test_all_faults_of_all_rows_are_listed_and_nothing_is_kept(quick_api: Api) -> None:
    table = (
        "username,name,type,team_id,password\n"
        "a,A,team,nowhere,long enough\n"
        "b,B,wizard,,short\n"
        '"c",C,judge,,\n'
        "c,C,judge,,\n"
        "judge,J,judge,,\n"
    )
    refused = send(quick_api, "accounts", table)
    assert refused.status_code == 400
    assert places(refused) == [
        "line 3, column password",
        "line 3, column type",
        "line 2, column team_id",
        "line 5, column id",
        "line 6, column id",
        "line 5, column username",
    ]
    assert refused.json()["errors"][0]["expected"] == "a password of at least 10 characters on one line"
    assert refused.json()["errors"][0]["found"] == "a secret"
    assert quick_api.get("accounts/a", user="admin").status_code == 404


def test_a_class_list_names_whom_it_would_mistake_for_another(quick_api: Api) -> None:
    assert send(quick_api, "people", CLASS).status_code == 201
    refused = send(quick_api, "people", "name,team\nAna Pérez,Green\n", replace=True)
    assert (refused.status_code, places(refused)) == (400, ["line 2, column username"])
    moved = "name,username,team\nAna Pérez,ana.perez,Green\nThe Judge,judge,Green\n"
    refused = send(quick_api, "people", moved, replace=True)
    assert (refused.status_code, places(refused)) == (400, ["line 3, column username"])
    moved = "name,username,team\nAna Pérez,ana.perez,Green\n"
    assert (
        send(quick_api, "people", moved).status_code,
        send(quick_api, "people", moved, replace=True).status_code,
    ) == (
        409,
        201,
    )
    assert quick_api.get("accounts/ana.perez", user="admin").json()["team_id"] == "green"


@pytest.mark.parametrize(
    "table",
    [
        '﻿id,name,group_ids,hidden\r\nx,"Los ""X""",g h,yes\r\n',
        'sep=;\nhidden;name;group_ids;id\n\n;;;\ntrue;"Los ""X""";g,h;x\n',
        'name\tid\tgroup_ids\thidden\n Los ""X"" \tx\tg|h\t1\n'.replace('""', '"'),
    ],
)
def test_tables_are_read_as_spreadsheets_write_them(quick_api: Api, table: str) -> None:
    add_contest(quick_api.service, "c", problem_id=None)
    assert send(quick_api, "contests/c/groups", "id,name\ng,G\nh,H\n").status_code == 201
    made = send(quick_api, "teams", table)
    assert made.status_code == 201, made.text
    assert [(t["id"], t["name"], t["group_ids"], t["hidden"]) for t in made.json()] == [
        ("x", 'Los "X"', ["g", "h"], True)
    ]


@pytest.mark.parametrize(
    ("codec", "charset"),
    [
        ("utf-8-sig", ""),
        ("utf-16", ""),
        ("utf-16", "; charset=utf-16"),
        ("cp1252", "; charset=windows-1252"),
        ("mac-roman", '; charset="macintosh"'),
        ("iso8859-15", "; header=present; charset=ISO-8859-15"),
    ],
)
def test_a_table_is_read_in_the_encodings_that_spreadsheets_write(quick_api: Api, codec: str, charset: str) -> None:
    headers = {"Content-Type": f"text/csv{charset}"}
    table = "id;name\r\nx;José Ñandú\r\n".encode(codec)
    made = quick_api.post("teams", user="admin", content=table, headers=headers)
    assert made.status_code == 201, made.text
    assert made.json()[0]["name"] == "José Ñandú"


@pytest.mark.parametrize(
    ("charset", "data", "words"),
    [
        ("klingon", b"id,name\n", "charset: expected one of utf-8, utf-16"),
        ("windows-1252", b"id,name\nx,\x81\n", "line 2: expected windows-1252, found byte 0x81"),
        ("utf-16", b"\xff\xfei\x00d\x00\n", "body: expected UTF-16, found truncated data"),
    ],
)
def test_a_table_in_another_encoding_than_it_says_is_refused(
    quick_api: Api, charset: str, data: bytes, words: str
) -> None:
    headers = {"Content-Type": f"text/csv; charset={charset}"}
    refused = quick_api.post("teams", user="admin", content=data, headers=headers)
    assert refused.status_code == 400
    assert words in refused.json()["message"]


@pytest.mark.parametrize(
    ("table", "where", "expected"),
    [
        ("id,nmae\nx,X\n", ["line 1"], "one of the columns"),
        ("id,name,name\nx,X,X\n", ["line 1"], "each column once"),
        ("id,name\nx\ny,Y,Z\n", ["line 2", "line 3"], "2 cells, as in the first line"),
        ("", ["line 1"], "the names of columns"),
        ('id,name\nx,X\ny,"Y\n', ["line 3"], "cells whose quotes are closed"),
        (b"id,name\nx,Jos\xe9\ny,Y\nz,\xff\n", ["line 2"], "UTF-8"),
        ('id,name\nx,"X\nY"\nz z,Z\n', ["line 2, column name", "line 4, column id"], "a line of text"),
    ],
)
def test_a_table_that_is_none_is_refused_with_its_lines(
    quick_api: Api, table: str | bytes, where: list[str], expected: str
) -> None:
    refused = send(quick_api, "teams", table)
    assert (refused.status_code, places(refused)) == (400, where), refused.text
    assert refused.json()["errors"][0]["expected"].startswith(expected)


def test_passwords_are_made_only_for_accounts_without_one(quick_api: Api) -> None:
    table = "username,type,password\nj1,judge,long enough\nj2,judge,\n"
    made = send(quick_api, "accounts", table, generate_passwords=True)
    assert made.headers["cache-control"] == "no-store"
    assert ["password" in each for each in made.json()] == [False, True]
    again = send(quick_api, "accounts", table, generate_passwords=True, replace=True)
    assert ["password" in each for each in again.json()] == [False, False]
    assert quick_api.get("account", auth=("j2", made.json()[1]["password"])).status_code == 200
    assert "password" not in quick_api.get("accounts/j2", user="admin").json()
