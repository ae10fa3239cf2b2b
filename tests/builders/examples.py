"""How much is played at random: so much in every test run, and ten times as much by `make test-long`."""

from __future__ import annotations

from hypothesis import settings

USUAL = 100


def examples(count: int) -> int:
    """So many examples, or more where the profile of hypothesis wants more than it usually does."""
    return count * settings.default.max_examples // USUAL
