"""Solution texts: for judges always, for others after the last contest that has the problem."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from app.tables import ContestProblemRow, ProblemRow
from tests.builders.contests import HOUR, add_contest, add_problem, change_contest, pass_time
from tests.builders.examples import sqlite_first
from tests.builders.service import Api

VARYING = {"jurado-time", "x-request-id"}
SOLUTION = "contests/c/problems/echo/solution"
ROLES = (None, "team", "judge")
HIDDEN = [404, 404, 200]
OPEN = [200, 200, 200]
SECRET: dict[str, dict[str, Any]] = {
    "without a start": {"start_time": None},
    "tomorrow": {"start_time": datetime.now(UTC) + timedelta(days=1)},
    "each team on its own clock": {"settings": {"personal_duration": "1:00:00"}},
}


def codes(api: Api) -> list[int]:
    """What no one, a team and a judge get."""
    return [api.get(SOLUTION, user=user).status_code for user in ROLES]


def replies(api: Api) -> list[tuple[int, str, dict[str, str]]]:
    """What no one and a team get, whole but for the server's time."""
    got = [
        api.get(SOLUTION, user=user, headers={"Accept": kind})
        for user in ROLES[:2]
        for kind in ("*/*", "text/markdown")
    ]
    return [
        (each.status_code, each.text, {name: value for name, value in each.headers.items() if name not in VARYING})
        for each in got
    ]


def second_contest(api: Api, **columns: Any) -> None:
    """A contest `d` with the problem of `c`, changed by `columns`."""
    add_contest(api.service, "d", problem_id=None)
    with api.service.database.write() as session:
        session.add(ContestProblemRow(contest_id="d", problem_id="echo", label="X", ordinal=1, rule={}))
    change_contest(api.service, "d", **columns)


@sqlite_first
def test_solutions_open_with_the_end_and_are_hidden_before(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service, started=-HOUR)
    assert codes(api) == HIDDEN
    pass_time(api.service, 2 * HOUR)
    assert codes(api) == HIDDEN
    pass_time(api.service, 5 * HOUR)
    assert codes(api) == OPEN


def test_a_frozen_board_keeps_solutions_closed_until_the_thaw(quick_api: Api) -> None:
    add_problem(quick_api.service)
    add_contest(quick_api.service, started=6 * HOUR)
    change_contest(quick_api.service, freeze_ms=3_600_000)
    assert codes(quick_api) == HIDDEN


@sqlite_first
def test_the_last_of_several_contests_counts_and_practice_does_not(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service, started=6 * HOUR)
    assert codes(api) == OPEN
    second_contest(api)
    assert codes(api) == HIDDEN
    change_contest(api.service, "d", start_time=None)
    assert codes(api) == HIDDEN, "a contest without a start has yet to come"
    pass_time(api.service, HOUR, "c")
    century = timedelta(days=36500) // timedelta(milliseconds=1)
    with api.service.database.read() as session:
        begun = session.get_one(ProblemRow, "echo").created - HOUR
    change_contest(api.service, "d", start_time=begun, duration_ms=century)
    assert codes(api) == OPEN


@sqlite_first
@pytest.mark.parametrize("columns", SECRET.values(), ids=SECRET)
def test_a_refusal_is_the_same_with_and_without_contests_whose_problems_are_not_seen(
    api: Api, columns: dict[str, Any]
) -> None:
    """Nothing tells that such a contest has the problem: the text is as one that there is not, whole replies long."""
    add_problem(api.service)
    add_contest(api.service, started=HOUR)
    running = replies(api)
    second_contest(api, **columns)
    assert replies(api) == running
    pass_time(api.service, 5 * HOUR, "c")
    withheld = replies(api)
    assert {status for status, _, _ in withheld} == {404}
    with api.service.database.write() as session:
        row = session.get_one(ProblemRow, "echo")
        row.metadata_ = {**row.metadata_, "solutions": {}}
    assert replies(api) == withheld
    assert codes(api)[2] == 404, "judges see that there is none"


def test_a_personal_contest_that_a_team_has_begun_withholds_the_text(quick_api: Api) -> None:
    add_problem(quick_api.service)
    add_contest(quick_api.service, started=6 * HOUR)
    second_contest(quick_api, settings={"personal_duration": "1:00:00"})
    assert codes(quick_api) == HIDDEN
    assert quick_api.post("contests/d/participation", user="team", json={"kind": "personal"}).status_code == 201
    assert codes(quick_api) == HIDDEN


def test_a_team_on_its_virtual_clock_reads_no_solutions(quick_api: Api) -> None:
    add_problem(quick_api.service)
    add_contest(quick_api.service, started=6 * HOUR, settings={"virtual": True})
    assert codes(quick_api) == OPEN
    assert quick_api.post("contests/c/participation", user="team", json={"kind": "virtual"}).status_code == 201
    assert codes(quick_api) == [200, 404, 200]


def test_a_problem_without_a_solution_text_has_none_for_anybody(quick_api: Api) -> None:
    add_problem(quick_api.service, {"solution/solution.en.md": None})
    add_contest(quick_api.service)
    assert codes(quick_api) == [404, 404, 404]
    pass_time(quick_api.service, 6 * HOUR)
    assert codes(quick_api) == [404, 404, 404]


def test_a_solution_is_a_page_in_the_language_asked_for_with_its_formulas(quick_api: Api) -> None:
    texts: dict[str, str | bytes | None] = {
        "solution/solution.en.md": "Copy $x$.\n",
        "solution/solution.es.md": "Copia <b>$x$</b>.\n",
    }
    add_problem(quick_api.service, texts)
    add_contest(quick_api.service, started=6 * HOUR)
    page = quick_api.get(f"{SOLUTION}?lang=es")
    assert page.headers["content-language"] == "es"
    assert page.headers["vary"].startswith("Accept, Accept-Language, Authorization")
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert (
        "<h1>Eco: solución</h1>\n<p>Copia &lt;b&gt;<math><mrow><mi>x</mi></mrow></math>\N{WORD JOINER}&lt;/b&gt;.</p>"
        in page.text
    )
    markdown = quick_api.get("contests/c/problems/a/solution", headers={"Accept": "text/markdown"})
    assert markdown.text == "# Echo: solution\n\nCopy $x$.\n"
