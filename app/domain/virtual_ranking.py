"""Virtual teams ranked among the official ones, without a part in BEST."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from app.domain.contests import CaseKind, ScoredProblem, Team
from app.domain.fixed_point import total_bits
from app.domain.scoreboard import Board, Cell, ranked, row_of
from app.domain.scoring import Attempt, Bests, counted_answers, problem_points


def ranked_with(
    board: Board,
    problems: Sequence[ScoredProblem],
    teams: Sequence[Team],
    attempts: Iterable[Attempt],
    phase: frozenset[CaseKind],
) -> Board:
    """Rank virtual teams into the board. The other teams keep their points; their ranks may change."""
    tries = list(attempts)
    bits = total_bits(problems)
    rows = [row_of(team, [_cell(board, problem, team, tries, phase) for problem in problems], bits) for team in teams]
    return Board(ranked([*board.rows, *rows]), board.bests)


def _cell(
    board: Board, problem: ScoredProblem, team: Team, attempts: Sequence[Attempt], phase: frozenset[CaseKind]
) -> Cell:
    bests = board.bests.get(problem.id) or Bests(problem.rule)
    tries = [a for a in attempts if a.team_id == team.id and a.problem_id == problem.id]
    count = partial(problem_points, problem, bests=bests, phase=phase)
    answers = counted_answers(tries, problem.rule, lambda answers: count(answers).points)
    judged = sum(1 for a in tries if a.scores is not None)
    points = count(answers)
    return Cell(problem.id, points.points, points.improved, answers, judged, len(tries) - judged, count)
