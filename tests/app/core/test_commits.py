"""A connection to PostgreSQL that breaks at a COMMIT: nothing is stored twice or said wrongly, whatever was written."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import psycopg
import pytest
from sqlalchemy import Connection, NullPool, create_engine, func, insert, select, text
from sqlalchemy.exc import InternalError, OperationalError

from app.contests.schemas import Limits
from app.core.db.commits import LAST, SECONDS_FOR_A_COMMIT, CommitInDoubt, NotKnownYet, was_committed
from app.core.db.database import Database
from app.core.db.migrate import upgrade
from app.core.db.writer import TRACES, AnyHandler, Writer
from app.core.files.open_files import LocalFiles
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.submissions.queries import judgements, submissions
from app.submissions.queries.judgements import Claim, Claimed, Outcome
from app.submissions.queries.submissions import Accepted
from app.tables import JudgementRow, SubmissionRow, TeamRow
from tests import postgres
from tests.builders.grading import NOW, add_rogue_contest, submission
from tests.builders.proxy import AFTER, BEFORE, Proxy, proxied
from tests.builders.standby import primary_with_standby
from tests.builders.waiting import until

PLACES = pytest.mark.parametrize("where", [BEFORE, AFTER])


@pytest.fixture
def proxy(postgresql_url: str) -> Iterator[Proxy]:
    """A proxy before the tests' server."""
    with proxied(Path(postgresql_url.partition("host=")[2])) as proxy:
        yield proxy


@pytest.fixture
def database(postgresql_url: str, proxy: Proxy, tmp_path: Path) -> Iterator[Database]:
    """The test's database behind the proxy, with a contest in it."""
    database = Database(proxy.url(postgresql_url.partition("@/")[2].partition("?")[0]))
    add_rogue_contest(database, LocalFiles(tmp_path))
    yield database
    database.close()


@pytest.fixture
def writer(database: Database) -> Iterator[Writer]:
    writer = Writer(database)
    yield writer
    writer.close()


def count(database: Database, table: type[SubmissionRow | JudgementRow | TeamRow]) -> int:
    with database.read() as session:
        return session.scalar(select(func.count()).select_from(table)) or 0


@PLACES
def test_a_submission_is_stored_once(database: Database, writer: Writer, proxy: Proxy, where: str) -> None:
    proxy.cut_once(where, "INSERT INTO submissions")
    accepted = writer.submit(submissions.accept, submission(b"ok", b"ok")).result(30)
    assert isinstance(accepted, Accepted)
    with database.read() as session:
        assert list(session.scalars(select(SubmissionRow.id))) == [accepted.submission_id]
        assert list(session.scalars(select(JudgementRow.id))) == [accepted.judgement_id]
    assert proxy.cuts == 1


@PLACES
def test_a_quota_of_one_is_used_by_one(database: Database, writer: Writer, proxy: Proxy, where: str) -> None:
    proxy.cut_once(where, "INSERT INTO submissions")
    new = replace(submission(b"ok", b"ok"), limits=Limits(max_submissions=1))
    assert isinstance(writer.submit(submissions.accept, new).result(30), Accepted)
    assert count(database, SubmissionRow) == 1


@PLACES
def test_a_claim_and_a_verdict_count_once_and_are_told(
    database: Database, writer: Writer, proxy: Proxy, where: str
) -> None:
    accepted = writer.submit(submissions.accept, submission(b"ok", b"ok")).result(30)
    assert isinstance(accepted, Accepted)
    assert accepted.judgement_id is not None
    proxy.cut_once(where, "UPDATE judgements")
    claimed = writer.submit(judgements.claim_many, Claim(None, 1)).result(30)
    assert claimed.attempts == {accepted.judgement_id: 1}
    proxy.cut_once(where, "UPDATE judgements")
    outcome = Outcome(accepted.judgement_id, 1, "WA", (), NOW)
    assert writer.submit(judgements.record_many, outcome).result(30) is True, "else nobody tells the board"
    assert proxy.cuts == 2


@PLACES
def test_an_admins_transaction_may_have_been_done(database: Database, proxy: Proxy, where: str) -> None:
    """No rows tell, so its client is told that no one knows; boards are read again, in case it was done."""
    generation = database.generation
    proxy.cut_once(where, "INSERT INTO teams")
    with pytest.raises(CommitInDoubt):
        add_team(database, "new")
    assert (count(database, TeamRow), database.generation > generation) == (2 if where == AFTER else 1, True)
    assert proxy.cuts == 1


