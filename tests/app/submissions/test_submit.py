"""Taking submissions: what is acknowledged is there, what is refused leaves nothing."""

from __future__ import annotations

import base64
import errno
import json
from datetime import timedelta
from typing import Any

import anyio
import pytest
from sqlalchemy import func, select, text

from app.core.files.open_files import LocalFiles
from app.core.http.forms import Form, _Part
from app.packages.zips import zip_bytes
from app.tables import AnswerRow, JudgementRow, SubmissionRow
from tests.builders.contests import HOUR, PROBLEM, add_contest, add_problem
from tests.builders.examples import rule_cases
from tests.builders.service import Api

ROUTE = "contests/c/submissions"


@pytest.fixture
def contest(api: Api) -> Api:
    """The API with the running contest `c`."""
    add_problem(api.service)
    add_contest(api.service)
    return api


def send(api: Api, *, user: str | None = "team", name: str = "02.out", data: bytes = b"7\n", **more: Any) -> Any:
    """Submit one file by form."""
    fields = {"problem_id": PROBLEM} | more.pop("data_fields", {})
    return api.post(ROUTE, user=user, data=fields, files={"files": (name, data)}, **more)


def clics(**changes: Any) -> dict[str, Any]:
    """A submission as CLICS JSON."""
    files = [{"data": base64.b64encode(zip_bytes({"02.out": b"7\n"})).decode(), "mime": "application/zip"}]
    return {"language_id": "answers", "problem_id": PROBLEM, "files": files} | changes


def stored(api: Api) -> tuple[int, int, int]:
    """How many submissions, answers and judgements there are."""
    with api.service.database.read() as session:
        tables = (SubmissionRow, AnswerRow, JudgementRow)
        one, two, three = (session.scalar(select(func.count()).select_from(table)) or 0 for table in tables)
    return one, two, three


def test_a_form_makes_a_submission_with_answers_and_a_judgement_that_waits(contest: Api) -> None:
    """201, Location and the CLICS object; the rows are there."""
    reply = contest.post(
        ROUTE,
        user="team",
        data={"problem_id": PROBLEM, "comment": "first"},
        files=[
            ("files", ("a.zip", zip_bytes({"02.out": b"7\n", "03.out": b"8\n"}))),
            ("sources", ("solve.py", b"print(7)")),
        ],
    )
    assert reply.status_code == 201, reply.text
    body = reply.json()
    assert reply.headers["location"] == f"/api/{ROUTE}/{body['id']}"
    assert (body["problem_id"], body["team_id"], body["language_id"]) == (PROBLEM, "team", "answers")
    assert body["files"][0]["mime"] == "application/zip"
    assert stored(contest) == (1, 2, 1)
    with contest.service.database.read() as session:
        source = session.scalars(select(SubmissionRow)).one().sources[0]
    assert contest.service.files.load(source["sha256"]) == b"print(7)"
    assert contest.get(f"{ROUTE}/{body['id']}", user="team").json()["id"] == body["id"]


def test_clics_json_makes_one_too(contest: Api) -> None:
    """The archive comes as base64; a team may name itself."""
    reply = contest.post(ROUTE, user="team", json=clics(team_id="team"))
    assert reply.status_code == 201, reply.text
    assert stored(contest) == (1, 1, 1)


def test_large_answers_lie_in_the_file_store(contest: Api) -> None:
    """Beyond 64 KiB an answer is a file, durable before its row, and comes back as it was."""
    data = b"1 " * 50_000
    reply = send(contest, data=data)
    with contest.service.database.read() as session:
        answer = session.scalars(select(AnswerRow)).one()
    assert answer.data is None
    assert contest.service.files.load(str(answer.sha256)) == data
    assert contest.get(f"{ROUTE}/{reply.json()['id']}/answers/02", user="team").content == data


def test_a_repeated_key_gives_the_first_submission_back(contest: Api) -> None:
    """Also when the contest is over by then, and never another account's."""
    first = send(contest, headers={"Idempotency-Key": "k1"})
    again = send(contest, data=b"other\n", headers={"Idempotency-Key": "k1"})
    assert (again.status_code, again.json()) == (201, first.json())
    other = send(contest, user="other", headers={"Idempotency-Key": "k1"})
    assert other.json()["id"] != first.json()["id"]
    assert stored(contest) == (2, 2, 2)


REFUSED_FORMS: dict[str, tuple[dict[str, Any], int, str]] = {
    "no problem": ({"data_fields": {"problem_id": "nothing"}}, 404, "no problem 'nothing'"),
    "unknown field": ({"data_fields": {"colour": "red"}}, 400, "found 'colour'"),
    "language": ({"data_fields": {"language_id": "cpp"}}, 400, "expected answers, found 'cpp'"),
    "testcase": ({"data_fields": {"testcase": "99"}}, 400, "found '99'"),
    "other team": ({"data_fields": {"team_id": "other"}}, 403, "only for itself"),
    "unknown name": ({"name": "x.dat"}, 400, "files named after test cases"),
    "a rar": ({"name": "a.zip", "data": b"Rar!\x1a\x07\x00"}, 400, "found a rar archive"),
    "nobody": ({"user": None}, 401, "log in"),
    "a judge": ({"user": "judge"}, 403, "only a team's account or an admin"),
    "staff": ({"user": "staff"}, 403, "only a team's account or an admin"),
    "admin without team": ({"user": "admin"}, 400, "required for an account without a team"),
    "admin, unknown team": ({"user": "admin", "data_fields": {"team_id": "x"}}, 400, "found 'x'"),
    "long key": ({"headers": {"Idempotency-Key": "k" * 256}}, 400, "255"),
}


