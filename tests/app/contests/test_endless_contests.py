"""Contests without an end: dates in place of contest times, and the history of one's own best results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.builders.contests import add_contest, add_problem, add_submission
from tests.builders.scoring import REJECTED, share
from tests.builders.service import Api, open_api

AGO, CENTURY, DAY = timedelta(days=400), timedelta(days=36_500), 24 * 60
PLACES = ("/c/c/answers", "/c/c/submissions/1", "/c/c/scoreboard", "/c/c/teams/team", "/c/c/compare?a=1&b=2")


@pytest.fixture
def start(sqlite_url: str, tmp_path: Path) -> Iterator[tuple[Api, datetime]]:
    """A contest that has run for 400 days, with five submissions: of 50, 0, 50, 100 and 50 points."""
    with open_api(sqlite_url, tmp_path / "home") as api:
        add_problem(api.service)
        start = add_contest(api.service, started=AGO, duration=CENTURY)
        for day, cases in enumerate((("02",), (), ("03",), ("02", "03"), ("03",)), 1):
            scores = {case: share(1) if case in cases else REJECTED for case in ("02", "03")}
            add_submission(api.service, scores, minute=day * DAY)
        yield api, start


@pytest.mark.parametrize("place", PLACES)
def test_pages_show_dates(start: tuple[Api, datetime], place: str) -> None:
    api, begun = start
    page = api.get(place, user="team").text
    dates = {f"{begun + timedelta(days=days):%Y-%m-%d}" for days in range(1, 6)}
    assert any(date in page for date in dates)
    assert re.search(r"\b\d+ d \d+:\d\d", page.partition("<main")[2]) is None


@pytest.mark.parametrize("place", ["/admin/contests/c/live", "/admin/contests/c/submissions/1"])
def test_pages_of_judges_show_dates(start: tuple[Api, datetime], place: str) -> None:
    api, begun = start
    assert f"{begun + timedelta(days=1):%Y-%m-%d}" in api.get(place, user="admin").text


def test_the_history_of_best_results_has_each_improvement(start: tuple[Api, datetime]) -> None:
    api, _ = start
    listed = {
        query: re.findall(r'/submissions/(\d+)">', api.get(f"/c/c/answers?{query}", user="team").text)
        for query in ("", "verdict=best", "problem=echo&verdict=best")
    }
    assert len(set(listed[""])) == 5
    assert listed["verdict=best"] == listed["problem=echo&verdict=best"]
    assert len(listed["verdict=best"]) < 5
    assert "/c/c/answers?problem=echo&amp;verdict=best" in api.get("/c/c/problems/echo", user="team").text
