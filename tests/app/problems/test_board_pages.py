"""The pages with boards: the report, the comparison of two submissions, the playground, with the rights of the API."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.core.pages.pages import PATHS
from app.domain.counting import CaseVerdict, RawScore
from app.problems.pages.contest import TITLES
from app.tables import ContestProblemRow, SubmissionRow
from tests.app.core.test_pages import References
from tests.builders.contests import add_contest, add_problem, add_submission
from tests.builders.service import Api, open_api

RIGHT = RawScore(CaseVerdict.ACCEPTED, 1, 1)
WRONG = RawScore(CaseVerdict.REJECTED)


@pytest.fixture
def api(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A contest in which `team` has submissions 1 (case 02 right, 03 wrong) and 2 (03 right), and `other` has 3."""
    with open_api(sqlite_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service)
        add_submission(api.service, {"02": RIGHT, "03": WRONG}, minute=1)
        add_submission(api.service, {"03": RIGHT}, minute=2)
        add_submission(api.service, {"02": RIGHT}, team="other", minute=3)
        yield api


def words(html: str) -> str:
    """The words of a page, apart by single spaces."""
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_a_comparison_has_the_points_of_both_reports_and_what_changed(api: Api) -> None:
    text = words(api.get("/c/c/compare?a=1&b=2", user="team").text)
    given = [api.get(f"contests/c/submissions/{each}/report", user="team").json()["points"] for each in (1, 2)]
    assert f"2 has {given[1]:.1f} points, 1 has {given[0]:.1f}" in text
    assert "+50.00" in text
    assert "same" in text


def test_the_submission_before_is_compared_where_no_other_one_is_named(api: Api) -> None:
    assert "Submissions 1 and 2" in words(api.get("/c/c/compare?a=2", user="team").text)
    assert "Submissions 1 and 2" in words(api.get("/c/c/compare?a=1", user="team").text)
    assert "no other submission" in words(api.get("/c/c/compare?a=3", user="other").text)
    assert "Choose two submissions" in words(api.get("/c/c/compare", user="team").text)


def test_only_who_may_read_both_reports_compares_them(api: Api) -> None:
    for user, status in (("team", 403), ("other", 403), ("judge", 200), ("admin", 200), (None, 303)):
        assert api.get("/c/c/compare?a=1&b=3", user=user).status_code == status, user
    assert api.get("/c/c/compare?a=1&b=99", user="team").status_code == 404
    judges = api.get("/c/c/compare?a=1", user="judge").text
    assert re.findall(r'<option value="(\d+)"', judges) == ["2", "1"]


def test_submissions_to_two_problems_are_not_compared(api: Api) -> None:
    add_problem(api.service, slug="second")
    with api.service.database.write() as session:
        session.add(ContestProblemRow(contest_id="c", problem_id="second", label="B", ordinal=2, rgb="#0f0", rule={}))
    number = add_submission(api.service, {"02": RIGHT}, minute=4)
    with api.service.database.write() as session:
        session.get_one(SubmissionRow, number).problem_id = "second"
    api.service.boards.all_changed()
    reply = api.get(f"/c/c/compare?a=1&b={number}", user="team")
    assert (reply.status_code, "expected a submission to the same problem as a" in reply.text) == (400, True)


@pytest.mark.parametrize("slug", TITLES)
def test_each_board_has_a_playground_for_everybody_that_loads_files_from_here_alone(api: Api, slug: str) -> None:
    reply = api.get(f"/p/{slug}/board")
    assert reply.status_code == 200
    references = References(reply.text)
    assert references.inline == []
    assert all(address.startswith(("/", "#")) for address in references.addresses)
    assert "<form" not in reply.text.partition("<main")[2].partition("</main")[0], "nothing can be sent"
    assert f"boards/{slug}.js" in PATHS


def test_there_is_no_playground_of_an_unknown_board(api: Api) -> None:
    reply = api.get("/p/netgam/board")
    assert (reply.status_code, "did you mean" in reply.text) == (404, True)


def test_the_scripts_of_boards_name_no_other_host() -> None:
    for name, path in PATHS.items():
        if name.startswith(("board/", "boards/")):
            text = path.read_text().replace("http://www.w3.org/2000/svg", "")
            assert not re.search(r"[\"'`(](?:\w+:)?//", text), path
