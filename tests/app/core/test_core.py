"""What holds for every request: one shape of errors, headers, limits on bodies, health, and a description."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from pydantic import ValidationError
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from app.core.db.database import after_commit
from app.core.http.deps import Writing
from app.core.http.middleware import LARGEST_DOCUMENT, LARGEST_IMPORT, largest
from app.core.settings import Settings
from app.sandbox.sandbox import protections
from app.tables import RawScoreRow, TeamRow
from tests.builders.contests import add_contest, add_problem, add_submission
from tests.builders.scoring import share
from tests.builders.service import Api, open_api

MOST = 50_000


@pytest.fixture
def api(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A client of an API that takes bodies of up to MOST bytes."""
    with open_api(sqlite_url, tmp_path / "home", max_upload=MOST, max_package=MOST) as api:
        yield api


def test_the_api_says_what_it_is(api: Api) -> None:
    found = api.get("/api/")
    assert found.json()["version"] == "2026-01"
    assert found.json()["provider"]["name"] == "Jurado"


def test_every_reply_has_the_time_and_may_be_read_by_any_page(api: Api) -> None:
    for reply in (api.get("contests"), api.get("nothing"), api.post("contests", json={}), api.get("/health/live")):
        assert reply.headers["Jurado-Time"].isdecimal()
        assert reply.headers["Access-Control-Allow-Origin"] == "*"


def test_a_page_of_another_origin_may_log_in(api: Api) -> None:
    asked = {
        "Origin": "https://board.example",
        "Access-Control-Request-Method": "PATCH",
        "Access-Control-Request-Headers": "authorization,content-type",
    }
    allowed = api.request("OPTIONS", "contests/c", headers=asked)
    assert allowed.status_code == 200
    assert "PATCH" in allowed.headers["Access-Control-Allow-Methods"]
    assert "authorization" in allowed.headers["Access-Control-Allow-Headers"]


@pytest.mark.parametrize(
    ("method", "path", "code"),
    [
        ("GET", "/nothing", 404),
        ("GET", "/api/nothing", 404),
        ("GET", "/api/contests/none", 404),
        ("GET", "/api/contests/%00", 400),
        ("GET", "/api/contests?x=%00", 400),
        ("PUT", "/api/contests", 405),
        ("POST", "/api/contests", 401),
        ("DELETE", "/api/contests/none", 401),
    ],
)
def test_errors_have_one_shape(api: Api, method: str, path: str, code: int) -> None:
    reply = api.request(method, path, json={"name": "x"} if method in {"POST", "PUT"} else None)
    assert reply.status_code == reply.json()["code"] == code
    assert reply.json()["message"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "body: expected JSON"),
        (b"[]", "body: expected"),
        (b'"text"', "body: expected"),
        (b"", "body: expected a value, found nothing"),
        (b"\xff", "body"),
        (b"[" * 10_000, "body"),
        (b'{"name": "\\ud800", "duration": "1:00:00"}', "body.name"),
    ],
)
def test_a_body_that_is_no_document_is_refused_where_it_is_wrong(api: Api, content: bytes, message: str) -> None:
    reply = api.post("contests", user="admin", content=content, headers={"Content-Type": "application/json"})
    assert reply.status_code == 400, reply.text
    assert message in reply.json()["message"]


def test_every_fault_of_a_body_is_listed(api: Api) -> None:
    reply = api.post("contests", user="admin", json={"nane": "x", "duration": "5h"})
    assert [fault["where"] for fault in reply.json()["errors"]] == ["body.name", "body.duration", "body.nane"]


def test_a_secret_that_is_refused_is_not_repeated(api: Api) -> None:
    account = {"username": "x", "type": "judge", "password": ["hunter2"]}
    for reply in (api.post("accounts", user="admin", json=account), api.put("accounts/x", user="admin", json=account)):
        assert reply.status_code == 400
        assert "password" in reply.text
        assert "hunter2" not in reply.text


