"""The short scenarios of `make chaos`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import postgres
from tests.chaos.model import POSTGRESQL, Scenario, all_scenarios
from tests.chaos.stage import Size, stage
from tests.conftest import once

SMALL = Size(submissions=40, kills=1)
IN_SUITE = [(each, kind) for each in all_scenarios().values() for kind in each.in_suite]


@pytest.mark.parametrize(("scenario", "kind"), IN_SUITE, ids=lambda each: getattr(each, "name", each))
def test_what_is_promised_holds_through_a_fault(scenario: Scenario, kind: str) -> None:
    """Each acknowledged submission is judged once, the board as from scratch, the feed as the endpoints."""
    cluster: Path | None = once("postgresql-server", postgres.start) if kind == POSTGRESQL else None
    with stage(kind, SMALL, cluster=cluster) as setting:
        assert scenario.play(setting)
