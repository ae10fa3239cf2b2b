"""Group commit: many writes share a transaction, and one that fails costs the others nothing."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import contextmanager
from typing import NamedTuple

import pytest
from sqlalchemy import Connection, Engine, insert, select, text
from sqlalchemy.exc import IntegrityError, OperationalError

from app.core.db.commits import Trace
from app.core.db.database import Database
from app.core.db.locks import lock_names
from app.core.db.writer import MOST_FAILURES_IN_A_ROW, REQUESTS_THAT_PRESS, SHORT_LOCK_MS, Writer
from app.core.settings import Timeouts
from app.tables import TeamRow

LOCK_MS = 200


class Teams:
    """A handler that inserts teams and remembers how many came at once."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def add(self, connection: Connection, names: Sequence[str]) -> list[str]:
        """Insert a team for every name."""
        self.batches.append(len(names))
        connection.execute(insert(TeamRow), [{"id": n, "name": n, "label": n, "hidden": False} for n in names])
        return [name.upper() for name in names]


def stored(database: Database) -> set[str]:
    """The teams that are there."""
    with database.read() as session:
        return set(session.scalars(select(TeamRow.id)))


def hold(writer: Writer) -> threading.Event:
    """Keep the writer busy until the event is set."""
    held, release = threading.Event(), threading.Event()

    def stay(_connection: Connection, payloads: Sequence[None]) -> Sequence[None]:
        held.set()
        release.wait(30)
        return payloads

    writer.submit(stay, None)
    held.wait(30)
    return release


def test_writes_that_wait_share_one_transaction(database_url: str) -> None:
    """Ten writes that came while the writer was busy are one insert, and each gets its own result."""
    database, teams = Database(database_url), Teams()
    writer = Writer(database)
    release = hold(writer)
    futures = [writer.submit(teams.add, f"t{at}") for at in range(10)]
    release.set()
    assert [future.result() for future in futures] == [f"T{at}" for at in range(10)]
    assert teams.batches == [10]
    writer.close()
    database.close()


def test_a_write_that_fails_costs_the_others_nothing(database_url: str) -> None:
    """A duplicate among five is refused alone; the four others are stored."""
    database, teams = Database(database_url), Teams()
    writer = Writer(database)
    writer.submit(teams.add, "same").result()
    release = hold(writer)
    futures = [writer.submit(teams.add, name) for name in ("a", "b", "same", "c", "d")]
    release.set()
    with pytest.raises(Exception, match=r"(?i)unique"):
        futures[2].result()
    assert [future.result() for at, future in enumerate(futures) if at != 2] == ["A", "B", "C", "D"]
    assert stored(database) == {"same", "a", "b", "c", "d"}
    writer.close()
    database.close()


def test_an_observer_that_fails_after_a_commit_has_nothing_stored_twice(database_url: str) -> None:
    database, teams = Database(database_url), Teams()
    writer = Writer(database)

    def fails(_writes: int, _seconds: float) -> None:
        raise ZeroDivisionError

    writer.on_commit = fails
    assert writer.submit(teams.add, "red").result(30) == "RED"
    assert writer.submit(teams.add, "blue").result(30) == "BLUE"
    assert (stored(database), teams.batches) == ({"red", "blue"}, [1, 1])
    writer.close()
    database.close()


def test_a_result_that_nobody_waits_for_any_more_costs_the_others_nothing(database_url: str) -> None:
    database, teams = Database(database_url), Teams()
    writer = Writer(database)
    release = hold(writer)
    gone, waiting = writer.submit(teams.add, "red"), writer.submit(teams.add, "blue")
    assert gone.cancel()
    release.set()
    assert waiting.result(30) == "BLUE"
    assert (stored(database), teams.batches) == ({"red", "blue"}, [2])
    assert writer.submit(teams.add, "green").result(30) == "GREEN"
    writer.close()
    database.close()


def test_a_handler_that_breaks_its_contract_fails_alone_and_the_writer_goes_on(database_url: str) -> None:
    """Whatever a handler does, the thread that stores all submissions must not end."""
    database, teams = Database(database_url), Teams()
    writer = Writer(database)

    def forgets(_connection: Connection, _payloads: Sequence[str]) -> Sequence[str]:
        return []

    with pytest.raises(ValueError, match="zip"):
        writer.submit(forgets, "red").result(30)
    assert writer.submit(teams.add, "blue").result(30) == "BLUE"
    writer.close()
    database.close()


