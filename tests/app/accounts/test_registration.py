"""Self-registration: with the code and up to the cap, and nothing is told to those who do not have it."""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from app.accounts.service.registering import MOST_A_MINUTE, Pace
from app.tables import TeamRow
from tests.builders.contests import add_contest, change_contest
from tests.builders.examples import sqlite_first
from tests.builders.service import Api

ANA = {"name": "Ana Pérez", "team": "The Ants", "email": "ana@example.org", "password": "open, sesame seeds"}


def opened(api: Api, **terms: Any) -> str:
    """Open the registration of contest c; gives its code."""
    reply = api.patch("contests/c/registration", user="admin", json={"open": True, **terms})
    assert reply.status_code == 200, reply.text
    return str(reply.json()["code"])


def register(api: Api, code: str, **changes: Any) -> httpx.Response:
    """Ask for an account; a property that is None is left out."""
    body = {**ANA, "code": code, **changes}
    return api.post("contests/c/registrations", json={key: each for key, each in body.items() if each is not None})


@pytest.fixture
def contest(api: Api) -> Api:
    add_contest(api.service, "c", problem_id=None)
    return api


@pytest.fixture
def quick_contest(quick_api: Api) -> Api:
    add_contest(quick_api.service, "c", problem_id=None)
    return quick_api


@sqlite_first
def test_somebody_with_the_code_registers_logs_in_and_takes_part(contest: Api) -> None:
    code = opened(contest, most=2)
    made = register(contest, code.upper().replace("-", " "))
    assert made.status_code == 201, made.text
    body = made.json()
    assert (body["username"], body["team"]) == ("ana.perez", "The Ants")
    assert "cache-control" in made.headers
    account = contest.get("account", auth=("ana.perez", ANA["password"])).json()
    assert (account["name"], account["type"], account["team_id"]) == ("Ana Pérez", "team", body["team_id"])
    teams = {each["id"]: each["name"] for each in contest.get("contests/c/teams").json()}
    assert teams[body["team_id"]] == "The Ants"
    (person,) = contest.get("contests/c/persons", user="admin").json()
    assert (person["email"], person["team_ids"]) == ("ana@example.org", [body["team_id"]])
    assert "email" not in contest.get("contests/c/persons").json()[0]
    (row,) = contest.get("contests/c/registrations", user="admin").json()
    assert (row["username"], row["team"], row["email"]) == ("ana.perez", "The Ants", "ana@example.org")


@sqlite_first
def test_the_cap_holds_to_the_last_place_and_says_so(contest: Api) -> None:
    """Eight people ask at once for three places."""
    code = opened(contest, most=3)
    with ThreadPoolExecutor(8) as threads:
        replies = list(threads.map(lambda at: register(contest, code, name=f"P{at}", team=f"T{at}"), range(8)))
    assert sorted(reply.status_code for reply in replies) == [201] * 3 + [409] * 5
    refused = next(reply for reply in replies if reply.status_code == 409)
    assert (
        refused.json()["message"] == "registration for 'Contest c' is full: all 3 places are taken; ask its organizers"
    )
    terms = contest.get("contests/c/registration", user="admin").json()
    assert (terms["registered"], terms["full"]) == (3, True)
    assert len(contest.get("contests/c/registrations", user="admin").json()) == 3
    made = next(reply.json() for reply in replies if reply.status_code == 201)
    assert contest.delete(f"accounts/{made['account_id']}", user="admin").status_code == 204
    assert register(contest, code, name="Late", team="Late").status_code == 201


@pytest.mark.parametrize(
    ("terms", "status", "words"),
    [
        ({"open": False}, 403, "registration for 'Contest c' is not open"),
        ({"until": "2020-01-01T00:00:00Z"}, 403, "registration for 'Contest c' ended at 2020-01-01T00:00:00.000Z"),
        ({"most": 0}, 409, "registration for 'Contest c' is full: all 0 places are taken"),
    ],
)
def test_nobody_registers_while_it_is_closed_over_or_full(
    quick_contest: Api, terms: dict[str, Any], status: int, words: str
) -> None:
    code = opened(quick_contest)
    assert quick_contest.patch("contests/c/registration", user="admin", json=terms).status_code == 200
    refused = register(quick_contest, code)
    assert (refused.status_code, refused.json()["message"][: len(words)]) == (status, words)
    assert quick_contest.get("accounts/ana.perez", user="admin").status_code == 404


def test_a_new_code_ends_the_old_one_and_nobody_but_admins_reads_it(quick_contest: Api) -> None:
    old = opened(quick_contest, until=None)
    renewed = quick_contest.post("contests/c/registration/code", user="admin")
    assert renewed.status_code == 201
    assert renewed.json()["code"] != old
    assert register(quick_contest, old).status_code == 403
    for user in (None, "team", "judge"):
        shown = quick_contest.get("contests/c/registration", user=user).json()
        assert shown == {"open": True, "full": False, "until": None}
        assert quick_contest.get("contests/c/registrations", user=user).status_code in {401, 403}
        refused = quick_contest.patch("contests/c/registration", user=user, json={"open": False})
        assert refused.status_code in {401, 403}
    assert register(quick_contest, renewed.json()["code"]).status_code == 201


def test_a_hidden_team_is_not_told_of_by_its_name_or_id(quick_contest: Api) -> None:
    with quick_contest.service.database.write() as session:
        session.add(TeamRow(id="jury", name="Jury", label="jury", hidden=True, group_ids=[], details={}))
    assert quick_contest.post("contests/c/teams", user="admin", json={"team_ids": ["jury"]}).status_code == 200
    code = opened(quick_contest)
    made = register(quick_contest, code, team="Jury")
    assert made.status_code == 201, made.text
    other = register(quick_contest, code, name="Beto", team="Jurado")
    shapes = [reply.json()["team_id"].rpartition("-") for reply in (made, other)]
    assert [(base, len(letters)) for base, _, letters in shapes] == [("jury", 4), ("jurado", 4)]


