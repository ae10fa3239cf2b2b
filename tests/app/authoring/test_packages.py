"""Problem packages over HTTP: brought in whole or not at all, with every fault named, and given back."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import MutableMapping
from contextlib import AsyncExitStack
from pathlib import Path
from random import Random
from typing import Any

import pytest
from fastapi import Request, Response

from app.core.faults import Steps
from app.core.http.downloads import ProgressReply
from app.core.settings import Settings
from app.packages.catalog import bundled
from app.packages.model import write_archive
from app.packages.read import read_archive, read_package
from app.packages.verify import verify_report
from app.packages.zips import zip_bytes
from tests.builders.contests import add_contest, add_problem, add_submission, with_checkers
from tests.builders.examples import rule_cases
from tests.builders.foreign import OMEGAUP, foreign_zip
from tests.builders.packages import case_of, package_files, write_package, zip_package
from tests.builders.scoring import share
from tests.builders.service import Api, open_api
from tests.builders.zips import unzipped

ZIP = {"Content-Type": "application/zip"}


@pytest.fixture
def checked(api: Api) -> Api:
    """The API of a service that has checkers."""
    return with_checkers(api)


def bring(api: Api, data: bytes, query: str = "", user: str | None = "admin") -> Any:
    """POST a package as the body."""
    return api.post(f"problems{query}", user=user, content=data, headers=ZIP)


def messages(reply: Any) -> list[tuple[str, str]]:
    """File and message of each fault."""
    return [(each["file"], each["message"]) for each in reply.json()["errors"]]


def test_a_package_becomes_a_problem(checked: Api) -> None:
    made = bring(checked, zip_package())
    assert made.status_code == 201, made.text
    assert made.headers["Location"] == "/api/problems/echo"
    found = checked.get("problems/echo", user="judge").json()
    assert made.json() == {**found, "warnings": [], "verification": made.json()["verification"], "reference_run": None}
    assert (found["names"], found["languages"]) == ({"en": "Echo", "es": "Eco"}, ["en", "es"])
    assert [(case["name"], case["group"], case["max_points"]) for case in found["testcases"]] == [
        ("01", "sample", 0.0),
        ("02", "secret", 50.0),
        ("03", "secret", 50.0),
    ]
    assert [each["id"] for each in checked.get("problems", user="judge").json()] == ["echo"]


def test_a_package_without_a_top_folder_is_named_in_the_address(checked: Api) -> None:
    assert bring(checked, zip_package(top="")).status_code == 400
    assert bring(checked, zip_package(top=""), "?id=other").json()["id"] == "other"
    assert bring(checked, zip_package(), "?id=other").status_code == 400


def test_verify_and_an_upload_state_the_same_limit_of_answers(checked: Api, tmp_path: Path) -> None:
    """An answer of 80 MB is more than a request of a contestant may carry by default."""
    rules = "checker: exact\nscoring: {kind: absolute, direction: maximise}\nanswers: {limit: 80000000}\n"
    made = bring(checked, zip_package({"jurado.yaml": rules}))
    assert made.status_code == 201, made.text
    stated = [each["message"] for each in made.json()["warnings"] if each["where"] == "line 3, answers.limit"]
    report = verify_report(write_package(tmp_path, {"jurado.yaml": rules}))
    most = Settings.model_fields["max_upload"].default
    assert stated == [f"servers accept answers of at most {most} bytes by default (JURADO_MAX_UPLOAD), found 80000000"]
    assert [each["message"] for each in report["warnings"] if each["where"] == "line 3, answers.limit"] == stated


def test_a_zip_of_another_judge_becomes_a_problem_and_the_warnings_say_how(checked: Api) -> None:
    made = bring(checked, foreign_zip(OMEGAUP), "?id=suma")
    assert (made.status_code, made.json()["id"]) == (201, "suma"), made.text
    cases = {case["name"]: case["max_points"] for case in made.json()["testcases"]}
    assert cases == {"sample01": 0, "sample02": 0, "2.a": 80, "2.b": 80, "1": 20}
    files = {warning["file"] for warning in made.json()["warnings"]}
    assert {"statements/es.markdown", "", "input_validators/text.py"} <= files
    assert bring(checked, foreign_zip(OMEGAUP), "?id=suma&format=omegaup").status_code == 201
    assert bring(checked, foreign_zip(OMEGAUP), "?id=suma&format=ioi").status_code == 400


def test_a_faulty_zip_of_another_judge_leaves_nothing(checked: Api) -> None:
    reply = bring(checked, foreign_zip(OMEGAUP, {"interactive/a.idl": "x", "testplan": "1 x\n"}), "?id=suma")
    assert reply.status_code == 400
    assert {file for file, _ in messages(reply)} == {"interactive", "testplan"}
    assert checked.get("problems", user="admin").json() == []


def test_every_fault_is_listed_at_once_with_its_file_and_nothing_is_stored(checked: Api) -> None:
    wrong = {"jurado.yaml": "checker: exact\nscoring: {kind: best}\nfoo: 1\n", "data/secret/02.ans": None}
    reply = bring(checked, zip_package(wrong))
    assert reply.status_code == 400
    assert [file for file, _ in messages(reply)] == ["data/secret/02.ans", "jurado.yaml", "jurado.yaml"]
    assert checked.get("problems", user="admin").json() == []


def test_an_output_validator_beside_another_checker_is_refused_in_clear_words(checked: Api) -> None:
    reply = bring(checked, zip_package({"output_validator/validate.py": "print()\n"}))
    ((file, text),) = messages(reply)
    assert file == "output_validator/validate.py"
    assert text.startswith("expected no `checker` in jurado.yaml, as the package has its own, found 'exact'")


def test_a_checker_that_is_not_bundled_is_refused(checked: Api) -> None:
    reply = bring(checked, zip_package({"jurado.yaml": "checker: nosuch\nscoring: {kind: absolute}\n"}))
    ((file, text),) = messages(reply)
    assert file == "jurado.yaml"
    assert text.startswith("expected a checker that is bundled, one of comesolo, exact, ")
    assert text.endswith("found 'nosuch'")


def test_a_module_that_is_no_checker_is_refused_too(checked: Api) -> None:
    reply = bring(checked, zip_package({"jurado.yaml": "checker: doors\nscoring: {kind: absolute}\n"}))
    assert reply.status_code == 400
    assert messages(reply)[0][1].endswith("found 'doors'")


def test_inputs_and_expected_answers_are_held_against_the_checker(checked: Api) -> None:
    settings = "checker: comesolo\nscoring: {kind: absolute, direction: maximise}\n"
    reply = bring(checked, zip_package({"jurado.yaml": settings}))
    errors = [each for each in reply.json()["errors"] if each["severity"] == "error"]
    assert [each["file"] for each in errors] == [f"data/{case}.in" for case in ("sample/01", "secret/02", "secret/03")]
    assert all("the checker refuses this" in each["message"] for each in errors)


@rule_cases(
    "data",
    [b"", b"no zip at all", zip_package()[:-40], zip_bytes({"../../etc/passwd": b"x"}), zip_bytes({"echo/a": b""})],
)
def test_what_is_no_package_is_refused_and_leaves_nothing(checked: Api, data: bytes) -> None:
    reply = bring(checked, data)
    assert reply.status_code == 400, reply.text
    assert reply.json()["errors"]
    assert checked.get("problems", user="admin").json() == []


def test_other_kinds_of_bodies_are_refused(checked: Api) -> None:
    assert checked.post("problems", user="admin", json={}).status_code == 415
    assert checked.post("problems", user="admin", data={"id": "x"}, files={"other": b"x"}).status_code == 415


def test_a_package_comes_back_as_it_was_sent(checked: Api) -> None:
    bring(checked, zip_package())
    data = checked.get("problems/echo/package.zip", user="judge").content
    assert {name.removeprefix("echo/"): file for name, file in unzipped(data).items()} == package_files()
    assert checked.get("problems/echo/package.zip", user="judge").content == data


def test_test_cases_that_were_put_are_in_the_package(checked: Api) -> None:
    bring(checked, zip_package())
    checked.put("problems/echo/testcases/secret/09", user="admin", files={"input": b"9\n", "answer": b"9\n"})
    checked.delete("problems/echo/testcases/secret/02", user="admin")
    package = read_archive(checked.get("problems/echo/package.zip", user="admin").content)
    assert [case.name for case in package.cases] == ["01", "03", "09"]
    assert case_of(package, "09").answer.read() == b"9\n"


TWO_GROUPS: dict[str, str | bytes | None] = {
    **{f"data/secret/{case}.{end}": None for case in ("02", "03") for end in ("in", "ans")},
    "data/secret/a/02.in": "2\n",
    "data/secret/a/02.ans": "2\n",
    "data/secret/a/test_group.yaml": "max_score: 40\nscore_aggregation: pass-fail\n",
    "data/secret/b/03.in": "3\n",
    "data/secret/b/03.ans": "3\n",
    "data/secret/b/test_group.yaml": "max_score: 60\nrequire_pass: [sample, secret/a]\n",
    "jurado.yaml": "checker: exact\nscoring: {kind: absolute}\nfinal: [secret/a]\n",
}


def test_a_package_with_a_group_without_any_expected_answer_reads_back(checked: Api) -> None:
    """The format knows no case without an answer and no group without a case: the input lies next to the data."""
    assert bring(checked, zip_package(TWO_GROUPS)).status_code == 201
    path = "problems/echo/testcases/secret/a/02"
    assert checked.put(path, user="admin", files={"input": b"22\n"}).status_code == 200
    data = checked.get("problems/echo/package.zip", user="admin").content
    package = read_archive(data)
    assert [(group.name, group.max_score, group.require_pass) for group in package.groups] == [
        ("sample", None, ()),
        ("secret/b", 60, ("sample",)),
    ]
    assert (package.max_score, package.settings.final) == (60, ())
    assert package.files["generators/unanswered/secret/a/02.in"] == b"22\n"
    again = bring(checked, data)
    assert again.status_code == 201, again.text
    assert checked.get("problems/echo/package.zip", user="admin").content == data


def test_a_problem_without_an_answered_secret_case_is_no_package_and_says_why(checked: Api) -> None:
    """The format demands one: the problem alone is refused, and the package of its contest names what it lacks."""
    assert bring(checked, zip_package()).status_code == 201
    for name in ("02", "03"):
        put = checked.put(f"problems/echo/testcases/secret/{name}", user="admin", files={"input": b"22\n"})
        assert put.status_code == 200, put.text
    reply = checked.get("problems/echo/package.zip", user="admin")
    assert reply.status_code == 409
    assert "expected a secret test case with an expected answer" in reply.json()["message"]
    add_contest(checked.service)
    contest = unzipped(checked.get("contests/c/package.zip", user="admin").content)
    (lacking,) = json.loads(contest["unreadable.json"])
    assert (lacking["path"], "problems/echo/echo.zip" in contest) == ("problems/echo/echo.zip", False)
    assert "expected a secret test case" in lacking["error"]
    name = "n" * 251
    refused = checked.put(f"problems/echo/testcases/secret/{name}", user="admin", files={"input": b"9\n"})
    assert (refused.status_code, "at most 250 characters" in refused.json()["message"]) == (400, True)


def test_an_input_lies_with_the_others_again_once_it_has_an_answer(checked: Api) -> None:
    assert bring(checked, zip_package()).status_code == 201
    path = "problems/echo/testcases/secret/09"
    assert checked.put(path, user="admin", files={"input": b"9\n"}).status_code in {200, 201}
    beside = read_archive(checked.get("problems/echo/package.zip", user="admin").content)
    assert ([case.name for case in beside.cases], "data/secret/09.in" in beside.files) == (["01", "02", "03"], False)
    assert bring(checked, write_archive(beside)).status_code == 201
    checked.put(path, user="admin", files={"input": b"9\n", "answer": b"9\n"})
    package = read_archive(checked.get("problems/echo/package.zip", user="admin").content)
    assert [case.name for case in package.cases] == ["01", "02", "03", "09"]
    assert "generators/unanswered/secret/09.in" not in package.files


def test_a_package_without_submissions_may_be_replaced_by_any_other(checked: Api) -> None:
    bring(checked, zip_package())
    changed = zip_package({"data/secret/02.in": None, "data/secret/02.ans": None, "data/secret/03.in": "4\n"})
    again = bring(checked, changed)
    assert again.status_code == 201
    assert [(case["name"], case["max_points"]) for case in again.json()["testcases"]] == [("01", 0.0), ("03", 100.0)]


def test_once_there_are_submissions_a_new_version_waits_to_be_applied(checked: Api) -> None:
    bring(checked, zip_package())
    add_contest(checked.service)
    add_submission(checked.service, {"02": share(1)})
    fewer = bring(
        checked, zip_package({"data/secret/02.in": None, "data/secret/02.ans": None, "data/secret/03.in": "4\n"})
    )
    assert fewer.status_code == 202
    assert fewer.json()["changes"] == ["test case 02: removed", "test case 03: input, points"]
    more = bring(checked, zip_package({"data/secret/04.in": "4\n", "data/secret/04.ans": "4\n"}))
    assert (more.status_code, more.json()["id"]) == (202, fewer.json()["id"])
    assert any(change.startswith("test case 04: added") for change in more.json()["changes"])
    board = checked.get("contests/c/scoreboard").json()
    assert board["rows"][0]["score"]["score"] == 50.0


def test_a_problem_in_use_is_not_deleted(checked: Api) -> None:
    add_problem(checked.service)
    add_contest(checked.service)
    used = checked.delete("problems/echo", user="admin")
    assert (used.status_code, used.json()["message"]) == (409, "echo is a problem of c")
    assert checked.delete("contests/c/problems/echo", user="admin").status_code == 204
    assert checked.delete("problems/echo", user="admin").status_code == 204
    assert checked.delete("problems/echo", user="admin").status_code == 404


@rule_cases("user", [None, "team", "judge"])
def test_only_admins_bring_in_and_delete_problems(checked: Api, user: str | None) -> None:
    add_problem(checked.service)
    refused = 401 if user is None else 403
    assert bring(checked, zip_package(), user=user).status_code == refused
    assert checked.delete("problems/echo", user=user).status_code == refused
    reads = 200 if user == "judge" else refused
    for path in ("problems", "problems/echo", "problems/echo/package.zip"):
        assert checked.get(path, user=user).status_code == reads


def test_a_package_that_is_too_large_is_refused_while_it_streams(database_url: str, tmp_path: Path) -> None:
    with open_api(database_url, tmp_path / "home", max_package=4096) as small:
        reply = bring(small, zip_package({"statement/big.md": Random(1).randbytes(20_000)}))
        assert (reply.status_code, reply.json()["code"]) == (413, 413)
        assert small.get("problems", user="admin").json() == []


@pytest.mark.parametrize("slug", sorted(bundled()))
def test_every_bundled_problem_can_be_brought_in_and_taken_out_again(
    slug: str, sqlite_url: str, tmp_path: Path
) -> None:
    package = read_package(bundled()[slug])
    with open_api(sqlite_url, tmp_path / "home") as opened:
        api = with_checkers(opened)
        made = bring(api, write_archive(package))
        assert made.status_code == 201, made.text
        assert made.json()["max_score"] == package.max_score
        packed = api.get(f"problems/{slug}/package.zip", user="admin").content
        assert dict(read_archive(packed).files) == dict(package.files)
        add_contest(api.service, problem_id=slug)
        for language in package.statements:
            page = api.get(f"contests/c/problems/{slug}/statement?lang={language}")
            assert (page.status_code, package.problem.name[language] in page.text) == (200, True)


def watched(api: Api, data: bytes, query: str = "") -> list[dict[str, Any]]:
    """The lines of an import whose client asks how far it has come."""
    headers = {"Content-Type": "application/zip", "Accept": "application/x-ndjson"}
    reply = api.post(f"problems{query}", user="admin", content=data, headers=headers)
    assert (reply.status_code, reply.headers["content-type"]) == (200, "application/x-ndjson")
    return [json.loads(line) for line in reply.text.splitlines()]


def test_a_client_that_asks_for_progress_gets_the_reply_in_the_last_line(checked: Api) -> None:
    *steps, last = watched(checked, zip_package())
    assert all(step.keys() == {"phase", "done", "total"} for step in steps)
    assert (last["status"], last["headers"]) == (201, {"location": "/api/problems/echo"})
    assert last["body"]["id"] == "echo"
    (entry,) = checked.get("audit", user="admin").json()[:1]
    assert (entry["operation"], entry["account_id"]) == ("import_problem", "admin")
    *_, refused = watched(checked, zip_package({"jurado.yaml": None}))
    plain = bring(checked, zip_package({"jurado.yaml": None}))
    assert (refused["status"], refused["body"]) == (plain.status_code, plain.json())
    another = zip_package({"data/secret/03.ans": "33\n", "data/secret/03.in": "33\n"})
    *_, preview = watched(checked, another, "?preview=true")
    assert (preview["status"], preview["body"]["outcome"]) == (200, "at_once")


def test_steps_are_sent_while_the_work_goes_on(quick_api: Api) -> None:
    """The work waits for its first line to be out; a fault of the program is a 500 in the last line."""
    sent: list[bytes] = []
    seen = threading.Event()

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message.get("body", b""))
        if b"storing" in sent[-1]:
            seen.set()

    def work(steps: Steps) -> Response:
        steps.on_step("storing", 3, 7)
        assert seen.wait(60)
        raise KeyError("a fault")

    request = Request({"type": "http", "app": quick_api.app, "path": "/api/problems", "headers": []})
    asyncio.run(ProgressReply(request, work, AsyncExitStack())({"type": "http"}, request.receive, send))
    lines = [json.loads(each) for each in sent if each]
    assert lines[0] == {"phase": "storing", "done": 3, "total": 7}
    assert (lines[-1]["status"], lines[-1]["body"]["code"]) == (500, 500)
