"""Survivors of full collections: set aside, searched again once they are many, and freed as they always were."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Iterator

import pytest

from app.core import garbage
from app.core.garbage import Survivors, skip_young

GROWTH = 1.2
"""Less than a server's: a test run has millions of objects, which need not be doubled to show it."""


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
    kept = Survivors(GROWTH)
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


def test_cycles_among_survivors_are_collected_once_these_have_grown() -> None:
    """Memory that nobody sees stays within a factor: the search after the one that is too many goes through all."""
    node = Node()
    node.other = node
    seen = weakref.ref(node)
    gc.collect()
    del node
    gc.collect()
    assert seen() is not None
    lasting = [[at] for at in range(int((GROWTH - 1) * 2 * gc.get_freeze_count()))]
    gc.collect()
    gc.collect()
    assert seen() is None
    assert len(lasting) > 0


def test_objects_made_in_bulk_are_set_aside_unsearched_and_counted() -> None:
    """Else boards that are read anew after each change of settings would put off the thorough search for ever."""
    gc.collect()
    many = [[at] for at in range(int((GROWTH - 1) * 2 * gc.get_freeze_count()))]
    skip_young()
    assert len(gc.get_objects()) < len(many)
    node = Node()
    node.other = node
    seen = weakref.ref(node)
    gc.collect()
    del node
    gc.collect()
    gc.collect()
    assert seen() is None


def test_objects_are_counted_while_other_threads_fill_tuples() -> None:
    lasting = [[at] for at in range(200_000)]
    faults: list[SystemError] = []
    ended = threading.Event()

    def fill() -> None:
        while not ended.is_set():
            try:
                tuple([at] for at in range(2_000))
            except SystemError as error:
                faults.append(error)

    thread = threading.Thread(target=fill)
    thread.start()
    counts = [garbage.counted(generation) for _ in range(100) for generation in range(3)]
    ended.set()
    thread.join()
    assert max(counts) >= len(lasting)
    assert not faults
