"""A log in memory: the latest events at hand, older ones by the page, what no one needs any longer."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

from app.feed.service import log as logs
from app.feed.service.hub import Client
from app.feed.service.index import Reader, Shown, ShownLast, changes, deletions, digest
from app.feed.service.log import PAGE, Line, Log, Place, ids_on, lines_behind
from app.feed.service.sender import Hook, _batch
from app.feed.service.streams import Wish, first_account, follow
from app.tables import EventRow, WebhookRow

NOW = datetime(2026, 11, 21, tzinfo=UTC)
TEAM, OTHER, NOBODY, JUDGE = Reader(team_id="t"), Reader(team_id="o"), Reader(), Reader(sees_all=True)


def row(id_: int, **changes: Any) -> EventRow:
    facts = {"audience": "pj", "owner": None, "type": "teams", "object_id": f"t{id_}", "data": "{}", **changes}
    return EventRow(contest_id="c", id=id_, time=NOW, **facts)


class Numbered(Wish):
    """A client that is sent the numbers of events."""

    def written(self, log: Log, line: Line, token: str = "") -> bytes:
        return b"%d" % line.id


def filled(count: int, data: str = "{}") -> Log:
    """A log whose pages are read from the rows it was made of."""
    rows = [row(id_, data=data) for id_ in range(1, count + 1)]

    def read(_contest_id: str, number: int, type_: str | None) -> list[Line]:
        first, last = ids_on(number)
        return [Line(each, {}) for each in rows[first - 1 : last] if type_ in {None, each.type}]

    found = Log("c", read)
    for each in rows:
        found.add(each, {})
    return found


def behind(log: Log, at: int) -> list[int]:
    """The ids of all events behind a place, as a stream reads them."""
    seen: list[int] = []
    while lines := asyncio.run(lines_behind(log, at)):
        seen += [line.id for line in lines]
        at = seen[-1]
    return seen


def test_events_follow_each_other_without_a_gap() -> None:
    log = filled(3 * PAGE)
    assert behind(log, 0) == list(range(1, 3 * PAGE + 1))
    assert behind(log, PAGE - 1) == list(range(PAGE, 3 * PAGE + 1))
    assert behind(log, log.head) == []


def test_what_does_not_fit_into_memory_is_read_by_the_page() -> None:
    log = filled(3 * PAGE, data='"' + "x" * (logs.MOST_PAGE_BYTES // (3 * PAGE)) + '"')  # two pages are too large
    assert log.page_at_hand(0) is None
    assert log.page_at_hand(2) is not None
    assert behind(log, 0) == list(range(1, 3 * PAGE + 1))


def told(log: Log, *shown: Shown) -> list[tuple[str, str | None, str | None]]:
    """Tell what differs; returns audience, owner and data of each event."""
    found = changes(log.index, shown)
    for event in found:
        facts = {"audience": event.audience, "owner": event.owner, "type": event.type, "object_id": event.object_id}
        log.add(row(log.head + 1, data=event.data, **facts), {})
    return [(event.audience, event.owner, event.data) for event in found]


def knows(log: Log, reader: Reader) -> bool:
    """Does this reader know the object `x`?"""
    entry = log.index.entry("teams", "x")
    view = None if entry is None else entry.seen_by(reader)
    return view is not None and view.digest is not None


def test_those_who_see_the_same_share_an_event() -> None:
    log = filled(0)
    assert told(log, Shown("teams", "x", {"p": "1", "j": "1", "o:t": "1"}, "t")) == [("poj", "t", "1")]
    assert told(log, Shown("teams", "x", {"p": "1", "j": "1", "o:t": "1"}, "t")) == []
    assert told(log, Shown("teams", "x", {"p": "1", "j": "2", "o:t": "2"}, "t")) == [("oj", "t", "2")]
    assert told(log, Shown("teams", "x", {"j": "2", "o:t": "2"}, "t")) == [("p", "t", None)]
    assert [knows(log, reader) for reader in (TEAM, OTHER, NOBODY, JUDGE)] == [True, False, False, True]


def test_what_was_only_a_teams_may_become_everybodys_and_the_other_way_round() -> None:
    log = filled(0)
    assert told(log, Shown("teams", "x", {"j": "1", "o:t": "1"})) == [("j", None, "1"), ("o", "t", "1")]
    assert [knows(log, reader) for reader in (TEAM, OTHER, NOBODY, JUDGE)] == [True, False, False, True]
    assert told(log, Shown("teams", "x", {"p": "1", "j": "1"})) == [("p", None, "1")]
    assert [knows(log, reader) for reader in (TEAM, OTHER, NOBODY, JUDGE)] == [True, True, True, True]
    assert told(log, Shown("teams", "x", {"j": "1", "o:t": "1"})) == [("p", None, None), ("o", "t", "1")]
    assert [knows(log, reader) for reader in (TEAM, OTHER, NOBODY, JUDGE)] == [True, False, False, True]
    assert told(log, Shown("teams", "x", {"j": "1", "o:o": "1"})) == [("o", "o", "1"), ("o", "t", None)]
    assert [knows(log, reader) for reader in (TEAM, OTHER, NOBODY, JUDGE)] == [False, True, False, True]


def test_an_entry_says_what_each_event_said_to_those_who_got_it() -> None:
    log = filled(0)
    log.take(row(1, audience="poj", owner="t", object_id="x", data="1"))
    log.take(row(2, audience="oj", owner="t", object_id="x", data="2"))
    log.take(row(3, audience="p", owner="t", object_id="x", data=None))
    entry = log.index.entry("teams", "x")
    assert entry is not None
    assert (entry.owner, dict(entry.views)) == (
        "t",
        {
            "p": ShownLast(None, 3),
            "o:t": ShownLast(digest("2"), 2),
            "j": ShownLast(digest("2"), 2),
        },
    )
    assert list(log.index.ids("teams")) == ["x"]


def test_what_is_shown_to_nobody_any_more_is_deleted_last_first() -> None:
    log = filled(3)
    gone = deletions(log.index, "teams", ["t2"])
    assert [(event.object_id, event.data, event.audience) for event in gone] == [("t3", None, "pj"), ("t1", None, "pj")]


def test_an_event_is_superfluous_once_all_who_got_it_have_got_another() -> None:
    log = filled(0)
    log.take(row(1, audience="poj", owner="t", type="judgements", object_id="x", data="1"))
    log.take(row(2, audience="oj", owner="t", type="judgements", object_id="x", data="2"))
    assert log.take_superfluous(NOW + timedelta(1)) == []
    log.take(row(3, audience="p", owner="t", type="judgements", object_id="x", data="3"))
    assert log.take_superfluous(NOW) == []
    assert log.take_superfluous(NOW + timedelta(1)) == [1]
    assert log.take_superfluous(NOW + timedelta(1)) == []


def test_a_page_that_fills_while_it_is_read_is_read_again() -> None:
    """What is added between the reading of the rows and the keeping of the page is no gap for later readers."""
    rows = [row(id_) for id_ in range(1, PAGE + 1)]
    read_once: list[bool] = []

    def read(_contest_id: str, number: int, _type: str | None) -> list[Line]:
        lines = [Line(each, {}) for each in rows[: log.head]]
        is_first = not read_once
        read_once.append(True)
        while is_first and log.head < PAGE:
            log.add(rows[log.head], {})
        return lines

    log = Log("c", read)
    log.take(rows[0])
    log.page(0)
    assert [line.id for line in log.page(0)] == list(range(1, PAGE + 1))


def test_an_event_that_is_added_while_a_page_is_read_is_passed_over_by_no_stream_and_no_webhook() -> None:
    """All events of the page have been deleted: both continue behind them, and not behind what was added meanwhile."""

    def new_log() -> Log:
        read_once: list[bool] = []

        def read(_contest_id: str, _number: int, _type: str | None) -> list[Line]:
            read_once.append(True)
            if len(read_once) == 1:
                log.add(row(2), {})
            return []

        log = Log("c", read, epoch="0" * 32)
        log.take(row(1))
        return log

    async def streamed() -> list[bytes]:
        pieces = follow(new_log(), Client(), Numbered(JUDGE, None, live=False), Place(0), 1.0)
        return [piece async for piece in pieces]

    async def called() -> tuple[int, int]:
        hook = Hook(WebhookRow(id="h", url="http://h/", endpoints=[], positions={}), "token", JUDGE, ["c"])
        log = new_log()
        behind_deleted, _ = await _batch(log, hook, 0)
        _, notifications = await _batch(log, hook, behind_deleted)
        return behind_deleted, len(notifications)

    assert asyncio.run(streamed()) == [b"2"]
    assert asyncio.run(called()) == (1, 1)


def test_a_new_reader_gets_a_judgement_that_changes_meanwhile_before_its_runs() -> None:
    """It comes again behind all that there was; the state comes only there, as the last word."""
    kinds = ("submissions", "judgements", "runs", "state", "judgements", "state")
    rows = [row(id_, type=kind, object_id=kind) for id_, kind in enumerate(kinds, start=1)]
    read: list[str | None] = []

    def lines_of(_contest_id: str, _number: int, type_: str | None) -> list[Line]:
        read.append(type_)
        return [Line(each, {}) for each in rows if each.type == type_]

    log = Log("c", lines_of, epoch="0" * 32)
    for each in rows:
        log.take(each)

    async def first() -> bytes:
        pieces = first_account(log, Numbered(JUDGE, None, live=False), Place(4, 0))
        return b" ".join([piece async for piece in pieces])

    assert asyncio.run(first()) == b"1 5 3"
    assert read == ["submissions", "judgements", "runs"], "each line is made once"
