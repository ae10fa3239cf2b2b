"""Ids wait under keys that are served in turn."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.grading.fair_queue import FairQueue
from app.grading.work import MOST_CLAIMED, share

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 30), st.sampled_from("abc")),
        st.tuples(st.just("take"), st.integers(0, 5)),
    ),
    max_size=40,
)


def test_one_key_that_puts_in_much_holds_back_no_other() -> None:
    """Of a flood of one team and one id of another, the latter comes second."""
    queue = FairQueue()
    for id_ in range(100):
        queue.add(id_, "flood")
    queue.add(100, "other")
    assert queue.take(3) == [0, 100, 1]


def test_keys_keep_their_turns_from_one_take_to_the_next() -> None:
    """Whose turn it is does not begin anew with each take."""
    queue = FairQueue()
    for id_, key in enumerate("aaabbbc"):
        queue.add(id_, key)
    assert [queue.take(2), queue.take(2), queue.take(9)] == [[0, 3], [6, 1], [4, 2, 5]]


def test_an_id_is_known_until_it_is_forgotten() -> None:
    """A sweep that finds what is being judged adds nothing."""
    queue = FairQueue()
    queue.add(1, "a")
    assert queue.take(1) == [1]
    queue.add(1, "a")
    assert (len(queue), queue.known, queue.count("a")) == (0, 1, 1)
    queue.forget([1])
    queue.add(1, "a")
    assert (len(queue), queue.known, queue.count("a")) == (1, 1, 1)


def test_what_is_reserved_counts_and_is_bounded() -> None:
    """A key with as many as it may have gets no more, until one is released or forgotten."""
    queue = FairQueue()
    queue.add(1, "a")
    assert [queue.reserve("a", 2), queue.reserve("a", 2), queue.reserve("b", 2)] == [True, False, True]
    queue.release("a")
    assert queue.reserve("a", 2)
    queue.forget(queue.take(1))
    assert queue.reserve("a", 2)
    assert (queue.count("a"), queue.count("b"), queue.count("c")) == (2, 1, 0)


@given(STEPS)
def test_everything_is_taken_once_in_the_order_of_its_key(steps: list[tuple[str, int, str] | tuple[str, int]]) -> None:
    """Whatever is added and taken in between: nothing is lost, and no key overtakes itself."""
    queue, added, taken = FairQueue(), list[tuple[int, str]](), list[int]()
    for step in steps:
        if len(step) == 3:
            if step[1] not in dict(added):
                added.append((step[1], step[2]))
            queue.add(step[1], step[2])
        else:
            taken += queue.take(step[1])
        assert len(queue) == len(added) - len(taken)
    taken += queue.take(len(added))
    key_of = dict(added)
    for key in "abc":
        assert [id_ for id_ in taken if key_of[id_] == key] == [id_ for id_, of in added if of == key]


def test_a_claim_is_a_part_of_what_waits_and_little_time() -> None:
    """At a millisecond each many are claimed together, at a second each one."""
    assert [
        share(1000, 1, 0.0),
        share(1000, 1, 0.001),
        share(10, 2, 0.001),
        share(1000, 1, 0.01),
        share(9, 1, 1.0),
    ] == [
        MOST_CLAIMED,
        MOST_CLAIMED,
        5,
        15,
        1,
    ]
