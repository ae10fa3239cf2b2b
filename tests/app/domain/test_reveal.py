"""A frozen board is opened from the bottom up, and ends as the board that was never frozen."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given

from app.domain.board import Place, Step, opened, pending
from app.domain.contests import Freeze, ScoredProblem
from app.domain.counting import Attempt
from tests.builders.scoring import TEAMS, attempts, problems
from tests.builders.slow_board import SlowBoard, scoreboard

FREEZE = timedelta(minutes=3)


def play(problem: ScoredProblem, tries: list[Attempt], step: Step) -> tuple[list[list[Place]], SlowBoard]:
    """Open everything step by step; returns what each step opened, and the board at the end."""
    revealed: set[Place] = set()
    steps = []
    while True:
        freeze = Freeze(FREEZE, frozenset(revealed))
        board = scoreboard([problem], TEAMS, tries, freeze=freeze)
        hidden = {(a.team_id, "p") for a in tries if freeze.hides(a.team_id, "p", a.time)}
        waiting = pending(board, hidden)
        found = opened(waiting, step)
        if not found:
            return steps, board
        on_board = [row.team.id for row in board.rows]
        lower = on_board[on_board.index(found[0][0]) + 1 :]
        assert not {team for team, _ in hidden} & set(lower), "somebody below has something left"
        revealed.update(found)
        steps.append(found)


@given(problems, attempts())
def test_opening_cell_by_cell_ends_with_the_board_without_a_curtain(
    problem: ScoredProblem, tries: list[Attempt]
) -> None:
    steps, last = play(problem, tries, Step.CELL)
    assert last == scoreboard([problem], TEAMS, tries)
    assert all(len(found) == 1 for found in steps)
    assert len({place for found in steps for place in found}) == len(steps)


@given(problems, attempts())
def test_opening_everything_takes_one_step(problem: ScoredProblem, tries: list[Attempt]) -> None:
    steps, last = play(problem, tries, Step.ALL)
    assert len(steps) <= 1
    assert last == scoreboard([problem], TEAMS, tries)
