"""Pages of the puzzles of the day: whole without script, nothing of days to come, and no solution on its day."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path

import httpx
import pytest

from app.core.pages.pages import POLICY
from app.daily.service import READER
from checkers.rules.netgame import read_net, sides_of, whole_cells
from games.netgame.opponents import is_won, solved
from tests.builders.clocks import WallClock, noon_of
from tests.builders.daily import document, put_days
from tests.builders.service import Api, open_api

TODAY = date(2026, 11, 21)
YESTERDAY, TOMORROW = TODAY - timedelta(days=1), TODAY + timedelta(days=1)
INLINE = re.compile(r"<style|<script(?![^>]*src=)| on\w+=| style=")


@pytest.fixture(autouse=True)
def wall() -> Iterator[WallClock]:
    """The clock of the service: it is TODAY."""
    with noon_of(TODAY) as wall:
        yield wall


@pytest.fixture
def api(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A service that has made the puzzles of three days, the last of which has not begun."""
    home = tmp_path / "home"
    put_days(home, YESTERDAY, TODAY, TOMORROW)
    with open_api(sqlite_url, home) as api:
        yield api


def test_the_page_of_the_day_has_nine_boards_with_their_levels(api: Api) -> None:
    page = api.get("/daily")
    assert page.status_code == 200
    assert page.text.count('<svg xmlns="http://www.w3.org/2000/svg" class="bd"') == 9
    day = READER.validate_json(document(TODAY))
    for puzzle in day.puzzles:
        assert f'href="/daily/{TODAY}/{puzzle.kind}/{puzzle.size}"' in page.text
        if puzzle.x is not None:
            assert f"X <b>{puzzle.x}</b>" in page.text
            assert f"Z <b>{puzzle.z}</b>" in page.text
    assert "/daily" in api.get("/").text


@pytest.mark.parametrize("kind", ["optimiza", "comesolo", "netgame"])
def test_a_puzzle_has_no_solution_in_its_bytes_until_the_day_is_over(api: Api, kind: str) -> None:
    today, past = (api.get(f"/daily/{day}/{kind}/small") for day in (TODAY, YESTERDAY))
    for page in (today, past):
        assert page.status_code == 200
        assert page.headers["Content-Security-Policy"] == POLICY
        assert not INLINE.search(page.text)
    assert "Solution" not in today.text
    assert 'class="steps"' not in today.text
    assert 'class="last"' not in today.text
    assert " seen" not in today.text
    assert "<summary>Solution</summary>" in past.text


def cut(api: Api, day: date, cuts: str) -> httpx.Response:
    """The other player's reply to cuts in the small net of a day."""
    return api.get(f"daily/{day}/netgame/small/reply?cuts={cuts}")


def test_the_other_player_of_a_net_wins_whatever_can_be_won(api: Api) -> None:
    puzzle = READER.validate_json(document(TODAY)).puzzle("netgame", "small")
    net = read_net(puzzle.instance.encode())
    won, sides = solved(net), sides_of(whole_cells(net), len(net.ropes))
    full, (winning,) = (1 << len(whole_cells(net))) - 1, {int(puzzle.answer.split()[1])}
    for rope in (rope for rope, side in enumerate(sides, start=1) if side):
        reply = cut(api, TODAY, str(rope)).json()
        assert reply.keys() == {"cut"}, "the reply tells nothing but the cut"
        after = full & ~sides[rope - 1] & ~sides[reply["cut"] - 1]
        assert is_won(won, after) == (rope == winning), "it leaves a lost net wherever the first cut was a wrong one"


def test_no_reply_has_a_net_solved_before_its_day_is_over(api: Api) -> None:
    puzzle = READER.validate_json(document(TODAY)).puzzle("netgame", "small")
    page, document_ = (api.get(f"{root}daily/{TODAY}/netgame/small") for root in ("/", ""))
    assert "data-won" not in page.text
    assert document_.json()["answer"] is None
    assert api.get(f"daily/{YESTERDAY}/netgame/small").json()["answer"].startswith("1\n")
    assert puzzle.answer.strip() not in document_.text.replace(puzzle.instance, "")


@pytest.mark.parametrize("cuts", ["", "0", "99", "1,1", "1,2", "x", "1,", "-1", "1" * 500, "\u0661"])
def test_cuts_that_are_no_play_are_refused(api: Api, cuts: str) -> None:
    reply = cut(api, TODAY, cuts)
    assert reply.status_code == 400, cuts
    assert "cuts" in reply.json()["message"]


