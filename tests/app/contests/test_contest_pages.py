"""The pages of a contest show what the API shows the same viewer, and nothing else."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from functools import partial
from pathlib import Path

import pytest
from fastapi import APIRouter
from rich.console import Console

from app.core.commands.lookup import report_tables
from app.core.http import errors
from app.core.messages import ServiceError, TooManyRequests, Unauthorized
from app.core.pages.visitor import PageRoute
from app.domain.counting import CaseVerdict, RawScore
from app.tables import ContestRoleRow, TeamRow
from tests.app.core.test_pages import References
from tests.builders.contests import FINAL, add_contest, add_problem, add_submission, change_contest, pass_time
from tests.builders.examples import sqlite_first
from tests.builders.service import Api, open_api

pytestmark = sqlite_first  # the API under the pages is tried on both
HOUR = timedelta(hours=1)
RIGHT = RawScore(CaseVerdict.ACCEPTED, 1, 1)
HALF = RawScore(CaseVerdict.ACCEPTED, 1, Fraction(1, 2))
WRONG = RawScore(CaseVerdict.REJECTED)
PAGES = (
    "/c/c",
    "/c/c/problems",
    "/c/c/problems/echo",
    "/c/c/scoreboard",
    "/c/c/teams/team",
    "/c/c/questions",
    "/c/c/register",
    "/login",
)
OWN = ("/c/c/answers", "/c/c/submissions/1", "/account")


@pytest.fixture
def api(database_url: str, tmp_path: Path) -> Iterator[Api]:
    """A running contest with two teams: `team` has 50 points and a rejected answer, `other` has 100."""
    with open_api(database_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service)
        add_submission(api.service, {"02": RIGHT, "03": WRONG}, minute=1)
        add_submission(api.service, {"02": RIGHT, "03": RIGHT}, team="other", minute=2)
        yield api


def text_of(html: str) -> str:
    """The words of a page, apart by single spaces."""
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def shown_points(html: str) -> dict[str, str]:
    """The total of each team by its name, as the board's page shows it."""
    rows = re.findall(r'<span title="([^"]*)">.*?<td class="tot">([\d.]+)</td>', html, re.DOTALL)
    return dict(rows)


@pytest.mark.parametrize("user", [None, "team", "judge", "admin"])
def test_the_board_has_the_points_of_the_api(api: Api, user: str | None) -> None:
    rows = api.get("contests/c/scoreboard", user=user).json()["rows"]
    names = {"team": "Team team", "other": "Team other"}
    expected = {names[row["team_id"]]: f"{row['score']['score']:.1f}" for row in rows}
    assert (
        shown_points(api.get("/c/c/scoreboard", user=user).text)
        == expected
        == {"Team other": "100.0", "Team team": "50.0"}
    )


@pytest.mark.parametrize("page", PAGES)
def test_pages_of_a_contest_need_no_script_and_no_other_host(api: Api, page: str) -> None:
    reply = api.get(page, user="team")
    assert reply.status_code == 200
    references = References(reply.text)
    assert references.inline == []
    linked = ("https://omegaup.com/", "https://creativecommons.org/")  # the source and the license of a problem
    assert all(address.startswith(("/", "?", "#", *linked)) for address in references.addresses)


def test_what_a_frozen_board_hides_is_on_no_page(api: Api) -> None:
    before = api.get("/c/c/scoreboard").text
    change_contest(api.service, freeze_ms=int(4.5 * 3600_000))  # the last 4.5 of 5 hours: since minute 30
    add_submission(api.service, {"02": RIGHT, "03": RIGHT}, minute=40)
    frozen = api.get("/c/c/scoreboard").text
    assert shown_points(frozen) == shown_points(before)
    assert "The scoreboard has been frozen since 0:30:00." in text_of(frozen)
    assert "+1" in text_of(frozen)
    for page in ("/c/c", "/c/c/problems", "/c/c/problems/echo", "/c/c/teams/team"):
        assert "100.0" not in text_of(api.get(page, user=None).text).replace("100.0 100", "", 1), page
    assert "100.0" in text_of(api.get("/c/c/problems/echo", user="team").text), "own points stay live"
    assert shown_points(api.get("/c/c/scoreboard", user="judge").text)["Team team"] == "100.0"


def strip_of(html: str) -> tuple[str, str]:
    """The marks of all teams and of the own one in the head of the board's first column."""
    own = re.search(r'id="own0" d="M(\d+) 0V11.5"', html)
    marks = re.search(r'id="strip0" d="M0 11.5H100([^"]*)"', html)
    assert marks is not None
    return marks[1], own[1] if own else ""


