"""Workers judge what messages name: each row once, whatever is lost, doubled or late."""

from __future__ import annotations

import io
import signal
import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import cast

import httpx
import pytest
from sqlalchemy import create_engine, make_url, select, text
from sqlalchemy.orm import Session

from app.core.db.database import Database
from app.core.db.locks import WORKER, Locks, Presence, gone_processes, processes
from app.core.db.serving import hold, hold_when_free
from app.core.db.writer import Writer
from app.core.files.open_files import LocalFiles
from app.core.settings import Settings
from app.domain.verdicts import CaseVerdict
from app.judging.queries.judging_tasks import OpenJudgement, open_judgements
from app.judging.service.distributed import engine as distributed
from app.judging.service.distributed import reconciler
from app.judging.service.distributed.actors import Consumer, TryAgain
from app.judging.service.distributed.broker import JUDGEMENTS, message_of, open_broker
from app.judging.service.distributed.engine import LOCK, DistributedJobs, start_engine
from app.judging.service.distributed.reconciler import Patience, Sender
from app.judging.service.distributed.worker_metrics import DatabaseWatch
from app.judging.service.engine import Engine
from app.judging.service.messages import Validate, Validated, WireScore
from app.judging.service.references import JobRunner
from app.judging.worker import Worker
from app.packages.read import assemble
from app.problems.queries import problems
from app.problems.queries.testcases import without_score
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.submissions.queries import judgements, submissions
from app.submissions.queries.judgements import Claim, Outcome
from app.submissions.queries.submissions import Accepted, NewAnswer, NewSubmission
from app.submissions.tables import DONE, QUEUED, RUNNING
from app.tables import JudgementRow, TestCaseRow
from tests.builders.balancer import cuttable
from tests.builders.contests import PROBLEM, add_contest, add_problem
from tests.builders.grading import NOW, add_rogue_contest, submission
from tests.builders.logged import logged
from tests.builders.packages import package_files
from tests.builders.poisoned_worker import KILL_WORKER, poisoned_worker
from tests.builders.service import open_api
from tests.builders.two import BROKER
from tests.builders.waiting import until
from tests.builders.working import Working, working

FREE_LOCK = text(  # and wait until it is free: else the worker may have it again before anybody else
    "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
    " WHERE datname = current_database() AND application_name LIKE 'jurado worker %'"
)
WAITING_FOR_A_LOCK = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
)


@pytest.mark.machine("broker")
def test_rows_are_judged_once_by_messages_that_come_twice_or_never(
    postgresql_url: str, broker_url: str, tmp_path: Path
) -> None:
    with working(postgresql_url, broker_url, tmp_path) as found:
        twice = found.accept(submission(b"10", b"10"))
        found.sender.judgements([(twice, "t"), (9999, "t")])  # once more, and one that is gone
        found.sender.judgements([(twice, "t")])
        found.wait()  # else this one, too, is sent again where the grader takes long to start
        untold = found.accept(submission(b"10", b"3"), tell=False)
        found.reconciler.start()
        found.wait()
        assert [row.type for row in found.rows()] == ["AC", "PC"]
        assert found.reconciler.resent == 1
        assert untold == found.rows()[1].id