@pytest.mark.parametrize("by_requests", [True, False])
def test_many_requests_that_wait_together_press_the_writer_and_writes_of_threads_do_not(
    sqlite_url: str, by_requests: bool
) -> None:
    """Graders let requests go first; what they write together themselves is no reason to wait."""
    database, teams = Database(sqlite_url), Teams()
    writer = Writer(database, pressed_seconds=600.0)
    names = [f"t{at}" for at in range(REQUESTS_THAT_PRESS)]
    release = hold(writer)

    async def calls() -> None:
        waiting = asyncio.gather(*(writer.call(teams.add, name) for name in names))
        asyncio.get_running_loop().call_soon(release.set)  # after each of them has been queued
        await waiting

    if by_requests:
        asyncio.run(calls())
    else:
        writes = [writer.submit(teams.add, name) for name in names]
        release.set()
        wait(writes)
    assert teams.batches == [len(names)]
    assert writer.pressed is by_requests
    writer.close()
    database.close()


def test_a_pressed_writer_commits_what_comes_while_it_gathers(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    database, teams = Database(sqlite_url), Teams()
    writer = Writer(database, pressed_seconds=600.0)
    late: list[Future[str]] = []

    class Clock:
        """Lets another write come while the writer waits for some."""

        monotonic = staticmethod(time.monotonic)

        @staticmethod
        def sleep(_seconds: float) -> None:
            """Write again."""
            late.append(writer.submit(teams.add, f"late {len(late)}"))

    async def calls() -> None:
        release = hold(writer)
        waiting = asyncio.gather(*(writer.call(teams.add, f"t{at}") for at in range(REQUESTS_THAT_PRESS)))
        asyncio.get_running_loop().call_soon(release.set)
        await waiting

    asyncio.run(calls())
    monkeypatch.setattr("app.core.db.writer.time", Clock)
    writer.submit(teams.add, "first").result()
    writer.close()
    assert teams.batches == [REQUESTS_THAT_PRESS, 2]
    assert len(late) == 1
    database.close()


def test_closing_writes_what_waits_first(database_url: str) -> None:
    """Nothing that was handed over is dropped by an orderly end."""
    database, teams = Database(database_url), Teams()
    writer = Writer(database)
    futures = [writer.submit(teams.add, f"t{at}") for at in range(50)]
    writer.close()
    assert all(future.done() for future in futures)
    assert len(stored(database)) == 50
    database.close()


def test_writes_that_wait_for_sqlites_lock_wait_for_about_one_lock_timeout_in_all(sqlite_url: str) -> None:
    """A batch waits its whole time; each tried alone after it waits a short one, and then those left wait for none."""
    database, teams = Database(sqlite_url), Teams()
    waits: list[int | None] = []

    class Watched(Database):
        """Notes how long each transaction may wait for a lock."""

        @contextmanager
        def transaction(
            self,
            engine: Engine | None = None,
            *,
            lock_ms: int | None = None,
            durable: bool = True,
            trace: Callable[[], Trace | None] = lambda: None,
        ) -> Iterator[Connection]:
            """Note the bound, and continue."""
            waits.append(lock_ms)
            with super().transaction(engine, lock_ms=lock_ms, durable=durable, trace=trace) as connection:
                yield connection

    watched = Watched(sqlite_url, Timeouts(busy=LOCK_MS / 1000))
    writer = Writer(watched)
    with database.transaction() as held:
        held.exec_driver_sql("SELECT 1")  # the lock comes with the first statement
        futures = [writer.submit(teams.add, f"t{at}") for at in range(10)]
        errors = [future.exception(60) for future in futures]
    assert all(isinstance(error, OperationalError) for error in errors)
    assert 1 <= waits.count(None) <= 2, "the first of them may have come alone"
    assert 1 <= waits.count(SHORT_LOCK_MS) <= MOST_FAILURES_IN_A_ROW * waits.count(None)
    assert writer.submit(teams.add, "next").result() == "NEXT"
    assert stored(database) == {"next"}
    writer.close()
    watched.close()
    database.close()


def test_writes_that_may_wait_are_committed_with_the_next_that_may_not(sqlite_url: str) -> None:
    database, teams = Database(sqlite_url), Teams()
    writer = Writer(database, waiting_seconds=600.0)
    patient = [writer.submit(teams.add, f"t{at}", may_wait=True) for at in range(3)]
    last = writer.submit(teams.add, "last")
    assert [each.result() for each in [*patient, last]] == ["T0", "T1", "T2", "LAST"]
    assert teams.batches == [4]
    left = writer.submit(teams.add, "left", may_wait=True)
    writer.close()
    assert left.result() == "LEFT", "what waits is written when the writer is closed"
    database.close()


def test_a_write_that_may_wait_is_committed_soon_where_no_other_comes(sqlite_url: str) -> None:
    database, teams = Database(sqlite_url), Teams()
    writer = Writer(database)
    assert writer.submit(teams.add, "alone", may_wait=True).result(timeout=60) == "ALONE"
    writer.close()
    database.close()


class Turn(NamedTuple):
    """A write of a team, under its lock."""

    team_id: str
    name: str


class Turns:
    """A handler that locks the teams of a batch, and inserts a row for each write; it remembers their order."""

    def __init__(self) -> None:
        self.order: list[str] = []

    def add(self, connection: Connection, turns: Sequence[Turn]) -> list[str]:
        """Insert rows under the locks of their teams."""
        lock_names(connection, [turn.team_id for turn in turns])
        rows = [{"id": turn.name, "name": turn.name, "label": turn.name, "hidden": False} for turn in turns]
        connection.execute(insert(TeamRow), rows)
        self.order += [turn.name for turn in turns]
        return [turn.name for turn in turns]


def test_a_team_whose_lock_is_held_keeps_no_other_team_waiting(postgresql_url: str) -> None:
    """Its writes are refused, and stored in their order once the lock is free."""
    database, turns = Database(postgresql_url), Turns()
    writer = Writer(database)
    with database.transaction() as connection:
        lock_names(connection, ["t7"])
        release = hold(writer)
        futures = [writer.submit(turns.add, Turn(f"t{at}", f"t{at}")) for at in range(20)]
        more = [writer.submit(turns.add, Turn("t7", f"more {at}")) for at in range(MOST_FAILURES_IN_A_ROW)]
        last = writer.submit(turns.add, Turn("t1", "last"))
        release.set()
        assert [future.result(30) for future in (*futures[:7], *futures[8:], last)][-1] == "last"
        assert all("lock timeout" in str(future.exception(30)) for future in (futures[7], *more))
        assert writer.submit(turns.add, Turn("t1", "next")).result(30) == "next"
    again = [writer.submit(turns.add, Turn("t7", name)) for name in ("t7", "late")]
    assert [future.result(30) for future in again] == ["t7", "late"]
    assert turns.order.index("t7") < turns.order.index("late")
    assert stored(database) == {*(f"t{at}" for at in range(20)), "late", "last", "next"}
    writer.close()
    database.close()


def test_a_bad_write_beside_one_that_waits_for_a_lock_fails_alone(postgresql_url: str) -> None:
    database, turns = Database(postgresql_url), Turns()
    writer = Writer(database)
    writer.submit(turns.add, Turn("a", "same")).result(30)
    with database.transaction() as connection:
        lock_names(connection, ["locked"])
        release = hold(writer)
        written = [("b", "same"), ("locked", "x"), ("c", "y")]
        bad, waiting, good = [writer.submit(turns.add, Turn(*each)) for each in written]
        release.set()
        assert isinstance(bad.exception(30), IntegrityError)
        assert good.result(30) == "y"
        assert isinstance(waiting.exception(30), OperationalError)
    assert stored(database) == {"same", "y"}
    writer.close()
    database.close()


def test_what_waits_for_a_lock_for_longer_than_it_may_is_refused(postgresql_url: str) -> None:
    """Also where everything is locked, and when the writer is closed."""
    database = Database(postgresql_url, Timeouts(lock=LOCK_MS / 1000))
    writer, teams = Writer(database), Teams()
    with database.transaction() as connection:
        connection.execute(text("LOCK TABLE teams IN ACCESS EXCLUSIVE MODE"))
        futures = [writer.submit(teams.add, f"t{at}") for at in range(10)]
        errors = [future.exception(60) for future in futures]
        late = writer.submit(teams.add, "late")
        writer.close()
    assert all(isinstance(error, OperationalError) for error in [*errors, late.exception(0)])
    assert "lock timeout" in str(errors[0])
    assert stored(database) == set()
    database.close()
