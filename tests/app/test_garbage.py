"""Survivors of full collections: set aside, searched again now and then, and freed as they always were."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from app.core import garbage
from app.core.garbage import Survivors, skip_young

THOROUGH = 3


class Node:
    """An object that may refer to itself."""

    def __init__(self) -> None:
        self.other: Node | None = None


@pytest.fixture(autouse=True)
def survivors() -> Iterator[Survivors]:
    """Survivors that are set aside during the test, with no collection but those that the test asks for.

    What the test run had set aside is so again afterwards: else each later collection would search all of it.
    """
    gc.disable()
    kept = Survivors(THOROUGH)
    kept.keep()
    yield kept
    kept.release()
    gc.freeze()
    gc.enable()


def test_a_full_collection_searches_only_what_came_after_the_last_one() -> None:
    gc.collect()
    lasting = [[at] for at in range(10_000)]
    assert len(gc.get_objects()) > len(lasting)
    gc.collect()
    assert len(gc.get_objects()) < len(lasting)


def test_the_objects_of_a_few_requests_are_no_reason_to_search_the_young() -> None:
    """They go with their requests; Python's own threshold would have searched them several times."""
    gc.collect()
    before = gc.get_stats()[0]["collections"]
    gc.enable()
    some = [[at] for at in range(garbage.YOUNG // 2)]
    gc.disable()
    assert gc.get_stats()[0]["collections"] == before
    assert len(some) > 1000


def test_new_cycles_are_collected_as_ever() -> None:
    node = Node()
    node.other = node
    seen = weakref.ref(node)
    del node
    gc.collect()
    assert seen() is None


def test_survivors_without_a_cycle_are_freed_at_once() -> None:
    node = Node()
    seen = weakref.ref(node)
    gc.collect()
    del node
    assert seen() is None


def test_cycles_among_survivors_are_collected_by_one_search_of_some() -> None:
    node = Node()
    node.other = node
    seen = weakref.ref(node)
    gc.collect()
    del node
    gc.collect()
    assert seen() is not None
    gc.collect()
    assert seen() is None


def test_objects_made_in_bulk_are_set_aside_unsearched() -> None:
    many = [[at] for at in range(10_000)]
    skip_young()
    assert len(gc.get_objects()) < len(many)
