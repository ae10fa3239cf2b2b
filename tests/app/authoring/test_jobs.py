"""Jobs of problems that are deleted."""

from __future__ import annotations

from tests.builders.contests import add_problem
from tests.builders.games import GAME, PACKAGE, document
from tests.builders.service import Api


def test_jobs_of_a_problem_that_is_deleted_are_cancelled_and_no_others(api: Api) -> None:
    add_problem(api.service, PACKAGE, GAME)
    add_problem(api.service, PACKAGE, "stays")
    jobs = [document(api.post(f"problems/{each}/verification", user="admin")) for each in (GAME, "stays")]
    assert api.delete(f"problems/{GAME}", user="admin").status_code == 204
    states = [document(api.get(f"jobs/{each['id']}", user="admin"))["state"] for each in jobs]
    assert states == ["cancelled", "queued"]
