"""The board: who is ahead, what a new best does to the others, and what a freeze hides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from app.domain.contests import Counting, Direction, Freeze, Kind, ScoredProblem, Team
from app.domain.counting import Attempt, RawScore
from tests.builders.scoring import (
    TEAMS,
    attempt,
    attempts,
    problem,
    problems,
    raw,
    references,
    rule,
    share,
)
from tests.builders.slow_board import SlowBoard, scoreboard

ONE = problem(rule(max_points=Fraction(90)), names=("1",))
ABSOLUTE = problem(rule(Kind.ABSOLUTE, max_points=Fraction(90)))


def of(board: SlowBoard, team: str) -> float:
    """A team's points."""
    return next(row.points for row in board.rows if row.team.id == team)


def ranks(board: SlowBoard) -> list[tuple[int, str]]:
    """Rank and team, from the top."""
    return [(row.rank, row.team.id) for row in board.rows]


def test_a_new_best_lowers_the_others_at_once_with_nothing_judged_again() -> None:
    tries = [attempt(1, {"1": raw(8)}, team="ants"), attempt(2, {"1": raw(4)}, team="bees")]
    assert of(scoreboard([ONE], TEAMS, tries), "ants") == 90.0
    after = scoreboard([ONE], TEAMS, [*tries, attempt(3, {"1": raw(16)}, team="bees")])
    assert (of(after, "ants"), of(after, "bees")) == (45.0, 90.0)


def test_hidden_teams_are_neither_shown_nor_best() -> None:
    board = scoreboard([ONE], TEAMS, [attempt(1, {"1": raw(8)}), attempt(2, {"1": raw(99)}, team="owls")])
    assert of(board, "ants") == 90.0
    assert "owls" not in [row.team.id for row in board.rows]


def test_a_freeze_pins_best_so_that_visible_points_do_not_leak_what_is_hidden() -> None:
    tries = [attempt(1, {"1": raw(8)}, team="ants"), attempt(70, {"1": raw(16)}, team="bees")]
    frozen = scoreboard([ONE], TEAMS, tries, freeze=Freeze(timedelta(minutes=60)))
    assert of(frozen, "ants") == 90.0
    bees = next(row for row in frozen.rows if row.team.id == "bees")
    assert (bees.points, bees.cells[0].num_judged, bees.cells[0].num_pending) == (0.0, 0, 1)
    assert of(scoreboard([ONE], TEAMS, tries), "ants") == 45.0


def test_the_reference_is_best_only_where_the_contest_says_so() -> None:
    tries, reference = [attempt(1, {"1": raw(8)})], {"p": {"1": raw(32)}}
    assert of(scoreboard([ONE], TEAMS, tries, references=reference), "ants") == 90.0
    counting = replace(ONE, rule=replace(ONE.rule, reference_counts=True))
    assert of(scoreboard([counting], TEAMS, tries, references=reference), "ants") == 22.5


def test_less_is_better_where_the_rule_says_so() -> None:
    less = problem(rule(direction=Direction.MINIMISE, max_points=Fraction(90)), names=("1",))
    board = scoreboard([less], TEAMS, [attempt(1, {"1": raw(8)}), attempt(2, {"1": raw(4)}, team="bees")])
    assert (of(board, "ants"), of(board, "bees")) == (45.0, 90.0)


def test_the_earlier_last_improvement_comes_first_and_equals_share_a_rank() -> None:
    tries = [
        attempt(1, {"1": share(1)}, team="cats", minute=9),
        attempt(2, {"1": share(1)}, team="bees", minute=5),
        attempt(3, {"1": share(1)}, team="ants", minute=9),
    ]
    assert ranks(scoreboard([ABSOLUTE], TEAMS, tries)) == [(1, "bees"), (2, "ants"), (2, "cats")]


def test_a_team_with_nothing_is_last_never_first() -> None:
    board = scoreboard(
        [ABSOLUTE], TEAMS, [attempt(1, {"1": share(0)}, team="ants"), attempt(2, {"1": share(1)}, team="cats")]
    )
    assert ranks(board) == [(1, "cats"), (2, "ants"), (2, "bees")]
    assert [row.time for row in board.rows] == [timedelta(minutes=2), None, None]


def test_equal_ranks_are_listed_by_name_as_people_sort() -> None:
    teams = [Team("1", "zebra"), Team("2", "Ångström"), Team("3", "apple"), Team("4", "Banana"), Team("5", "Apple")]
    assert [row.team.name for row in scoreboard([ONE], teams, []).rows] == [
        "Ångström",
        "apple",
        "Apple",
        "Banana",
        "zebra",
    ]


