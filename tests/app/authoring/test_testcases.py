"""Test cases: read by contestants as far as they may, put and taken away by admins one by one."""

from __future__ import annotations

import hashlib
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, cast

import pytest

from app.judging.service.engine import Engine, NotJudged
from app.judging.service.messages import Validate, Validated
from tests.builders.contests import FINAL, HOUR, InlineEngine, add_contest, add_problem, add_submission, with_checkers
from tests.builders.examples import rule_cases, sqlite_first
from tests.builders.packages import zip_package
from tests.builders.scoring import raw
from tests.builders.service import Api
from tests.builders.zips import unzipped

CASES = "contests/c/problems/echo/testcases"


@pytest.fixture
def contest(api: Api) -> Api:
    """The echo problem in a running contest, with checkers."""
    add_problem(api.service)
    add_contest(api.service)
    return with_checkers(api)


def put(api: Api, place: str, *, user: str | None = "admin", data: Any = None, **files: bytes) -> Any:
    """PUT a test case of echo."""
    form = {name: (name, content) for name, content in files.items()}
    return api.put(f"problems/echo/testcases/{place}", user=user, files=form or {"nothing": b""}, data=data or {})


def names(api: Api, user: str | None = "team") -> list[str]:
    """Names of the cases that a user sees."""
    return [case["name"] for case in api.get(CASES, user=user).json()]


@sqlite_first
def test_a_case_has_its_size_its_hash_and_its_points(contest: Api) -> None:
    found = contest.get(CASES).json()[1]
    assert found == {
        "name": "02",
        "group": "secret",
        "kind": "provisional",
        "ordinal": 2,
        "size": 2,
        "sha256": hashlib.sha256(b"2\n").hexdigest(),
        "max_points": 50.0,
        "best_raw": None,
        "href": "contests/c/problems/echo/testcases/02/input",
    }
    assert contest.get(found["href"]).content == b"2\n"


@sqlite_first
def test_the_best_raw_score_is_shown_and_stands_still_while_the_board_is_frozen(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service, started=4 * HOUR, freeze=2 * HOUR, rule={"kind": "relative"})
    add_submission(api.service, {"02": raw(7)}, minute=10)
    add_submission(api.service, {"02": raw(9)}, minute=200)
    assert api.get(CASES, user="team").json()[1]["best_raw"] == 7
    assert api.get(CASES, user="judge").json()[1]["best_raw"] == 9


@sqlite_first
def test_a_case_and_a_package_are_refused_for_a_while_where_no_grader_can_check_them(contest: Api) -> None:
    """Nothing is kept, and nothing is said against what was sent."""

    class Dead(InlineEngine):
        def validate(self, _request: Validate) -> Future[Validated]:
            future: Future[Validated] = Future()
            future.set_exception(NotJudged("its graders were killed"))
            return future

    before = names(contest, "judge")
    contest.service = replace(contest.service, engine=cast(Engine, Dead(contest.service.files)))
    contest.app.state.service = contest.service
    package = {"content": zip_package(top=""), "headers": {"Content-Type": "application/zip"}}
    for reply in (
        put(contest, "secret/04", input=b"4\n", answer=b"4\n"),
        contest.post("problems?id=another", user="admin", **package),
    ):
        assert (reply.status_code, reply.headers["Retry-After"]) == (503, "10")
        assert reply.json()["message"].endswith("could not be checked: its graders were killed")
    assert names(contest, "judge") == before
    assert contest.get("problems/another", user="admin").status_code == 404


@sqlite_first
def test_a_contest_may_hide_the_best_raw_scores(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service, settings={"show_best": False})
    assert "best_raw" not in api.get(CASES, user="team").json()[1]


@sqlite_first
def test_final_cases_are_for_judges_only(api: Api) -> None:
    add_problem(api.service, FINAL)
    add_contest(api.service)
    assert names(api) == names(api, None) == ["01", "02"]
    assert names(api, "judge") == ["01", "02", "03"]
    assert api.get(f"{CASES}/03/input", user="team").status_code == 404
    assert api.get(f"{CASES}/03/input", user="judge").content == b"3\n"
    assert api.get(CASES, user="team").json()[1]["max_points"] == 100.0  # the provisional group fills the maximum


