"""The board, the points over time and the reports show the points of the slow reference, whatever the rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import count, product
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from app.accounts.service.viewer import Viewer
from app.contests.schemas import Rule
from app.contests.service.visibility import know_points, points_of
from app.core.clock import utc_now
from app.core.service import Service
from app.domain.contests import Carry, Counting, Direction, Kind, ScoringRule
from app.domain.counting import Attempt, RawScore, submission_answers
from app.domain.scoring import problem_points
from app.scoreboard.service.history import compute_history
from app.submissions.service.reports import report
from app.tables import ChosenSubmissionRow, ContestProblemRow, SubmissionRow
from tests.builders.contests import PROBLEM, add_contest, add_problem, add_submission
from tests.builders.examples import examples
from tests.builders.scoring import JUDGE_ERROR, REJECTED, awkward_scores
from tests.builders.service import open_service
from tests.builders.slow_board import scoreboard

VIEWER = Viewer("admin", "admin", None, "admin")
LARGEST = 2**63
"""Numerators and denominators are stored below this."""
RULES = [
    ScoringRule(kind, direction, counting, carry)
    for kind, direction, counting, carry in product(Kind, Direction, Counting, Carry)
]


def is_stored(score: RawScore) -> bool:
    """Whether a score fits its columns."""
    pairs = (score.raw or 0).as_integer_ratio(), (score.multiplier or 0).as_integer_ratio()
    return all(number < LARGEST for each in pairs for number in each)


stored_scores = st.one_of(awkward_scores.filter(is_stored), st.just(REJECTED))
sent = st.lists(
    st.tuples(
        st.sampled_from(["team", "other"]),
        st.dictionaries(st.sampled_from(["02", "03"]), stored_scores),
        st.integers(1, 4),
    ),
    max_size=7,
)


def test_board_history_and_reports_agree_with_the_slow_reference(sqlite_url: str, tmp_path: Path) -> None:
    with open_service(sqlite_url, tmp_path / "home") as service:
        add_problem(service)
        numbers = count()

        @settings(max_examples=examples(6), deadline=None)
        @given(sent=sent, reference=st.booleans())
        def agree(sent: list[tuple[str, dict[str, RawScore], int]], reference: bool) -> None:
            contest_id = f"c{next(numbers)}"
            add_contest(service, contest_id)
            tries = [
                Attempt(
                    add_submission(service, scores, team=team, minute=minute, contest_id=contest_id),
                    team,
                    PROBLEM,
                    timedelta(minutes=minute),
                    scores,
                )
                for team, scores, minute in sent
            ]
            for each in RULES:
                assert_agreed(service, contest_id, replace(each, reference_counts=reference), tries)

        agree()


def assert_agreed(service: Service, contest_id: str, rule: ScoringRule, tries: Sequence[Attempt]) -> None:
    """Compare all that is shown under one rule with boards from scratch."""
    with service.database.write() as session:
        session.get_one(ContestProblemRow, (contest_id, PROBLEM)).rule = Rule.of(rule)
    service.boards.changed(contest_id)
    snapshot = service.boards.snapshot(contest_id, public=False)
    assert snapshot is not None
    (problem,) = snapshot.contest.problems
    slow = scoreboard([problem], snapshot.contest.teams, tries, references=snapshot.contest.references)
    rows = {row.team.id: (row.points, row.rank) for row in slow.rows}
    assert {row.team.id: (row.points, row.rank) for row in snapshot.main.rows} == rows
    past = compute_history(snapshot, 1000).teams
    assert {team: (of_team[-1].points, of_team[-1].rank) for team, of_team in past.items() if of_team} == (
        rows if tries else {}
    )
    with service.database.read() as session:
        submissions = [session.get_one(SubmissionRow, attempt.id) for attempt in tries]
        know_points(snapshot, submissions)
        by_id = {row.id: (row, report(VIEWER, snapshot, session, row.shown_id)) for row in submissions}
    for team in ("team", "other"):
        mine = [attempt for attempt in tries if attempt.team_id == team]
        for attempt, answers in submission_answers(mine, problem.rule):
            row, shown = by_id[attempt.id]
            expected = problem_points(problem, answers, slow.bests[PROBLEM])
            assert shown.points == points_of(snapshot, row) == expected.points
            assert {case.name: case.points for case in shown.cases} == {"01": 0.0, **expected.case_points}
            assert [group.points for group in shown.groups] == [group.points for group in expected.groups]
        if mine and rule.counting is not Counting.BEST_CASE:
            each_points = [by_id[attempt.id][1].points or 0.0 for attempt in sorted(mine, key=lambda a: (a.time, a.id))]
            total = max(each_points) if rule.counting is Counting.BEST else each_points[-1]
            assert total == rows[team][0]


FREEZE, DURATION = 3, 6
moments = st.lists(
    st.tuples(
        st.one_of(
            st.none(), st.dictionaries(st.sampled_from(["02", "03"]), st.one_of(stored_scores, st.just(JUDGE_ERROR)))
        ),
        st.integers(-1, DURATION + 1),
    ),
    min_size=1,
    max_size=7,
)


def test_points_of_few_submissions_are_those_of_the_whole_history(sqlite_url: str, tmp_path: Path) -> None:
    """Also where the board lacks some: behind the freeze, before the start, after the end, or by a team's choice."""
    with open_service(sqlite_url, tmp_path / "home") as service:
        add_problem(service)
        numbers = count()

        @settings(max_examples=examples(15), deadline=None)
        @given(sent=moments, ended=st.booleans(), thawed=st.booleans(), chosen=st.integers(0, 6))
        def agree(sent: list[tuple[dict[str, RawScore] | None, int]], ended: bool, thawed: bool, chosen: int) -> None:
            contest_id, minute = f"c{next(numbers)}", timedelta(minutes=1)
            add_contest(
                service,
                contest_id,
                started=(DURATION + 2 if ended else DURATION - 1) * minute,
                duration=DURATION * minute,
                freeze=(DURATION - FREEZE) * minute,
                thaw=utc_now() - minute if thawed else None,
                settings={"choose": True},
            )
            ids = [
                add_submission(service, scores, minute=at, contest_id=contest_id, judgement_type=type_of(scores))
                for scores, at in sent
            ]
            with service.database.write() as session:
                place = {"contest_id": contest_id, "team_id": "team", "problem_id": PROBLEM}
                choice = ids[chosen % len(ids)]
                session.add(ChosenSubmissionRow(**place, submission_id=choice, time=utc_now()))
            for each in RULES:
                with service.database.write() as session:
                    session.get_one(ContestProblemRow, (contest_id, PROBLEM)).rule = Rule.of(each)
                for public in (False, True):
                    assert_few(service, contest_id, ids, public=public)

        agree()


def type_of(scores: dict[str, RawScore] | None) -> str:
    """The judgement type of scores."""
    return "JE" if JUDGE_ERROR in (scores or {}).values() else "PC"


def assert_few(service: Service, contest_id: str, ids: Sequence[int], *, public: bool) -> None:
    """Compare the points of each submission alone with those of the slow reference."""
    snapshot = service.boards.snapshot(contest_id, public=public)
    assert snapshot is not None
    (problem,) = snapshot.contest.problems
    slow = {
        attempt.id: problem_points(problem, answers, snapshot.bests(problem), snapshot.phase).points
        for attempt, answers in submission_answers(snapshot.of("team", PROBLEM), problem.rule)
    }
    with service.database.read() as session:
        rows = [session.get_one(SubmissionRow, id_) for id_ in ids]
    for row in rows:
        know_points(snapshot, [row])
        assert points_of(snapshot, row) == slow.get(row.id)
