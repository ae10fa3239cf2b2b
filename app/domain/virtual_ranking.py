"""Virtual teams ranked among the official ones, without a part in BEST."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from app.domain.board_arrays import standings
from app.domain.contests import CaseKind, ScoredProblem, Team
from app.domain.fixed_point import DECIMALS, total_scale
from app.domain.scoreboard import Board, Cell, cell_of, ranked, row_of
from app.domain.scoring import Attempt, Bests, Measure, counted_answers


def ranked_with(
    board: Board,
    problems: Sequence[ScoredProblem],
    teams: Sequence[Team],
    attempts: Iterable[Attempt],
    phase: frozenset[CaseKind],
) -> Board:
    """Rank virtual teams into the board. The other teams keep their points; their ranks may change."""
    tries = list(attempts)
    scale = total_scale(problems)
    rows = [row_of(team, [_cell(board, problem, team, tries, phase) for problem in problems], scale) for team in teams]
    mixed = [*board.rows, *rows]
    totals = np.array([row.points for row in mixed], dtype=np.float64)
    standing = standings(totals, scale.tolerance + 2 / DECIMALS, lambda at: mixed[at].exact)
    return Board(ranked(mixed, standing.tolist()), board.bests)


def _cell(
    board: Board, problem: ScoredProblem, team: Team, attempts: Sequence[Attempt], phase: frozenset[CaseKind]
) -> Cell:
    measure = Measure(problem, board.bests.get(problem.id) or Bests(problem.rule), phase)
    tries = [a for a in attempts if a.team_id == team.id and a.problem_id == problem.id]
    answers = counted_answers(tries, problem.rule, lambda answers: measure.points(answers).points)
    judged = sum(1 for a in tries if a.scores is not None)
    return cell_of(measure, answers, judged, len(tries) - judged)
