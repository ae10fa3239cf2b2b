"""Ids wait under keys, of which the one that has used the least seconds is served next."""

from __future__ import annotations

from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from app.judging.service.work import LEAST_SECONDS, MOST_CLAIMED, FairQueue, share

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
    assert (len(queue), queue.known) == (0, 1)
    queue.forget([1])
    queue.add(1, "a")
    assert (len(queue), queue.known) == (1, 1)


def test_a_key_that_used_more_seconds_waits_for_the_others_even_if_its_id_was_put_back() -> None:
    """After 28 seconds of one team, another team's submissions come first until they have used as much."""
    queue = FairQueue()
    queue.add(1, "slow")
    assert queue.take(1) == [1]
    for id_ in (2, 3, 4):
        queue.add(id_, "fast")
    queue.charge(1, 28.0)
    queue.put_back([1])
    assert queue.take(1) == [2]
    queue.charge(2, 1.0)
    assert queue.take(1) == [3]
    queue.charge(3, 28.0)
    assert queue.take(2) == [1, 4]


def test_a_key_that_was_idle_starts_level_with_those_that_worked() -> None:
    """Time that a team did not use earns it no credit, and time that no one else wanted costs nothing."""
    queue = FairQueue()
    queue.add(1, "early")
    queue.add(2, "early")
    queue.take(1)
    queue.charge(1, 100.0)
    queue.take(1)
    queue.charge(2, 100.0)
    for id_, key in ((3, "early"), (4, "late"), (5, "late")):
        queue.add(id_, key)
    taken = []
    for _ in range(3):
        taken += queue.take(1)
        queue.charge(taken[-1], 150.0)
    assert taken == [4, 3, 5]


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("add"), st.integers(0, 30), st.sampled_from("abc")),
            st.tuples(st.just("take"), st.integers(0, 5), st.integers(0, 3)),
            st.tuples(st.sampled_from(["charge", "put back", "forget"]), st.integers(0, 30), st.integers(0, 9)),
        ),
        max_size=60,
    )
)
def test_each_taken_id_is_the_first_of_a_key_with_the_least_seconds(steps: list[tuple[str, int, int | str]]) -> None:
    """The queue agrees with lists that are searched from the start each time."""
    queue = FairQueue()
    waiting: defaultdict[str, list[int]] = defaultdict(list)
    used: defaultdict[str, float] = defaultdict(float)
    advance: dict[int, float] = {}
    key_of: dict[int, str] = {}
    served = 0.0

    def settle(id_: int, seconds: float) -> None:
        used[key_of[id_]] += seconds - advance[id_]
        advance[id_] = 0.0

    for name, id_, more in steps:
        if name == "add" and id_ not in key_of:
            key_of[id_] = str(more)
            used[str(more)] = max(used[str(more)], served)
            waiting[str(more)].append(id_)
            queue.add(id_, str(more))
        elif name == "take":
            for taken in queue.take(id_, float(more)):
                least = min(used[key] for key, ids in waiting.items() if ids)
                key = key_of[taken]
                assert (used[key], waiting[key][0]) == (least, taken)
                served = max(served, least)
                del waiting[key][0]
                advance[taken] = max(float(more), LEAST_SECONDS)
                used[key] += advance[taken]
        elif id_ in advance:
            settle(id_, float(more) if name == "charge" else 0.0)
            if name == "charge":
                queue.charge(id_, float(more))
                continue
            del advance[id_]
            if name == "put back":
                waiting[key_of[id_]].insert(0, id_)
                assert queue.put_back([id_, 99]) == [id_]
                continue
            del key_of[id_]
            queue.forget([id_])
            if not key_of:
                used.clear()
                served = 0.0
        assert len(queue) == sum(map(len, waiting.values()))


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