def test_the_head_of_a_column_has_all_teams_points_with_the_own_mark_as_the_board_shows_them(api: Api) -> None:
    half, full = "M50 3V10", "M98 3V10"
    for user, own in ((None, ""), ("team", "50"), ("other", "98"), ("judge", "")):
        assert strip_of(api.get("/c/c/scoreboard", user=user).text) == (half + full, own)
    change_contest(api.service, freeze_ms=int(4.5 * 3600_000))
    add_submission(api.service, {"02": RIGHT, "03": RIGHT}, minute=40)
    for user, own in ((None, ""), ("team", "50"), ("other", "98")):
        assert strip_of(api.get("/c/c/scoreboard", user=user).text) == (half + full, own), "as before the freeze"
    assert strip_of(api.get("/c/c/scoreboard", user="judge").text) == (full, "")


def test_hidden_teams_are_on_no_page_but_those_of_judges(api: Api) -> None:
    with api.service.database.write() as session:
        session.get_one(TeamRow, "other").hidden = True
    api.service.boards.all_changed()
    for page in PAGES:
        assert "Team other" not in api.get(page).text
    assert api.get("/c/c/teams/other").status_code == 404
    assert api.get("/c/c/teams/other", user="judge").status_code == 200
    assert "100.0" not in shown_points(api.get("/c/c/scoreboard").text).values()


def test_names_are_text_wherever_they_stand(api: Api) -> None:
    hostile = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
    with api.service.database.write() as session:
        session.get_one(TeamRow, "team").name = hostile
    change_contest(api.service, name=hostile)
    api.service.boards.all_changed()
    for page in (*PAGES, *OWN):
        html = api.get(page, user="team").text
        assert "<script>" not in html, page
        assert "<img src=x" not in html, page


def test_a_team_sees_its_report_and_others_do_not(api: Api) -> None:
    report = text_of(api.get("/c/c/submissions/1", user="team").text)
    assert "Submission 1" in report
    assert "50.0 of 100" in report
    assert "Rejected 1" in report
    assert api.get("/c/c/submissions/1", user="other").status_code == 403
    assert api.get("/c/c/submissions/1").status_code == 303
    assert api.get("/c/c/submissions/99", user="team").status_code == 404


def test_a_report_says_what_the_submission_brought_to_its_team_and_judges_alone(api: Api) -> None:
    change_contest(api.service, settings={"show_others_answers": True})
    assert " since " not in text_of(api.get("/c/c/submissions/1", user="team").text), "nothing came before"
    add_submission(api.service, {"03": HALF}, minute=5)
    add_submission(api.service, {"03": HALF}, team="other", minute=6)
    number = add_submission(api.service, {"03": HALF}, minute=7)
    for user in ("team", "judge"):
        brought = text_of(api.get("/c/c/submissions/3", user=user).text)
        assert "75.0 of 100 +25.0 since 1" in brought
        assert "25.00 +25.00 50.00" in brought
        assert "as many as 3" in text_of(api.get(f"/c/c/submissions/{number}", user=user).text)
    assert " since " not in text_of(api.get("/c/c/submissions/3", user="other").text)


def test_cases_that_give_no_points_say_so(api: Api) -> None:
    for page in ("/c/c/submissions/1", "/c/c/problems/echo"):
        text = text_of(api.get(page, user="team").text)
        assert "does not count" in text, page
        assert "0.00 0.00" not in text, page


def test_a_contest_without_an_end_says_so_in_words(api: Api) -> None:
    add_contest(api.service, "games", duration=timedelta(days=36500))
    for page in ("/c/games", "/c/games/scoreboard", "/c/games/projector", "/admin/contests/games"):
        text = text_of(api.get(page, user="admin").text)
        assert "open without an end" in text, page
        assert not re.search(r"36\d{3} d", text), page
    assert "The contest has no end." in text_of(api.get("/c/games").text)
    assert "ends" not in text_of(api.get("/c/games").text)
    add_contest(api.service, "later", started=-HOUR, duration=timedelta(days=36500))
    assert ", without an end" in text_of(api.get("/").text)


def test_the_list_of_answers_is_the_teams_own(api: Api) -> None:
    html = api.get("/c/c/answers", user="team").text
    assert re.findall(r"/c/c/submissions/(\d+)", html) == ["1"]
    reply = api.get("/c/c/answers")
    assert (reply.status_code, reply.headers["Location"]) == (303, "/login?next=/c/c/answers")
    assert api.get("/c/c/answers", user="judge").status_code == 403


