"""The short scenarios of `make chaos`."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.packages.catalog import bundled
from ops.chaos.model import Scenario, all_scenarios
from ops.chaos.on_servers import FEW, PASSWORD, one_of
from ops.chaos.stage import Ground, Server, Size
from tests import postgres, rabbitmq, s3
from tests.conftest import forked, once

SMALL = Size(submissions=24, kills=1, seconds=1)
IN_SUITE = [pytest.param(each, kind) for each in all_scenarios().values() for kind in each.in_suite]
IN_LONG = [
    pytest.param(each, kind, marks=pytest.mark.long) for each in all_scenarios().values() for kind in each.in_long
]


def broker() -> str:
    return rabbitmq.address(once("rabbitmq", rabbitmq.start))


def s3_port() -> int:
    return s3.port(once("s3-server", s3.start))


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    """Homes and databases that are filled once, and copied for each scenario."""
    folder = tmp_path_factory.mktemp("ground")
    return Ground(folder, lambda: once("postgresql-server", postgres.start), forked, broker, s3_port)


@pytest.mark.parametrize(("scenario", "kind"), IN_SUITE + IN_LONG, ids=lambda each: getattr(each, "name", each))
def test_what_is_promised_holds_through_a_fault(ground: Ground, scenario: Scenario, kind: str) -> None:
    """Each acknowledged submission is judged once, the board as from scratch, the feed as the endpoints."""
    with ground.stage(kind, SMALL) as setting:
        assert scenario.play(setting)


def test_of_two_first_starts_at_once_one_serves_and_the_other_says_why_not(tmp_path: Path) -> None:
    problem = tmp_path / "problems" / "lasttreat"  # one, without kernels: what is brought in is of no interest here
    problem.parent.mkdir()
    problem.symlink_to(bundled()["lasttreat"])
    settings = {"problems": str(problem.parent), "admin_password": PASSWORD, **FEW}
    both = [Server(tmp_path / "home", popen=forked, **settings) for _ in range(2)]
    try:
        one_of(both)
    finally:
        for each in both:
            if each.process.poll() is None:
                each.kill()
