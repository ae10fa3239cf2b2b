"""Tournaments of opponents as jobs: asked for, watched, cancelled, interrupted, and the same again."""

from __future__ import annotations

import time
from typing import Any, cast

import pytest
from sqlalchemy import update

from app.judging.service.engine import Engine
from app.judging.service.jobs import JobRunner
from app.problems.queries import pins
from app.tables import JobRow, TestCaseRow
from tests.builders.contests import add_problem
from tests.builders.games import GAME, PACKAGE, add_games, document
from tests.builders.service import Api, Idle

PATIENCE = 120.0
ASKED = {"opponents": ["optimal", "random", "one"], "positions": ["7 9 4\n", "2 4 2\n"], "rounds": 2, "seed": 5}
ENDLESS = {"opponents": ["one", "random"], "positions": ["1000000000000 1000000000000 3"], "rounds": 1000}


def ended(api: Api, job_id: str) -> dict[str, Any]:
    """The job once it has ended, worked on by the service's own thread."""
    until = time.monotonic() + PATIENCE
    while (job := document(api.get(f"jobs/{job_id}", user="admin")))["state"] not in pins.ENDED:
        assert time.monotonic() < until, job
        time.sleep(0.05)
    return job


def working(api: Api) -> JobRunner:
    """A runner that works on the service's jobs; tournaments need no graders."""
    runner = JobRunner(api.service.database, api.service.files, cast(Engine, Idle()), lambda _problem: None)
    with api.service.database.write() as session:  # else it scores expected answers first, which graders do
        session.execute(update(TestCaseRow).values(answer_sha256=None))
    runner.start()
    return runner


def ask(api: Api, problem: str = GAME, **body: Any) -> dict[str, Any]:
    """Queue a tournament."""
    return document(api.post(f"problems/{problem}/tournaments", user="admin", json=body))


def test_a_tournament_gives_a_cross_table_that_adds_up_and_every_game(api: Api) -> None:
    add_games(api.service)
    runner = working(api)
    queued, again = ask(api, **ASKED), ask(api, **ASKED)
    for each in (queued, again):
        runner.wake(each["id"])
    assert queued["params"]["positions"] == ASKED["positions"]
    job = ended(api, queued["id"])
    assert (job["state"], job["progress"]) == ("done", 1), job
    result = job["result"]["tournament"]
    assert result["count"] == len(result["games"]) == 3 * 2 * 2 * 2
    assert result["players"][0]["name"] == "optimal"
    assert sum(row["points"] for row in result["players"]) == result["count"]
    assert {game["seed"] for game in result["games"]} == {5, 6}
    assert ended(api, again["id"])["result"] == job["result"], "the same games for the same seed"
    runner.close()


def test_it_begins_at_the_starts_of_a_problem_that_is_played_and_says_what_it_does_not_take(api: Api) -> None:
    add_games(api.service)
    assert ask(api)["params"]["positions"] == ["1 0 1\n", "3 0 1\n", "5 0 1\n"]
    assert ask(api, testcases=["03"])["params"]["players"] == ["optimal", "adversarial", "random", "one", "greedy"]
    for body, fault in (
        ({"opponents": ["optimal"]}, "opponents"),
        ({"opponents": ["optimal", "optimum"]}, "did you mean 'optimal'"),
        ({"opponents": ["one", "one"]}, "expected each once"),
        ({"testcases": ["nine"]}, "expected test cases of treat"),
        ({"testcases": ["02"], "positions": ["1 0 1"]}, "found both"),
        ({"positions": ["1 0"]}, "positions.0: line 1: expected three numbers"),
        ({"positions": ["0 0 1"]}, "found one that is over"),
        ({"rounds": 1000}, "expected at most 20000 games, found 60000"),
        ({"rounds": 0}, "rounds"),
        ({"seed": -1}, "seed"),
    ):
        refused = api.post(f"problems/{GAME}/tournaments", user="admin", json=body)
        assert refused.status_code == 400, body
        assert fault in refused.json()["message"]


def test_one_that_is_cancelled_keeps_its_table_and_one_that_a_stop_interrupts_is_taken_up(api: Api) -> None:
    add_games(api.service)
    job_id = ask(api, **ENDLESS)["id"]
    runner = working(api)
    until = time.monotonic() + PATIENCE
    while not (job := document(api.get(f"jobs/{job_id}", user="admin")))["result"]:
        assert time.monotonic() < until, job
        time.sleep(0.05)
    assert job["state"] == "running"
    assert 0 < job["result"]["tournament"]["count"] < 2000
    runner.close()
    with api.service.database.write() as session:
        assert session.get_one(JobRow, job_id).state == pins.RUNNING
        pins.take_up_interrupted(session, 3)
        assert session.get_one(JobRow, job_id).state == pins.QUEUED
    assert runner.cancel(job_id)
    job = document(api.get(f"jobs/{job_id}", user="admin"))
    assert (job["state"], job["result"]["error"]) == ("cancelled", "cancelled")
    assert job["result"]["tournament"]["players"]


def test_jobs_of_a_problem_that_is_deleted_are_cancelled_and_no_others(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_problem(api.service, PACKAGE, GAME)
    add_problem(api.service, PACKAGE, "stays")
    runner = JobRunner(api.service.database, api.service.files, cast(Engine, Idle()), lambda _problem: None)
    monkeypatch.setattr(api.service.jobs, "cancel", runner.cancel)
    gone, other = ask(api), ask(api, "stays")
    assert api.delete(f"problems/{GAME}", user="admin").status_code == 204
    states = [document(api.get(f"jobs/{each['id']}", user="admin"))["state"] for each in (gone, other)]
    assert states == ["cancelled", "queued"]


def test_a_problem_without_a_game_has_no_tournament(api: Api) -> None:
    add_problem(api.service)
    refused = api.post("problems/echo/tournaments", user="admin", json={})
    assert refused.status_code == 400
    assert "expected one that can be played, found 'echo'" in refused.json()["message"]