def test_a_submission_without_an_answer_to_judge_is_described_in_words(api: Api) -> None:
    add_submission(api.service, {}, minute=3, judgement_type="CE")
    assert "No answer to judge" in text_of(api.get("/c/c/answers", user="team").text)
    assert "No answer to judge" in text_of(api.get("/c/c/submissions/3", user="team").text)


def test_nothing_of_a_contest_that_has_not_begun_is_shown(api: Api) -> None:
    add_contest(api.service, "later", started=-HOUR)
    assert "Begins" in text_of(api.get("/c/later").text)
    assert "echo" not in api.get("/c/later/problems", user="team").text
    assert api.get("/c/later/problems/echo", user="team").status_code == 404
    assert "echo" in api.get("/c/later/problems", user="judge").text


def test_refusals_are_pages_with_their_sentence_and_status(api: Api) -> None:
    reply = api.get("/c/cc")
    assert reply.status_code == 404
    assert "did you mean" in reply.text
    assert reply.headers["Content-Security-Policy"].startswith("default-src 'self'")
    assert api.get("/c/c/scoreboard?group=none").status_code == 400


def test_every_kind_of_refusal_is_a_page_with_its_status(api: Api) -> None:
    for kind, status in errors.STATUS.items():
        if kind is Unauthorized:  # leads to the login
            continue

        def refuse(kind: type[ServiceError] = kind) -> None:
            raise kind("this is refused", 1) if kind is TooManyRequests else kind("this is refused")

        path = f"/refused/{status}"
        router = APIRouter(route_class=PageRoute)
        router.add_api_route(path, partial(refuse), include_in_schema=False)
        api.app.include_router(router)
        reply = api.get(path)
        assert (reply.status_code, "This is refused." in reply.text) == (status, True), kind


def test_the_board_is_cut_into_pages_with_the_own_row_on_each(api: Api) -> None:
    with api.service.database.write() as session:
        for number in range(150):
            session.add(TeamRow(id=f"many{number}", name=f"Many {number:03}", label=str(number), hidden=False))
    api.service.boards.all_changed()
    first = api.get("/c/c/scoreboard", user="team").text
    assert "1 to 100 of 152" in text_of(first)
    second = api.get("/c/c/scoreboard?start=101", user="team").text
    assert "101 to 152 of 152" in text_of(second)
    assert second.count('class="own"') == first.count('class="own"') == 1
    assert "Many 007" in api.get("/c/c/scoreboard?find=many+007").text
    assert "No team on this board" in api.get("/c/c/scoreboard?find=nobody").text


def test_a_page_behind_a_path_prefix_leads_to_addresses_below_it(database_url: str, tmp_path: Path) -> None:
    with open_api(database_url, tmp_path / "prefixed", root_path="/judge") as api:
        add_problem(api.service)
        add_contest(api.service)
        html = api.get("/judge/c/c/problems").text
        addresses = [each for each in References(html).addresses if each.startswith("/")]
        assert addresses
        assert all(each.startswith("/judge/") for each in addresses), addresses


def test_what_the_api_leaves_out_of_cases_is_on_no_page(api: Api) -> None:
    change_contest(api.service, settings={"show_best": False})
    cases = api.get("contests/c/problems/echo/testcases").json()
    assert all("best_raw" not in case or case["best_raw"] is None for case in cases), json.dumps(cases)
    page = api.get("/c/c/problems/echo").text
    assert text_of(page).count("\N{EN DASH}") >= len(cases)


def test_a_teams_page_has_its_row_of_the_board_and_its_points_over_time(api: Api) -> None:
    html = api.get("/c/c/teams/other").text
    assert "1st of 2 with 100.0 of 100 points" in text_of(html)
    assert "0:02:00 100.0 1" in text_of(html)
    assert 'd="M0 120H' in html


