"""A team whose checker is slow delays other teams by one case, and each submission has a limit of grading time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select

from app.judging.queries.judging_tasks import Task
from app.submissions.queries.judgements import PAYER, Outcome
from app.submissions.queries.submissions import NewSubmission
from app.submissions.tables import REJUDGED
from app.tables import AccountRow, JudgementRow, RawScoreRow
from tests.builders.grading import NOW, Grading, add_second_contest, grading, limit_seconds, submission
from tests.builders.waiting import until
from tests.builders.working import working

SLOW = b"sleep 0.6"


@pytest.fixture
def found(sqlite_url: str, tmp_path: Path) -> Iterator[Grading]:
    """One grader for two contests."""
    with grading(sqlite_url, tmp_path / "files", cases=3) as found:
        add_second_contest(found.database)
        yield found


def other_submission(cases: int = 3) -> NewSubmission:
    """A quick submission of the other team to the other contest."""
    return replace(submission(*[b"10"] * cases), contest_id="d", team_id="u", account_id="b")


def noted(found: Grading) -> list[str]:
    """A list of what the engine does: when a team's submission is begun and judged, and when a slow slice ended."""
    events: list[str] = []

    def attempted(_how: str, seconds: float) -> None:
        if seconds > 0.5:
            events.append("slow slice")

    def recorded(task: Task, outcome: Outcome) -> None:
        events.append(f"{task.contest_id} {outcome.type}")

    found.engine.watch(lambda task: events.append(f"{task.contest_id} begun"), attempted, recorded)
    return events


def wait_for(events: list[str], event: str) -> None:
    """Wait until the engine has done this."""
    until(lambda: event in events)


def test_a_slow_checker_delays_another_team_by_the_current_case_only(found: Grading) -> None:
    """Two slow submissions of one contest are queued when a team of another contest submits."""
    events = noted(found)
    for _ in range(2):
        found.accept(submission(SLOW, SLOW, SLOW))
    wait_for(events, "c begun")
    found.accept(other_submission())
    found.wait()
    assert events[:4] == ["c begun", "slow slice", "d begun", "d AC"]
    assert events[4:7] == ["slow slice", "slow slice", "c AC"]
    assert events[7:] == ["c begun", "slow slice", "slow slice", "slow slice", "c AC"]
    assert found.types() == ["AC"] * 3
    assert found.scores() == 9


def is_begun(found: Grading, judgement_id: int) -> bool:
    """Whether a grader has got a judgement."""
    with found.database.read() as session:
        return session.get_one(JudgementRow, judgement_id).attempt > 0


def test_a_rejudging_gives_way_to_a_live_submission_between_two_cases(found: Grading) -> None:
    """A slow submission that is judged again does not hold the only grader until its last case."""
    found.accept(submission(SLOW, SLOW, SLOW))
    found.wait()
    events = noted(found)
    with found.database.write() as session:
        session.add(JudgementRow(submission_id=1, state="queued", lane=REJUDGED, current=False, start_time=NOW))
    found.engine.wake(rejudging=True)
    until(lambda: is_begun(found, 2))
    found.accept(other_submission())
    wait_for(events, "c AC")
    assert events == ["slow slice", "d begun", "d AC", "slow slice", "slow slice", "c AC"]


def test_a_submission_over_its_grading_time_is_a_judge_error_that_names_the_limit(found: Grading) -> None:
    """Scores of finished cases are stored, the remaining cases are judge errors, and others are judged as ever."""
    limit_seconds(found.database, 1)
    found.accept(submission(SLOW, SLOW, SLOW))
    found.accept(submission(b"10", b"10", b"10"))
    found.wait()
    with found.database.read() as session:
        judgement = session.get_one(JudgementRow, 1)
        query = select(RawScoreRow.verdict, RawScoreRow.judge_message).where(RawScoreRow.judgement_id == 1)
        scores = session.execute(query.order_by(RawScoreRow.test_case_id)).all()
    assert found.types() == ["JE", "AC"]
    assert judgement.failures == 0
    assert judgement.error == (
        "submission_seconds: expected at most 1 s of grading for a submission to problem 'rogue', found more after 2 of"
        " 3 cases: make the checker faster, or raise submission_seconds in jurado.yaml"
    )
    assert [tuple(score) for score in scores] == [("accepted", None)] * 2 + [("judge_error", judgement.error)]


def test_a_case_without_a_reply_counts_against_the_limit(sqlite_url: str, tmp_path: Path) -> None:
    """A checker that loops is not tried again once the submission's time is used up."""
    with grading(sqlite_url, tmp_path / "files", seconds=0.5) as found:
        limit_seconds(found.database, 0.4)
        found.accept(submission(b"loop", b"10"))
        found.wait()
        with found.database.read() as session:
            error = session.get_one(JudgementRow, 1).error
        assert found.types() == ["JE"]
        assert "expected at most 0.4 s of grading" in str(error)
        assert "after 0 of 2 cases" in str(error)


def test_scores_of_earlier_cases_are_dropped_if_the_problem_changes_between_two_cases(found: Grading) -> None:
    """A submission is judged by one version of its problem, not by a part of each."""
    events = noted(found)
    found.accept(submission(SLOW, SLOW, SLOW))
    wait_for(events, "c begun")
    limit_seconds(found.database, 100)
    found.wait()
    assert found.types() == ["AC"]
    assert events.count("slow slice") == 4


def test_submissions_without_a_team_share_time_by_account(database_url: str, tmp_path: Path) -> None:
    """What an account submits for no team waits under the account's name."""
    with grading(database_url, tmp_path / "files") as found:
        found.engine.close()
        with found.database.write() as session:
            session.add(AccountRow(id="admin", username="admin", type="admin", created=NOW))
        for each in (submission(b"1"), replace(submission(b"1"), team_id=None, account_id="admin")):
            found.accept(each)
        with found.database.read() as session:
            assert session.scalars(select(PAYER).order_by(JudgementRow.id)).all() == ["t", "account admin"]


@pytest.mark.machine("broker")
def test_slow_submissions_of_one_team_do_not_hold_back_another_team_at_a_worker(
    postgresql_url: str, broker_url: str, tmp_path: Path
) -> None:
    """The verdict of another contest comes before those of three slow submissions."""
    with working(postgresql_url, broker_url, tmp_path) as found:
        add_second_contest(found.database)
        for _ in range(3):
            found.accept(submission(b"sleep 1", b"sleep 1"))
        quick = found.accept(other_submission(cases=2))
        found.wait()
        assert min(found.rows(), key=lambda row: str(row.end_time)).id == quick
        assert [row.type for row in found.rows()] == ["AC"] * 4
