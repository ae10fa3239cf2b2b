"""The route that takes submissions: what it notes and counts, and what it costs."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from app.tables import SubmissionRow
from tests.builders.contests import PROBLEM, add_contest, add_problem
from tests.builders.service import Api

ROUTE = "contests/c/submissions"
MOST_CALLS = 1000
FORM = {"data": {"problem_id": PROBLEM}, "files": {"files": ("02.out", b"7\n")}}


@pytest.fixture
def contest(api: Api) -> Api:
    """The API with the running contest `c`; uploads have at most a megabyte."""
    add_problem(api.service)
    add_contest(api.service)
    return api


def test_an_admins_submission_is_noted_in_the_audit_log(contest: Api) -> None:
    fields = {"data": {"problem_id": PROBLEM, "team_id": "team"}, "files": {"files": ("02.out", b"7\n")}}
    assert contest.post(ROUTE, user="admin", **fields).status_code == 201
    (entry,) = contest.get("audit?operation=submit", user="admin").json()
    assert (entry["operation"], entry["contest_id"]) == ("submit", "c")


def test_a_repeated_key_gives_the_first_submission_back(contest: Api) -> None:
    """One row, and one id."""
    replies = [contest.post(ROUTE, user="team", headers={"Idempotency-Key": "k"}, **FORM) for _ in range(3)]
    assert len({reply.json()["id"] for reply in replies}) == 1
    with contest.service.database.read() as session:
        assert session.query(SubmissionRow).count() == 1


def test_requests_are_counted_under_the_template_of_their_route(contest: Api) -> None:
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