def test_what_cannot_be_looked_up_is_said_and_is_on_the_board(database: Database, writer: Writer, proxy: Proxy) -> None:
    """The database commits and stays away: the client is told that no one knows, and the board is read again."""
    database.seconds_in_doubt = 0.0
    boards = ScoreboardCache(database)
    before = boards.snapshot("c", public=False)
    assert before is not None
    proxy.cut_once(AFTER, "INSERT INTO submissions", stay_away=True)
    with pytest.raises(CommitInDoubt):
        writer.submit(submissions.accept, submission(b"ok", b"ok")).result(30)
    proxy.away.clear()
    after = boards.snapshot("c", public=False)
    assert after is not None
    assert (len(before.attempts), len(after.attempts)) == (0, 1)


def open_transaction(connection: Connection) -> tuple[str, str]:
    """Number and beginning of a transaction before its COMMIT is sent."""
    connection.execute(insert(TeamRow).values(id="x", name="X", label="8", hidden=False))
    number, began, *_ = connection.execute(LAST, {"payloads": "[]"}).one()
    return number, began


def test_a_commit_that_never_arrives_is_ended_before_it_is_tried_again(
    database: Database, postgresql_url: str, proxy: Proxy
) -> None:
    """A transaction left open by a lost client is ended, so that its COMMIT cannot come after the look."""
    lost = Database(postgresql_url)
    connection = lost.engine.connect()
    transaction = connection.begin()
    number, began = open_transaction(connection)
    outcome = None
    while outcome is None:
        with suppress(NotKnownYet):
            outcome = was_committed(database.engine, number, began, lambda _: False)
    assert outcome is False
    with pytest.raises(OperationalError):
        transaction.commit()
    connection.invalidate()
    lost.close()


def test_a_commit_that_arrives_late_finds_nothing(database: Database, postgresql_url: str) -> None:
    """The database ends the transaction itself, also where no server can reach it to end it."""
    lost = Database(postgresql_url)
    connection = lost.engine.connect()
    transaction = connection.begin()
    open_transaction(connection)
    time.sleep(SECONDS_FOR_A_COMMIT + 1)
    with pytest.raises(InternalError):
        transaction.commit()
    assert count(database, TeamRow) == 1
    connection.invalidate()
    lost.close()


@pytest.mark.parametrize("is_replicated", [True, False])
def test_a_submission_is_stored_once_though_another_server_took_over(tmp_path: Path, *, is_replicated: bool) -> None:
    """Its reply is lost with the server that committed it; the next one has the commit, or has never heard of it."""
    with primary_with_standby() as (primary, standby), proxied(primary) as proxy:
        postgres.administer(primary, "CREATE DATABASE jurado")
        upgrade(postgres.url(primary, "jurado"))
        database = Database(proxy.url("jurado"))
        database.seconds_in_doubt = 60
        add_rogue_contest(database, LocalFiles(tmp_path))
        writer = Writer(database)
        standby.catch_up()
        follower = create_engine(postgres.url(standby.folder, "jurado"), poolclass=NullPool)
        with pytest.raises(NotKnownYet):  # what it lacks yet may still come
            was_committed(follower, "1", "now", lambda _: False)
        if not is_replicated:
            standby.stop_following()
        proxy.cut_once(AFTER, "INSERT INTO submissions", stay_away=True)
        writing = writer.submit(submissions.accept, submission(b"ok", b"ok"))
        until(lambda: proxy.cuts == 1)
        if is_replicated:
            standby.catch_up()
        standby.promote()
        proxy.lead_to(standby.folder)
        proxy.away.clear()
        accepted = writing.result(60)
        assert isinstance(accepted, Accepted)
        with database.read() as session:
            assert list(session.scalars(select(SubmissionRow.id))) == [accepted.submission_id]
            assert list(session.scalars(select(JudgementRow.id))) == [accepted.judgement_id]
        writer.close()
        database.close()


