"""Raw scores become points by these rules and no others."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.contests import (
    Aggregation,
    Carry,
    Case,
    CaseKind,
    Counting,
    Direction,
    Group,
    Kind,
    ScoredProblem,
    ScoringRule,
)
from app.domain.counting import Answers, Attempt, RawScore, by_place, counted_answers, submission_answers
from app.domain.incremental_scoreboard import LiveBoard
from app.domain.scoring import Bests, ProblemPoints, problem_points, relative
from tests.builders.scoring import (
    CASES,
    JUDGE_ERROR,
    REJECTED,
    TEAMS,
    attempt,
    attempts,
    problem,
    raw,
    rule,
    rules,
    scores,
    share,
)
from tests.builders.slow_board import scoreboard

ABSOLUTE = rule(Kind.ABSOLUTE, max_points=Fraction(90))


def points(of: ScoredProblem, answers: Answers, *others: RawScore) -> ProblemPoints:
    """Points of counted answers, BEST being over them and the others' answers to case 1."""
    bests = Bests(of.rule, teams=1 + len(others))
    for case, counted in answers.items():
        bests.add(case, counted.score)
    for other in others:
        bests.add("1", other)
    return problem_points(of, answers, bests.close())


def found(answers: Answers) -> dict[str, tuple[RawScore, int]]:
    """Scores and who brought them, by case."""
    return {case: (counted.score, counted.submission_id) for case, counted in answers.items()}


def test_the_best_answer_of_each_case_counts_however_many_submissions_it_takes() -> None:
    tries = [attempt(1, {"1": share(1), "2": share(0)}), attempt(2, {"1": share(0), "2": share(Fraction(1, 2))})]
    counted = counted_answers(tries, ABSOLUTE)
    assert found(counted) == {"1": (share(1), 1), "2": (share(Fraction(1, 2)), 2)}
    assert points(problem(ABSOLUTE), counted).points == 45.0


def test_a_case_without_a_file_keeps_the_best_earlier_answer_or_the_latest_or_none() -> None:
    tries = [attempt(1, {"1": raw(9)}), attempt(2, {"1": raw(5)}), attempt(3, {"2": raw(1)})]
    expected = {Carry.BEST: (raw(9), 1), Carry.LATEST: (raw(5), 2), Carry.NONE: None}
    for carry, kept in expected.items():
        counted = found(counted_answers(tries, rule(carry=carry)))
        assert counted.get("1") == kept
        assert counted["2"] == (raw(1), 3)


def test_the_last_submission_counts_also_where_it_is_worse() -> None:
    counted = counted_answers([attempt(1, {"1": raw(9)}), attempt(2, {"1": raw(5)})], rule())
    assert found(counted) == {"1": (raw(5), 2)}


def test_a_rejected_answer_does_not_replace_an_accepted_one_where_the_best_of_a_case_counts() -> None:
    counted = counted_answers([attempt(1, {"1": share(1)}), attempt(2, {"1": REJECTED})], ABSOLUTE)
    assert found(counted) == {"1": (share(1), 1)}


def test_the_best_submission_is_the_one_with_most_points_not_with_most_cases() -> None:
    group = Group("secret", CaseKind.PROVISIONAL, Fraction(100))
    heavy = (Case("1", "secret", Fraction(80)), Case("2", "secret", Fraction(10)), Case("3", "secret", Fraction(10)))
    sample = Case("s", "sample", Fraction(0))
    scoring = rule(Kind.ABSOLUTE, Counting.BEST, carry=Carry.NONE)
    whole = ScoredProblem("p", scoring, (Group("sample", CaseKind.SAMPLE, Fraction(0)), group), (sample, *heavy))
    tries = [attempt(1, {"1": share(1)}), attempt(2, {"2": share(1), "3": share(1), "s": share(1)})]
    bests = Bests(scoring)
    counted = counted_answers(tries, scoring, lambda answers: problem_points(whole, answers, bests).points)
    assert found(counted) == {"1": (share(1), 1)}


def test_what_is_best_must_be_known_where_the_best_submission_counts() -> None:
    with pytest.raises(ValueError, match="expected a way to tell which submission is best"):
        counted_answers([attempt(1, {})], rule(counting=Counting.BEST))


@pytest.mark.parametrize("counting", Counting)
@pytest.mark.parametrize("carry", Carry)
def test_a_judge_error_in_one_case_changes_nothing_that_counted_before(counting: Counting, carry: Carry) -> None:
    scoring = rule(counting=counting, carry=carry)
    before = [attempt(1, {"1": raw(9), "2": raw(5)})]
    failed = attempt(2, {"1": JUDGE_ERROR, "3": raw(1)})
    both = [
        counted_answers(tries, scoring, lambda answers: float(len(answers))) for tries in (before, [*before, failed])
    ]
    assert both[0] == both[1]
    assert set(both[1]) == {"1", "2"}


