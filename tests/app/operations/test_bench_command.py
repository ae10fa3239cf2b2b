"""`jurado bench` finds what can be measured by itself."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import ModuleType

import pytest

from bench.__main__ import HERE, main, measurements
from tests.app.conftest import Jurado


def test_every_module_with_a_main_is_a_measurement_that_says_what_it_measures() -> None:
    found = measurements()
    assert set(found) <= {path.stem for path in HERE.glob("*.py")}
    assert "__main__" not in found
    assert all(found.values())


def test_no_name_lists_the_measurements(jurado: Jurado) -> None:
    assert jurado("bench").exit_code == 0


def test_an_unknown_measurement_is_exit_code_2(jurado: Jurado) -> None:
    assert jurado("bench", "nothing-of-the-kind").exit_code == 2


def test_a_run_says_beforehand_what_it_runs_and_how_long_that_took_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    durations = tmp_path / "durations.json"
    codes = {"verdicts": 0, "scoring": 1}
    for name, code in codes.items():
        stub = ModuleType(f"bench.{name}")
        stub.main = lambda code=code: code  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, stub.__name__, stub)
    assert main(["verdicts"], durations) == 0
    assert capsys.readouterr().err.startswith("bench: 1 to run, 1 never run here: verdicts\n")
    durations.write_text(json.dumps({"verdicts": 90.0}))
    assert main(["verdicts", "scoring"], durations) == 1
    shown = capsys.readouterr()
    assert shown.err.startswith("bench: 2 to run, about 0:01:30 by the last run, 1 never run here: verdicts, scoring\n")
    assert "== verdicts: " in shown.out
    assert set(json.loads(durations.read_text())) == set(codes)
    assert main(["--list"], durations) == 0
    assert "verdicts           0:00:00  " in capsys.readouterr().out
