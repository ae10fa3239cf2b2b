"""A short run of `make chaos`."""

from __future__ import annotations

from tests import chaos


def test_nothing_acknowledged_is_lost_when_everything_is_killed() -> None:
    """40 submissions under load, one kill -9 of server and graders: each judged once, the board as from scratch."""
    story = chaos.run(submissions=40, kills=1)
    assert (story.acknowledged >= 40, story.kills) == (True, 2)
