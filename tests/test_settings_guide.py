"""The guide to operating lists every setting, with its default and what it is for."""

from __future__ import annotations

from pathlib import Path

from app.core.settings import Settings

GUIDE = Path(__file__).parents[1] / "docs/guides/operating.md"


def expected_rows() -> list[str]:
    """A line of the guide's table for each setting."""
    return [
        f"| `JURADO_{name.upper()}` | {'empty' if field.default == '' else field.default} | {field.description} |"
        for name, field in Settings.model_fields.items()
    ]


def test_the_guide_lists_every_setting_as_the_program_has_it() -> None:
    rows = [line for line in GUIDE.read_text().splitlines() if line.startswith("| `JURADO_") and line.count("|") == 4]
    assert rows == expected_rows(), "\n".join(["expected these lines in the guide:", *expected_rows()])