def test_best_of_a_whole_submission_contest_is_over_every_answer() -> None:
    """Which submission counts depends on BEST, so BEST depends on no such choice."""
    whole = problem(rule(counting=Counting.BEST, max_points=Fraction(90)))
    tries = [
        attempt(1, {"1": raw(10), "2": raw(1), "3": raw(1)}),
        attempt(2, {"1": raw(1), "2": raw(10), "3": raw(10)}),
    ]
    board = scoreboard([whole], TEAMS, tries)
    assert board.bests["p"].best == {"1": 10, "2": 10, "3": 10}
    assert of(board, "ants") == 63.0


@given(problem=problems, tries=attempts(), order=st.randoms(), references=references)
def test_the_board_does_not_depend_on_the_order_of_arrival_of_verdicts(
    problem: ScoredProblem, tries: list[Attempt], order: Random, references: dict[str, RawScore]
) -> None:
    mixed, teams = list(tries), list(TEAMS)
    order.shuffle(mixed)
    order.shuffle(teams)
    known: Mapping[str, Mapping[str, RawScore]] = {"p": references}
    assert (
        scoreboard([problem], teams, mixed, references=known).rows
        == scoreboard([problem], TEAMS, tries, references=known).rows
    )


@given(problem=problems, tries=attempts(), until=st.integers(0, 7))
def test_what_comes_after_the_freeze_changes_nothing_but_the_count_of_pending(
    problem: ScoredProblem, tries: list[Attempt], until: int
) -> None:
    freeze = timedelta(minutes=until)
    frozen = scoreboard([problem], TEAMS, tries, freeze=Freeze(freeze))
    alone = scoreboard([problem], TEAMS, [each for each in tries if each.time < freeze])
    assert [(r.rank, r.team, r.points, r.time) for r in frozen.rows] == [
        (r.rank, r.team, r.points, r.time) for r in alone.rows
    ]
    assert {k: v.best for k, v in frozen.bests.items()} == {k: v.best for k, v in alone.bests.items()}


@given(problem=problems, tries=attempts())
def test_ranks_follow_points_and_points_stay_within_the_problem(problem: ScoredProblem, tries: list[Attempt]) -> None:
    board = scoreboard([problem], TEAMS, tries)
    assert all(0.0 <= row.points <= 90.0 + 1e-9 for row in board.rows)
    for above, below in zip(board.rows, board.rows[1:], strict=False):
        snapshot = [(-row.points, timedelta.max if row.time is None else row.time) for row in (above, below)]
        assert snapshot[0] <= snapshot[1]
        assert (above.rank == below.rank) == (snapshot[0] == snapshot[1])
    assert all((row.time is not None) == (row.points > 0) for row in board.rows)


@given(tries=attempts(), best=st.integers(1, 40), direction=st.sampled_from(Direction))
def test_an_answer_of_a_team_that_had_none_never_raises_the_points_of_others(
    tries: list[Attempt], best: int, direction: Direction
) -> None:
    of_three = problem(rule(direction=direction, max_points=Fraction(90)))
    others = [each for each in tries if each.team_id != "bees"]
    newcomer = attempt(99, {"1": raw(best), "2": raw(best)}, team="bees")
    before, after = (scoreboard([of_three], TEAMS, sent) for sent in (others, [*others, newcomer]))
    for team in ("ants", "cats"):
        assert of(after, team) <= of(before, team)


@given(problem=problems, tries=attempts())
def test_a_chosen_submission_counts_in_place_of_the_last_or_best_one(
    problem: ScoredProblem, tries: list[Attempt]
) -> None:
    judged = [attempt for attempt in tries if attempt.scores is not None and attempt.problem_id == problem.id]
    for choice in judged:
        board = scoreboard([problem], TEAMS, tries, chosen={(choice.team_id, problem.id): choice.id})
        others = [a for a in tries if a.team_id == choice.team_id and (a.time, a.id) > (choice.time, choice.id)]
        without = [attempt for attempt in tries if attempt not in others]
        last = replace(problem, rule=replace(problem.rule, counting=Counting.LAST))
        expected = scoreboard([last], TEAMS, without)
        for row in board.rows:
            if row.team.id == choice.team_id:
                mine = next(r for r in expected.rows if r.team.id == choice.team_id)
                assert {c: a.score for c, a in row.cells[0].answers.items()} == {
                    c: a.score for c, a in mine.cells[0].answers.items()
                }


def test_a_revealed_cell_is_open_while_the_rest_of_the_board_stays_frozen() -> None:
    freeze = Freeze(timedelta(minutes=60), frozenset({("ants", "one")}))
    late = timedelta(minutes=61)
    assert not freeze.hides("ants", "one", late)
    assert freeze.hides("ants", "two", late)
    assert freeze.hides("bees", "one", late)
    assert not freeze.hides("bees", "one", timedelta(minutes=59))


def test_a_disqualified_team_is_off_the_board() -> None:
    teams = [Team("ants", "Ants", disqualified=True), Team("bees", "Bees")]
    assert [row.team.id for row in scoreboard([ONE], teams, []).rows] == ["bees"]