@dataclass
class Crashing:
    """A server of PostgreSQL that tests crash; a contest is in its database."""

    folder: Path
    database: Database
    proxy: Proxy

    def crash(self) -> object:
        """Kill a process of the server, which forgets what is not on the disk; returns the number of what was open."""
        place = f"host={self.folder} user={postgres.USER} dbname=jurado"
        with psycopg.connect(place) as victim, psycopg.connect(place) as other:
            query = "SELECT min(backend_xid::text) FROM pg_stat_activity WHERE backend_xid IS NOT NULL"
            (number,) = victim.execute(query).fetchone() or (None,)
            os.kill(victim.info.backend_pid, signal.SIGKILL)
            # The second one by the server, which has noticed then and takes no connection until it has recovered.
            until(lambda: self._is_closed(victim) and self._is_closed(other))
        return number

    def _is_closed(self, connection: psycopg.Connection[Any]) -> bool:
        with suppress(psycopg.OperationalError):
            connection.execute("SELECT 1")
        return connection.closed

    def reached(self) -> Database:
        """The database without the proxy, as another server has it, once it is up again."""

        def is_up() -> bool:
            with suppress(psycopg.OperationalError):
                postgres.administer(self.folder, "SELECT 1")
                return True
            return False

        until(is_up)
        return Database(postgres.url(self.folder, "jurado"))


@pytest.fixture(scope="module")
def crashing() -> Iterator[Crashing]:
    folder = Path(tempfile.mkdtemp(prefix="jurado-crashing-"))
    alive = postgres.hold(folder)
    try:
        postgres.start(folder)
        late = [f"ALTER SYSTEM SET {each}" for each in ("wal_writer_delay = '10s'", "autovacuum = off")]
        postgres.administer(folder, *late, "SELECT pg_reload_conf()", "CREATE DATABASE jurado")
        upgrade(postgres.url(folder, "jurado"))
        with proxied(folder) as proxy:
            database = Database(proxy.url("jurado"))
            database.seconds_in_doubt = 60
            yield Crashing(folder, database, proxy)
            database.close()
    finally:
        os.close(alive)
        postgres.wait_until_gone(folder)


def add_team(database: Database, name: str) -> None:
    with database.write() as session:
        session.add(TeamRow(id=name, name=name, label="9", hidden=False))


def teams_of(database: Database) -> set[str]:
    with database.read() as session:
        return set(session.scalars(select(TeamRow.id)))


@pytest.mark.parametrize("is_open", [False, True])
def test_a_number_that_a_crash_gave_to_another_server_stands_for_nothing_that_was_lost(
    crashing: Crashing, *, is_open: bool
) -> None:
    """Neither is its commit taken for the one that was lost, nor is its connection ended."""
    lost: list[object] = []
    name = f"lost {is_open}"

    def crash_at_commit(statements: str) -> str | None:
        if "INSERT INTO teams" not in statements:
            return None
        crashing.proxy.plan = lambda _: None
        crashing.proxy.away.set()
        lost.append(crashing.crash())
        return BEFORE

    crashing.proxy.plan = crash_at_commit
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(add_team, crashing.database, name)
        until(lambda: bool(lost))
        other = crashing.reached()
        connection = other.engine.connect()
        transaction = connection.begin()
        connection.execute(insert(TeamRow).values(id=f"other {is_open}", name="Other", label="8", hidden=False))
        number = connection.scalar(text("SELECT CAST(pg_current_xact_id() AS text)"))
        assert [number] == lost, "it is given again"
        if is_open:
            crashing.proxy.away.clear()
            assert isinstance(writing.exception(30), CommitInDoubt)
        transaction.commit()
        crashing.proxy.away.clear()
        assert isinstance(writing.exception(30), CommitInDoubt)
    names = teams_of(other)
    assert (name in names, f"other {is_open}" in names) == (False, True)
    connection.close()
    other.close()


def test_the_rows_of_claims_and_verdicts_tell_whether_they_are_stored(database: Database, writer: Writer) -> None:
    accepted = writer.submit(submissions.accept, submission(b"ok", b"ok")).result(30)
    assert isinstance(accepted, Accepted)
    assert accepted.judgement_id is not None
    claim, claimed = Claim("me", 1), Claimed({accepted.judgement_id: 1}, 1)
    outcome = Outcome(accepted.judgement_id, 1, "WA", (), NOW)

    def seen() -> list[bool | None]:
        asked: list[tuple[object, object, object]] = [
            (judgements.claim_many, claim, claimed),
            (judgements.claim_many, replace(claim, process_id="other"), claimed),
            (judgements.record_many, outcome, True),
        ]
        traces = [TRACES[cast(AnyHandler, handler)](payload, result) for handler, payload, result in asked]
        with database.engine.connect() as connection:
            return [None if trace is None else trace(connection) for trace in traces]

    assert seen() == [False, False, False]
    assert writer.submit(judgements.claim_many, claim).result(30) == claimed
    assert seen() == [True, False, False]
    assert writer.submit(judgements.record_many, outcome).result(30)
    assert seen() == [True, False, True]