def test_the_puzzles_of_a_day_are_json_without_answers_until_it_is_over(api: Api) -> None:
    today, same, past = (api.get(path) for path in ("daily", f"daily/{TODAY}", f"daily/{YESTERDAY}"))
    assert today.json() == same.json()
    for reply, day, is_past in ((today, TODAY, False), (past, YESTERDAY, True)):
        made = READER.validate_json(document(day))
        assert (reply.json()["date"], reply.json()["past"]) == (day.isoformat(), is_past)
        assert [each["instance"] for each in reply.json()["puzzles"]] == [each.instance for each in made.puzzles]
        answers = [each["answer"] for each in reply.json()["puzzles"]]
        assert answers == [each.answer if is_past else None for each in made.puzzles]
    assert "immutable" in past.headers["Cache-Control"]
    assert "immutable" not in today.headers["Cache-Control"]
    one = api.get(f"daily/{YESTERDAY}/comesolo/large").json()
    assert one in past.json()["puzzles"]
    for path in (f"daily/{TOMORROW}", f"daily/{TOMORROW}/optimiza/small", f"daily/{TODAY}/optimiza/huge"):
        assert api.get(path).status_code == 404, path


def test_a_server_without_puzzles_has_no_page_link_and_route_of_them(sqlite_url: str, tmp_path: Path) -> None:
    home = tmp_path / "off"
    put_days(home, YESTERDAY, TODAY)
    with open_api(sqlite_url, home, daily="off") as api:
        for path in ("/daily", f"/daily/{TODAY}", f"/daily/{TODAY}/optimiza/small", "daily"):
            assert api.get(path).status_code == 404, path
        assert api.get(f"daily/{TODAY}/netgame/small/reply?cuts=1").status_code == 404
        for page in ("/", "/login", "/docs"):
            assert "daily" not in api.get(page).text, page
        described = api.get("/openapi.json")
        assert described.status_code == 200
        assert "daily" not in described.text


def test_days_to_come_are_closed_under_every_address(api: Api, wall: WallClock) -> None:
    for address in ("", "/print", "/optimiza/small"):
        reply = api.get(f"/daily/{TOMORROW}{address}")
        assert reply.status_code == 404
        assert f"The puzzles of {TOMORROW} come on that day, at 00:00 UTC" in reply.text
        assert 'class="bd"' not in reply.text
    assert f"/daily/{TOMORROW}" not in api.get("/daily/archive").text
    wall.step(timedelta(days=1))
    assert api.get(f"/daily/{TOMORROW}/optimiza/small").status_code == 200
    assert "<summary>Solution</summary>" in api.get(f"/daily/{TODAY}/optimiza/small").text


def test_what_is_no_day_no_kind_and_no_size_is_not_there(api: Api) -> None:
    expected = {
        "/daily/yesterday": "expected a day such as",
        "/daily/2026-02-30": "expected a day such as",
        "/daily/20261101": "expected a day such as",
        "/daily/1999-01-01": "the first puzzles are those of 2010-02-26",
        f"/daily/{TODAY}/optimisa/small": "did you mean",
        f"/daily/{TODAY}/optimiza/smal": "did you mean",
        "/daily/archive?month=2026-13": "expected a day such as",
    }
    for address, sentence in expected.items():
        reply = api.get(address)
        assert reply.status_code == 404, address
        assert sentence in reply.text.lower(), address


def test_the_sheet_of_a_past_day_has_its_solutions_and_todays_those_of_the_day_before(api: Api) -> None:
    past, today = api.get(f"/daily/{YESTERDAY}/print"), api.get(f"/daily/{TODAY}/print")
    for page in (past, today):
        assert f"Solutions of {YESTERDAY}" in page.text
        assert f"Solutions of {TODAY}" not in page.text
        assert page.text.count("<figure") == 12
        assert not INLINE.search(page.text)


def test_the_archive_leads_from_month_to_month(api: Api) -> None:
    page = api.get("/daily/archive?month=2026-10").text
    assert page.count('rel="nofollow"') == 31
    assert 'href="/daily/archive?month=2026-09"' in page
    first = api.get("/daily/archive?month=2010-02").text
    assert first.count('rel="nofollow"') == 3
    assert "month=2010-01" not in first


def test_an_address_that_stays_leads_to_todays_puzzle(api: Api) -> None:
    reply = api.get("/daily/optimiza/large")
    assert (reply.status_code, reply.headers["Location"]) == (307, f"/daily/{TODAY}/optimiza/large")
