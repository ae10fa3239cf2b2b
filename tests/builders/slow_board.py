"""The board from scratch, from all attempts: pure, slow, and the authority that the quick one is tested against."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from fractions import Fraction
from math import ldexp

from app.domain.board import Chosen, ReferenceScores, collation_key
from app.domain.contests import OPEN, PROVISIONAL, CaseKind, Counting, Freeze, ScoredProblem, Team
from app.domain.counting import Answers, Attempt, RawScore, counted_answers, submission_answers
from app.domain.scoring import Bests, ProblemPoints, TotalScale, exact_points, problem_points, shown, total_scale


@dataclass(frozen=True)
class SlowCell:
    """One team at one problem: the numbers of `Cell`, and its score without rounding."""

    problem_id: str
    score: float
    improved: timedelta | None
    answers: Answers
    num_judged: int
    num_pending: int
    points: ProblemPoints = field(compare=False)
    exact: Fraction = field(compare=False)


@dataclass(frozen=True)
class SlowRow:
    """One team's row: the numbers of `Row`, with its cells."""

    rank: int
    team: Team
    points: float
    time: timedelta | None
    cells: tuple[SlowCell, ...]

    @property
    def exact(self) -> Fraction:
        """The points without rounding, by which teams are ranked."""
        return sum((cell.exact for cell in self.cells), Fraction(0))


@dataclass(frozen=True)
class SlowBoard:
    """The ranked rows of the visible teams, and BEST per problem and case."""

    rows: Sequence[SlowRow]
    bests: Mapping[str, Bests]


def scoreboard(
    problems: Sequence[ScoredProblem],
    teams: Sequence[Team],
    attempts: Iterable[Attempt],
    *,
    freeze: Freeze = OPEN,
    chosen: Chosen | None = None,
    phase: frozenset[CaseKind] = PROVISIONAL,
    references: ReferenceScores | None = None,
) -> SlowBoard:
    """Compute the whole board. Attempts behind the `freeze` only count as pending, also for BEST.

    `chosen`: the answers of a chosen submission count in place of those that the rule selects.
    """
    visible = [team for team in teams if team.counts]
    by_cell = _by_cell(attempts)
    cells: dict[str, list[SlowCell]] = {team.id: [] for team in visible}
    bests: dict[str, Bests] = {}
    for problem in problems:
        mine = {team.id: by_cell.get((team.id, problem.id), []) for team in visible}
        open_ = {team: [a for a in tries if not freeze.hides(team, problem.id, a.time)] for team, tries in mine.items()}
        choices = {team: submission for (team, at), submission in (chosen or {}).items() if at == problem.id}
        reference = (references or {}).get(problem.id)
        bests[problem.id], answers = bests_and_answers(problem, open_, reference, phase, choices)
        for team in visible:
            judged = sum(1 for a in open_[team.id] if a.scores is not None)
            pending = len(mine[team.id]) - judged
            counted = answers[team.id]
            points = problem_points(problem, counted, bests[problem.id], phase)
            exact = exact_points(problem, counted, bests[problem.id], phase)
            cells[team.id].append(
                SlowCell(problem.id, points.points, points.improved, counted, judged, pending, points, exact)
            )
    scale = total_scale(problems)
    return SlowBoard(ranked([row_of(team, cells[team.id], scale) for team in visible]), bests)


def _by_cell(attempts: Iterable[Attempt]) -> dict[tuple[str, str], list[Attempt]]:
    by_cell: dict[tuple[str, str], list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        by_cell[attempt.team_id, attempt.problem_id].append(attempt)
    return by_cell


def bests_and_answers(
    problem: ScoredProblem,
    attempts: Mapping[str, Sequence[Attempt]],
    reference: Mapping[str, RawScore] | None = None,
    phase: frozenset[CaseKind] = PROVISIONAL,
    chosen: Mapping[str, int] | None = None,
) -> tuple[Bests, Mapping[str, Answers]]:
    """BEST of one problem and each team's counted answers, from the visible teams' attempts.

    A team's `chosen` submission, if it is among the judged attempts, gives the team's counted answers.

    Where the best whole submission counts, the choice of it depends on BEST; BEST is then taken over all answers of all
    submissions, which avoids a circular definition.
    """
    bests = Bests(problem.rule, teams=len(attempts))
    if problem.rule.reference_counts:
        for case, score in (reference or {}).items():
            bests.add(case, score)
    if problem.rule.counting is Counting.BEST:
        for tries in attempts.values():
            for case, best in _best_scores(problem, tries):
                bests.add(case, best)
        bests.close()

        def worth(answers: Answers) -> float:
            return problem_points(problem, answers, bests, phase).points

        answers = {team: counted_answers(tries, problem.rule, worth) for team, tries in attempts.items()}
        return bests, {**answers, **_chosen_answers(problem, attempts, chosen or {})}
    answers = {team: counted_answers(tries, problem.rule) for team, tries in attempts.items()}
    answers.update(_chosen_answers(problem, attempts, chosen or {}))
    for counted in answers.values():
        for case, answer in counted.items():
            bests.add(case, answer.score)
    return bests.close(), answers


def _chosen_answers(
    problem: ScoredProblem, attempts: Mapping[str, Sequence[Attempt]], chosen: Mapping[str, int]
) -> dict[str, Answers]:
    """The answers of chosen submissions, for teams whose choice is among their attempts judged without a failure."""
    by_team: dict[str, Answers] = {}
    for team, submission_id in chosen.items():
        for attempt, answers in submission_answers(attempts.get(team, ()), problem.rule):
            if attempt.id == submission_id and not attempt.failed:
                by_team[team] = answers
    return by_team


def _best_scores(problem: ScoredProblem, tries: Sequence[Attempt]) -> list[tuple[str, RawScore]]:
    best_case = replace(problem.rule, counting=Counting.BEST_CASE)
    return [(case, answer.score) for case, answer in counted_answers(tries, best_case).items()]


def row_of(team: Team, cells: Sequence[SlowCell], scale: TotalScale) -> SlowRow:
    """A team's row without a rank; `scale` is that of all problems."""
    times = [cell.improved for cell in cells if cell.improved is not None]
    points = total_points((cell.points.unrounded for cell in cells), scale)
    return SlowRow(0, team, points, max(times) if points > 0 and times else None, tuple(cells))


def total_points(points: Iterable[float], scale: TotalScale) -> float:
    """The sum of the points of some problems, as views show it."""
    return shown(ldexp(float(sum(round(ldexp(each, scale.bits)) for each in points)), -scale.bits), scale.most)


def ranked(rows: Sequence[SlowRow]) -> tuple[SlowRow, ...]:
    """Rank by exact points, then by the earlier last improvement; equal rows share the rank, and no points come last.

    Rows with equal exact points show the same number, that of the first.
    """
    keyed = [((-row.exact, timedelta.max if row.time is None else row.time), row) for row in rows]
    keyed.sort(key=lambda each: (each[0], collation_key(each[1].team.name), each[1].team.id))
    placed: list[SlowRow] = []
    for at, (key, row) in enumerate(keyed):
        before, last = (keyed[at - 1][0], placed[-1]) if at else (None, row)
        rank = last.rank if key == before else at + 1
        points = last.points if before is not None and key[0] == before[0] else row.points
        placed.append(replace(row, rank=rank, points=points))
    return tuple(placed)
