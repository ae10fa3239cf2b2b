"""Rows wait in lanes and turns, and the team that has used the least seconds is served next."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, func, select

from app.core.db.database import Database
from app.core.files.open_files import LocalFiles
from app.judging.queries import rejudging_steps
from app.submissions.queries import judgements, submissions
from app.submissions.queries.judgements import Claim, Later, Outcome, Returned
from app.submissions.queries.submissions import Accepted
from app.tables import JudgementRow
from tests.builders.grading import NOW, add_rogue_contest, add_second_contest, submission

SLOW, FAST = submission(b"10"), replace(submission(b"10"), contest_id="d", team_id="u", account_id="b")


class Queue:
    """The rows of one transaction, and what graders do with them."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.attempts: dict[int, int] = {}

    def add(self, *of: str) -> list[int]:
        """Queue a submission of each of these teams; returns the judgements."""
        new = [{"t": SLOW, "u": FAST}[team] for team in of]
        accepted = submissions.accept(self.connection, new)
        return [each.judgement_id or 0 for each in accepted if isinstance(each, Accepted)]

    def take(self, most: int = 1, *, graders: int = 1, process: str | None = None, again: bool = False) -> list[int]:
        """Claim as a grader."""
        (claimed,) = judgements.claim_many(self.connection, [Claim(process, most, graders, again)])
        self.attempts.update(claimed.attempts)
        return list(claimed.attempts)

    def put_back(self, id_: int, seconds: float = 0.0, wait: float = 0.0, *, stays: bool = False) -> None:
        """Put one back after so many seconds of grading, for a while."""
        judgements.return_many(self.connection, [Returned(id_, self.attempts[id_], seconds, Later(wait), stays)])

    def end(self, id_: int, seconds: float) -> None:
        """Record one after so many seconds of grading."""
        assert judgements.record_many(self.connection, [Outcome(id_, self.attempts[id_], "AC", [], NOW)]) == [True]
        judgements.return_many(self.connection, [Returned(id_, self.attempts[id_], seconds)])


@pytest.fixture
def queue(database_url: str, tmp_path: Path) -> Iterator[Queue]:
    """An empty queue for the teams `t` and `u`."""
    database = Database(database_url)
    add_rogue_contest(database, LocalFiles(tmp_path))
    add_second_contest(database)
    with database.transaction() as connection:
        yield Queue(connection)
    database.close()


def test_one_team_that_sent_much_holds_back_no_other(queue: Queue) -> None:
    """Of a flood of one team and one submission of another, the latter comes second; no turn begins again."""
    queue.add(*"tttttu")
    assert queue.take(2) == [1, 6]
    assert queue.take(9) == [2, 3, 4, 5]
    assert queue.take() == []


def test_a_team_that_used_more_seconds_waits_for_the_others_even_if_its_submission_was_put_back(queue: Queue) -> None:
    """After 28 seconds of one team, another team's submissions come first until they have used as much."""
    queue.add("t")
    assert queue.take() == [1]
    queue.add(*"tuuu")
    queue.put_back(1, 28.0)
    for id_, seconds in ((3, 1.0), (4, 28.0)):
        assert queue.take() == [id_]
        queue.end(id_, seconds)
    assert queue.take(2) == [1, 2]


def test_a_team_that_was_idle_starts_level_with_the_one_that_is_served(queue: Queue) -> None:
    """Time that a team did not use earns it no credit, and time that no one else wanted costs nothing."""
    queue.add(*"ttt")
    for id_ in (1, 2):
        assert queue.take() == [id_]
        queue.end(id_, 100.0)
    queue.add(*"uu")
    taken = []
    for _ in range(3):
        taken += queue.take()
        queue.end(taken[-1], 150.0)
    assert taken == [3, 4, 5]


def test_several_graders_serve_several_teams(queue: Queue) -> None:
    """A team with a judgement that is running comes after those without, and each grader gets its share."""
    queue.add(*"tttttu")
    assert queue.take(4, graders=3) == [1, 6]
    queue.end(6, 0.0)
    queue.add("u")
    assert queue.take() == [7]


def test_what_waits_is_not_claimed_before_its_time(queue: Queue) -> None:
    queue.add("t")
    queue.take()
    queue.put_back(1, wait=0.05)
    assert queue.take() == []
    while not (taken := queue.take()):
        pass
    assert taken == [1]


def test_what_a_process_has_begun_is_left_to_it(queue: Queue) -> None:
    """It has the scores of the first cases; others take what it has put back whole."""
    queue.add(*"tu")
    assert queue.take(2, process="a") == [1, 2]
    queue.put_back(1, stays=True)
    queue.put_back(2)
    assert queue.take(2, process="b") == [2]
    assert queue.take(2, process="a") == [1]


def test_rejudgings_wait_in_a_lane_of_their_own(database_url: str, tmp_path: Path) -> None:
    database = Database(database_url)
    add_rogue_contest(database, LocalFiles(tmp_path))
    with database.transaction() as connection:
        queue = Queue(connection)
        queue.add("t")
        queue.end(*queue.take(), 0.0)
    with database.write() as session:
        rejudging_steps.begin(session, "c", {}, "why", "a")
        again = session.scalar(select(func.max(JudgementRow.id)))
        queue = Queue(session.connection())
        live = queue.add(*"tt")
        assert queue.take() == live[:1]
        assert queue.take(again=True) == [again]
        assert queue.take(2) == live[1:]
    database.close()