def test_choosing_a_submission_with_a_judge_error_leaves_the_earlier_one_counting() -> None:
    tries = [attempt(1, {"1": raw(9)}), attempt(2, {"1": JUDGE_ERROR})]
    of = problem(rule(carry=Carry.NONE), names=("1",))
    chosen = {("ants", "p"): 2}
    slow = scoreboard([of], TEAMS, tries, chosen=chosen)
    live = LiveBoard([of]).board(TEAMS, by_place(tries), chosen=chosen)
    assert slow.rows[0].points == live.rows[0].points == 100.0


def test_a_submission_stands_for_its_own_files_and_for_what_it_takes_over() -> None:
    tries = [attempt(1, {"1": share(1)}), attempt(2, {"1": share(0), "2": share(1)}), attempt(3, {"3": share(1)})]
    stands = {each.id: found(answers) for each, answers in submission_answers(tries, ABSOLUTE)}
    assert stands[2] == {"1": (share(0), 2), "2": (share(1), 2)}
    assert stands[3] == {"1": (share(1), 1), "2": (share(1), 2), "3": (share(1), 3)}


def test_the_time_is_that_of_the_last_improvement_not_of_the_last_submission() -> None:
    tries = [
        attempt(1, {"1": share(Fraction(1, 2))}),
        attempt(5, {"1": share(Fraction(1, 2))}),
        attempt(9, {"1": share(0)}),
    ]
    for counting in (Counting.BEST_CASE, Counting.LAST):
        counted = counted_answers(tries[:2], replace(ABSOLUTE, counting=counting))
        assert points(problem(ABSOLUTE), counted).improved == timedelta(minutes=1)
    assert points(problem(ABSOLUTE), counted_answers(tries, ABSOLUTE)).improved == timedelta(minutes=1)


def test_a_better_raw_score_without_more_points_is_no_improvement_under_absolute_scoring() -> None:
    tries = [attempt(1, {"1": raw(5, 1)}), attempt(2, {"1": raw(7, 1)})]
    assert points(problem(ABSOLUTE), counted_answers(tries, ABSOLUTE)).improved == timedelta(minutes=1)


def test_a_group_that_gives_nothing_does_not_move_the_time() -> None:
    groups = (
        Group("secret/a", CaseKind.PROVISIONAL, Fraction(50)),
        Group("secret/b", CaseKind.PROVISIONAL, Fraction(50), Aggregation.MIN),
    )
    cases = (
        Case("1", "secret/a", Fraction(50)),
        Case("2", "secret/b", Fraction(50)),
        Case("3", "secret/b", Fraction(50)),
    )
    two = ScoredProblem("p", ABSOLUTE, groups, cases)
    counted = counted_answers([attempt(1, {"1": share(1)}), attempt(7, {"2": share(1)})], ABSOLUTE)
    assert points(two, counted).improved == timedelta(minutes=1)


@pytest.mark.parametrize(
    ("yours", "best", "direction", "expected"),
    [
        (6, 8, Direction.MAXIMISE, 0.75),
        (8, 6, Direction.MINIMISE, 0.75),
        (Fraction(1, 3), Fraction(2, 3), Direction.MAXIMISE, 0.5),
        (0, 0, Direction.MAXIMISE, 1.0),
        (0, 0, Direction.MINIMISE, 1.0),
        (5, 0, Direction.MINIMISE, 0.0),
        (0, 5, Direction.MAXIMISE, 0.0),
        (7, 5, Direction.MAXIMISE, 1.0),
        (5, 0, Direction.MAXIMISE, 1.0),
        (0, 5, Direction.MINIMISE, 1.0),
    ],
)
def test_relative_points_are_yours_over_best_or_best_over_yours(
    yours: int | Fraction, best: int | Fraction, direction: Direction, expected: float
) -> None:
    """Also with zeros, and for an answer that is no part of BEST and better than it."""
    assert relative(yours, best, direction) == expected


@given(a=st.integers(0, 10**30), b=st.integers(1, 10**30))
def test_multipliers_of_huge_raw_scores_are_right_to_the_last_bit(a: int, b: int) -> None:
    small, large = sorted((a, b))
    assert relative(small, large, Direction.MAXIMISE) == Fraction(small, large)


def test_a_rejected_answer_is_never_best_and_gives_nothing() -> None:
    of = problem(rule(direction=Direction.MINIMISE, max_points=Fraction(90)))
    answers = counted_answers([attempt(1, {"1": REJECTED, "2": raw(4)})], of.rule)
    assert points(of, answers, REJECTED).points == 30.0


def test_ranks_give_one_less_the_share_of_teams_ahead_and_ties_share() -> None:
    of = problem(rule(Kind.RANK, max_points=Fraction(90)), names=("1",))
    answers = counted_answers([attempt(1, {"1": raw(5)})], of.rule)
    assert points(of, answers, raw(7), raw(5), raw(1)).multipliers["1"] == 0.75
    assert points(of, answers, raw(7), raw(8), raw(9)).multipliers["1"] == 0.25


