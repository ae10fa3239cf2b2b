"""Faults of packages are printed by file and line, errors first, and wrapped with a hanging indent on a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.core.commands.progress import fault_lines, summary, wrapped
from app.core.faults import PackageError

FAULTS = [
    PackageError("data", "", "expected answers that the checker must reject, found none", "note").as_data(),
    PackageError("", "", "expected an id of at most 36 characters, found 'x'", "warning").as_data(),
    PackageError("problem.yaml", "line 3, name.en", "expected text, found 5").as_data(),
    PackageError("checker.cpp", "", "checker.cpp does not compile:\nchecker.cpp:7:3: error: expected ';'").as_data(),
]


def test_each_fault_has_its_place_and_severity_errors_first() -> None:
    assert fault_lines(Path("tour"), FAULTS) == [
        "tour/problem.yaml:3: error: name.en: expected text, found 5",
        "tour/checker.cpp:7: error: checker.cpp does not compile:\n    checker.cpp:7:3: error: expected ';'",
        "tour: warning: expected an id of at most 36 characters, found 'x'",
        "tour/data: note: expected answers that the checker must reject, found none",
    ]
    assert fault_lines(Path(), FAULTS[1:2]) == ["warning: expected an id of at most 36 characters, found 'x'"]
    assert summary(FAULTS) == "2 errors, 1 warning, 1 note"


@pytest.mark.parametrize("width", [20, 40, 80, 200])
def test_lines_fit_the_terminal_and_hang(width: int) -> None:
    words = "expected the checker to reject this answer, found it accepted: " * 3
    lines = wrapped(f"a/{'b' * 90}.in:3: warning: {words}\n    and {words}", width).split("\n")
    assert max(map(len, lines)) <= min(width, 120)
    assert [line for line in lines[1:] if not line.startswith("    ")] == []
    assert "".join(lines).replace(" ", "") == f"a/{'b' * 90}.in:3:warning:{words}and{words}".replace(" ", "")
    assert wrapped(words, None) == words
