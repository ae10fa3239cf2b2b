"""`jurado bench` finds what can be measured by itself."""

from __future__ import annotations

from bench.__main__ import HERE, measurements
from tests.app.cli.conftest import Jurado


def test_every_module_with_a_main_is_a_measurement_that_says_what_it_measures() -> None:
    found = measurements()
    assert set(found) <= {path.stem for path in HERE.glob("*.py")}
    assert "__main__" not in found
    assert all(found.values())


def test_no_name_lists_the_measurements(jurado: Jurado) -> None:
    assert jurado("bench").exit_code == 0


def test_an_unknown_measurement_is_exit_code_2(jurado: Jurado) -> None:
    assert jurado("bench", "nothing-of-the-kind").exit_code == 2
