"""What is answered in front of FastAPI's routing is what its route answers, for whoever asks."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest
from fastapi import FastAPI, Request, Response
from starlette.types import Message, Receive, Scope, Send

from app.accounts.service.viewer import PUBLIC
from app.contests.schemas import ContestSettings
from app.core.http.deps import Direct, Endpoint
from app.packages.zips import zip_bytes
from tests.builders.contests import PROBLEM, add_contest, add_problem
from tests.builders.service import Api

SUBMISSIONS = "contests/c/submissions"
BOARD = "contests/c/scoreboard"
# A page of our own: FastAPI's routing takes its requests.
ROUTED = {"Origin": "http://jurado.test"}
OF_PAGES_ALONE = {"access-control-allow-credentials", "access-control-expose-headers", "vary"}
CHANGING = {"jurado-time", "content-length", "x-request-id"}
FORM = {"data": {"problem_id": PROBLEM}, "files": {"files": ("02.out", b"7\n")}}
SENT: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "a form": (SUBMISSIONS, "team", FORM),
    "an archive": (SUBMISSIONS, "team", {**FORM, "files": {"files": ("a.zip", zip_bytes({"02.out": b"7\n"}))}}),
    "nobody": (SUBMISSIONS, None, FORM),
    "a judge": (SUBMISSIONS, "judge", FORM),
    "an admin without a team": (SUBMISSIONS, "admin", FORM),
    "no such contest": ("contests/d/submissions", "team", FORM),
    "no such problem": (SUBMISSIONS, "team", {**FORM, "data": {"problem_id": "nothing"}}),
    "no file": (SUBMISSIONS, "team", {"data": {"problem_id": PROBLEM}}),
    "a file of no case": (SUBMISSIONS, "team", {**FORM, "files": {"files": ("x.out", b"7\n"), "b": ("y.out", b"")}}),
    "a damaged form": (
        SUBMISSIONS,
        "team",
        {"content": b"--x", "headers": {"Content-Type": "multipart/form-data; boundary=x"}},
    ),
    "another type": (SUBMISSIONS, "team", {"content": b"7", "headers": {"Content-Type": "text/plain"}}),
    "JSON of no submission": (SUBMISSIONS, "team", {"json": {"problem_id": 7}}),
    "JSON that is none": (SUBMISSIONS, "team", {"content": b"{", "headers": {"Content-Type": "application/json"}}),
    "a key that is too long": (SUBMISSIONS, "team", {**FORM, "headers": {"Idempotency-Key": "k" * 256}}),
    "a query with a NUL": (f"{SUBMISSIONS}?a=%00", "team", FORM),
    "a body beyond the limit": (SUBMISSIONS, "team", {"content": b"x" * (2**20 + 1)}),
}
ASKED: dict[str, tuple[str, str | None, dict[str, str]]] = {
    "everybody's": (BOARD, None, {}),
    "plain": (BOARD, None, {"Accept-Encoding": "identity"}),
    "a team's": (BOARD, "team", {}),
    "a judge's": (BOARD, "judge", {}),
    "what has changed": (f"{BOARD}?since=0", None, {}),
    "with the cases": (f"{BOARD}?cases=true", None, {}),
    "an unknown option": (f"{BOARD}?form=none", None, {}),
    "an unknown contest": ("contests/d/scoreboard", None, {}),
    "a wrong password": (BOARD, "nobody", {}),
}


@pytest.fixture
def contest(api: Api) -> Api:
    """The API with the running contest `c`, whose users have logged in; uploads have at most a megabyte."""
    add_problem(api.service)
    add_contest(api.service)
    for user in ("team", "judge", "admin"):
        assert api.get("account", user=user).status_code == 200
    return api


def test_a_submission_has_the_same_reply_with_routing_and_without(contest: Api) -> None:
    """Status, body and headers, but for what only pages are told."""
    for case, (path, user, more) in SENT.items():
        direct, routed = (
            contest.post(path, user=user, **{**more, "headers": {**more.get("headers", {}), **extra}})
            for extra in ({}, ROUTED)
        )
        assert direct.status_code == routed.status_code, case
        assert shown(direct.json()) == shown(routed.json()), case
        assert facts(direct) == facts(routed), case


def test_a_scoreboard_is_the_same_with_routing_and_without(contest: Api) -> None:
    for case, (path, user, headers) in ASKED.items():
        direct, routed = (contest.get(path, user=user, headers={**headers, **extra}) for extra in ({}, ROUTED))
        assert direct.status_code == routed.status_code, case
        assert direct.text == routed.text, case
        assert facts(direct) == facts(routed), case


def test_a_scoreboard_that_the_client_has_is_not_sent_again(contest: Api) -> None:
    headers = {"If-None-Match": contest.get(BOARD).headers["etag"]}
    for extra in ({}, ROUTED):
        assert contest.get(BOARD, headers={**headers, **extra}).status_code == 304


def test_logins_that_are_not_known_are_routed_where_refusals_wait() -> None:
    """So that whoever tries tokens at the scoreboard is slowed down as at any other address."""
    asked: list[str] = []

    async def routed(_scope: Scope, _receive: Receive, _send: Send) -> None:
        asked.append("routed")

    async def answered(_request: Request) -> Response:
        asked.append("answered")
        return Response()

    owner = FastAPI()
    owner.state.authenticator = SimpleNamespace(remembered=lambda header: PUBLIC if header == "Bearer known" else None)
    contest = SimpleNamespace(settings=ContestSettings())
    owner.state.service = SimpleNamespace(boards=SimpleNamespace(contest=lambda _contest_id: contest))
    direct = Direct(
        routed, owner, {("GET", "/api/contests/scoreboard"): Endpoint("/scoreboard", "get_scoreboard", answered)}
    )
    for header in (b"Bearer unknown", b"Bearer known"):
        scope = {"type": "http", "method": "GET", "path": f"/api/{BOARD}", "query_string": b""}
        asyncio.run(direct({**scope, "headers": [(b"authorization", header)]}, unasked, unheard))
    assert asked == ["routed", "answered"]


async def unasked() -> Message:
    """Receive nothing more."""
    return {"type": "http.disconnect"}


async def unheard(_message: Message) -> None:
    """Send to no one."""


def facts(reply: Any) -> dict[str, str]:
    """The headers that both have."""
    return {
        name: shown_link(value)
        for name, value in reply.headers.items()
        if name not in CHANGING and name not in OF_PAGES_ALONE
    }


def shown(body: dict[str, Any]) -> dict[str, Any]:
    """A body without what two submissions differ in."""
    return {name: value for name, value in body.items() if name not in {"id", "time", "contest_time", "files"}}


def shown_link(value: str) -> str:
    """A link without the number of the submission."""
    return value.rstrip("0123456789") if value.startswith("/api/") else value
