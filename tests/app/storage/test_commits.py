"""A connection to PostgreSQL that breaks at a COMMIT: nothing is stored twice or said wrongly, whatever was written."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import cast

import pytest
from sqlalchemy import Connection, func, insert, select
from sqlalchemy.exc import OperationalError

from app.domain.limits import Limits
from app.grading.scoreboard_cache import ScoreboardCache
from app.storage import judgements, submissions
from app.storage.commits import CommitInDoubt, Commits, Ended, NotKnownYet, Trace, last_act, was_committed
from app.storage.database import Database
from app.storage.judgements import Claim, Outcome
from app.storage.local_files import LocalFiles
from app.storage.migrate import upgrade
from app.storage.submissions import Accepted
from app.storage.tables import JudgementRow, SubmissionRow, TeamRow
from app.storage.writer import TRACES, AnyHandler, Writer
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
    new = replace(submission(b"ok", b"ok"), limits=Limits(most=1))
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
    attempt = writer.submit(judgements.begin_many, Claim(accepted.judgement_id, None)).result(30)
    assert attempt == 1
    proxy.cut_once(where, "UPDATE judgements")
    outcome = Outcome(accepted.judgement_id, 1, "WA", (), NOW)
    assert writer.submit(judgements.record_many, outcome).result(30) is True, "else nobody tells the board"
    assert proxy.cuts == 2


@PLACES
def test_an_admins_transaction_is_done_or_refused(database: Database, proxy: Proxy, where: str) -> None:
    generation = database.generation
    proxy.cut_once(where, "INSERT INTO teams")

    def add() -> None:
        with database.write() as session:
            session.add(TeamRow(id="new", name="New", label="9", hidden=False))

    if where == AFTER:
        add()
    else:
        with pytest.raises(OperationalError):
            add()
    assert (count(database, TeamRow), database.generation > generation) == ((2, True) if where == AFTER else (1, False))
    assert proxy.cuts == 1


def test_what_cannot_be_looked_up_is_said_and_told_once_it_is_known(
    database: Database, writer: Writer, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The database commits and stays away: the client is told that nobody knows, and later the board changes."""
    monkeypatch.setattr("app.storage.commits.SECONDS_BETWEEN_LATE_LOOKS", 0.01)
    database.commits = Commits(database.changed, seconds=0.0)
    boards = ScoreboardCache(database)
    before = boards.snapshot("c", public=False)
    assert before is not None
    proxy.cut_once(AFTER, "INSERT INTO submissions", stay_away=True)
    with pytest.raises(CommitInDoubt):
        writer.submit(submissions.accept, submission(b"ok", b"ok")).result(30)
    known = Event()
    database.listeners.append(known.set)
    proxy.away.clear()
    assert known.wait(30)
    after = boards.snapshot("c", public=False)
    assert after is not None
    assert (len(before.attempts), len(after.attempts)) == (0, 1)


def tells(is_there: bool) -> Trace:
    """A trace that tells this of its rows."""
    return lambda _connection: is_there


def open_transaction(connection: Connection) -> Ended:
    """What is known of a transaction before its COMMIT is sent."""
    number, timeline = last_act(connection)
    assert number is not None, "it has written"
    return Ended(number, timeline)


def test_a_commit_that_never_arrives_is_ended_before_it_is_tried_again(
    database: Database, postgresql_url: str, proxy: Proxy
) -> None:
    """A transaction left open by a lost client is ended, so that its COMMIT cannot come after the look."""
    lost = Database(postgresql_url)
    connection = lost.engine.connect()
    transaction = connection.begin()
    connection.execute(insert(TeamRow).values(id="x", name="X", label="8", hidden=False))
    ended = open_transaction(connection)
    outcome = None
    while outcome is None:
        with suppress(NotKnownYet):
            outcome = was_committed(database.engine, ended)
    assert outcome is False
    with pytest.raises(OperationalError):
        transaction.commit()
    connection.invalidate()
    lost.close()


@pytest.mark.parametrize("is_replicated", [True, False])
def test_a_submission_is_stored_once_though_another_server_took_over(tmp_path: Path, *, is_replicated: bool) -> None:
    """Its reply is lost with the server that committed it; the next one has the commit, or has never heard of it."""
    with primary_with_standby() as (primary, standby), proxied(primary) as proxy:
        postgres.administer(primary, "CREATE DATABASE jurado")
        upgrade(postgres.url(primary, "jurado"))
        database = Database(proxy.url("jurado"))
        database.commits = Commits(database.changed, seconds=60)
        add_rogue_contest(database, LocalFiles(tmp_path))
        writer = Writer(database)
        standby.catch_up()
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


def test_what_nobody_can_know_after_another_server_has_taken_over_stays_in_doubt(database: Database) -> None:
    """A number of another timeline says nothing, though here it is one of a transaction that was committed."""
    with database.engine.begin() as connection:
        connection.execute(insert(TeamRow).values(id="x", name="X", label="8", hidden=False))
        ended = open_transaction(connection)
    assert was_committed(database.engine, ended) is True
    elsewhere = ended._replace(timeline="0000BEEF")
    assert was_committed(database.engine, elsewhere) is None
    for is_there in (True, False):
        traced = Ended(ended.number, "0000BEEF", tells(is_there))
        assert was_committed(database.engine, traced) is is_there


def test_a_number_that_a_crash_gave_to_another_transaction_commits_nothing_of_what_was_lost(database: Database) -> None:
    """The database gives numbers again that were never on its disk: the rows tell whose this one is."""
    with database.engine.begin() as connection:
        connection.execute(insert(TeamRow).values(id="x", name="X", label="8", hidden=False))
        ended = open_transaction(connection)
    for is_there in (True, False):
        assert was_committed(database.engine, ended._replace(trace=tells(is_there))) is is_there


def test_the_rows_of_claims_and_verdicts_tell_whether_they_are_stored(database: Database, writer: Writer) -> None:
    accepted = writer.submit(submissions.accept, submission(b"ok", b"ok")).result(30)
    assert isinstance(accepted, Accepted)
    assert accepted.judgement_id is not None
    claim = Claim(accepted.judgement_id, None)
    outcome = Outcome(accepted.judgement_id, 1, "WA", (), NOW)

    def seen() -> list[bool | None]:
        with database.engine.connect() as connection:
            begun, of_another = (
                TRACES[cast(AnyHandler, judgements.begin_many)](connection, each, 1)
                for each in (claim, claim._replace(process_id="other"))
            )
            return [begun, of_another, TRACES[cast(AnyHandler, judgements.record_many)](connection, outcome, True)]

    assert seen() == [False, False, False]
    assert writer.submit(judgements.begin_many, claim).result(30) == 1
    assert seen() == [True, False, False]
    assert writer.submit(judgements.record_many, outcome).result(30)
    assert seen() == [True, False, True]
