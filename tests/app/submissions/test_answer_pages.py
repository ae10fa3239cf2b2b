"""The pages of answers: what counts and why, filters, downloads, answers of all teams, and the editorial."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from app.core.pages.languages import LANGUAGES
from app.domain.counting import CaseVerdict, RawScore
from app.tables import TestCaseRow
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, change_contest
from tests.builders.service import Api, open_api

RIGHT = RawScore(CaseVerdict.ACCEPTED, 1, 1)
HALF = RawScore(CaseVerdict.ACCEPTED, 1, Fraction(1, 2))
WRONG = RawScore(CaseVerdict.REJECTED)
FAILED = RawScore(CaseVerdict.JUDGE_ERROR)


@pytest.fixture
def api(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A running contest `c` without submissions."""
    with open_api(sqlite_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service)
        yield api


def words(html: str) -> str:
    """The words of a page, apart by single spaces."""
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def standing(api: Api, number: int, contest: str = "c", user: str = "team") -> str:
    """The sentence of a report that says what counts; empty without one."""
    page = api.get(f"/c/{contest}/submissions/{number}", user=user).text
    found = re.search(r'<div class="note over standing[^>]*><div>(.*?)</div>', page, re.DOTALL)
    return "" if found is None else words(found[1])


def test_a_report_says_which_answers_of_a_submission_count(api: Api) -> None:
    numbers = [
        add_submission(api.service, {"02": WRONG}, minute=1),
        add_submission(api.service, {"02": HALF, "03": RIGHT}, minute=2),
        add_submission(api.service, {"02": RIGHT, "03": RIGHT}, minute=3),
        add_submission(api.service, {"02": HALF}, minute=4),
        add_submission(api.service, {"02": RIGHT, "03": FAILED}, minute=5, judgement_type="JE"),
    ]
    said = [standing(api, each) for each in numbers]
    assert said == [
        "Nothing in this submission counts: your other answers are at least as good in each case."
        " You keep 100.0 points.",
        "1 answer of this submission counts: your best answer to each case. You have 100.0 points.",
        "1 answer of this submission counts: your best answer to each case. You have 100.0 points.",
        "Nothing in this submission counts: your other answers are at least as good in each case."
        " You keep 100.0 points.",
        "The judge failed on this submission. It does not count until it has been judged again.",
    ]
    only = add_submission(api.service, {"02": WRONG}, team="other", minute=2)
    assert standing(api, only, user="other").startswith("Nothing counts yet: none of your answers")
    more = add_submission(api.service, {"02": RIGHT}, team="other", minute=3)
    assert standing(api, more, user="other").startswith("This submission counts with 50.0 points: it has your best")


@pytest.mark.parametrize(
    ("counting", "counts"), [("last", [False, True]), ("best", [True, False])], ids=["last", "best"]
)
def test_a_report_leads_to_the_submission_that_counts(api: Api, counting: str, counts: list[bool]) -> None:
    add_contest(api.service, "d", rule={"counting": counting})
    first = add_submission(api.service, {"02": RIGHT, "03": RIGHT}, contest_id="d", minute=1)
    second = add_submission(api.service, {"02": WRONG, "03": RIGHT}, contest_id="d", minute=2)
    points = "100.0" if counting == "best" else "50.0"
    own = f"This submission counts with {points} points: it is your {counting} one."
    other = f"This submission does not count: only your {counting} one does. You have {points} points. Submission"
    said = [standing(api, each, "d") for each in (first, second)]
    assert [each == own for each in said] == counts
    counted = first if counts[0] else second
    assert [each for each in said if each != own] == [f"{other} {counted}"]


