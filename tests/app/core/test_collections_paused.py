"""The collector pauses while one block or another asks for it, and is then as it was before."""

from __future__ import annotations

import gc
from contextlib import suppress

from app.core.garbage import without_collections


def test_collections_go_on_only_after_the_last_block_has_ended() -> None:
    first, second = without_collections(), without_collections()
    assert gc.isenabled()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert not gc.isenabled()
    second.__exit__(None, None, None)
    assert gc.isenabled()


def test_a_block_that_fails_ends_its_pause() -> None:
    with suppress(ValueError), without_collections():
        raise ValueError
    assert gc.isenabled()


def test_what_a_block_made_is_not_searched_with_the_young() -> None:
    """A million objects that stay are searched with the oldest, seldom: not three times within the next second."""
    with without_collections():
        made = [[at] for at in range(1000)]
    young = {id(each) for generation in (0, 1) for each in gc.get_objects(generation)}
    assert young.isdisjoint(map(id, made))
