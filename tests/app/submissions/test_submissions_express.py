"""The short way of submissions: its replies are those of the long way, at a part of the cost."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any

import pytest

from app.packages.zips import zip_bytes
from app.tables import SubmissionRow
from tests.builders.contests import PROBLEM, add_contest, add_problem
from tests.builders.service import Api

ROUTE = "contests/c/submissions"
LONG_WAY = {"Origin": "http://jurado.test"}
"""A page of our own: FastAPI's routing takes its requests."""
OF_PAGES_ALONE = {"access-control-allow-credentials", "access-control-expose-headers", "vary"}
CHANGING = {"jurado-time", "content-length", "x-request-id"}
MOST_CALLS = 1000
FORM = {"data": {"problem_id": PROBLEM}, "files": {"files": ("02.out", b"7\n")}}
CASES: dict[str, tuple[str, str | None, dict[str, Any]]] = {
    "a form": (ROUTE, "team", FORM),
    "an archive": (ROUTE, "team", {**FORM, "files": {"files": ("a.zip", zip_bytes({"02.out": b"7\n"}))}}),
    "nobody": (ROUTE, None, FORM),
    "a judge": (ROUTE, "judge", FORM),
    "an admin without a team": (ROUTE, "admin", FORM),
    "no such contest": ("contests/d/submissions", "team", FORM),
    "no such problem": (ROUTE, "team", {**FORM, "data": {"problem_id": "nothing"}}),
    "no file": (ROUTE, "team", {"data": {"problem_id": PROBLEM}}),
    "a file of no case": (ROUTE, "team", {**FORM, "files": {"files": ("x.out", b"7\n"), "b": ("y.out", b"")}}),
    "a damaged form": (
        ROUTE,
        "team",
        {"content": b"--x", "headers": {"Content-Type": "multipart/form-data; boundary=x"}},
    ),
    "another type": (ROUTE, "team", {"content": b"7", "headers": {"Content-Type": "text/plain"}}),
    "JSON of no submission": (ROUTE, "team", {"json": {"problem_id": 7}}),
    "JSON that is none": (ROUTE, "team", {"content": b"{", "headers": {"Content-Type": "application/json"}}),
    "a key that is too long": (ROUTE, "team", {**FORM, "headers": {"Idempotency-Key": "k" * 256}}),
    "a query": (f"{ROUTE}?contest_id=other", "admin", {**FORM, "data": {"problem_id": PROBLEM, "team_id": "team"}}),
    "a query with a NUL": (f"{ROUTE}?a=%00", "team", FORM),
    "a body beyond the limit": (ROUTE, "team", {"content": b"x" * (2**20 + 1)}),
}


@pytest.fixture
def contest(api: Api) -> Api:
    """The API with the running contest `c`; uploads have at most a megabyte."""
    add_problem(api.service)
    add_contest(api.service)
    return api


def test_a_submission_has_the_same_reply_on_the_short_way_and_on_the_long_one(contest: Api) -> None:
    """Status, body and headers, but for what only browsers are told."""
    for case, (path, user, more) in CASES.items():
        short, long = (
            contest.post(path, user=user, **{**more, "headers": {**more.get("headers", {}), **extra}})
            for extra in ({}, LONG_WAY)
        )
        assert short.status_code == long.status_code, case
        assert shown(short.json()) == shown(long.json()), case
        assert facts(short) == facts(long), case


def test_an_admins_submission_on_the_short_way_is_noted_in_the_audit_log(contest: Api) -> None:
    """With the operation, the address and the contest, as on the long way."""
    fields = {"data": {"problem_id": PROBLEM, "team_id": "team"}, "files": {"files": ("02.out", b"7\n")}}
    for extra in ({}, LONG_WAY):
        assert contest.post(ROUTE, user="admin", headers=extra, **fields).status_code == 201
    one, other = contest.get("audit?operation=submit", user="admin").json()
    differing = {"id", "time", "changes", "objects", "counts"}
    assert {name: one[name] for name in one if name not in differing} == {
        name: other[name] for name in other if name not in differing
    }
    assert one["operation"] == "submit"


def test_a_repeated_key_gives_the_first_submission_back_on_either_way(contest: Api) -> None:
    """One row, and one id."""
    key = {"Idempotency-Key": "k"}
    replies = [contest.post(ROUTE, user="team", headers={**key, **extra}, **FORM) for extra in ({}, LONG_WAY, {})]
    assert len({reply.json()["id"] for reply in replies}) == 1
    with contest.service.database.read() as session:
        assert session.query(SubmissionRow).count() == 1


def test_the_short_way_counts_requests_under_the_template_of_their_route(contest: Api) -> None:
    """So that ids of contests make no new series."""
    contest.post(ROUTE, user="team", **FORM)
    metrics = contest.get("/metrics", user="admin").text
    assert (
        'jurado_request_seconds_count{method="POST",route="/api/contests/{contest_id}/submissions",status="201"}'
        in metrics
    )


def test_taking_a_small_submission_costs_few_calls(contest: Api) -> None:
    """Counted, not timed, in the thread of the event loop: routing and layers once cost as much as all the rest."""
    contest.post(ROUTE, user="team", **FORM)
    count = 0

    def on_event(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event == "call" and "httpx" not in frame.f_code.co_filename

    async def counted() -> None:
        sys.setprofile(on_event)
        try:
            await contest.client.post(f"/api/{ROUTE}", auth=("team", "open sesame"), **FORM)
        finally:
            sys.setprofile(None)

    contest.portal.call(counted)
    assert 0 < count < MOST_CALLS, count


def facts(reply: Any) -> dict[str, str]:
    """The headers that both ways have."""
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
