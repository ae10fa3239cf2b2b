"""A feed with many submissions to look at tells of them some at a time, and of what is new before it has ended."""

from __future__ import annotations

import pytest

from app.core.service import Service
from app.feed.service import followed as pace
from app.feed.service.followed import LONGEST_PAUSE, Followed
from app.feed.service.publisher import FeedPublisher
from tests.builders.contests import add_contest, add_problem, add_submission, judgement_id
from tests.builders.scoring import raw
from tests.builders.service import Api
from tests.builders.streams import fold, read_feed, shown

SUBMISSIONS = 5


@pytest.fixture
def contest(api: Api, monkeypatch: pytest.MonkeyPatch) -> Api:
    """Some submissions, of which a look takes one."""
    for name in ("FIRST_SLICE", "SMALLEST_SLICE", "LARGEST_SLICE"):
        monkeypatch.setattr(pace, name, 1)
    add_problem(api.service)
    add_contest(api.service)
    for minute in range(1, SUBMISSIONS + 1):
        add_submission(api.service, {"02": raw(minute, 1)}, minute=minute)
    return api


def told(followed: Followed, kind: str) -> set[str | None]:
    """The ids of what was told of a kind."""
    assert followed.log is not None
    return set(followed.log.index.of.get(kind, {}))


def looked_at(service: Service) -> tuple[FeedPublisher, Followed]:
    """A publisher that has looked once at the contest, and its place there; no thread of its own looks."""
    publisher = FeedPublisher(service, coalesce=10.0)
    followed = Followed("c", slice=1)
    publisher.look(followed)
    return publisher, followed


def test_a_look_takes_some_of_many_submissions_with_what_became_of_them(contest: Api) -> None:
    publisher, followed = looked_at(contest.service)
    sizes = [len(told(followed, "submissions"))]
    while followed.swept:
        publisher.look(followed)
        submissions = told(followed, "submissions")
        assert told(followed, "judgements") == {judgement_id(contest.service, each or "") for each in submissions}
        assert told(followed, "runs") == submissions
        sizes.append(len(told(followed, "submissions")))
    assert sizes == [1, 2, 3, 4, 5]
    looks = publisher.looks
    publisher.look(followed)
    assert (publisher.looks, followed.swept) == (looks + 1, False)
    publisher.close()


def test_a_submission_that_comes_during_a_sweep_is_told_with_the_next_look(contest: Api) -> None:
    publisher, followed = looked_at(contest.service)
    new = str(add_submission(contest.service, {"02": raw(9, 1)}, minute=9))
    publisher.look(followed)
    assert followed.swept
    assert new in told(followed, "submissions")
    publisher.close()


def test_the_state_is_told_when_all_that_it_follows_has_been(contest: Api) -> None:
    publisher, followed = looked_at(contest.service)
    while followed.swept:
        assert told(followed, "state") == set()
        publisher.look(followed)
    assert told(followed, "state") == {None}
    publisher.close()


def test_what_a_look_that_failed_had_taken_is_looked_at_again(contest: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    publisher, followed = looked_at(contest.service)
    with monkeypatch.context() as away:
        away.setattr("app.submissions.queries.submission_queries.runs", lambda *_, **__: 1 / 0)
        publisher._look_safely(followed, [])
    publisher.look(followed)
    while followed.swept:
        publisher.look(followed)
    assert len(told(followed, "submissions")) == SUBMISSIONS
    publisher.close()


@pytest.mark.parametrize("user", ["judge", "team", None])
def test_a_feed_that_ends_has_everything_however_many_looks_that_takes(contest: Api, user: str | None) -> None:
    assert fold(read_feed(contest, user=user)) == shown(contest, "c", user)


def test_the_pause_after_a_look_is_bounded_however_much_it_worked() -> None:
    followed = Followed("c")
    followed.rest(100.0, worked=600.0)
    assert followed.not_before == 100.0 + LONGEST_PAUSE


def test_slices_shrink_where_they_work_long_and_grow_where_they_do_not() -> None:
    followed = Followed("c", swept=True, slice=100)
    followed.rest(0.0, worked=3.0)
    assert followed.slice == 50
    followed.rest(0.0, worked=0.01)
    assert followed.slice == 100