def test_a_body_that_announces_too_much_is_refused_before_it_is_read(api: Api) -> None:
    sent = []

    async def never_read() -> AsyncIterator[bytes]:
        sent.append(1)
        yield b"x"

    headers = {"Content-Length": str(MOST + 1)}
    reply = api.post("contests", user="admin", content=never_read(), headers=headers)
    assert reply.status_code == reply.json()["code"] == 413
    assert reply.headers["Connection"] == "close"
    assert reply.headers["Jurado-Time"]


@pytest.mark.parametrize(
    ("path", "kind", "first"),
    [
        ("contests", "application/json", b'"'),
        ("teams", "text/tab-separated-values", b""),
        ("problems", "application/zip", b""),
        ("contests/c/submissions", "application/json", b'"'),
        (
            "contests/c/submissions",
            "multipart/form-data; boundary=b",
            b'--b\r\nContent-Disposition: form-data; name="files"; filename="1.out"\r\n\r\n',
        ),
    ],
)
def test_a_body_is_counted_while_it_streams_whatever_was_announced(
    api: Api, path: str, kind: str, first: bytes
) -> None:
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        yield first
        while True:
            read += 1000
            yield b"x" * 1000

    api.post("contests", user="admin", json={"id": "c", "name": "C", "duration": "1:00:00"})
    headers = {"Content-Type": kind, "Transfer-Encoding": "chunked"}
    reply = api.post(path, user="admin", content=endless(), headers=headers)
    assert reply.status_code == reply.json()["code"] == 413
    assert f"at most {MOST} bytes" in reply.json()["message"]
    assert read <= MOST + 1000


@pytest.mark.parametrize(
    ("path", "most"),
    [
        ("/api/contests", LARGEST_DOCUMENT),
        ("/api/account/tokens", LARGEST_DOCUMENT),
        ("/api/problems/p/reference-runs", LARGEST_DOCUMENT),
        ("/api/contests/c/problems", LARGEST_DOCUMENT),
        ("/api/contests/c/submissions/1/files", LARGEST_DOCUMENT),
        ("/api/accounts", LARGEST_IMPORT),
        ("/api/teams", LARGEST_IMPORT),
        ("/api/problems/p/testcases/secret/a/01", None),
        ("/api/contests/c/submissions", None),
    ],
)
def test_only_uploads_may_be_as_large_as_uploads(path: str, most: int | None) -> None:
    """Documents are parsed as a whole: 60 MB of `[],[],` would take gigabytes."""
    assert largest(path) == most


def test_a_document_of_many_faults_is_refused_with_the_first_of_them(sqlite_url: str, tmp_path: Path) -> None:
    with open_api(sqlite_url, tmp_path / "home") as api:
        reply = api.post("contests", user="admin", json={str(at): 1 for at in range(5000)})
        assert reply.status_code == 400
        assert len(reply.json()["errors"]) == 100
        assert reply.json()["message"].endswith("; and 4982 more")


@pytest.mark.parametrize(
    "text", ["!!bool x", "!!timestamp x", '!!int ""', "? [a]\n: b", "&a [*a]", 'id: "\\0"', "[" * 9999]
)
def test_odd_yaml_is_refused(api: Api, text: str) -> None:
    reply = api.post("teams", user="admin", content=text, headers={"Content-Type": "application/yaml"})
    assert reply.status_code == 400, reply.text


def test_a_body_of_just_the_limit_is_read(api: Api) -> None:
    reply = api.post("contests", user="admin", content=b" " * MOST, headers={"Content-Type": "application/json"})
    assert reply.status_code == 400


def test_a_large_reply_is_zipped_for_those_who_take_it(api: Api) -> None:
    many = [{"id": f"t{at}", "name": f"Team {at}"} for at in range(100)]
    api.post("teams", user="admin", json=many)
    assert api.get("teams", user="admin").headers["Content-Encoding"] == "gzip"
    plain = api.get("teams", user="admin", headers={"Accept-Encoding": "identity"})
    assert "Content-Encoding" not in plain.headers
    assert len(plain.json()) == 102