def test_an_answer_behind_everybody_and_the_reference_is_still_worth_nothing_less_than_zero() -> None:
    bests = Bests(rule(Kind.RANK), teams=1)
    for best in (raw(7), raw(8)):
        bests.add("1", best)
    assert bests.close().multiplier("1", raw(1)) == 0.0


@pytest.mark.parametrize(
    ("aggregation", "shares", "expected", "why"),
    [
        (Aggregation.SUM, (1, Fraction(1, 2), 0), 45.0, ""),
        (Aggregation.SUM, (0, 0, 0), 0.0, "no case gives points yet"),
        (Aggregation.MIN, (1, Fraction(1, 2), 1), 45.0, ""),
        (Aggregation.MIN, (1, 0, 1), 0.0, "the worst case decides, 1 of 3 cases give nothing yet"),
        (Aggregation.PASS_FAIL, (1, 1, 1), 90.0, ""),
        (Aggregation.PASS_FAIL, (1, Fraction(99, 100), 1), 0.0, "all 3 cases must be right, 1 not yet"),
    ],
)
def test_groups_add_up_or_take_the_worst_or_want_everything(
    aggregation: Aggregation, shares: tuple[Fraction, ...], expected: float, why: str
) -> None:
    of = problem(ABSOLUTE, aggregation)
    sent = {case: share(each) for case, each in zip(CASES, shares, strict=True)}
    got = points(of, counted_answers([attempt(1, sent)], ABSOLUTE))
    assert (got.points, got.groups[0].why) == (expected, why)


def test_a_group_gives_nothing_until_the_groups_it_requires_have_passed() -> None:
    first = Group("secret/a", CaseKind.PROVISIONAL, Fraction(40), Aggregation.PASS_FAIL)
    second = Group("secret/b", CaseKind.PROVISIONAL, Fraction(60), require_pass=("sample", "secret/a"))
    sample = Group("sample", CaseKind.SAMPLE, Fraction(0))
    cases = (Case("0", "sample", Fraction(0)), Case("1", "secret/a", Fraction(40)), Case("2", "secret/b", Fraction(60)))
    of = ScoredProblem("p", replace(ABSOLUTE, max_points=Fraction(100)), (sample, first, second), cases)
    some = points(of, counted_answers([attempt(1, {"1": share(1), "2": share(1)})], of.rule))
    assert (some.points, some.groups[1].why) == (40.0, "needs sample to pass")
    every = points(of, counted_answers([attempt(1, {"0": share(1), "1": share(1), "2": share(1)})], of.rule))
    assert every.points == 100.0


def test_samples_and_final_cases_give_no_points_while_the_contest_runs() -> None:
    groups = (Group("secret/a", CaseKind.PROVISIONAL, Fraction(30)), Group("secret/z", CaseKind.FINAL, Fraction(70)))
    cases = (Case("1", "secret/a", Fraction(30)), Case("2", "secret/z", Fraction(70)))
    of = ScoredProblem("p", replace(ABSOLUTE, max_points=Fraction(100)), groups, cases)
    counted = counted_answers([attempt(1, {"1": share(Fraction(1, 2)), "2": share(1)})], ABSOLUTE)
    assert points(of, counted).points == 50.0  # the provisional groups fill the problem's maximum
    final = problem_points(of, counted, Bests(ABSOLUTE), frozenset({CaseKind.FINAL}))
    assert final.points == 100.0


@given(tries=attempts(), scoring=rules, order=st.randoms())
def test_the_order_in_which_attempts_are_read_does_not_matter(
    tries: list[Attempt], scoring: ScoringRule, order: Random
) -> None:
    of = problem(scoring)
    mixed = list(tries)
    order.shuffle(mixed)

    def worth(answers: Answers) -> float:
        return problem_points(of, answers, Bests(scoring)).points

    assert counted_answers(mixed, scoring, worth) == counted_answers(tries, scoring, worth)


@given(tries=attempts(), more=st.dictionaries(st.sampled_from(CASES), scores, max_size=3))
def test_one_more_submission_never_lowers_own_points_where_the_best_of_each_case_counts(
    tries: list[Attempt], more: dict[str, RawScore]
) -> None:
    of = problem(ABSOLUTE)
    mine = [each for each in tries if each.team_id == "ants"]
    before = points(of, counted_answers(mine, ABSOLUTE)).points
    after = points(of, counted_answers([*mine, attempt(99, more)], ABSOLUTE)).points
    assert after >= before


@given(scoring=rules, score=scores, others=st.lists(scores, max_size=5))
def test_every_multiplier_is_between_nothing_and_one(
    scoring: ScoringRule, score: RawScore, others: list[RawScore]
) -> None:
    bests = Bests(scoring, teams=3)
    for other in others:
        bests.add("1", other)
    assert 0.0 <= bests.close().multiplier("1", score) <= 1.0
