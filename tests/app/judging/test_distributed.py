"""Workers judge the rows that are due: each once, whatever message is lost, doubled or late."""

from __future__ import annotations

import io
import signal
import threading
from collections import Counter
from concurrent.futures import Future
from pathlib import Path
from typing import cast

import httpx
import pytest
from sqlalchemy import create_engine, select, text

from app.core.db.database import Database
from app.core.db.locks import WORKER, Locks, Presence, gone_processes, processes
from app.core.db.serving import hold, hold_when_free
from app.core.db.writer import Writer
from app.core.files.open_files import LocalFiles
from app.core.settings import Settings
from app.domain.counting import CaseVerdict
from app.judging.service.broker import Sender, queue_state
from app.judging.service.engine import Engine
from app.judging.service.jobs import SCORING, JobRunner
from app.judging.service.messages import Validate, Validated, WireScore
from app.judging.worker import Worker
from app.packages.read import assemble
from app.problems.queries import problems
from app.problems.queries.testcases import without_score
from app.submissions.queries import judgements, submissions
from app.submissions.queries.judgements import Claim, Freeing, Outcome, free_many
from app.submissions.queries.submissions import Accepted, NewAnswer, NewSubmission
from app.submissions.tables import DONE
from app.tables import JudgementRow, TestCaseRow
from tests.builders.contests import PROBLEM, add_contest, add_problem
from tests.builders.grading import NOW, add_rogue_contest, submission
from tests.builders.judging import begin
from tests.builders.logged import logged
from tests.builders.packages import package_files
from tests.builders.poisoned_worker import KILL_WORKER, poisoned_worker
from tests.builders.service import open_api
from tests.builders.two import BROKER
from tests.builders.waiting import until
from tests.builders.working import Working, working

FREE_LOCK = text(  # and wait until it is free: else the worker may have it again before anyone else
    "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name LIKE 'jurado worker %'"
)
END_LOCKS = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name = 'jurado locks'"
)
WAITING_FOR_A_LOCK = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


@pytest.mark.machine("broker")
def test_rows_are_judged_once_by_messages_that_come_twice_or_never(
    postgresql_url: str, broker_url: str, tmp_path: Path
) -> None:
    with working(postgresql_url, broker_url, tmp_path) as found:
        found.accept(submission(b"10", b"10"))
        for _ in range(100):
            found.sender.call()
        found.wait()
        untold = found.accept(submission(b"10", b"3"), tell=False)
        found.wait()
        assert [row.type for row in found.rows()] == ["AC", "PC"]
        assert untold == found.rows()[1].id


@pytest.mark.machine("broker")
def test_a_checker_that_fails_three_times_is_a_judge_error_and_costs_others_nothing(
    postgresql_url: str, broker_url: str, tmp_path: Path
) -> None:
    with working(postgresql_url, broker_url, tmp_path) as found:
        for answers in ([b"10", b"10"], [b"exit", b"10"], [b"10", b"10"]):
            found.accept(submission(*answers))
        found.wait()
        assert Counter(row.type for row in found.rows()) == {"AC": 2, "JE": 1}
        poison = next(row for row in found.rows() if row.type == "JE")
        assert poison.failures == 3
        assert poison.error


@pytest.mark.machine("broker")
def test_the_outcome_of_a_worker_that_was_overtaken_is_dropped(
    postgresql_url: str, broker_url: str, tmp_path: Path
) -> None:
    found = Working(postgresql_url, broker_url, tmp_path)
    id_ = found.accept(submission(b"10", b"10"))
    frozen = begin(found.writer, id_)  # a worker begins, and is frozen
    found.start()
    found.wait()
    late = judgements.Outcome(id_, frozen or 0, "WA", [], found.rows()[0].end_time or None)  # type: ignore[arg-type]
    assert found.writer.submit(judgements.record_many, late).result() is False
    assert [row.type for row in found.rows()] == ["AC"]
    found.close()


