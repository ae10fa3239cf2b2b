"""The short attacks of `make attack`: what is promised to hold, holds."""

from __future__ import annotations

import pytest

from tests.attacks.model import Attack, all_attacks
from tests.attacks.stage import Home

IN_SUITE = [each for each in all_attacks().values() if each.in_suite]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A small prepared home, copied for each attack."""
    return Home(tmp_path_factory.mktemp("attacks"), submissions=20)


@pytest.mark.parametrize("attack", IN_SUITE, ids=lambda each: str(each.name))
def test_an_attack_breaks_no_promise(home: Home, attack: Attack) -> None:
    """No fault is seen; what it costs is a benchmark's matter."""
    with home.attacked(attack.name, attack.settings) as stage:
        assert attack.run(stage).faults == []