def fault_counts(api: Api) -> tuple[float, float]:
    """Requests that ended with a fault of the program, and those refused as something beneath it failed."""
    text_ = api.get("/metrics", user="admin").text
    faults, unavailable = (
        float(re.findall(rf"^jurado_{name}_total (\S+)$", text_, re.MULTILINE)[0]) for name in ("errors", "unavailable")
    )
    return faults, unavailable


def test_a_fault_of_ours_is_a_500_that_tells_nothing(api: Api) -> None:
    router = APIRouter()

    @router.get("/fault")
    def fault() -> None:
        raise RuntimeError("the secret is 42")

    api.app.include_router(router)
    reply = api.get("/fault")
    assert reply.status_code == reply.json()["code"] == 500
    assert "42" not in reply.text
    assert reply.headers["Jurado-Time"]
    assert fault_counts(api) == (1.0, 0.0)


def test_a_fault_in_the_middle_of_a_reply_is_counted_though_its_status_was_sent(api: Api) -> None:
    router = APIRouter()

    async def broken() -> AsyncIterator[str]:
        yield "{"
        raise RuntimeError("the rest cannot be made")

    @router.get("/broken")
    def stream() -> StreamingResponse:
        return StreamingResponse(broken())

    api.app.include_router(router)
    with pytest.raises(RuntimeError):
        api.get("/broken")
    assert fault_counts(api) == (1.0, 0.0)


def test_a_server_that_is_told_to_stop_says_that_it_is_not_ready_and_counts_no_fault(api: Api) -> None:
    """Else each restart would raise the alert for faults: proxies ask a server that drains whether it is ready."""
    api.app.state.draining = True
    assert api.get("/health/ready").status_code == 503
    assert fault_counts(api) == (0.0, 0.0)


def test_what_the_database_refuses_is_counted_apart_from_faults(api: Api) -> None:
    with api.service.database.write() as session:
        session.execute(text("ALTER TABLE teams RENAME TO gone"))
    assert api.get("teams", user="admin").status_code == 503
    assert fault_counts(api) == (0.0, 1.0)


def test_what_fails_to_be_written_is_not_acknowledged(api: Api) -> None:
    router = APIRouter()
    called = []

    @router.post("/late")
    def late(session: Writing) -> str:
        session.add(TeamRow(id="late", name="Late", label="L", hidden=False))
        session.flush()
        session.execute(text("PRAGMA defer_foreign_keys=ON"))
        session.execute(text("INSERT INTO contest_teams (contest_id, team_id) VALUES ('none', 'late')"))
        after_commit(session, lambda: called.append(1))
        return "kept"

    api.app.include_router(router)
    assert api.post("/late").status_code == 409, "the commit fails, and only the commit"
    assert api.get("teams/late", user="admin").status_code == 404
    assert called == []


def test_a_contradiction_by_another_request_is_a_conflict(api: Api) -> None:
    router = APIRouter()

    @router.post("/race")
    def race() -> None:
        raise IntegrityError("INSERT ...", {}, Exception("UNIQUE"))

    api.app.include_router(router)
    assert api.post("/race").status_code == 409


def test_it_is_alive_and_ready(api: Api) -> None:
    assert api.get("/health/live").json() == {"status": "alive"}
    ready = api.get("/health/ready")
    assert ready.status_code == 200
    graders = {"graders": 1, "grader_deaths": 0, "unprotected": []}
    body = ready.json()
    assert all((loop["failures"], loop["error"]) == (0, "") for loop in body.pop("loops").values())
    assert body == {
        "ready": True,
        "database": True,
        **graders,
        "sandbox": {name: lack or "on" for name, lack in protections(as_root=True).items()},
        "waiting": 0,
        "oldest_seconds": None,
        "damaged_files": 0,
        "room": True,
        "clock_ahead_seconds": 0.0,
    }