def test_the_choice_of_a_team_counts_after_the_end(api: Api) -> None:
    add_contest(api.service, "d", settings={"choose": True})
    first = add_submission(api.service, {"02": HALF}, contest_id="d", minute=1)
    second = add_submission(api.service, {"02": RIGHT}, contest_id="d", minute=2)
    page = api.get(f"/c/d/submissions/{first}", user="team").text
    assert "Count this submission" in page
    sent = api.post("/c/d/problems/echo/chosen", user="team", data={"submission_id": str(first)})
    assert sent.status_code == 303
    assert standing(api, first, "d").endswith("You chose this submission: it counts after the end.")
    problem = words(api.get("/c/d/problems/echo", user="team").text)
    assert f"Submission {first} counts after the end: you chose it." in problem
    change_contest(api.service, "d", duration_ms=1_800_000)
    assert standing(api, first, "d") == "This submission counts with 25.0 points: you chose it."
    assert standing(api, second, "d").startswith("This submission does not count: you chose another one.")


def test_practice_and_reports_of_others_have_no_standing(api: Api) -> None:
    add_contest(api.service, "d", started=6 * HOUR, settings={"practice": True, "show_others_answers": True})
    late = add_submission(api.service, {"02": RIGHT}, contest_id="d", minute=330)
    early = add_submission(api.service, {"02": RIGHT}, contest_id="d", minute=30, team="other")
    assert standing(api, late, "d") == "Submitted for practice: it does not change the scoreboard."
    assert standing(api, early, "d") == ""


RELATIVE: dict[str, Any] = {"kind": "relative", "direction": "maximise", "reference_counts": True}


def raw(value: int) -> RawScore:
    """An accepted answer with a raw score."""
    return RawScore(CaseVerdict.ACCEPTED, value, None)


def test_a_relative_report_shows_the_reference_and_the_best_so_far(api: Api) -> None:
    """A better answer may still come: the best so far is not called full points."""
    add_contest(api.service, "d", rule=RELATIVE)
    with api.service.database.write() as session:
        case = session.scalars(select(TestCaseRow).where(TestCaseRow.name == "03")).one()
        case.reference_raw_num, case.reference_raw_den = 7, 1
    api.service.boards.all_changed()
    number = add_submission(api.service, {"02": raw(5), "03": raw(0)}, contest_id="d")
    page = api.get(f"/c/d/submissions/{number}", user="team").text
    assert ">Reference</th>" in page
    assert 'data-b="of 7, reference 7"' in page
    assert re.search(r'<span class="v ac">.*? Best so far</span>', page)
    assert "Full points" not in page
    change_contest(api.service, "d", settings={"show_best": False})
    api.service.boards.all_changed()
    assert ">Reference</th>" not in api.get(f"/c/d/submissions/{number}", user="team").text


def test_answers_are_filtered_by_problem_and_verdict(api: Api) -> None:
    good = add_submission(api.service, {"02": RIGHT, "03": RIGHT}, minute=1, judgement_type="AC")
    bad = add_submission(api.service, {"02": WRONG}, minute=2, judgement_type="WA")
    waits = add_submission(api.service, None, minute=3, files={"02": b"2\n"})

    def listed(query: str) -> list[int]:
        page = api.get(f"/c/c/answers?{query}", user="team").text
        return [int(each) for each in re.findall(r'<th scope="row"><a href="/c/c/submissions/(\d+)"', page)]

    assert listed("") == [waits, bad, good]
    assert listed("problem=echo&verdict=WA") == [bad]
    assert listed("verdict=AC") == [good]
    assert listed("verdict=waiting") == [waits]
    assert listed(f"before={bad}") == [good]
    assert "No submissions match these filters." in api.get("/c/c/answers?verdict=JE", user="team").text
    assert api.get("/c/c/answers?problem=nothing", user="team").status_code == 404
    assert api.get("/c/c/answers?verdict=XX", user="team").status_code == 400


