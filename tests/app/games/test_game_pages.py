"""Games are played on pages by plain forms: for practice by everyone, and for points by teams."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.app.core.test_pages import References
from tests.builders.contests import add_contest, add_problem
from tests.builders.games import GAME, STEP, add_games
from tests.builders.service import Api, open_api

PLAY = f"/c/c/problems/{GAME}/play"
ORIGIN = {"Origin": "http://jurado.test"}


@pytest.fixture
def api(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A contest with a problem that is played: case 02 is a pile of 3 with K = 1 against `one`, won by the first."""
    with open_api(sqlite_url, tmp_path / "home") as api:
        add_games(api.service)
        yield api


def words(reply: httpx.Response) -> str:
    """The words of a page, apart by single spaces."""
    return unescape(" ".join(re.sub(r"<[^>]+>", " ", reply.text.partition("<main")[2]).split()))


def post(api: Api, path: str, user: str | None, **fields: Any) -> httpx.Response:
    """Send a form."""
    return api.post(path, user=user, data=fields, headers=ORIGIN)


def begin(api: Api, user: str | None = None, **fields: Any) -> str:
    """Start a game by the form; gives the address of its page."""
    given = {"for": "practice", "opponent": "one", "side": "0", "position": "3 0 1\r\n", **fields}
    reply = post(api, PLAY, user, **given)
    assert reply.status_code == 303, words(reply)
    return str(reply.headers["Location"])


def shown(api: Api, address: str, user: str | None = None) -> str:
    """The words of a game's page."""
    reply = api.get(address, user=user)
    assert reply.status_code == 200, words(reply)
    return words(reply)


def test_everybody_practises_by_plain_forms_to_the_end(api: Api) -> None:
    address = begin(api)
    html = api.get(address).text
    assert re.findall(r"<option>([^<]*)</option>", html) == [STEP]
    assert References(html).inline == []
    assert "Your turn" in shown(api, address)
    assert post(api, address, None, act="move", number="1", move=STEP).headers["Location"] == address
    assert "opponent: 1 0" in shown(api, address)
    post(api, address, None, act="move", number="3", move=STEP)
    assert "You won" in shown(api, address)
    assert "It ended: by the rules." in shown(api, address)
    transcript = api.get(f"games/{address.rpartition('/')[2]}/transcript")
    assert "end: over, first won" in transcript.text


def test_an_illegal_move_is_refused_with_its_reason_and_changes_nothing(api: Api) -> None:
    address = begin(api)
    reply = post(api, address, None, act="move", number="1", move="2 0")
    assert (reply.status_code, "at most 1 from a pile, found 2" in words(reply)) == (400, True)
    assert post(api, address, None, act="move", number="2", move=STEP).status_code == 409
    assert post(api, address, None, act="dance").status_code == 400
    assert "None yet." in shown(api, address)


def test_a_team_plays_for_points(api: Api) -> None:
    reply = post(api, PLAY, "team", testcase="02")
    address = reply.headers["Location"]
    assert "this game counts for 02" in shown(api, address, "team")
    post(api, address, "team", act="move", number="1", move=STEP)
    post(api, address, "team", act="move", number="3", move=STEP)
    assert "It is submission 1" in shown(api, address, "team")
    assert api.get(address, user="other").status_code == 404
    assert api.get(address, user="judge").status_code == 200
    assert "counts" in words(api.get(PLAY, user="team"))


def test_a_practice_game_is_its_players_and_no_page_of_another_contest_shows_it(api: Api) -> None:
    add_contest(api.service, "d", problem_id=GAME)
    address = begin(api, "team")
    assert api.get(address, user="other").status_code == 404
    assert api.get(address.replace("/c/c/", "/c/d/"), user="team").status_code == 404
    assert address.rpartition("/")[2] not in api.get(PLAY, user="other").text
    assert address in api.get(PLAY, user="team").text


def test_problems_that_cannot_be_played_have_no_form(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service, "e")
    assert api.get("/c/e/problems/echo/play").status_code == 400
    assert "/play" not in api.get("/c/e/problems/echo").text
    assert PLAY in api.get(f"/c/c/problems/{GAME}").text


def test_a_start_that_is_none_says_what_is_wrong(api: Api) -> None:
    for fields, reason in (
        ({"position": "3 0"}, "expected three numbers A B K"),
        ({"opponent": "optimum"}, "did you mean 'optimal'"),
        ({"side": "2"}, "expected 0 or 1"),
        ({"testcase": "99"}, "99"),
    ):
        given = {"for": "practice", "opponent": "one", "side": "0", "position": "3 0 1", **fields}
        reply = post(api, PLAY, "team", **given)
        assert reply.status_code in {400, 404}
        assert reason.lower() in words(reply).lower()


def test_a_form_of_another_site_plays_nothing(api: Api) -> None:
    address = begin(api, "team")
    reply = api.post(address, user="team", data={"act": "resign"}, headers={"Origin": "http://evil.test"})
    assert reply.status_code == 403
    assert "Your turn" in shown(api, address, "team")