def test_a_judgement_that_ends_while_another_worker_frees_it_stays_done(postgresql_url: str, tmp_path: Path) -> None:
    database = Database(postgresql_url)
    add_rogue_contest(database, LocalFiles(tmp_path))
    writer = Writer(database)
    accepted = writer.submit(submissions.accept, submission(b"10", b"10")).result()
    assert isinstance(accepted, Accepted)
    id_ = accepted.judgement_id or 0
    attempt = begin(writer, id_) or 0
    engine = create_engine(postgresql_url)
    with engine.connect() as first, engine.connect() as second:
        assert judgements.record_many(first, [Outcome(id_, attempt, "WA", [], NOW)]) == [True]
        assert free_many(second, [Freeing("me")]) == [0]
        first.commit()
        assert free_many(second, [Freeing("me")]) == [0]
        second.commit()
    with database.read() as session:
        assert session.get_one(JudgementRow, id_).state == DONE
    engine.dispose()
    writer.close()
    database.close()


@pytest.mark.machine("broker")
def test_a_worker_takes_no_message_before_it_has_a_warm_grader(
    postgresql_url: str, broker_url: str, tmp_path: Path
) -> None:
    sender = Sender(broker_url)
    sender.call()
    sender.close()
    stop = threading.Event()
    stop.set()  # before its graders, which take seconds to start
    worker = Worker(Settings(home=tmp_path, database_url=postgresql_url, broker_url=broker_url, graders=1))
    worker.start(stop)
    assert not worker.engine.pids
    assert queue_state(broker_url).ready == 1
    worker.close()


def test_a_worker_stops_where_another_process_has_taken_the_database_alone(postgresql_url: str, tmp_path: Path) -> None:
    """Such as jurado restore, after a restart of PostgreSQL has freed the worker's lock."""
    stop = threading.Event()
    mine = hold("jurado worker", tmp_path / "worker", postgresql_url, shared=True)
    worker = Worker(Settings(home=tmp_path, database_url=postgresql_url, broker_url=BROKER, graders=1))
    worker.watch(mine, stop)
    engine = create_engine(postgresql_url)
    with engine.begin() as connection:
        connection.execute(FREE_LOCK)
    restoring = hold_when_free("jurado restore", tmp_path / "restore", postgresql_url, lambda _why: None)
    assert stop.wait(60)
    for each in (restoring, mine):
        each.release()
    worker.close()
    engine.dispose()


@pytest.mark.machine("broker")
def test_servers_tell_of_a_file_that_a_worker_waits_for(postgresql_url: str, broker_url: str, tmp_path: Path) -> None:
    shared = {"broker_url": broker_url, "files_url": f"file://{tmp_path / 'files'}"}
    with open_api(postgresql_url, tmp_path / "server", **shared) as api:
        add_problem(api.service)
        add_contest(api.service)
        with api.service.database.read() as session:
            sha256 = session.scalars(select(TestCaseRow.input_sha256).where(TestCaseRow.name == "02")).one()
        path = LocalFiles(tmp_path / "files").path(sha256)
        path.rename(tmp_path / "lost")
        new = NewSubmission("c", PROBLEM, "team", "team", NOW, 1000, [NewAnswer(2, "02.out", 2, data=b"2\n")])
        accepted = api.service.writer.submit(submissions.accept, new).result()
        settings = Settings(home=tmp_path / "w", database_url=postgresql_url, **shared, graders=1)
        worker = Worker(settings)
        worker.start(threading.Event())

        def faults() -> list[tuple[str, int]]:
            known = api.get("stored-files", user="admin").json()["faults"]
            return [(each["sha256"], each["waiting"]) for each in known]

        until(lambda: faults() == [(sha256, 1)])
        (tmp_path / "lost").rename(path)

        def type_() -> str | None:
            with api.service.database.read() as session:
                return session.get_one(JudgementRow, accepted.judgement_id).type

        until(lambda: type_() == "PC")
        assert faults() == [(sha256, 0)]
        worker.close()


