"""A feed with many submissions to look at tells of them some at a time, and of what is new before it has ended."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from app.contests.service import visibility
from app.core.service import Service
from app.domain.scoring import ProblemPoints, problem_points
from app.feed.service.log import Log
from app.feed.service.looks import LONGEST_PAUSE, Followed
from app.feed.service.publisher import FeedPublisher
from tests.builders.contests import add_contest, add_problem, add_submission, change_contest, judgement_id
from tests.builders.scoring import raw
from tests.builders.service import Api, open_api
from tests.builders.streams import fold, open_stream, read_feed, shown

SUBMISSIONS = 5


@pytest.fixture
def contest(database_url: str, tmp_path: Path) -> Iterator[Api]:
    """Some submissions, of which a look takes one."""
    with open_api(database_url, tmp_path / "home", most_swept=1) as api:
        add_problem(api.service)
        add_contest(api.service)
        for minute in range(1, SUBMISSIONS + 1):
            add_submission(api.service, {"02": raw(minute, 1)}, minute=minute)
        yield api


def told(followed: Followed, kind: str) -> set[str | None]:
    """The ids of what was told of a kind."""
    assert followed.log is not None
    return set(followed.log.index.of.get(kind, {}))


def looked_at(service: Service) -> tuple[FeedPublisher, Followed]:
    """A publisher that has looked once at the contest, and its place there; no thread of its own looks."""
    publisher = FeedPublisher(service, coalesce=10.0)
    followed = Followed("c")
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


def test_a_first_look_computes_the_points_of_its_own_submissions_alone(
    contest: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For all that a team has sent, the first event would come after seconds."""
    computed: list[ProblemPoints] = []

    def counted(*arguments: Any) -> ProblemPoints:
        computed.append(problem_points(*arguments))
        return computed[-1]

    monkeypatch.setattr(visibility, "problem_points", counted)
    publisher, followed = looked_at(contest.service)
    assert len(told(followed, "judgements")) == 1
    assert len(computed) == 2  # for everyone and for judges
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


class Looks:
    """Stops the publisher before its next look until as many are `allowed`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.allowed = threading.Semaphore(0)
        look = FeedPublisher.look

        def stopped(publisher: FeedPublisher, followed: Followed) -> Log | None:
            assert self.allowed.acquire(timeout=120)
            return look(publisher, followed)

        monkeypatch.setattr(FeedPublisher, "look", stopped)

    def release(self) -> None:
        """Allow all looks."""
        self.allowed.release(1000)


def test_a_feed_that_ends_begins_before_all_submissions_are_compared(
    contest: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = Looks(monkeypatch)
    looks.allowed.release()
    try:
        with open_stream(contest, "contests/c/event-feed?stream=false", user="judge") as stream:
            stream.wait(lambda: "submissions" in fold(stream.events()))
            assert len(fold(stream.events())["submissions"]) == 1
            assert not stream.ended
            looks.release()
            stream.wait(lambda: stream.ended)
            assert fold(stream.events()) == shown(contest, "c", "judge")
    finally:
        looks.release()


def test_a_client_that_leaves_before_its_feed_begins_frees_its_place(
    sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = Looks(monkeypatch)
    with open_api(sqlite_url, tmp_path / "home", most_reads_of_one=1, read_wait_seconds=0.05) as api:
        add_problem(api.service)
        add_contest(api.service)
        try:
            with open_stream(api, "contests/c/event-feed?stream=false", begun=False) as stream:
                stream.wait(lambda: api.get("contests/c/submissions").status_code == 503)
            assert stream.status == 0
            assert api.get("contests/c/submissions").status_code == 200
            waiting = api.app.state.hub.publisher._contests["c"].waiting
            assert all(waiter.future.cancelled() for waiter in waiting)
        finally:
            looks.release()


def test_a_feed_that_ends_does_so_while_the_rules_change_with_every_look(contest: Api) -> None:
    """Each change of a contest concerns all of its submissions."""
    numbers = count()

    def change(_contest_id: str) -> None:
        change_contest(contest.service, duration_ms=18_000_000 + next(numbers))

    contest.app.state.hub.publisher.listeners.append(change)
    with open_stream(contest, "contests/c/event-feed?stream=false", user="judge") as stream:
        stream.wait(lambda: stream.ended)
        assert len(fold(stream.events())["submissions"]) == SUBMISSIONS
        assert next(numbers) >= SUBMISSIONS


def test_what_changes_during_a_sweep_is_told_after_one_more(contest: Api) -> None:
    publisher, followed = looked_at(contest.service)
    change_contest(contest.service, settings={"show_others_answers": True})
    looks = 0
    while followed.swept:
        publisher.look(followed)
        looks += 1
    assert looks == 2 * SUBMISSIONS - 1
    assert followed.sweeps == 2
    publisher.close()
    assert fold(read_feed(contest)) == shown(contest, "c", None)


def test_the_pause_after_a_look_is_bounded_however_much_it_worked() -> None:
    followed = Followed("c")
    before = time.monotonic()
    followed.rest(worked=600.0)
    assert before + LONGEST_PAUSE <= followed.not_before <= time.monotonic() + LONGEST_PAUSE
