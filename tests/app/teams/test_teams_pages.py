"""Teams of a contest on pages: many with login cards, new cards, registration links, search, renaming."""

from __future__ import annotations

import re
from urllib.parse import unquote

import httpx
import pytest

from app.core.messages import BadRequest
from app.teams.pages import numbered
from tests.builders.contests import add_contest
from tests.builders.examples import sqlite_first
from tests.builders.service import Api

pytestmark = sqlite_first
ORIGIN = {"Origin": "http://jurado.test"}
TEAMS = "/admin/contests/c/teams"


@pytest.fixture(autouse=True)
def contest(api: Api) -> None:
    add_contest(api.service, problem_id=None)


def send(api: Api, path: str, user: str = "admin", **data: str) -> httpx.Response:
    return api.post(path, user=user, headers=ORIGIN, data=data)


def cards(page: str) -> dict[str, str]:
    """The passwords of a page with cards, by username."""
    return dict(re.findall(r"<dt>username</dt>\s*<dd[^>]*>([^<]+)</dd><dt>password</dt>\s*<dd[^>]*>([^<]+)</dd>", page))


@pytest.mark.parametrize(
    ("first", "count", "names"),
    [
        ("Team 01", 3, ["Team 01", "Team 02", "Team 03"]),
        ("Team 9", 2, ["Team 9", "Team 10"]),
        ("Red", 2, ["Red 01", "Red 02"]),
        ("The Ants 7", 1, ["The Ants 7"]),
        ("007", 2, ["007", "008"]),
    ],
)
def test_names_of_teams_are_numbered_from_the_first(first: str, count: int, names: list[str]) -> None:
    assert numbered(first, count) == names


@pytest.mark.parametrize(("first", "count"), [("", 1), ("Team", 1001)])
def test_no_name_and_too_many_teams_are_refused(first: str, count: int) -> None:
    with pytest.raises(BadRequest):
        numbered(first, count)


def test_twenty_teams_get_cards_that_log_in(api: Api) -> None:
    shown = send(api, f"{TEAMS}/new", name="Team 01", count="20")
    assert (shown.status_code, shown.headers["Cache-Control"]) == (200, "private, no-store")
    made = cards(shown.text)
    assert len(made) == 20
    assert api.get("account", auth=("team.07", made["team.07"])).json()["name"] == "Team 07"
    table = re.search(r'href="data:text/csv;charset=utf-8,%EF%BB%BF([^"]+)"', shown.text)
    assert table is not None
    assert f"team.07,{made['team.07']},Team 07,Team 07" in unquote(table[1]).splitlines()
    assert 'value="Team 23"' in api.get(TEAMS, user="admin").text  # after these and two others
    again = send(api, f"{TEAMS}/new", name="Team 20", count="2")
    assert (again.status_code, "Team 20" in again.text) == (400, True)


def test_teams_of_another_contest_with_the_same_names_stay_out(api: Api) -> None:
    add_contest(api.service, "d", problem_id=None)
    for contest_id in "cd":
        assert api.patch(f"contests/{contest_id}", user="admin", json={"open_to_all": False}).status_code == 200
    first = cards(send(api, f"{TEAMS}/new", name="Team 01", count="2").text)
    second = cards(send(api, "/admin/contests/d/teams/new", name="Team 01", count="2").text)
    assert (set(first), set(second)) == ({"team.01", "team.02"}, {"d.team.01", "d.team.02"})
    of_c, of_d = (
        {each["id"] for each in api.get(f"contests/{each}/teams", user="admin").json()} - {"team", "other"}
        for each in "cd"
    )
    assert (len(of_c), len(of_d), of_c & of_d) == (2, 2, set())


def test_cards_are_reissued_for_one_team_and_for_all(api: Api) -> None:
    old = cards(send(api, f"{TEAMS}/new", name="Team 01", count="2").text)
    assert "Create 1 new card?" in send(api, f"{TEAMS}/cards", team_id="team-01").text
    one = cards(send(api, f"{TEAMS}/cards", team_id="team-01", sure="yes").text)
    assert set(one) == {"team.01"}
    assert api.get("account", auth=("team.01", old["team.01"])).status_code == 401
    assert api.get("account", auth=("team.02", old["team.02"])).status_code == 200
    every = cards(send(api, f"{TEAMS}/cards", sure="yes").text)
    assert {"team.01", "team.02"} <= set(every)
    assert api.get("account", auth=("team.02", every["team.02"])).status_code == 200
    assert send(api, f"{TEAMS}/cards", team_id="none", sure="yes").status_code == 400
    assert send(api, f"{TEAMS}/cards", "judge", sure="yes").status_code == 403


def test_an_owner_creates_and_reissues_cards_of_own_teams_alone(api: Api) -> None:
    api.put("contests/c/roles/staff", user="admin", json={"role": "owner"})
    made = cards(send(api, f"{TEAMS}/new", "staff", name="Team 01", count="2").text)
    again = cards(send(api, f"{TEAMS}/cards", "staff", sure="yes").text)
    assert set(again) == set(made)


def test_a_team_is_renamed_and_found(api: Api) -> None:
    assert send(api, f"{TEAMS}/team/rename", name="The Ants").status_code == 303
    assert api.get("teams/team", user="admin").json()["name"] == "The Ants"
    page = api.get(f"{TEAMS}?find=ants", user="admin").text
    assert ("The Ants" in page, "/teams/other/rename" in page, "2 teams" in page) == (True, False, True)
    assert "No team matches" in api.get(f"{TEAMS}?find=bees", user="admin").text


def test_a_registration_link_fills_in_the_code(api: Api) -> None:
    code = api.patch("contests/c/registration", user="admin", json={"open": True}).json()["code"]
    page = api.get(TEAMS, user="admin").text
    link = re.search(r'value="http://jurado.test(/c/c/register\?code=[^"]+)"', page)
    assert link is not None
    assert "<svg" in page.split('class="qr"')[1][:10]
    assert f'value="{code}"' in api.get(link[1]).text