def test_each_past_answer_is_downloaded_whole_or_file_by_file(api: Api) -> None:
    number = add_submission(api.service, {"02": RIGHT, "03": WRONG})
    page = api.get("/c/c/answers", user="team").text
    (href,) = re.findall(r'href="(/api/[^"]*/files)"', page)
    with zipfile.ZipFile(io.BytesIO(api.get(href, user="team").content)) as archive:
        assert sorted(archive.namelist()) == ["02.out", "03.out"]
    report = api.get(f"/c/c/submissions/{number}", user="team").text
    single = re.findall(r'<a class="mono" href="(/api/[^"]*)" download="(\w+\.out)"', report)
    assert [name for _, name in single] == ["02.out", "03.out"]
    assert api.get(single[0][0], user="team").content == b"02\n"


def test_all_teams_answers_and_the_editorial_open_where_the_contest_shows_them(api: Api) -> None:
    add_contest(api.service, "d", started=6 * HOUR, settings={"show_others_answers": True})
    add_submission(api.service, {"02": RIGHT}, contest_id="d", minute=1)
    best = add_submission(api.service, {"02": RIGHT, "03": RIGHT}, contest_id="d", team="other", minute=2)
    change_contest(api.service, "c", start_time=None)
    change_contest(api.service, "c", duration_ms=1)
    listed = words(api.get("/c/d/problems/echo/answers", user="team").text)
    assert f"Team other 100.0 Submission {best} Download Team team 50.0" in listed
    assert api.get("/c/d/problems/echo/answers", user=None).status_code == 200
    for page in ("problems/echo", f"submissions/{best}"):
        assert "/c/d/problems/echo/answers" in api.get(f"/c/d/{page}", user="team").text


def test_answers_of_others_stay_hidden_without_the_setting_and_in_the_freeze(api: Api) -> None:
    add_submission(api.service, {"02": RIGHT}, team="other", minute=2)
    assert api.get("/c/c/problems/echo/answers", user="team").status_code == 403
    assert "/c/c/problems/echo/answers" not in api.get("/c/c/problems/echo", user="team").text
    assert "Team other" in api.get("/c/c/problems/echo/answers", user="judge").text
    add_contest(api.service, "d", started=4.5 * HOUR, freeze=HOUR, settings={"show_others_answers": True})
    add_submission(api.service, {"02": RIGHT}, contest_id="d", team="other", minute=250)
    hidden = api.get("/c/d/problems/echo/answers", user="team").text
    assert "Team other" not in hidden
    assert "No answers can be shown yet." in hidden


def test_the_editorial_is_a_page_once_the_contest_is_over(sqlite_url: str, tmp_path: Path) -> None:
    with open_api(sqlite_url, tmp_path / "home") as api:
        add_problem(api.service, {"solution/solution.en.md": "Copy **everything**.\n"})
        add_contest(api.service)
        number = add_submission(api.service, {"02": RIGHT})
        assert api.get("/c/c/problems/echo/solution", user="team").status_code == 404
        assert "Editorial" not in api.get("/c/c/problems/echo", user="team").text
        change_contest(api.service, "c", duration_ms=1_800_000)
        assert "Copy <strong>everything</strong>." in api.get("/c/c/problems/echo/solution", user="team").text
        for page in ("problems/echo", f"submissions/{number}"):
            assert "/c/c/problems/echo/solution" in api.get(f"/c/c/{page}", user="team").text


def test_a_comment_sent_with_the_form_is_shown_with_the_submission(api: Api) -> None:
    page = api.get("/c/c/problems/echo", user="team").text
    assert 'name="comment"' in page
    sent = api.post(
        "/c/c/answers",
        user="team",
        data={"problem_id": "echo", "comment": "wider beam"},
        files={"files": ("02.out", b"2\n")},
    )
    assert sent.status_code == 303
    assert "wider beam" in api.get("/c/c/answers", user="team").text
    assert "Comment: wider beam" in api.get(sent.headers["location"], user="team").text


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_sentences_of_standings_are_translated(api: Api, language: str) -> None:
    number = add_submission(api.service, {"02": RIGHT})
    page = api.get(f"/c/c/submissions/{number}", user="team", headers={"Accept-Language": language}).text
    assert ("This submission counts" in page) == (language == "en")
