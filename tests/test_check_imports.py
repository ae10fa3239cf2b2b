"""`make check` finds imports that are broken in bench, ops and scripts, which no type checker reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import check_imports


def test_every_import_of_bench_ops_and_scripts_exists(capsys: pytest.CaptureFixture[str]) -> None:
    assert check_imports.main() == 0, capsys.readouterr().err


def test_a_missing_module_or_name_is_shown_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = ["import json", "from app.domain import nothing", "def late():", "    import app.none.such"]
    (tmp_path / "broken.py").write_text("\n".join([*lines, "from app.core.loops import Loop, Knot", ""]))
    assert check_imports.main((tmp_path,)) == 1
    shown = capsys.readouterr().err.splitlines()
    assert [line.rpartition("broken.py:")[2] for line in shown] == [
        "2: app.domain has no nothing",
        "5: app.core.loops has no Knot",
        "4: no app.none.such",
    ]
