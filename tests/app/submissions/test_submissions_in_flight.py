"""A change of a problem meets its first submission, which another server has inserted and not committed yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from app.submissions.queries.submissions import NewSubmission, accept
from tests.builders.contests import HOUR, add_contest, add_problem, with_checkers
from tests.builders.grading import NOW
from tests.builders.service import Api
from tests.builders.two import two_apis, waits_for_a_lock
from tests.builders.waiting import until
from tests.conftest import migrated_postgresql


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Api, Api]]:
    """Two servers; each test has a contest and a problem of its own there."""
    folder = tmp_path_factory.mktemp("two")
    with migrated_postgresql() as url, two_apis(url, folder) as (one, other):
        yield with_checkers(one), other


def meeting(two: tuple[Api, Api], name: str, change: Callable[[Api], httpx.Response]) -> httpx.Response:
    """Make a change on one server while the first submission to contest and problem `name` is on its way in another."""
    one, other = two
    new = NewSubmission(name, name, "team", "team", NOW, 1000, [])
    with ThreadPoolExecutor(1) as pool:
        with other.service.database.transaction() as connection:
            accept(connection, [new])
            changing = pool.submit(change, one)
            until(lambda: changing.done() or waits_for_a_lock(one.service.database))
        return changing.result()


def a_contest(api: Api, name: str) -> None:
    """A contest that runs, with a problem of the same name, which no one has submitted to."""
    add_problem(api.service, slug=name)
    add_contest(api.service, name, started=HOUR, problem_id=name)


def test_a_test_case_that_is_changed_as_the_first_submission_arrives_waits_to_be_applied(two: tuple[Api, Api]) -> None:
    a_contest(two[0], "case")
    files = {"input": ("02.in", b"7\n"), "answer": ("02.ans", b"7\n")}
    reply = meeting(two, "case", lambda api: api.put("problems/case/testcases/secret/02", user="admin", files=files))
    assert (reply.status_code, reply.json().get("total")) == (202, 1), reply.text


def test_a_rule_that_is_changed_as_the_first_submission_arrives_waits_to_be_applied(two: tuple[Api, Api]) -> None:
    a_contest(two[0], "rule")
    rule = {"rule": {"kind": "relative", "max_points": 10}}
    reply = meeting(two, "rule", lambda api: api.patch("contests/rule/problems/rule", user="admin", json=rule))
    assert reply.status_code == 202, reply.text


def test_a_version_that_is_chosen_as_the_first_submission_arrives_waits_to_be_applied(two: tuple[Api, Api]) -> None:
    one, _ = two
    a_contest(one, "version")
    files = {"input": ("04.in", b"4\n"), "answer": ("04.ans", b"4\n")}
    assert one.put("problems/version/testcases/secret/04", user="admin", files=files).status_code == 201
    path = "contests/version/problems/version"
    reply = meeting(two, "version", lambda api: api.patch(path, user="admin", json={"version": 1}))
    assert (reply.status_code, reply.json().get("total")) == (202, 1), reply.text


def test_a_problem_stays_in_a_contest_in_which_its_first_submission_arrives(two: tuple[Api, Api]) -> None:
    a_contest(two[0], "removed")
    reply = meeting(two, "removed", lambda api: api.delete("contests/removed/problems/removed", user="admin"))
    assert reply.status_code == 409, reply.text
    assert "1 submissions" in reply.json()["message"]