@rule_cases("name", REFUSED_FORMS)
def test_a_bad_form_is_refused_and_leaves_nothing(contest: Api, name: str) -> None:
    """A 4xx with code and message, and no row."""
    asked, status, sentence = REFUSED_FORMS[name]
    reply = send(contest, **asked)
    assert (reply.status_code, reply.json()["code"]) == (status, status), reply.text
    assert sentence in reply.json()["message"]
    assert stored(contest) == (0, 0, 0)


def test_a_submission_with_a_time_in_the_future_is_refused(contest: Api) -> None:
    reply = contest.post(ROUTE, user="admin", json=clics(time="2999-01-01T00:00:00Z", team_id="team"))
    assert reply.status_code == 400, reply.text
    assert reply.json()["message"].startswith("time: expected a moment up to now, found 2999-01-01")
    assert stored(contest) == (0, 0, 0)


def test_a_submission_with_a_contest_time_in_the_future_is_refused(contest: Api) -> None:
    """The scoreboard orders by contest time: such a submission would count before its time has come."""
    start = contest.get("contests/c", user="admin").json()["start_time"]
    reply = contest.post(ROUTE, user="admin", json=clics(time=start, contest_time="1:59:00.000", team_id="team"))
    assert reply.status_code == 400, reply.text
    assert reply.json()["message"].startswith("contest_time: expected a contest time up to now, 1:00:0")
    assert stored(contest) == (0, 0, 0)


REFUSED_JSON: dict[str, tuple[dict[str, Any], str]] = {
    "id": ({"id": "7"}, "id: expected none (the server gives it), found '7'"),
    "time by a team": ({"time": "2026-11-21T12:00:00Z"}, "time: expected none"),
    "no files": ({"files": []}, "files: expected"),
    "two files": ({"files": [{"data": ""}, {"data": ""}]}, "files: expected"),
    "not base64": ({"files": [{"data": "%%%"}]}, "expected base64 of a zip archive"),
    "not a zip": ({"files": [{"data": "aGVsbG8="}]}, "expected base64 of a zip archive"),
    "mime": ({"files": [{"data": "", "mime": "text/plain"}]}, "expected application/zip"),
    "number as id": ({"problem_id": 7}, "problem_id: expected"),
    "null language": ({"language_id": None}, "language_id: expected"),
}


@rule_cases("name", REFUSED_JSON)
def test_bad_clics_json_is_refused_and_leaves_nothing(contest: Api, name: str) -> None:
    """400 says where, expected and found."""
    changes, sentence = REFUSED_JSON[name]
    reply = contest.post(ROUTE, user="team", json=clics(**changes))
    assert reply.status_code == 400, reply.text
    assert sentence in reply.json()["message"]
    assert stored(contest) == (0, 0, 0)


@rule_cases(
    ("kind", "body", "status"),
    [
        ("application/json", b"{", 400),
        ("application/json", b"\xff\xfe", 400),
        ("application/json", b"[]", 400),
        ("multipart/form-data; boundary=x", b"junk", 400),
        ("multipart/form-data", b"junk", 400),
        ("multipart/form-data; boundary=x", b'--x\r\nContent-Disposition: form-data; name="files"', 400),
        ("text/plain", b"7", 415),
        ("", b"", 415),
    ],
)
def test_a_body_that_is_no_submission_is_refused(contest: Api, kind: str, body: bytes, status: int) -> None:
    """Broken JSON, broken forms and other media types are 4xx, never 500."""
    reply = contest.post(ROUTE, user="team", content=body, headers={"Content-Type": kind})
    assert reply.status_code == status, reply.text
    assert reply.json()["message"]
    assert stored(contest) == (0, 0, 0)


@pytest.mark.parametrize(("started", "status"), [(-HOUR, 404), (6 * HOUR, 403)])
def test_teams_submit_only_while_the_contest_runs(api: Api, started: timedelta, status: int) -> None:
    """Before the start there is no problem to be seen, after the end it is over."""
    add_problem(api.service)
    add_contest(api.service, started=started)
    assert send(api).status_code == status
    assert stored(api) == (0, 0, 0)


def test_an_admin_submits_for_a_team_at_a_time(contest: Api) -> None:
    """CLICS admin_submit: team and time are given, also after the fact."""
    start = contest.get("contests/c", user="admin").json()["start_time"]
    reply = contest.post(ROUTE, user="admin", json=clics(team_id="team", time=start))
    assert reply.status_code == 201, reply.text
    assert (reply.json()["time"], reply.json()["contest_time"]) == (start, "0:00:00.000")


