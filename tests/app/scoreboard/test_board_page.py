"""The scoreboard's page shows each reader what they may see."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from app.tables import AccountRow, GroupRow, TeamRow
from app.teams import queries as teams_queries
from tests.builders.clocks import still_clock
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, change_contest
from tests.builders.scoring import REJECTED, share
from tests.builders.service import Api, open_api
from tests.builders.verdicts import judge

BOARD = "/c/c/scoreboard"
COOKIES = {"Cookie": "jurado_theme=dark; jurado_zone=Asia/Tokyo; jurado_language=ru"}


@pytest.fixture
def api(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A running contest with a group; `team` has 50 points, and `other` 100. The clock stands still."""
    with still_clock(), open_api(sqlite_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service, started=3 * HOUR)
        with api.service.database.write() as session:
            session.add(GroupRow(id="g", name="Group"))
            session.flush()
            session.get_one(TeamRow, "team").group_ids = ["g"]
        add_submission(api.service, {"02": share(1), "03": REJECTED}, minute=10)
        add_submission(api.service, {"02": share(1), "03": share(1)}, team="other", minute=20)
        yield api


@pytest.mark.parametrize("user", [None, "team", "other", "judge", "admin"])
def test_a_page_is_the_same_with_and_without_gzip(api: Api, user: str | None) -> None:
    for query in ("", "group=g", "group=g&start=1", "group=none"):
        plain_page = api.get(f"{BOARD}?{query}", user=user, headers={**COOKIES, "Accept-Encoding": "identity"})
        zipped_page = api.get(f"{BOARD}?{query}", user=user, headers=COOKIES)
        assert plain_page.status_code == zipped_page.status_code == (400 if query == "group=none" else 200)
        assert plain_page.text == zipped_page.text
        assert 'data-theme="dark"' in plain_page.text


def test_a_frozen_board_is_open_to_judges_alone(api: Api) -> None:
    change_contest(api.service, freeze_ms=int(4.75 * 3600_000))  # since minute 15
    for user in (None, "team", "judge"):
        page = api.get(BOARD, user=user).text
        assert ("The scoreboard has been frozen" in page) == ("100.0<" not in page) == (user != "judge")


def test_the_page_of_nobody_is_for_nobody_else_and_goes_with_its_snapshot(api: Api) -> None:
    dark = {"Cookie": "jurado_theme=dark"}
    assert "Log in" in api.get(BOARD).text
    assert 'lang="es"' in api.get(BOARD, headers={"Accept-Language": "es"}).text
    assert 'lang="en"' in api.get(BOARD).text
    assert "Log out" in [api.get(BOARD, user="team").text for _ in range(2)][1]
    assert 'data-theme="dark"' in api.get(BOARD, headers=dark).text
    assert 'data-theme="dark"' not in api.get(BOARD).text
    add_submission(api.service, {"02": share(1), "03": share(1)}, minute=30)
    api.service.boards.all_changed()
    assert api.get(BOARD).text.count("100.0<") == 4


def test_the_clock_of_nobodys_page_runs(api: Api) -> None:
    shown = api.get(BOARD).text
    line = next(line for line in shown.splitlines() if 'class="clock"' in line)
    with still_clock(timedelta(minutes=1)):
        assert line not in api.get(BOARD).text


def test_the_board_of_an_unknown_contest_is_a_page_that_says_so(api: Api) -> None:
    reply = api.get("/c/none/scoreboard")
    assert (reply.status_code, "<h1" in reply.text) == (404, True)


LIVE = f"{BOARD}/live?lang=en"
ROWS = re.compile(r"<tr data-team.*?</tr>", re.DOTALL)


@pytest.mark.parametrize("query", ["", "&group=g", "&find=ea", "&start=2"])
def test_the_live_part_has_the_rows_of_the_page(api: Api, query: str) -> None:
    part = api.get(LIVE + query)
    assert part.headers["content-type"] == "text/html; charset=utf-8"
    assert ROWS.findall(part.text) == ROWS.findall(api.get(f"{BOARD}?{query[1:]}").text) != []
    assert "Standings at" in part.text
    assert api.get(LIVE + query, headers={"Accept-Encoding": "identity"}).text == part.text


def test_the_live_part_is_the_same_for_all_readers_but_judges(api: Api) -> None:
    change_contest(api.service, freeze_ms=int(4.75 * 3600_000))  # since minute 15
    public = api.get(LIVE)
    assert {api.get(LIVE, user=user).text for user in ("team", "other")} == {public.text}
    assert "100.0<" not in public.text
    assert "100.0<" in api.get(LIVE, user="judge").text
    assert all(word not in api.get(LIVE, user="team").text for word in ('class="own"', "You are"))


def test_the_live_part_speaks_the_language_that_is_asked_for(api: Api) -> None:
    assert "Clasificación" in api.get(f"{BOARD}/live?lang=es", headers={"Accept-Language": "ru"}).text
    assert api.get(f"{BOARD}/live?lang=xx").status_code == 400


def test_a_reader_who_has_the_live_part_gets_304_until_a_verdict_of_a_second_ago(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = [100.0]
    monkeypatch.setattr(api.service.boards, "_steady", lambda: seconds[0])
    known = {"If-None-Match": api.get(LIVE).headers["etag"]}
    api.service.boards.changed(
        "c", add_submission(api.service, {"02": share(1), "03": share(1)}, minute=30, quiet=True)
    )
    assert api.get(LIVE, headers=known).status_code == 304
    seconds[0] += 1.0
    assert api.get(LIVE, headers=known).text.count("100.0<") == 4
    change_contest(api.service, freeze_ms=int(4.75 * 3600_000))  # what organizers change is shown at once
    assert "100.0<" not in api.get(LIVE, headers=known).text


def test_the_live_part_of_a_private_contest_is_for_those_who_may_see_it(api: Api) -> None:
    api.patch("/api/contests/c", user="admin", json={"settings": {"visibility": "private"}})
    assert [api.get(LIVE, user=user).status_code for user in (None, "team", "admin")] == [404, 200, 200]


def test_names_are_read_once_until_something_but_submissions_changes(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[object] = []
    groups = teams_queries.groups
    monkeypatch.setattr(teams_queries, "groups", lambda *given: reads.append(given) or groups(*given))
    sent = add_submission(api.service, None, minute=30, files={"03": b"4"})
    assert ("Group" in api.get(BOARD, user="team").text, len(reads)) == (True, 1)
    points = api.get("contests/c/scoreboard").json()
    judge(api.service, sent, {"03": share(1)})
    assert (api.get("contests/c/scoreboard").json() != points, len(reads)) == (True, 1)
    api.get(BOARD, user="team")
    assert len(reads) == 1
    with api.service.database.write() as session:
        session.get_one(GroupRow, "g").name = "Another name"
        session.get_one(AccountRow, "team").name = "Somebody new"
    page = api.get(BOARD, user="team").text
    assert ("Another name" in page, "Somebody new" in page) == (True, True)
