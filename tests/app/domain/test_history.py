"""Points over time are those of boards from scratch, one for each moment."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.domain.board import Board, Chosen, ReferenceScores
from app.domain.contests import OPEN, Carry, Counting, Freeze, Kind, ScoredProblem
from app.domain.counting import Attempt, Cells, Place, RawScore
from app.domain.history import history, shown
from app.domain.incremental_scoreboard import LiveBoard
from tests.builders.examples import examples
from tests.builders.scoring import CASES, TEAMS, attempts, awkward_attempts, awkward_scores, problems
from tests.builders.slow_board import SlowBoard, ranked, scoreboard

freezes = st.one_of(st.just(OPEN), st.builds(Freeze, st.integers(0, 6).map(lambda minute: timedelta(minutes=minute))))


def boards(
    problems: Sequence[ScoredProblem],
    *,
    freeze: Freeze = OPEN,
    chosen: Chosen | None = None,
    references: ReferenceScores | None = None,
) -> Callable[[Cells, Collection[Place]], Board]:
    """The boards of more and more attempts."""
    live = LiveBoard(problems, references=references)
    return lambda cells, changed: live.board(TEAMS, cells, freeze=freeze, chosen=chosen, changed=changed)


def board_at(problem: ScoredProblem, tries: list[Attempt], freeze: Freeze, time: timedelta) -> SlowBoard:
    """Of what everyone sees of the attempts that were sent until then."""
    return scoreboard([problem], TEAMS, [each for each in shown(tries, freeze) if each.time <= time])


@settings(max_examples=60)
@given(problems, attempts(), freezes, st.sampled_from([1, 2, 3, 1000]))
def test_each_moment_is_the_board_of_all_that_was_sent_until_then(
    problem: ScoredProblem, tries: list[Attempt], freeze: Freeze, steps: int
) -> None:
    past = history(boards([problem], freeze=freeze), shown(tries, freeze), steps)
    assert past.keys() == {team.id for team in TEAMS if team.counts}
    times = sorted({each.time for of_team in past.values() for each in of_team})
    for time in times:
        board = board_at(problem, tries, freeze, time)
        for row in board.rows:
            last = [each for each in past[row.team.id] if each.time <= time][-1]
            assert (last.points, last.rank) == (row.points, row.rank)
    if shown(tries, freeze):
        end = board_at(problem, tries, freeze, timedelta(days=1))
        assert {team: each[-1].points for team, each in past.items()} == {row.team.id: row.points for row in end.rows}


@pytest.mark.parametrize("carry", Carry)
@pytest.mark.parametrize("counting", Counting)
@pytest.mark.parametrize("kind", Kind)
@settings(max_examples=examples(8))
@given(
    both=st.tuples(problems, problems),
    tries=st.tuples(awkward_attempts(), awkward_attempts(5)),
    reference=st.dictionaries(st.sampled_from(CASES), awkward_scores),
    choices=st.dictionaries(st.tuples(st.sampled_from([team.id for team in TEAMS]), st.just("p")), st.integers(1, 8)),
    freeze=freezes,
    steps=st.sampled_from([1, 3, 1000]),
    among=st.sampled_from([None, {"ants", "cats"}]),
)
def test_the_history_of_scores_without_a_common_factor_is_that_of_slow_boards(
    kind: Kind,
    counting: Counting,
    carry: Carry,
    both: tuple[ScoredProblem, ScoredProblem],
    tries: tuple[list[Attempt], list[Attempt]],
    reference: Mapping[str, RawScore],
    choices: Mapping[tuple[str, str], int],
    freeze: Freeze,
    steps: int,
    among: set[str] | None,
) -> None:
    """Each moment, and so the last point, has the points and ranks of a board from scratch, to the last bit."""
    ruled = [
        replace(each, id=name, rule=replace(each.rule, kind=kind, counting=counting, carry=carry))
        for each, name in zip(both, "pq", strict=True)
    ]
    judged = [*tries[0], *(replace(each, id=each.id + 50, problem_id="q") for each in tries[1])]
    references = {"p": reference, "q": reference}
    live = boards(ruled, freeze=freeze, chosen=choices, references=references)
    past = history(live, shown(judged, freeze), steps, among)

    def slow(some: list[Attempt]) -> dict[str, tuple[float, int]]:
        board = scoreboard(ruled, TEAMS, some, freeze=freeze, chosen=choices, references=references)
        rows = ranked([row for row in board.rows if among is None or row.team.id in among])
        return {row.team.id: (row.points, row.rank) for row in rows}

    for time in sorted({each.time for of_team in past.values() for each in of_team}):
        last = {team: [each for each in of_team if each.time <= time][-1] for team, of_team in past.items()}
        expected = slow([each for each in judged if each.time <= time])
        assert {team: (each.points, each.rank) for team, each in last.items()} == expected
    if any(past.values()):
        assert {team: (each[-1].points, each[-1].rank) for team, each in past.items()} == slow(judged)


@given(problems, attempts(), st.integers(1, 12))
def test_there_are_no_more_moments_than_steps_and_nothing_is_told_twice(
    problem: ScoredProblem, tries: list[Attempt], steps: int
) -> None:
    past = history(boards([problem]), tries, steps)
    assert len({each.time for of_team in past.values() for each in of_team}) <= steps
    for of_team in past.values():
        told = [(each.points, each.rank) for each in of_team]
        assert all(one != other for one, other in pairwise(told))
        assert [each.time for each in of_team] == sorted(each.time for each in of_team)


@given(problems, attempts(), st.sets(st.sampled_from(["ants", "bees", "cats"])))
def test_teams_among_themselves_keep_their_points_and_have_their_own_ranks(
    problem: ScoredProblem, tries: list[Attempt], among: set[str]
) -> None:
    def told(some: set[str] | None) -> dict[str, float]:
        past = history(boards([problem]), tries, 5, some)
        if some is not None and tries:
            assert all(each.rank <= len(some) for of_team in past.values() for each in of_team)
        return {team: of_team[-1].points for team, of_team in past.items() if of_team}

    assert told(among) == {team: points for team, points in told(None).items() if team in among}
