"""The short attacks of `make attack`: what is promised to hold, holds."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ops.attacks.model import Attack, all_attacks
from ops.attacks.stage import Home, Stage
from tests.conftest import forked

IN_SUITE = [each for each in all_attacks().values() if each.in_suite]


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A server on a copy of a small prepared home, attacked in every way: a promise holds also after other attacks."""
    with Home(tmp_path_factory.mktemp("attacks"), submissions=20, popen=forked).attacked("suite", {}) as stage:
        yield stage


@pytest.mark.parametrize("attack", IN_SUITE, ids=lambda each: str(each.name))
def test_an_attack_breaks_no_promise(stage: Stage, attack: Attack) -> None:
    """No fault is seen; what it costs is a benchmark's matter."""
    assert attack.settings == {}, "an attack on a server with settings of its own needs one of its own"
    assert attack.run(stage).faults == []