@pytest.mark.machine("broker")
def test_rows_that_the_engine_knows_to_be_done_are_not_looked_at_before_their_message_is_acknowledged(
    postgresql_url: str, broker_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[Sequence[int]] = []

    def noting(session: Session, ids: Sequence[int]) -> int:
        looked_at.append(ids)
        return unjudged(session, ids)

    unjudged = judgements.unjudged
    monkeypatch.setattr(judgements, "unjudged", noting)
    with working(postgresql_url, broker_url, tmp_path) as found:
        judged = found.accept(submission(b"10", b"10"), tell=False)
        found.judges.judge([(judged, "t"), (9999, "t")])  # one is gone
        assert [row.state for row in found.rows()] == [DONE]
        found.judges.judge([(judged, "t")])
        assert looked_at == []
        found.judges.close()
        with pytest.raises(TryAgain):
            found.judges.judge([(judged, "t")])  # it is not waited for, so nothing is known


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
    frozen = found.writer.submit(judgements.begin_many, Claim(id_, None)).result()  # a worker begins, and is frozen
    found.start()
    found.wait()
    late = judgements.Outcome(id_, frozen or 0, "WA", [], found.rows()[0].end_time or None)  # type: ignore[arg-type]
    assert found.writer.submit(judgements.record_many, late).result() is False
    assert [row.type for row in found.rows()] == ["AC"]
    found.close()


def test_a_judgement_that_ends_while_another_worker_begins_it_stays_done(postgresql_url: str, tmp_path: Path) -> None:
    database = Database(postgresql_url)
    add_rogue_contest(database, LocalFiles(tmp_path))
    writer = Writer(database)
    accepted = writer.submit(submissions.accept, submission(b"10", b"10")).result()
    assert isinstance(accepted, Accepted)
    id_ = accepted.judgement_id or 0
    attempt = writer.submit(judgements.begin_many, Claim(id_, None)).result() or 0
    engine = create_engine(postgresql_url)
    with engine.connect() as first, engine.connect() as second, engine.connect() as watching:
        watching.execution_options(isolation_level="AUTOCOMMIT")  # each look is a new one
        assert judgements.record_many(first, [Outcome(id_, attempt, "WA", [], NOW)]) == [True]
        begun: list[int | None] = []
        beginning = threading.Thread(target=lambda: begun.extend(judgements.begin_many(second, [Claim(id_, None)])))
        beginning.start()
        until(lambda: watching.scalar(WAITING_FOR_A_LOCK) == 1)
        first.commit()
        beginning.join()
        second.commit()
    assert begun == [None]
    with database.read() as session:
        assert session.get_one(JudgementRow, id_).state == DONE
    engine.dispose()
    writer.close()
    database.close()


@pytest.mark.machine("broker")
def test_a_worker_that_stops_leaves_its_messages_to_others(
    postgresql_url: str, broker_url: str, tmp_path: Path
) -> None:
    found = Working(postgresql_url, broker_url, tmp_path)
    found.judges.close()  # as one that stops
    ids = [found.accept(submission(b"10", b"10")) for _ in range(3)]
    for consumer in found.consumers:
        consumer.start()
    broker = open_broker(broker_url, [JUDGEMENTS])
    until(lambda: sum(broker.get_queue_message_counts(JUDGEMENTS.queue)[:2]) == 0)  # this one has them all
    found.close()
    until(lambda: sum(broker.get_queue_message_counts(JUDGEMENTS.queue)[:2]) >= 1)
    broker.close()
    assert len(ids) == 3


@pytest.mark.machine("broker")
def test_a_worker_takes_no_message_before_it_has_a_warm_grader(
    postgresql_url: str, broker_url: str, tmp_path: Path
) -> None:
    sender = Sender(open_broker(broker_url))
    sender.judgements([(7, "t")])
    sender.close()
    stop = threading.Event()
    stop.set()  # before its graders, which take seconds to start
    worker = Worker(Settings(home=tmp_path, database_url=postgresql_url, broker_url=broker_url, graders=1))
    worker.start(stop)
    assert not worker.engine.is_warm
    broker = open_broker(broker_url, [JUDGEMENTS])
    assert broker.get_queue_message_counts(JUDGEMENTS.queue)[:2] == (1, 0)
    broker.close()
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
        settings = Settings(home=tmp_path / "w", database_url=postgresql_url, **shared, graders=1, spare_graders=0)
        worker = Worker(settings)
        worker.start(threading.Event())

        def faults() -> list[tuple[str, int]]:
            known = api.get("stored-files", user="admin").json()["faults"]
            return [(each["sha256"], each["waiting"]) for each in known]

        until(lambda: faults() == [(sha256, 1)])
        (tmp_path / "lost").rename(path)
        until(lambda: faults() == [(sha256, 0)])
        with api.service.database.read() as session:
            assert session.get_one(JudgementRow, accepted.judgement_id).type == "PC"
        worker.close()


@pytest.mark.machine("broker")
def test_an_answer_that_kills_its_worker_each_time_is_a_judge_error_after_three_attempts(
    postgresql_url: str, broker_url: str, tmp_path: Path
) -> None:
    """Those beside it in the message are judged, and the error says what happened; the worker counts it."""
    server = Working(postgresql_url, broker_url, tmp_path / "files")
    answers = [(b"10", b"10"), (KILL_WORKER, b"10"), (b"10", b"3"), (b"10", b"10")]
    ids = [server.accept(submission(*each), tell=False) for each in answers]
    server.sender.judgements([(id_, "t") for id_ in ids])
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
    first, second = Presence(writer, WORKER), Presence(writer, WORKER)
    first.start(locks)
    accepted = writer.submit(submissions.accept, submission(b"10", b"10")).result()
    assert isinstance(accepted, Accepted)
    id_ = accepted.judgement_id or 0

    def begin(by: Presence, *, alone: bool = True) -> int | None:
        return writer.submit(judgements.begin_many, Claim(id_, by.id, alone)).result()

    def lost() -> int:
        with database.read() as session:
            return session.get_one(JudgementRow, id_).lost

    assert (begin(first, alone=False), begin(second, alone=False), lost()) == (1, 2, 0), (
        "it lives: its message came twice"
    )
    begin(first)
    locks.close()  # as when it is killed

    def is_gone() -> bool:
        with database.read() as session:
            return bool(gone_processes(session.connection(), {first.id}))

    until(is_gone)  # PostgreSQL notices a closed connection a moment later
    assert (begin(second, alone=False), lost()) == (0, 0), "it may be the victim of a neighbour"
    assert (begin(second), lost()) == (4, 1)
    assert begin(second, alone=False) == 0, "alone from then on"
    first.close()
    second.close()
    writer.submit(judgements.begin_many, Claim(id_, first.id)).result()
    assert (begin(second), lost()) == (6, 1), "the first has ended in order by now"
    writer.close()
    database.close()


@pytest.mark.machine("broker")
def test_expected_answers_that_came_with_packages_are_scored_by_a_server_that_starts(
    postgresql_url: str, broker_url: str, tmp_path: Path
) -> None:
    """No message tells workers of them: without their scores no reference would take part in BEST."""
    settings = Settings(home=tmp_path, database_url=postgresql_url, broker_url=broker_url, graders=1, spare_graders=0)
    database, files, locks = (
        Database(settings.database, shared=True),
        LocalFiles(tmp_path / "files"),
        Locks(postgresql_url),
    )
    with database.write() as session:
        problems.import_package(session, files, assemble(PROBLEM, package_files()))

    assert unscored(database)
    writer = Writer(database)
    engine, jobs = start_engine(settings, database, files, writer, ScoreboardCache(database), locks, "me")
    until(lambda: not unscored(database))
    for each in (jobs, engine, writer, locks, database):
        each.close()


def test_the_next_server_scores_the_expected_answers_that_are_left_when_the_scoring_one_has_died(
    postgresql_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It scores nothing beside the other, and what that one has scored is not scored again."""
    monkeypatch.setattr(distributed, "SECONDS_BETWEEN_TRIES", 0.01)
    database, files = Database(postgresql_url, shared=True), LocalFiles(tmp_path)
    with database.write() as session:
        for slug in ("first", "second"):
            problems.import_package(session, files, assemble(slug, package_files()))
        total = len(without_score(session))

    def scorer(desk: Desk) -> tuple[Locks, DistributedJobs]:
        locks = Locks(postgresql_url)
        runner = JobRunner(database, files, cast(Engine, desk), lambda _problem_id: None)
        jobs = DistributedJobs(database, cast(Sender, None), runner, locks)
        jobs.start()
        return locks, jobs

    dying, living = Desk(answers=total // 2 + 1), Desk(answers=total)
    first_locks, first = scorer(dying)
    until(lambda: len(dying.asked) == total // 2 + 2)  # the first problem is scored, and it hangs in the second
    second_locks, second = scorer(living)
    until(lambda: not second_locks.take(LOCK))
    assert living.asked == []
    first_locks.close()  # as a kill does
    until(lambda: not unscored(database))
    assert len(living.asked) == total // 2
    until(lambda: first_locks.take(LOCK))
    for each in (first, second, first_locks, second_locks, database):
        each.close()


def test_expected_answers_are_scored_once_the_database_is_back(
    postgresql_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distributed, "SECONDS_BETWEEN_TRIES", 0.01)
    database, files, desk = Database(postgresql_url, shared=True), LocalFiles(tmp_path), Desk(answers=100)
    with database.write() as session:
        problems.import_package(session, files, assemble(PROBLEM, package_files()))
        session.execute(text("ALTER TABLE test_cases RENAME TO away"))
    locks = Locks(postgresql_url)
    runner = JobRunner(database, files, cast(Engine, desk), lambda _problem_id: None)
    jobs = DistributedJobs(database, cast(Sender, None), runner, locks)
    with logged(io.StringIO()) as log:
        jobs.start()
        until(lambda: "tried again" in log.getvalue())
    with database.write() as session:
        session.execute(text("ALTER TABLE away RENAME TO test_cases"))
    until(lambda: not unscored(database))
    for each in (jobs, locks, database):
        each.close()


MESSAGE = '{"key": "score", "text": "1", "args": {}}'


class Desk:
    """An engine that scores so many expected answers, and is never heard of again."""

    def __init__(self, answers: int) -> None:
        self.asked: list[Validate] = []
        self._answers = answers

    def take_up(self) -> None:
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


@pytest.mark.machine("broker")
def test_a_paused_consumer_leaves_the_messages_that_it_has_to_others(broker_url: str) -> None:
    taken, ends, given = threading.Event(), threading.Event(), threading.Event()

    def stick(_rows: object) -> None:
        taken.set()
        ends.wait()

    stuck = Consumer(broker_url, JUDGEMENTS, stick, 1)
    other = Consumer(broker_url, JUDGEMENTS, lambda _rows: given.set(), 1)
    stuck.start()
    sender = Sender(open_broker(broker_url))
    sender.judgements([(7, "t")])
    taken.wait()
    other.start()
    stuck.pause()
    given.wait()
    ends.set()
    sender.close()
    stuck.stop()
    other.stop()


def test_a_watch_says_when_the_database_does_not_answer_and_when_it_does_again(postgresql_url: str) -> None:
    lost, back = threading.Event(), threading.Event()
    parts = make_url(postgresql_url)
    with cuttable(Path(str(parts.query["host"]))) as network:
        through = parts.set(host="127.0.0.1", port=network.port, query={})
        database = Database(through.render_as_string(hide_password=False))
        watch = DatabaseWatch(database, lost.set, back.set, seconds=1.0)
        watch.start()
        network.cut()
        lost.wait()
        assert not back.is_set()
        network.mend()
        back.wait()
        watch.close()
        database.close()


def test_a_message_names_rows_and_says_nothing_else() -> None:
    message = message_of(JUDGEMENTS, [(7, "t"), (8, "u")])
    assert message.args == ([(7, "t"), (8, "u")],)
    assert not message.kwargs


def test_what_nobody_has_begun_is_sent_again_after_seconds_and_what_is_judged_much_later() -> None:
    patience = Patience()
    queued, running = OpenJudgement(1, "t", False, QUEUED, 0), OpenJudgement(2, "t", False, RUNNING, 1)
    assert patience.due([queued, running], 0.0) == []
    assert patience.due([queued, running], reconciler.SECONDS_UNTIL_BEGUN) == [queued]
    assert patience.due([queued, running], reconciler.SECONDS_UNTIL_BEGUN + 1) == []
    assert patience.due([queued, running], 3 * reconciler.SECONDS_UNTIL_BEGUN) == [queued], "it doubles"
    assert patience.due([running], reconciler.SECONDS_UNTIL_DONE) == [running]
    again = running._replace(attempt=2)
    assert patience.due([again], reconciler.SECONDS_UNTIL_DONE + 1) == []
    assert patience.due([again], 2 * reconciler.SECONDS_UNTIL_DONE + 2) == [], "a slow checker is given twice the time"


def test_what_waits_in_the_queue_of_a_broker_is_not_sent_again() -> None:
    patience = Patience()
    live, again = OpenJudgement(1, "t", False, QUEUED, 0), OpenJudgement(2, "t", True, QUEUED, 0)
    patience.due([live, again], 0.0)
    assert patience.due([live, again], 100.0, queued_lanes={True}) == [live]
    assert patience.due([], 200.0, queued_lanes={True}) == [], "what waits in a queue need not be read"
    assert patience.due([again], 201.0, queued_lanes={False}) == [], "its time begins when the queue is empty"
    assert patience.due([again], 200.0 + reconciler.SECONDS_UNTIL_BEGUN) == [again]


def test_of_lanes_with_messages_only_judgements_that_are_begun_are_read(database_url: str, tmp_path: Path) -> None:
    """A backlog costs the reconciler nothing while the broker knows of it."""
    database = Database(database_url)
    add_rogue_contest(database, LocalFiles(tmp_path))
    with database.transaction() as connection:
        taken = submissions.accept(connection, [submission(b"10", b"10") for _ in range(3)])
        live, begun, done = [each.judgement_id or 0 for each in taken if isinstance(each, Accepted)]
        judgements.begin_many(connection, [Claim(begun, None), Claim(done, None)])
        judgements.record_many(connection, [Outcome(done, 1, "WA", [], NOW)])
    with database.read() as session:
        assert [row.id for row in open_judgements(session)] == [live, begun]
        assert [row.id for row in open_judgements(session, queued_lanes={False})] == [begun]
        assert [row.id for row in open_judgements(session, queued_lanes={True})] == [live, begun]
        assert [row.team_id for row in open_judgements(session)] == ["t", "t"]
    database.close()
