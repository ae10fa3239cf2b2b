"""The standing of the viewer's own team at a problem: the answers that count, and their points, live in any freeze."""

from __future__ import annotations

from app.accounts.service.viewer import Viewer
from app.domain.contests import ScoredProblem
from app.domain.scoring import Answers, ProblemPoints, counted_answers, problem_points, submission_answers
from app.scoreboard.queries.contest_snapshot import ContestSnapshot


def own_answers(viewer: Viewer, snapshot: ContestSnapshot, problem: ScoredProblem) -> Answers | None:
    """The answers that count for the viewer's team, by case; None for viewers without a team.

    After the end they are those of the submission that the team has chosen, if it has.
    """
    if viewer.team_id is None:
        return None
    tries = snapshot.of(viewer.team_id, problem.id)
    chosen = snapshot.contest.chosen.get((viewer.team_id, problem.id)) if snapshot.state.ended is not None else None
    for attempt, answers in submission_answers(tries, problem.rule) if chosen is not None else ():
        if attempt.id == chosen and not attempt.failed:
            return answers
    return counted_answers(tries, problem.rule, lambda answers: points_at_best(snapshot, problem, answers).points)


def points_at_best(snapshot: ContestSnapshot, problem: ScoredProblem, answers: Answers) -> ProblemPoints:
    """The points of answers at the BEST that the viewer sees."""
    return problem_points(problem, answers, snapshot.bests(problem), snapshot.phase)