def test_own_points_are_those_of_the_chosen_submission_after_the_end(api: Api) -> None:
    rule = {"kind": "absolute", "counting": "last", "carry": "none"}
    add_contest(api.service, "choosing", rule=rule, settings={"choose": True})
    add_submission(api.service, {"02": RIGHT, "03": RIGHT}, minute=1, contest_id="choosing")
    chosen = api.get("contests/choosing/submissions", user="team").json()[0]["id"]
    add_submission(api.service, {"02": RIGHT}, minute=2, contest_id="choosing")
    path = "contests/choosing/problems/echo/chosen"
    assert api.put(path, user="team", json={"submission_id": chosen}).status_code == 200
    page = "/c/choosing/problems/echo"
    assert "Your points 50.0" in text_of(api.get(page, user="team").text), "until the end the last one counts"
    pass_time(api.service, 5 * HOUR, "choosing")
    assert "Your points 100.0" in text_of(api.get(page, user="team").text)
    assert shown_points(api.get("/c/choosing/scoreboard", user="team").text)["Team team"] == "100.0"


def test_a_question_is_read_by_the_jury_alone_and_its_answer_by_its_team(api: Api) -> None:
    origin = {"Origin": "http://jurado.test"}
    asked = api.post(
        "/c/c/questions", user="team", data={"text": "May I <b>jump</b>?", "problem_id": "echo"}, headers=origin
    )
    assert (asked.status_code, asked.headers["Location"]) == (303, "/c/c/questions")
    assert "May I &lt;b&gt;jump&lt;/b&gt;?" in api.get("/c/c/questions", user="judge").text
    assert "jump" not in api.get("/c/c/questions", user="other").text + api.get("/c/c/questions").text
    message = api.get("contests/c/clarifications", user="judge").json()[0]["id"]
    api.post("/c/c/questions", user="judge", data={"text": "Yes.", "reply_to_id": message}, headers=origin)
    assert "Jury at" in text_of(api.get("/c/c/questions", user="team").text)
    assert "Yes." not in api.get("/c/c/questions", user="other").text
    answer = {"text": "No knives.", "reply_to_id": message, "everybody": "on"}
    api.post("/c/c/questions", user="judge", data=answer, headers=origin)
    assert "No knives." in api.get("/c/c/questions", user="other").text
    refused = api.post("/c/c/questions", user="team", data={"text": "", "problem_id": "echo"}, headers=origin)
    assert refused.status_code == 400
    assert 'id="wrong-text">Required.' in refused.text
    assert api.post("/c/c/questions", data={"text": "hello"}).status_code == 303


def test_whoever_has_no_team_is_led_to_one_that_may_send(api: Api) -> None:
    assert "/admin/contests/c/teams" in api.get("/c/c/problems/echo", user="admin").text
    assert "Only teams can submit." in api.get("/c/c/problems/echo", user="judge").text
    assert "/login?next=" in api.get("/c/c/problems/echo").text


def test_a_judge_of_one_contest_sees_all_of_it_and_nothing_more_elsewhere(api: Api) -> None:
    add_contest(api.service, "elsewhere", started=-HOUR)
    with api.service.database.write() as session:
        session.add(ContestRoleRow(contest_id="elsewhere", account_id="staff", role="judge", granted=datetime.now(UTC)))
    assert "echo" in api.get("/c/elsewhere/problems", user="staff").text
    assert "echo" not in api.get("/c/elsewhere/problems", user="other").text
    assert api.get("/c/c/submissions/1", user="staff").status_code == 403


GROUPED: dict[str, str | bytes | None] = {
    "data/secret/test_group.yaml": "max_score: 100\nscore_aggregation: sum\n",
    **{f"data/secret/{case}.{end}": None for case in ("02", "03") for end in ("in", "ans")},
    **{f"data/secret/a/{case}.{end}": f"{case}\n" for case in ("02", "03") for end in ("in", "ans")},
    "data/secret/a/test_group.yaml": "max_score: 100\nscore_aggregation: pass-fail\n",
}
"""Changes that put both secret cases of echo into one group, which gives its points only if both are right."""