@sqlite_first
def test_all_inputs_come_as_one_zip_with_the_same_bytes_each_time(api: Api) -> None:
    add_problem(api.service, FINAL)
    add_contest(api.service)
    data = api.get("contests/c/problems/echo/inputs.zip").content
    assert unzipped(data) == {"01.in": b"1\n", "02.in": b"2\n"}
    assert api.get("contests/c/problems/echo/inputs.zip", user="team").content == data
    for kept in (api.service.settings.home / "cache").iterdir():
        kept.unlink()
    assert api.get("contests/c/problems/echo/inputs.zip").content == data


def test_the_zip_of_inputs_has_the_problems_tools_where_the_contest_shares_them(quick_api: Api) -> None:
    tools = {"generators/make.py": "print(1)\n", "board.js": "export function draw() {}\n"}
    add_problem(quick_api.service, {**FINAL, **tools, "solution/solution.en.md": "Print it.\n"})
    add_contest(quick_api.service)
    inputs = {"01.in": b"1\n", "02.in": b"2\n"}
    assert unzipped(quick_api.get("contests/c/problems/echo/inputs.zip").content) == inputs
    quick_api.patch("contests/c", user="admin", json={"settings": {"share_tools": True}})
    shared = unzipped(quick_api.get("contests/c/problems/echo/inputs.zip").content)
    assert shared == inputs | {f"tools/{name}": text.encode() for name, text in tools.items()}


@rule_cases("path", ["02/answer", "02/ans", "02.ans/input", "02/input/../answer"])
def test_there_is_no_way_to_an_expected_answer(contest: Api, path: str) -> None:
    assert contest.get(f"{CASES}/{path}", user="team").status_code == 404


@sqlite_first
def test_a_case_that_is_put_takes_its_share_of_the_groups_points(contest: Api) -> None:
    made = put(contest, "secret/2b", input=b"7\n", answer=b"7\n")
    assert made.status_code == 201, made.text
    assert made.json()["max_points"] == pytest.approx(100 / 3)
    assert names(contest) == ["01", "02", "03", "2b"]
    assert [case["ordinal"] for case in contest.get(CASES).json()] == [1, 2, 3, 4]
    assert put(contest, "secret/2b", input=b"8\n", answer=b"8\n").status_code == 200
    assert contest.get(f"{CASES}/2b/input").content == b"8\n"


@sqlite_first
def test_a_case_without_an_expected_answer_is_not_open_yet(contest: Api) -> None:
    made = put(contest, "secret/04", input=b"4\n", data={"method": "beam", "seconds": "2.5", "seed": "7"})
    assert made.status_code == 201
    assert (made.json()["answer_size"], made.json()["max_points"]) == (None, 0.0)
    assert made.json()["provenance"]["reference"] == {"method": "beam", "seconds": 2.5, "seed": 7}
    assert names(contest) == ["01", "02", "03"]
    assert names(contest, "judge") == ["01", "02", "03", "04"]
    assert contest.get(CASES).json()[1]["max_points"] == 50.0


@sqlite_first
def test_every_fault_of_a_case_is_listed_at_once_and_nothing_is_stored(contest: Api) -> None:
    data = {"seed": "-1", "seconds": "soon"}
    reply = put(contest, "nowhere/-bad", input=b"4", answer=b"5\r\n", data=data)
    assert reply.status_code == 400
    found = {each["file"] for each in reply.json()["errors"]}
    assert found == {"name", "group", "seed", "seconds", "data/nowhere/-bad.in", "data/nowhere/-bad.ans"}
    assert names(contest, "judge") == ["01", "02", "03"]


@rule_cases(
    ("files", "file", "message"),
    [
        ({"answer": b"1\n"}, "input", "expected a file, found nothing"),
        ({"input": b"x" * 2**20 + b"\n"}, "data/secret/new.in", "expected at most 1048576 bytes, found 1048577"),
        ({"input": b"\xff\n"}, "data/secret/new.in", "expected UTF-8, found byte 0xff"),
    ],
)
def test_a_case_that_is_not_right_is_refused(contest: Api, files: dict[str, bytes], file: str, message: str) -> None:
    reply = put(contest, "secret/new", **files)
    assert reply.status_code == 400
    assert [(each["file"], each["message"]) for each in reply.json()["errors"]] == [(file, message)]


