"""Damaged answer files are accepted or rejected, and nothing else ever comes out of a checker."""

from __future__ import annotations

import pytest

from scripts import fuzz_checkers


@pytest.mark.parametrize("slug", fuzz_checkers.known_slugs())
def test_two_thousand_damaged_files_meet_nothing_but_rejections(slug: str) -> None:
    *_, tally = fuzz_checkers.fuzz(slug, count=2000, seed=7)
    assert tally.faults == []
    assert tally.files == 2000
    assert tally.rejected > 500
    assert tally.accepted > 0


def test_a_checker_that_fails_by_itself_is_caught() -> None:
    class Broken:
        def read_answer(self, data: bytes, instance: None) -> bytes:
            raise ZeroDivisionError

    tally = fuzz_checkers.Tally()
    fuzz_checkers.try_file(fuzz_checkers.Target(Broken(), None, b"", ()), b"1\n", tally)  # type: ignore[arg-type]
    assert "ZeroDivisionError" in tally.faults[0][1]