def test_a_report_shows_the_points_of_groups_and_none_for_their_cases(database_url: str, tmp_path: Path) -> None:
    """A right case of a failed group has no points; the problem's page describes the same rule as the statement."""
    with open_api(database_url, tmp_path / "home") as api:
        add_problem(api.service, GROUPED)
        add_contest(api.service)
        number = add_submission(api.service, {"02": RIGHT, "03": WRONG})
        report = api.get(f"/c/c/submissions/{number}", user="team").text
        words = text_of(report)
        assert "Group by group" in words
        assert (
            "a 0.00 100.00 A group gives its points only if all its cases are right. 1 of 2 cases is not right."
            in words
        )
        assert words.count("with its group") == 2
        assert "100.00 100.00" not in words
        judged = text_of(api.get(f"/admin/contests/c/submissions/{number}", user="judge").text)
        assert ("Group by group" in judged, judged.count("with its group")) == (True, 2)
        row = api.get("/c/c/scoreboard", user="team").text.partition('data-team="team"')[2].partition("</tr>")[0]
        assert "no points" in row
        assert "rejected" not in row, "one of its cases is right"
        both = add_submission(api.service, {"02": RIGHT, "03": RIGHT}, minute=2)
        compared = text_of(api.get(f"/c/c/compare?a={number}&b={both}", user="team").text)
        assert f"Group Submission {number} Submission {both} Of How it is scored a 0.00 100.00 100.00" in compared
        assert compared.count("with its group") == 4
        printed = printed_report(api, number)
        assert printed.count("with its group") == 2
        assert re.search(r"secret/a +│ +0.00 │ +100.00", printed)
        problem = text_of(api.get("/c/c/problems/echo", user="team").text)
        organizers = text_of(api.get("/admin/contests/c/problems", user="admin").text)
    assert "points by groups of cases" in problem
    assert "points by groups of cases" in organizers
    assert "A group gives its points only if all its cases are right." in problem
    assert "Each case gives the points that its checker grants." not in problem


def printed_report(api: Api, number: int) -> str:
    """Return the report on a submission as `jurado watch` prints it."""
    report = api.get(f"contests/c/submissions/{number}/report", user="team").json()
    printer = Console(file=io.StringIO(), width=200)
    printer.print(*report_tables(report))
    assert isinstance(printer.file, io.StringIO)
    return printer.file.getvalue()


CHAINED: dict[str, str | bytes | None] = {
    "data/secret/test_group.yaml": "max_score: 100\n",
    **{f"data/secret/{case}.{end}": None for case in ("02", "03") for end in ("in", "ans")},
    **{f"data/secret/a/02.{end}": "2\n" for end in ("in", "ans")},
    "data/secret/a/test_group.yaml": "max_score: 40\nscore_aggregation: pass-fail\n",
    **{f"data/secret/b/03.{end}": "3\n" for end in ("in", "ans")},
    "data/secret/b/test_group.yaml": "max_score: 60\nscore_aggregation: sum\nrequire_pass: [secret/a]\n",
}
"""Changes that put each secret case of echo into its own group, of which the second needs the first one."""


def test_a_case_of_a_group_that_needs_another_has_no_points_of_its_own(database_url: str, tmp_path: Path) -> None:
    with open_api(database_url, tmp_path / "home") as api:
        add_problem(api.service, CHAINED)
        add_contest(api.service)
        number = add_submission(api.service, {"02": WRONG, "03": RIGHT})
        for page in ("problems/echo", f"submissions/{number}"):
            words = text_of(api.get(f"/c/c/{page}", user="team").text)
            assert ("with its group" in words, "60.00 60.00" in words) == (True, False), page
        assert "60.00   │   60.00" not in printed_report(api, number)
        add_submission(api.service, {"02": RIGHT, "03": RIGHT}, minute=2)
        assert "60.00 60.00" in text_of(api.get("/c/c/problems/echo", user="team").text)


def test_a_team_learns_that_a_worse_submission_does_not_change_its_points(api: Api) -> None:
    number = add_submission(api.service, {"02": WRONG, "03": WRONG}, minute=3, judgement_type="WA")
    kept = "You keep 50.0 points."
    assert kept in text_of(api.get(f"/c/c/submissions/{number}", user="team").text)
    assert kept not in text_of(api.get("/c/c/submissions/1", user="team").text)


def test_best_so_far_is_neutral_and_full_points_are_green(api: Api) -> None:
    """The best raw score of all teams may still be far from full points."""
    add_contest(api.service, "d", rule={"kind": "absolute"})
    number = add_submission(api.service, {"02": HALF, "03": RIGHT}, contest_id="d")
    report = api.get(f"/c/d/submissions/{number}", user="team").text
    assert re.search(r'<span class="v no">. Best so far</span>', report)
    assert re.search(r'<span class="v ac">.*? Full points</span>', report)


def test_only_problems_with_final_cases_offer_final_inputs(api: Api) -> None:
    add_problem(api.service, FINAL, "finals")
    add_contest(api.service, "finals", problem_id="finals", settings={"final_minutes": 20})
    change_contest(api.service, settings={"final_minutes": 20})
    assert "Get the final inputs" in api.get("/c/finals/problems/finals", user="team").text
    assert "Get the final inputs" not in api.get("/c/c/problems/echo", user="team").text