@sqlite_first
def test_the_checker_reads_the_input_and_the_answer_before_they_are_stored(api: Api) -> None:
    settings = "checker: comesolo\nscoring: {kind: absolute, direction: maximise}\n"
    add_problem(api.service, {"jurado.yaml": settings})
    add_contest(api.service)
    with_checkers(api)
    board = b"3\no..\n.o.\n...\n"
    wrong = put(api, "secret/09", input=b"3\nooo\n")
    assert wrong.status_code == 400
    assert wrong.json()["errors"][0]["file"] == "data/secret/09.in"
    wrong = put(api, "secret/09", input=board, answer=b"par 1\nbest 9\n")
    assert [each["message"] for each in wrong.json()["errors"]] == [
        "reference: expected 0 <= par <= best <= 1, found par 1, best 9"
    ]


@sqlite_first
def test_unknown_fields_and_files_are_refused(contest: Api) -> None:
    assert put(contest, "secret/04", input=b"4\n", data={"points": "3"}).status_code == 400
    assert put(contest, "secret/04", input=b"4\n", output=b"4\n").status_code == 400
    assert contest.put("problems/echo/testcases/secret/04", user="admin", content=b"4\n").status_code == 400


@sqlite_first
def test_a_name_stands_for_one_case_in_the_whole_problem(contest: Api) -> None:
    assert put(contest, "sample/02", input=b"2\n", answer=b"2\n").status_code == 200
    cases = contest.get("problems/echo", user="admin").json()["testcases"]
    assert sorted((each["group"], each["name"]) for each in cases) == [
        ("sample", "01"),
        ("sample", "02"),
        ("secret", "03"),
    ]


@sqlite_first
def test_a_case_of_a_problem_with_submissions_stays_as_it_is_until_the_change_is_applied(contest: Api) -> None:
    add_submission(contest.service, {"02": raw(1, 1)})
    assert put(contest, "secret/02", input=b"2\n", answer=b"2\n").status_code == 200
    waiting = put(contest, "secret/02", input=b"22\n", answer=b"22\n")
    assert (waiting.status_code, waiting.json()["changes"]) == (202, ["test case 02: input, expected answer"])
    assert waiting.headers["Location"] == "/api/contests/c/rejudgings/1"
    joined = contest.delete("problems/echo/testcases/secret/03", user="admin")
    assert (joined.status_code, len(joined.json()["changes"])) == (202, 2)
    assert contest.get(f"{CASES}/02/input").content == b"2\n"
    assert names(contest) == ["01", "02", "03"]


@sqlite_first
def test_the_last_case_of_a_group_and_one_that_is_not_there_are_not_deleted(contest: Api) -> None:
    assert contest.delete("problems/echo/testcases/secret/02", user="admin").status_code == 204
    last = contest.delete("problems/echo/testcases/secret/03", user="admin")
    assert (last.status_code, "at least one secret test case" in last.json()["message"]) == (400, True)
    assert contest.delete("problems/echo/testcases/secret/99", user="admin").status_code == 404
    assert contest.delete("problems/echo/testcases/sample/03", user="admin").status_code == 404
    assert contest.delete("problems/none/testcases/secret/03", user="admin").status_code == 404


@sqlite_first
def test_a_group_may_have_a_slash_in_its_name(api: Api) -> None:
    add_problem(api.service, FINAL)
    add_contest(api.service)
    with_checkers(api)
    made = put(api, "secret/z/77", input=b"7\n", answer=b"7\n")
    assert (made.status_code, made.json()["group"]) == (201, "secret/z")


@rule_cases("user", [None, "team", "judge"])
def test_only_admins_put_and_delete_cases(contest: Api, user: str | None) -> None:
    refused = 401 if user is None else 403
    assert put(contest, "secret/04", user=user, input=b"4\n").status_code == refused
    assert contest.delete("problems/echo/testcases/secret/02", user=user).status_code == refused