# The form parser leaves closing to the collector when the client goes; its spooled file has no name on the disk.
@pytest.mark.filterwarnings("ignore:Exception ignored in.*SpooledTemporaryFile")
def test_an_upload_that_breaks_off_leaves_nothing(contest: Api) -> None:
    """The client is gone in the middle of the body: no row, and the next one is served."""
    head = b'--x\r\nContent-Disposition: form-data; name="files"; filename="02.out"\r\n\r\n7'
    messages = [
        {"type": "http.request", "body": head, "more_body": True},
        {"type": "http.disconnect"},
    ]
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": f"/api/{ROUTE}",
        "raw_path": f"/api/{ROUTE}".encode(),
        "query_string": b"",
        "root_path": "",
        "client": ("127.0.0.1", 1),
        "server": ("jurado.test", 80),
        "headers": [
            (b"content-type", b"multipart/form-data; boundary=x"),
            (b"authorization", b"Basic " + base64.b64encode(b"team:open sesame")),
        ],
    }

    async def receive() -> dict[str, Any]:
        if not messages:
            await anyio.sleep_forever()
        return messages.pop(0)

    async def forget(_message: Any) -> None:
        return

    async def play() -> None:
        with anyio.move_on_after(10):
            await contest.app(scope, receive, forget)

    contest.portal.call(play)
    assert stored(contest) == (0, 0, 0)
    assert send(contest).status_code == 201


@rule_cases("field", ["files", "sources"])
@pytest.mark.parametrize("name", ["../../02.out", "..\\02.out", "x" * 300 + ".out", "a\u007fb.out"])
def test_a_name_that_leads_out_of_a_folder_leaves_nothing(contest: Api, field: str, name: str) -> None:
    """Judges unpack what teams sent."""
    files = [("files", ("02.out", b"7\n")), (field, (name, b"7\n"))]
    reply = contest.post(ROUTE, user="team", data={"problem_id": PROBLEM}, files=files)
    assert reply.status_code == 400, reply.text
    assert stored(contest) == (0, 0, 0)


@pytest.mark.parametrize("name", ["\ud800.zip", "a\0b.zip"])
def test_a_json_file_name_that_cannot_be_kept_is_refused(contest: Api, name: str) -> None:
    body = json.dumps(clics(files=[{**clics()["files"][0], "filename": name}]))
    reply = contest.post(ROUTE, user="team", content=body, headers={"Content-Type": "application/json"})
    assert reply.status_code == 400, reply.text
    assert stored(contest) == (0, 0, 0)


def test_a_json_body_of_many_values_is_refused_before_it_is_parsed(contest: Api) -> None:
    """They would take a hundred times the memory of their bytes."""
    headers = {"Content-Type": "application/json"}
    reply = contest.post(ROUTE, user="team", content=b"[" + b"[]," * 60_000 + b"[]]", headers=headers)
    assert (reply.status_code, stored(contest)) == (400, (0, 0, 0))
    assert "at most 5000 values, found more" in reply.json()["message"]


def test_a_full_disk_is_said_and_nothing_is_kept(contest: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sources do not fit: 507, no row; once there is room the same request is taken."""

    def full(*_: object) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    files = [("files", ("02.out", b"7\n")), ("sources", ("a.py", b"pass\n"))]
    with monkeypatch.context() as patch:
        patch.setattr(LocalFiles, "keep", full)
        refused = contest.post(ROUTE, user="team", data={"problem_id": PROBLEM}, files=files)
    assert (refused.status_code, stored(contest)) == (507, (0, 0, 0))
    assert refused.json()["code"] == 507
    assert contest.post(ROUTE, user="team", data={"problem_id": PROBLEM}, files=files).status_code == 201


def test_a_database_that_takes_nothing_is_said(contest: Api) -> None:
    with contest.service.database.write() as session:
        session.execute(text("ALTER TABLE judgements RENAME TO gone"))
    refused = send(contest)
    assert refused.status_code == refused.json()["code"] in {500, 503}
    with contest.service.database.write() as session:
        session.execute(text("ALTER TABLE gone RENAME TO judgements"))
    assert stored(contest) == (0, 0, 0)
    assert send(contest).status_code == 201


def test_all_files_of_a_form_share_one_spool_and_are_read_back_as_they_were_sent() -> None:
    """Hundreds of large files of one request open one file."""
    form = Form()
    data = [bytes([at]) * (1000 * at) for at in range(200)]
    parts: list[_Part] = []
    for each in data:
        parts.append(_Part(form.spool))
        for at in range(0, len(each), 700):
            parts[-1].append(each[at : at + 700])
    assert [part.read() for part in reversed(parts)] == data[::-1]
    assert (parts[5].seek(-3, 2), parts[5].read(2), parts[5].tell(), parts[5].read(9)) == (4997, b"\5" * 2, 4999, b"\5")
    assert parts[5].seek(9999) == 9999
    assert parts[5].read() == b""
    form.close()