@pytest.mark.machine("broker")
def test_an_answer_that_kills_its_worker_each_time_is_a_judge_error_after_three_attempts(
    postgresql_url: str, broker_url: str, tmp_path: Path
) -> None:
    """Those next to it are judged, and the error says what happened; the worker counts it."""
    server = Working(postgresql_url, broker_url, tmp_path / "files")
    answers = [(b"10", b"10"), (KILL_WORKER, b"10"), (b"10", b"3"), (b"10", b"10")]
    for each in answers:
        server.accept(submission(*each))
    for _ in range(3):
        with poisoned_worker(postgresql_url, broker_url, tmp_path) as worker:
            assert worker.process.wait(120) == -signal.SIGKILL
    with poisoned_worker(postgresql_url, broker_url, tmp_path) as worker:
        until(lambda: all(row.state == DONE for row in server.rows()), seconds=120)
        assert httpx.get(worker.url, timeout=60).status_code == 401
        counted = httpx.get(worker.url, headers={"Authorization": f"Bearer {worker.token}"}, timeout=60).text
        worker.process.terminate()
        assert worker.process.wait(60) == 0
    poison = server.rows()[1]
    assert [row.type for row in server.rows()] == ["AC", "JE", "PC", "AC"]
    assert (poison.lost, poison.failures) == (3, 0)
    assert "lost 3 times with its process" in str(poison.error)
    assert "was killed or lost before it ended" in str(poison.error)
    assert all(row.lost <= 1 for row in server.rows() if row is not poison and row.id != poison.id)
    assert "jurado_worker_given_up_total 1.0" in counted
    assert 'jurado_worker_judgements_total{type="JE"} 1.0' in counted
    with server.database.read() as session:
        assert {row.kind for row in processes(session)} == {"worker"}, "three that were killed; the last has gone"
        assert len(processes(session)) == 3
    server.engine.close()
    server.sender.close()
    server.writer.close()
    server.locks.close()
    server.database.close()


def test_an_attempt_counts_as_lost_only_if_its_process_is_gone_without_having_ended_in_order(
    postgresql_url: str, tmp_path: Path
) -> None:
    database, locks = Database(postgresql_url), Locks(postgresql_url)
    add_rogue_contest(database, LocalFiles(tmp_path))
    writer = Writer(database)
    first, second = Presence(writer, WORKER, locks), Presence(writer, WORKER, locks)
    first.start()
    accepted = writer.submit(submissions.accept, submission(b"10", b"10")).result()
    assert isinstance(accepted, Accepted)
    id_ = accepted.judgement_id or 0

    def claim(by: Presence) -> int | None:
        writer.submit(free_many, Freeing(by.id)).result()
        return writer.submit(judgements.claim_many, Claim(by.id, 9)).result().attempts.get(id_)

    def lost() -> int:
        with database.read() as session:
            return session.get_one(JudgementRow, id_).lost

    assert (claim(first), claim(second), lost()) == (1, None, 0), "it lives"
    locks.close()  # as when it is killed

    def is_gone() -> bool:
        with database.read() as session:
            return bool(gone_processes(session.connection(), {first.id}))

    until(is_gone)  # PostgreSQL notices a closed connection a moment later
    beside = writer.submit(submissions.accept, submission(b"10", b"10")).result()
    assert isinstance(beside, Accepted)
    assert (claim(second), lost()) == (2, 1), "alone: what it was lost with may have been the cause"
    with database.read() as session:
        assert session.get_one(JudgementRow, beside.judgement_id).attempt == 0
    second.close()
    third = Presence(writer, WORKER, locks)
    assert (claim(third), lost()) == (3, 1), "the second has ended in order"
    first.close()
    writer.close()
    database.close()


def test_a_process_whose_locks_a_restart_of_the_database_ended_is_not_gone(postgresql_url: str) -> None:
    database, locks = Database(postgresql_url), Locks(postgresql_url)
    writer = Writer(database)
    presence = Presence(writer, WORKER, locks)
    presence.start()

    def is_gone() -> bool:
        with database.read() as session:
            return bool(gone_processes(session.connection(), {presence.id}))

    with database.write() as session:
        session.execute(END_LOCKS)
    until(is_gone)
    with database.write() as session:
        before = text("UPDATE processes SET seen = pg_postmaster_start_time() - interval '1 second' WHERE id = :id")
        session.execute(before, {"id": presence.id})
    assert not is_gone(), "its last heartbeat was before the start of the database"
    presence._give()
    assert not is_gone(), "a heartbeat shows its number again"
    presence.close()
    locks.close()
    writer.close()
    database.close()


