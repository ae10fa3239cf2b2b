"""Virtual teams are measured against the official BEST, ranked among the others, and change nobody's points."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from app.domain.board import ranked_with
from app.domain.contests import ScoredProblem, Team
from app.domain.counting import Attempt, by_place
from app.domain.incremental_scoreboard import LiveBoard
from tests.builders.scoring import TEAMS, attempts, problems

VISIBLE = [team for team in TEAMS if team.counts]
TWINS = [Team(f"{team.id}-2", f"{team.name} again") for team in VISIBLE]


@given(problems, attempts())
def test_a_virtual_team_that_sends_what_an_official_one_sent_shares_its_rank(
    problem: ScoredProblem, tries: list[Attempt]
) -> None:
    again = [replace(each, id=each.id + 100, team_id=f"{each.team_id}-2") for each in tries]
    board = LiveBoard([problem]).board(TEAMS, by_place(tries))
    rows = {row.team.id: row for row in ranked_with(board, TWINS, again).rows}
    for team in VISIBLE:
        mine, twin = rows[team.id], rows[f"{team.id}-2"]
        assert (twin.rank, twin.points, twin.time) == (mine.rank, mine.points, mine.time)
        for one, other in zip(mine.cells, twin.cells, strict=True):
            assert (one.score, one.improved) == (other.score, other.improved)
            assert (one.num_judged, one.num_pending) == (other.num_judged, other.num_pending)


@given(problems, attempts(), attempts())
def test_official_teams_keep_points_times_and_order_whatever_virtual_ones_send(
    problem: ScoredProblem, tries: list[Attempt], virtual: list[Attempt]
) -> None:
    theirs = [replace(each, id=each.id + 100, team_id=f"{each.team_id}-2") for each in virtual]
    board = LiveBoard([problem]).board(TEAMS, by_place(tries))
    mixed = ranked_with(board, TWINS, theirs)
    official = [row for row in mixed.rows if row.team in VISIBLE]
    assert [(row.team, row.points, row.time, row.cells) for row in official] == [
        (row.team, row.points, row.time, row.cells) for row in board.rows
    ]
    assert mixed.bests == board.bests
    assert all(row.points <= float(problem.rule.max_points) for row in mixed.rows)


@given(problems, attempts(), st.permutations(TWINS))
def test_ranks_are_those_of_all_rows_sorted_and_equal_rows_share_one(
    problem: ScoredProblem, tries: list[Attempt], twins: list[Team]
) -> None:
    theirs = [replace(each, id=each.id + 100, team_id=f"{each.team_id}-2") for each in tries[::2]]
    mixed = ranked_with(LiveBoard([problem]).board(TEAMS, by_place(tries)), twins, theirs)
    keys = [(-row.points, row.time is None, row.time) for row in mixed.rows]
    for at, row in enumerate(mixed.rows):
        better = sum((key[:2], key[2] or 0) != (keys[at][:2], keys[at][2] or 0) for key in keys[:at])
        assert row.rank == better + 1
    assert {row.team.id for row in mixed.rows} == {team.id for team in (*VISIBLE, *TWINS)}