def test_it_is_not_ready_without_its_database(api: Api) -> None:
    with api.service.database.write() as session:
        session.execute(text("ALTER TABLE judgements RENAME TO gone"))
    ready = api.get("/health/ready")
    assert ready.status_code == 503
    assert (ready.json()["ready"], ready.json()["database"]) == (False, False)


def test_it_counts_requests_by_route_and_not_by_address(api: Api) -> None:
    for at in range(3):
        api.get(f"contests/c{at}")
    api.get("/nothing/at/all")
    metrics = api.get("/metrics", user="admin").text
    assert 'jurado_request_seconds_count{method="GET",route="/api/contests/{contest_id}",status="404"} 3.0' in metrics
    assert 'route="none",status="404"} 1.0' in metrics
    for name in ("jurado_submissions_total 0.0", "jurado_waiting 0.0", "jurado_checking_seconds_total 0.0"):
        assert name in metrics


def test_it_counts_what_was_judged_also_before_it_started(api: Api) -> None:
    add_problem(api.service)
    add_contest(api.service)
    for waiting in (False, True):
        add_submission(api.service, None if waiting else {"02": share(1), "03": share(1)}, files={"02": b""})
        for _ in range(2):
            metrics = api.get("/metrics", user="admin").text
            assert f"jurado_submissions_total {2.0 if waiting else 1.0}" in metrics
            assert 'jurado_verdicts_total{type="PC"} 1.0' in metrics
            assert f"jurado_waiting {1.0 if waiting else 0.0}" in metrics
            with api.service.database.read() as session:
                total = sum(row.run_time_ms for row in session.query(RawScoreRow))
            assert f"jurado_checking_seconds_total {total / 1000}" in metrics
    assert api.get("/health/ready").json()["waiting"] == 1


@pytest.mark.parametrize("user", [None, "team", "staff", "judge"])
def test_metrics_are_for_those_who_run_the_service(api: Api, user: str | None) -> None:
    """They tell what a frozen board hides, and that someone rejudges silently."""
    assert api.get("/metrics", user=user).status_code == (401 if user is None else 403)


def test_a_token_of_a_setting_reads_the_metrics_and_nothing_else(sqlite_url: str, tmp_path: Path) -> None:
    token = "of-prometheus-and-nobody-else"
    bearer = {"Authorization": f"Bearer {token}"}
    with open_api(sqlite_url, tmp_path, metrics_token=token) as api:
        assert "jurado_verdicts" in api.get("/metrics", headers=bearer).text
        assert api.get("/metrics", headers={"Authorization": f"Bearer {token}x"}).status_code == 401
        assert api.get("account", headers=bearer).status_code == 401
    with pytest.raises(ValidationError, match="16 visible ASCII"):
        Settings(metrics_token="too short")


def test_a_client_that_goes_away_is_no_fault(api: Api) -> None:
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0)
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        await asyncio.sleep(0)
        sent.append(message)

    router = APIRouter()

    @router.post("/slow")
    async def slow(request: Request) -> None:
        await request.body()

    api.app.include_router(router)
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/slow",
        "raw_path": b"/slow",
        "query_string": b"",
        "headers": [],
        "scheme": "http",
        "http_version": "1.1",
        "root_path": "",
    }
    api.portal.call(api.app, scope, receive, send)
    assert sent == []


PLAYED = "/api/contests/{contest_id}/submissions", "/api/contests/{contest_id}/submissions/{submission_id}"
"""Routes with a 422 of their own: a problem that is played takes no files."""


def test_every_route_is_described(api: Api) -> None:
    described = api.get("/openapi.json").json()
    assert described["components"]["securitySchemes"].keys() == {"basic", "token"}
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            assert operation.get("tags"), (method, path)
            assert operation.get("summary"), (method, path)
            assert "422" not in operation["responses"] or path in PLAYED, (method, path)
            assert any(code.startswith("2") for code in operation["responses"]), (method, path)
