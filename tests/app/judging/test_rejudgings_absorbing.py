"""Rejudgings that are applied while teams submit: what arrives is judged by both versions, and no one waits."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from app.submissions.queries import judgements
from app.submissions.queries.judgements import Outcome
from app.tables import JudgementRow, ProblemRow, RejudgingRow, SubmissionRow
from tests.app.judging.test_rejudgings import difference, do, points, prepared, put, state
from tests.builders.contests import add_contest, add_submission
from tests.builders.judging import begin, judge, queued, take_in_newcomers
from tests.builders.scoring import share
from tests.builders.service import Api

MINUTE = timedelta(minutes=1)


@pytest.fixture
def contest(api: Api) -> Api:
    """A running contest with the echo problem."""
    return prepared(api)


@pytest.fixture
def quick(quick_api: Api) -> Api:
    """The same on SQLite alone."""
    return prepared(quick_api)


def replaced(api: Api) -> dict[str, Any]:
    """Case 02 expects 22, where it expected 2: a rejudging that is ready."""
    add_submission(api.service, {"02": share(1)}, files={"02": b"2\n"}, judgement_type="PC")
    rejudging: dict[str, Any] = put(api, "secret/02", input=b"22\n", answer=b"22\n")
    judge(api.service)
    assert state(api, rejudging) == "ready"
    return rejudging


def send(api: Api, user: str, answer: bytes, contest: str = "c") -> httpx.Response:
    """Submit an answer for case 02."""
    reply = api.post(
        f"contests/{contest}/submissions",
        user=user,
        data={"problem_id": "echo"},
        files={"files": ("02.out", answer)},
    )
    assert reply.status_code == 201, reply.text
    return reply


def worths(api: Api) -> dict[str, float]:
    """Points of each team."""
    return {team: worth for team, (_, worth) in points(api).items()}


def age(api: Api) -> None:
    """Let all submissions and the rejudging have come a minute earlier."""
    with api.service.database.write() as session:
        for row in session.query(SubmissionRow):
            row.time -= MINUTE
        for rejudging in session.query(RejudgingRow):
            rejudging.created -= MINUTE


def test_what_arrives_before_it_is_applied_is_judged_by_both_versions_and_undone_with_it(contest: Api) -> None:
    rejudging = replaced(contest)
    send(contest, "other", b"22\n")
    take_in_newcomers(contest.service)
    assert contest.get(rejudging["href"], user="judge").json()["total"] == 2
    judge(contest.service)
    assert do(contest, "apply", rejudging)["state"] == "applied"
    assert points(contest) == {"other": (1, 50.0), "team": (2, 0.0)}
    send(contest, "team", b"22\n")
    judge(contest.service)
    assert points(contest)["team"][1] == 50.0
    do(contest, "undo", rejudging)
    assert points(contest)["other"] == (2, 0.0)
    judge(contest.service)
    assert points(contest) == {"team": (1, 50.0), "other": (2, 0.0)}
    assert do(contest, "apply", rejudging)["state"] == "applied"
    judge(contest.service)
    assert set(worths(contest).values()) == {50.0}


def test_it_is_applied_at_once_and_the_latest_submissions_are_judged_after(contest: Api) -> None:
    add_contest(contest.service, "d", problem_id="echo")
    rejudging = replaced(contest)
    assert set(rejudging["contests"]) == {"c", "d"}
    send(contest, "other", b"22\n")
    with contest.service.database.read() as session:
        (at_work,) = queued(session)
    attempt = begin(contest.service.writer, at_work) or 0
    assert do(contest, "apply", rejudging)["total"] == 1
    by_earlier_version = Outcome(at_work, attempt, "WA", [], datetime.now(UTC))
    assert not contest.service.writer.submit(judgements.record_many, by_earlier_version).result()
    assert worths(contest) == {"team": 0.0, "other": 0.0}
    judge(contest.service)
    assert worths(contest) == {"team": 0.0, "other": 50.0}
    do(contest, "undo", rejudging)
    judge(contest.service)
    assert worths(contest) == {"team": 50.0, "other": 0.0}


@pytest.mark.parametrize("first", [False, True])
def test_the_latest_submissions_may_have_been_judged_by_one_of_the_versions_alone(quick: Api, first: bool) -> None:
    rejudging = replaced(quick)
    send(quick, "other", b"22\n")
    take_in_newcomers(quick.service)
    with quick.service.database.write() as session:
        done = session.query(JudgementRow).filter_by(submission_id=2, current=first).one()
        done.state, done.type = "done", "WA"
    do(quick, "apply", rejudging)
    judge(quick.service)
    assert worths(quick) == {"team": 0.0, "other": 50.0}
    do(quick, "undo", rejudging)
    judge(quick.service)
    assert worths(quick) == {"team": 50.0, "other": 0.0}


def test_it_is_not_applied_while_a_verdict_that_is_not_of_the_latest_would_be_lost(quick: Api) -> None:
    rejudging = replaced(quick)
    send(quick, "other", b"22\n")
    judge(quick.service, most=1)
    age(quick)
    refused = quick.post(f"{rejudging['href']}/apply", user="admin")
    assert (refused.status_code, refused.headers["retry-after"]) == (409, "1")
    assert "are not done yet: apply it again in a moment, or pause the contest" in refused.json()["message"]
    send(quick, "team", b"22\n")
    judge(quick.service)
    assert do(quick, "apply", rejudging)["total"] == 3


def test_newcomers_are_judged_by_it_without_anybody_noticing(quick: Api) -> None:
    rejudging = replaced(quick)
    send(quick, "other", b"22\n")
    assert judge(quick.service) == 2
    judgements = quick.get("contests/c/judgements", user="judge").json()
    assert [each["judgement_type_id"] for each in judgements] == ["PC", "WA"]
    assert {run["judgement_id"] for run in quick.get("contests/c/runs", user="judge").json()} == {
        each["id"] for each in judgements
    }
    verdicts = [
        line
        for line in quick.get("/metrics", user="admin").text.splitlines()
        if line.startswith("jurado_verdicts_total")
    ]
    assert verdicts == ['jurado_verdicts_total{type="PC"} 1.0', 'jurado_verdicts_total{type="WA"} 1.0']
    assert difference(quick, rejudging)["counts"]["submissions"] == 2
    do(quick, "cancel", rejudging)
    assert quick.get("contests/c/judgements", user="judge").json() == judgements


def test_one_that_is_cancelled_while_newcomers_are_judged_takes_no_more(quick: Api) -> None:
    rejudging = replaced(quick)
    send(quick, "other", b"22\n")
    do(quick, "cancel", rejudging)
    send(quick, "other", b"22\n")
    assert judge(quick.service) == 2
    assert quick.get(rejudging["href"], user="judge").json()["total"] == 1


def test_one_that_was_undone_does_not_open_again_beside_another_of_its_problem(quick: Api) -> None:
    first = replaced(quick)
    do(quick, "apply", first)
    do(quick, "undo", first)
    put(quick, "secret/03", input=b"33\n", answer=b"33\n")
    send(quick, "other", b"22\n")
    refused = do(quick, "apply", first, 409)
    assert refused["message"] == "rejudging 2 (c) changes this problem already"
    assert state(quick, first) == "undone"


def test_it_is_applied_only_if_the_difference_is_still_the_one_that_was_looked_at(quick: Api) -> None:
    rejudging = replaced(quick)
    seen = difference(quick, rejudging)
    assert (seen["newcomers"], difference(quick, rejudging)["version"]) == ([], seen["version"])
    made = send(quick, "other", b"22\n").json()
    judge(quick.service)
    refused = do(quick, "apply", rejudging, 409, version=seen["version"])
    assert f"the difference is no longer {seen['version']}" in refused["message"]
    again = difference(quick, rejudging)
    assert again["newcomers"] == [made["id"]]
    do(quick, "apply", rejudging, version=again["version"])
    assert difference(quick, rejudging)["newcomers"] == [made["id"]]


def test_a_case_that_is_put_without_an_answer_gets_a_reference_run_and_is_not_dropped(quick: Api) -> None:
    add_submission(quick.service, {"02": share(1), "03": share(1)}, files={"02": b"2\n", "03": b"3\n"})
    with quick.service.database.write() as session:
        row = session.get_one(ProblemRow, "echo")
        how = {"method": "greedy", "seconds": 1, "seed": 1, "memory": 1024}
        row.settings = row.settings | {"reference": how}
    before = points(quick)
    rejudging = put(quick, "secret/02", input=b"22\n")
    assert rejudging["changes"][-1] == "test case 02: has no expected answer yet"
    assert rejudging["without_answer"] == ["02"]
    job = quick.get(f"jobs/{rejudging['reference_run']}", user="admin").json()
    assert (job["state"], job["params"]["cases"]) == ("queued", ["02"])
    assert quick.get(rejudging["href"], user="admin").json()["reference_run"] == job["id"]
    judge(quick.service)
    refused = do(quick, "apply", rejudging, 409)
    assert refused["message"].startswith("test case 02 of echo has no expected answer yet: wait for the reference run")
    assert points(quick) == before
    joined = put(quick, "secret/02", input=b"22\n", answer=b"22\n")
    assert (joined["without_answer"], joined["reference_run"]) == ([], None)
    judge(quick.service)
    do(quick, "apply", rejudging)
    assert worths(quick)["team"] == 50.0


def test_a_new_case_without_an_answer_is_there_at_once_with_the_job_that_makes_it(quick: Api) -> None:
    made = put(quick, "secret/05", 201, input=b"5\n")
    assert (made["answer_sha256"], made["reference_run"]) == (None, None)
    with quick.service.database.write() as session:
        row = session.get_one(ProblemRow, "echo")
        how = {"method": "greedy", "seconds": 1, "seed": 1, "memory": 1024}
        row.settings = row.settings | {"reference": how}
    made = put(quick, "secret/05", 200, input=b"55\n")
    job = quick.get(f"jobs/{made['reference_run']}", user="admin").json()
    assert job["params"]["cases"] == ["05"]
    assert put(quick, "secret/05", 200, input=b"55\n", answer=b"55\n")["reference_run"] is None