@pytest.mark.machine("broker")
def test_expected_answers_that_came_with_packages_are_scored_by_a_worker_that_starts(
    postgresql_url: str, broker_url: str, tmp_path: Path
) -> None:
    """No row tells of them: without their scores no reference would take part in BEST."""
    settings = Settings(home=tmp_path, database_url=postgresql_url, broker_url=broker_url, graders=1)
    database = Database(settings.database, shared=True)
    with database.write() as session:
        problems.import_package(session, LocalFiles(tmp_path / "files"), assemble(PROBLEM, package_files()))
    assert unscored(database)
    worker = Worker(settings)
    worker.start(threading.Event())
    until(lambda: not unscored(database))
    worker.close()
    database.close()


def test_the_next_worker_scores_the_expected_answers_that_are_left_when_the_scoring_one_has_died(
    postgresql_url: str, tmp_path: Path
) -> None:
    """It scores nothing beside the other, and what that one has scored is not scored again."""
    database, files = Database(postgresql_url, shared=True), LocalFiles(tmp_path)
    with database.write() as session:
        for slug in ("first", "second"):
            problems.import_package(session, files, assemble(slug, package_files()))
        total = len(without_score(session))

    def scorer(desk: Desk) -> tuple[Locks, JobRunner]:
        locks = Locks(postgresql_url)
        runner = JobRunner(database, files, cast(Engine, desk), lambda _problem_id: None, locks, seconds=0.01)
        runner.start()
        return locks, runner

    dying, living = Desk(answers=total // 2 + 1), Desk(answers=total)
    first_locks, first = scorer(dying)
    until(lambda: len(dying.asked) == total // 2 + 2)  # the first problem is scored, and it hangs in the second
    second_locks, second = scorer(living)
    until(lambda: not second_locks.take(SCORING))
    assert living.asked == []
    first_locks.close()  # as a kill does
    until(lambda: not unscored(database))
    assert len(living.asked) == total // 2
    until(lambda: first_locks.take(SCORING))
    for each in (first, second, first_locks, second_locks, database):
        each.close()


def test_expected_answers_are_scored_once_the_database_is_back(postgresql_url: str, tmp_path: Path) -> None:
    database, files, desk = Database(postgresql_url, shared=True), LocalFiles(tmp_path), Desk(answers=100)
    with database.write() as session:
        problems.import_package(session, files, assemble(PROBLEM, package_files()))
        session.execute(text("ALTER TABLE test_cases RENAME TO away"))
    locks = Locks(postgresql_url)
    runner = JobRunner(database, files, cast(Engine, desk), lambda _problem_id: None, locks, seconds=0.01)
    with logged(io.StringIO()) as log:
        runner.start()
        until(lambda: "tried again" in log.getvalue())
    with database.write() as session:
        session.execute(text("ALTER TABLE away RENAME TO test_cases"))
    until(lambda: not unscored(database))
    for each in (runner, locks, database):
        each.close()


MESSAGE = '{"key": "score", "text": "1", "args": {}}'


class Desk:
    """An engine that scores so many expected answers, and is never heard of again."""

    def __init__(self, answers: int) -> None:
        self.asked: list[Validate] = []
        self._answers = answers

    def wake(self, *, rejudging: bool = False) -> None:
        """Nothing to do: no rejudging is open."""

    def validate(self, request: Validate) -> Future[Validated]:
        """Score one, or never."""
        self.asked.append(request)
        reply: Future[Validated] = Future()
        if len(self.asked) <= self._answers:
            reply.set_result(Validated([], WireScore(0, CaseVerdict.ACCEPTED, "1/1", None, None, MESSAGE, 0)))
        return reply


def unscored(database: Database) -> int:
    """How many expected answers have no score."""
    with database.read() as session:
        return len(without_score(session))
