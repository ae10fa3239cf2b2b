"""Questions, answers and announcements from the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.app.conftest import Jurado
from tests.builders.scripted import Scripted, problem

PATH = "contests/c/clarifications"


def said(id_: str, **more: Any) -> dict[str, Any]:
    facts = {"from_team_id": None, "reply_to_id": None, "problem_id": None, "text": f"text {id_}"}
    return {"id": id_, **facts, "time": "2026-11-21T10:00:00.000Z", "contest_time": "0:10:00.000", **more}


QUESTION = said("1", from_team_id="ants", problem_id="comesolo", text="Why [not]?")


@pytest.fixture
def there(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    answers: dict[str, Any] = {
        f"GET {PATH}": [
            QUESTION,
            said("2", reply_to_id="1", to_team_ids=["ants"]),
            said("3"),
            said("4", to_group_ids=["g"]),
        ],
        f"GET {PATH}/1": QUESTION,
        f"POST {PATH}": said("5"),
        "GET contests/c/teams": [{"id": "ants", "name": "The Ants"}],
        "GET contests/c/problems": [problem("comesolo", "A")],
    }
    return Scripted(answers).install(monkeypatch)


def test_a_question_is_sent_with_its_problem_by_label(jurado: Jurado, there: Scripted) -> None:
    done = jurado("clarify", "c", "Why?", "--problem", "a", "--reply-to", "2")
    assert (done.exit_code, done.stdout) == (0, "clarification 5 has been sent to the jury\n")
    assert there.sent(f"POST {PATH}") == [{"text": "Why?", "problem_id": "comesolo", "reply_to_id": "2"}]


def test_a_question_is_read_from_standard_input(jurado: Jurado, there: Scripted) -> None:
    assert json.loads(jurado("clarify", "c", "-", "--json", stdin="Two\nlines\n").stdout)["id"] == "5"
    assert there.sent(f"POST {PATH}") == [{"text": "Two\nlines\n"}]


def test_an_empty_question_is_not_sent(jurado: Jurado, there: Scripted) -> None:
    done = jurado("clarify", "c", " ")
    assert (done.exit_code, done.stderr) == (2, "jurado: TEXT: expected something to say, found nothing\n")
    assert there.sent(f"POST {PATH}") == []


def test_a_problem_that_is_misspelt_is_not_asked_about(jurado: Jurado, there: Scripted) -> None:
    done = jurado("clarify", "c", "Why?", "--problem", "comesola")
    assert done.exit_code == 2
    assert "did you mean comesolo?" in done.stderr


def test_clarifications_tell_who_says_what_to_whom(jurado: Jurado, there: Scripted) -> None:
    shown = jurado("clarifications", "c").stdout
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.splitlines() if line.startswith("│")]
    assert rows == [
        ["1", "0:10:00", "The Ants", "jury", "comesolo", "", "Why [not]?"],
        ["2", "0:10:00", "jury", "The Ants", "", "1", "text 2"],
        ["3", "0:10:00", "jury", "all", "", "", "text 3"],
        ["4", "0:10:00", "jury", "g", "", "", "text 4"],
    ]
    assert json.loads(jurado("clarifications", "c", "--json").stdout)[0] == QUESTION


def test_an_answer_goes_to_who_asked_or_to_all(jurado: Jurado, there: Scripted) -> None:
    assert jurado("admin", "answer", "c", "1", "Because.").stdout == "answer 5 has been sent to ants\n"
    assert jurado("admin", "answer", "c", "1", "Because.", "--to-all").stdout == "answer 5 has been sent to all teams\n"
    common = {"text": "Because.", "problem_id": "comesolo", "reply_to_id": "1"}
    assert there.sent(f"POST {PATH}") == [{**common, "to_team_ids": ["ants"]}, common]


def test_announcements_go_to_all_or_to_those_named(jurado: Jurado, there: Scripted) -> None:
    assert jurado("admin", "announce", "c", "Lunch").stdout == "announcement 5 has been sent to all teams\n"
    jurado("admin", "announce", "c", "Lunch", "--team", "ants", "--group", "g")
    assert there.sent(f"POST {PATH}") == [
        {"text": "Lunch"},
        {"text": "Lunch", "to_team_ids": ["ants"], "to_group_ids": ["g"]},
    ]


def test_a_team_that_announces_is_told_that_only_the_jury_has_it(
    jurado: Jurado, monkeypatch: pytest.MonkeyPatch
) -> None:
    Scripted({f"POST {PATH}": said("5", from_team_id="ants")}).install(monkeypatch)
    done = jurado("admin", "announce", "c", "Lunch")
    assert done.stdout == "clarification 5 has been sent to the jury only: you are logged in as a team\n"
