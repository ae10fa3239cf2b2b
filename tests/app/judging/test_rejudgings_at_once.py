"""Rejudgings by several people at once, or by a process that is killed: one after the other, whole or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from datetime import UTC, datetime
from threading import Barrier
from typing import Any

import httpx
import pytest
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.judging.queries import rejudging_steps
from app.tables import ContestRow, JudgementRow
from app.teams import queries as teams_queries
from tests.app.judging.test_rejudgings import PLACE, RIGHT, begin, do, points, put, state
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, with_checkers
from tests.builders.judging import judge
from tests.builders.killed import killed
from tests.builders.scoring import share
from tests.builders.service import Api, open_api

BEFORE = {"team": (1, 100.0), "other": (2, 0.0)}
AFTER = {"other": (1, 100.0), "team": (2, 0.0)}
SEEN_SOON = 0.3
"""What does not wait for a transaction is done long before; what does may be as late as it likes."""


@pytest.fixture
def contest(api: Api) -> Api:
    """A contest that is over, in which two submissions were judged wrong."""
    add_problem(api.service)
    add_contest(api.service, started=6 * HOUR)
    with_checkers(api)
    add_submission(api.service, {"02": share(1), "03": share(1)}, team="team", judgement_type="AC")
    add_submission(api.service, {"02": share(0), "03": share(0)}, team="other", files=RIGHT, judgement_type="WA")
    return api


def judged(api: Api, *, until: str = "open") -> dict[str, Any]:
    """A rejudging of both that is ready, applied or undone."""
    made: dict[str, Any] = begin(api)
    judge(api.service)
    for deed in {"open": (), "applied": ("apply",), "undone": ("apply", "undo")}[until]:
        do(api, deed, made)
    return made


def at_once(api: Api, *paths: str) -> list[httpx.Response]:
    """POST to all of them at the same moment, each from a thread of its own."""
    ready = Barrier(len(paths))

    def send(path: str) -> httpx.Response:
        ready.wait()
        return api.post(path, user="admin", json={"reason": "why"} if path == PLACE else None)

    with ThreadPoolExecutor(len(paths)) as threads:
        return list(threads.map(send, paths))


def codes(replies: list[httpx.Response]) -> list[int]:
    """Their status codes, in order of size."""
    return sorted(reply.status_code for reply in replies)


def check(api: Api, rejudging: dict[str, Any]) -> None:
    """One judgement of each submission stands, and the board is the one of the state, also of a service begun again."""
    with api.service.database.read() as session:
        snapshot = Counter(session.scalars(select(JudgementRow.submission_id).where(JudgementRow.current)))
    assert snapshot == {1: 1, 2: 1}
    expected = AFTER if state(api, rejudging) == "applied" else BEFORE
    assert points(api) == expected
    with open_api(api.service.database.url, api.service.settings.home, again=True) as anew:
        assert points(anew) == expected


@pytest.mark.parametrize(
    ("begun", "deeds", "ends"),
    [
        ("open", ("apply", "cancel"), {"applied", "cancelled"}),
        ("open", ("apply", "apply", "apply"), {"applied"}),
        ("open", ("cancel", "cancel"), {"cancelled"}),
        ("applied", ("undo", "undo", "undo"), {"undone"}),
        ("undone", ("apply", "apply"), {"applied"}),
    ],
)
def test_of_those_who_decide_at_once_one_wins_and_the_others_are_told(
    contest: Api, begun: str, deeds: tuple[str, ...], ends: set[str]
) -> None:
    rejudging = judged(contest, until=begun)
    replies = at_once(contest, *(f"{rejudging['href']}/{deed}" for deed in deeds))
    assert codes(replies) == [200, *[409] * (len(deeds) - 1)]
    won = next(reply for reply in replies if reply.status_code == 200)
    assert won.json()["state"] == state(contest, rejudging) in ends
    check(contest, rejudging)


def test_undoing_and_applying_at_once_is_as_one_after_the_other(contest: Api) -> None:
    rejudging = judged(contest, until="applied")
    undone, applied = at_once(contest, f"{rejudging['href']}/undo", f"{rejudging['href']}/apply")
    assert undone.status_code == 200
    assert state(contest, rejudging) == {200: "applied", 409: "undone"}[applied.status_code]
    check(contest, rejudging)


def test_of_two_rejudgings_of_the_same_begun_at_once_one_is_refused(contest: Api) -> None:
    for _ in range(3):
        made, refused = sorted(at_once(contest, PLACE, PLACE), key=lambda reply: reply.status_code)
        assert (made.status_code, refused.status_code) == (201, 409)
        do(contest, "cancel", made.json())


@contextmanager
def meanwhile(api: Api, send: Callable[[], httpx.Response]) -> Iterator[tuple[Session, list[httpx.Response]]]:
    """A transaction that is still open when a request of someone else arrives; the list has its reply in the end."""
    replies: list[httpx.Response] = []
    with ThreadPoolExecutor(1) as thread:
        with api.service.database.write() as session:
            yield session, replies
            session.flush()
            sent = thread.submit(send)
            wait([sent], SEEN_SOON)
        replies.append(sent.result())


def test_a_rejudging_that_is_not_committed_yet_keeps_others_of_the_same_away(contest: Api) -> None:
    def other() -> httpx.Response:
        return contest.post(PLACE, user="admin", json={"reason": "why", "team": "other"})

    with meanwhile(contest, other) as (session, replies):
        rejudging_steps.begin(session, "c", {}, "why", "admin")
    assert replies[0].status_code == 409


def test_two_that_share_submissions_are_applied_one_after_the_other(contest: Api) -> None:
    first = judged(contest, until="undone")
    second = judged(contest)

    def other() -> httpx.Response:
        return contest.post(f"{second['href']}/apply", user="admin")

    with meanwhile(contest, other) as (session, replies):
        rejudging_steps.apply(session, rejudging_steps.lock(session, int(first["id"])))
    assert replies[0].status_code == 200
    check(contest, second)
    do(contest, "undo", first, 409)
    do(contest, "undo", second)
    do(contest, "undo", first)
    check(contest, first)


def test_a_change_cannot_join_a_rejudging_that_is_being_applied(contest: Api) -> None:
    rejudging = put(contest, "secret/02", input=b"22\n", answer=b"22\n")
    judge(contest.service)

    def join() -> httpx.Response:
        path = "problems/echo/testcases/secret/03"
        return contest.put(path, user="admin", files={"input": ("in", b"33\n"), "answer": ("ans", b"33\n")})

    with meanwhile(contest, join) as (session, replies):
        rejudging_steps.apply(session, rejudging_steps.lock(session, int(rejudging["id"])))
    contest.service.boards.changed("c")
    assert replies[0].status_code == 202
    assert replies[0].json()["id"] != rejudging["id"]
    assert contest.get(rejudging["href"], user="judge").json()["changes"] == rejudging["changes"]
    do(contest, "undo", rejudging)
    assert points(contest) == BEFORE


def test_nothing_is_applied_to_a_contest_that_becomes_final_meanwhile(contest: Api) -> None:
    rejudging = judged(contest)

    def apply() -> httpx.Response:
        return contest.post(f"{rejudging['href']}/apply", user="admin")

    with meanwhile(contest, apply) as (session, replies):
        row = session.get_one(ContestRow, "c")
        row.finalized = datetime.now(UTC)
        teams_queries.enrol_those_there(session, row)
    assert replies[0].status_code == 409
    check(contest, rejudging)


@pytest.mark.parametrize(
    ("begun", "deed", "place", "other"),
    [
        ("open", "apply", "committing", "apply"),
        ("open", "apply", "committing", "cancel"),
        ("open", "apply", "committed", "undo"),
        ("applied", "undo", "committing", "undo"),
    ],
)
def test_what_is_killed_while_it_is_applied_or_undone_is_so_wholly_or_not_at_all(
    contest: Api, begun: str, deed: str, place: str, other: str
) -> None:
    rejudging = judged(contest, until=begun)
    killed(contest.service.database.url, rejudging["id"], deed, place)
    contest.service.boards.changed("c")  # as a service that begins again does not need
    assert state(contest, rejudging) == ("applied" if place == "committed" else begun.replace("open", "ready"))
    check(contest, rejudging)
    do(contest, other, rejudging)
    check(contest, rejudging)