@pytest.mark.parametrize(
    ("name", "username"),
    [
        ("Ana Pérez", "ana.perez"),
        ("Щукин Юрий Ёлкин", "shchukin.yuriy.elkin"),
        ("Σωκράτης Παππάς", "sokratis.pappas"),
        ("Łukasz Đorđe Strauß", "lukasz.dorde.strauss"),
        ("李小龍", "user.c1fa1a"),
        ("李 Bruce", "bruce"),
        ("عمر", "user.373a0b"),
        ("🐜", "user.06a6f3"),
    ],
)
def test_a_name_in_any_script_gives_a_username(quick_contest: Api, name: str, username: str) -> None:
    code = opened(quick_contest)
    made = register(quick_contest, code, name=name)
    assert (made.status_code, made.json().get("username")) == (201, username)


def test_names_and_passwords_are_held_against_the_rules(quick_contest: Api) -> None:
    code = opened(quick_contest)
    for changes, words in (
        ({"password": "short"}, "password: expected a password of at least 10 characters"),
        ({"password": "the ants 12", "team": "The Ants"}, "password: expected"),
        ({"email": "nowhere"}, "email: expected an address such as ana@example.org"),
    ):
        refused = register(quick_contest, code, **changes)
        assert (refused.status_code, words in refused.json()["message"]) == (400, True), refused.text
        assert changes.get("password", "no secret") not in refused.text
    taken = register(quick_contest, code, username="judge")
    assert (taken.status_code, "expected an unused one" in taken.json()["message"]) == (409, True)
    derived = register(quick_contest, code, name="Judge", team="J").json()
    assert re.fullmatch("judge-[a-z0-9]{4}", derived["username"])
    assert derived["account_id"] == derived["username"]


def test_a_final_contest_takes_nobody(quick_contest: Api) -> None:
    code = opened(quick_contest)
    change_contest(quick_contest.service, finalized=datetime.now(UTC) - timedelta(seconds=1))
    assert "is final" in register(quick_contest, code).json()["message"]
    assert quick_contest.patch("contests/c/registration", user="admin", json={"open": True}).status_code == 403


def test_an_address_registers_so_many_times_a_minute(quick_contest: Api) -> None:
    now = [0.0]
    quick_contest.app.state.registration_pace = Pace(2, lambda: now[0])
    assert [register(quick_contest, "wrong-code").status_code for _ in range(3)] == [403, 403, 429]
    now[0] = 61.0
    assert register(quick_contest, "wrong-code").status_code == 403
    assert MOST_A_MINUTE >= 30


def test_an_unknown_group_is_refused_and_a_known_one_is_given_to_new_teams(quick_contest: Api) -> None:
    refused = quick_contest.patch("contests/c/registration", user="admin", json={"group_id": "g"})
    assert (refused.status_code, refused.json()["errors"][0]["where"]) == (400, "group_id")
    assert quick_contest.post("contests/c/groups", user="admin", json={"id": "g", "name": "G"}).status_code == 201
    code = opened(quick_contest, group_id="g")
    made = register(quick_contest, code).json()
    assert quick_contest.get(f"teams/{made['team_id']}", user="admin").json()["group_ids"] == ["g"]


def test_whoever_registers_behind_the_freeze_comes_without_opening_the_board(quick_api: Api) -> None:
    """The feed tells of the new team, its person and its account; the frozen board has one more row, without points."""
    add_contest(quick_api.service, "c", freeze=timedelta(hours=5), problem_id=None)
    code = opened(quick_api)
    before = quick_api.get("contests/c/scoreboard").json()["rows"]
    team_id = register(quick_api, code).json()["team_id"]
    after = quick_api.get("contests/c/scoreboard").json()["rows"]
    assert [row["team_id"] for row in after if row not in before] == [team_id]
    lines = quick_api.get("contests/c/event-feed?stream=false", user="judge").text.splitlines()
    told = {(each["type"], each["id"]) for each in map(json.loads, filter(None, lines))}
    assert {("teams", team_id), ("accounts", "ana.perez")} <= told
    assert any(kind == "persons" and re.fullmatch("ana-perez-[a-z0-9]{4}", id_) for kind, id_ in told)


@sqlite_first
def test_two_organisers_import_lists_at_once_and_each_is_whole_or_refused(api: Api) -> None:
    """Both lists make the same team; whoever comes second finds it, or is told to look again."""
    add_contest(api.service, "c", problem_id=None)
    lists = [f"name,username,team\nA{at},a{at},Red\nB{at},b{at},Blue\n" for at in range(4)]

    def send(table: str) -> int:
        headers = {"Content-Type": "text/csv"}
        return api.post("people?contest_id=c", user="admin", content=table, headers=headers).status_code

    with ThreadPoolExecutor(4) as threads:
        statuses = list(threads.map(send, lists))
    assert set(statuses) <= {201, 409}
    known = {each["username"] for each in api.get("accounts", user="admin").json()}
    for at, status in enumerate(statuses):
        assert ({f"a{at}", f"b{at}"} <= known) == (status == 201)
        assert {f"a{at}", f"b{at}"}.isdisjoint(known) == (status != 201)
    assert [each["name"] for each in api.get("teams", user="admin").json() if each["name"] == "Red"] == ["Red"]
