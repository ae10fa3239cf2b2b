"""What boards are computed from is read once, and is what a reading from scratch would find."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import event

from app.core.service import Service
from app.problems.queries.scoring_input import scored_contest
from app.submissions.queries.attempts import KnownScores, attempts
from app.tables import JudgementRow
from tests.builders.contests import add_contest, add_problem, add_submission
from tests.builders.examples import sqlite_first
from tests.builders.scoring import JUDGE_ERROR, REJECTED, raw, share
from tests.builders.service import open_service

pytestmark = sqlite_first


@pytest.fixture
def service(database_url: str, tmp_path: Path) -> Iterator[Service]:
    """A service with the echo problem in a contest."""
    with open_service(database_url, tmp_path / "home") as service:
        add_problem(service)
        add_contest(service)
        yield service


def read(service: Service, known: KnownScores | None = None) -> list[object]:
    """The attempts of contest `c`."""
    with service.database.read() as session:
        return [*attempts(session, "c", known)]


def test_an_attempt_has_its_raw_scores_by_case_and_none_while_it_waits(service: Service) -> None:
    scores = {"02": raw(7, 1), "03": REJECTED, "01": JUDGE_ERROR}
    add_submission(service, scores, minute=2.5)
    add_submission(service, None, files={"02": b"x"})
    judged, waiting = read(service)
    assert (judged.team_id, judged.problem_id, judged.time.total_seconds()) == ("team", "echo", 150.0)
    assert judged.scores == scores
    assert waiting.scores is None


def test_a_reading_that_knows_earlier_scores_finds_what_one_from_scratch_finds(service: Service) -> None:
    known: KnownScores = {}
    for minute in range(1, 6):
        add_submission(service, {"02": raw(minute, 1), "03": share(0)}, minute=minute)
        assert read(service, known) == read(service)
    assert len(known) == 5


def test_only_raw_scores_of_new_judgements_are_read_again(service: Service) -> None:
    known: KnownScores = {}
    for minute in range(1, 4):
        add_submission(service, {"02": raw(minute)}, minute=minute)
    read(service, known)
    statements: list[str] = []
    event.listen(service.database.engine, "before_cursor_execute", lambda *args: statements.append(args[2]))
    read(service, known)
    assert [text for text in statements if "raw_scores" in text] == []


def test_a_judgement_that_stands_no_more_is_forgotten(service: Service) -> None:
    known: KnownScores = {}
    add_submission(service, {"02": raw(5)})
    read(service, known)
    with service.database.write() as session:
        old = session.get_one(JudgementRow, 1)
        old.current = False
        session.add(JudgementRow(submission_id=1, start_time=old.start_time, current=True, state="queued"))
    (attempt,) = read(service, known)
    assert attempt.scores is None
    assert known == {}


def test_a_submission_without_a_team_is_nobodys_on_the_board(service: Service) -> None:
    add_submission(service, {"02": raw(5)}, team=None)
    (attempt,) = read(service)
    with service.database.read() as session:
        contest = scored_contest(session, "c")
    assert contest is not None
    assert attempt.team_id not in {team.id for team in contest.teams}
