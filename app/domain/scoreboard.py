"""The board from scratch, from all attempts: pure, and the authority that faster computations are tested against.

- The reveal of a frozen board: the next places, from the bottom up, as in the ceremonies of the ICPC.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from enum import StrEnum
from fractions import Fraction
from functools import cached_property

from app.domain.contests import OPEN, PROVISIONAL, CaseKind, Counting, Freeze, ScoredProblem, Team
from app.domain.counting import Answers, Attempt, RawScore, counted_answers, submission_answers
from app.domain.fixed_point import TotalScale, total_points, total_scale
from app.domain.scoring import Bests, Measure, ProblemPoints, problem_points

# Per problem and case, the raw score of the expected answer.
ReferenceScores = Mapping[str, Mapping[str, RawScore]]
# Per team and problem, the id of the submission the team has chosen.
Chosen = Mapping[tuple[str, str], int]


@dataclass(frozen=True)
class Cell:
    """One team at one problem: score and time of its last rise, counted answers, judged and pending submissions.

    `unrounded` is the score that totals are made of.
    """

    problem_id: str
    score: float
    improved: timedelta | None
    answers: Answers
    num_judged: int
    num_pending: int
    unrounded: float = field(compare=False)
    measure: Measure = field(compare=False, repr=False)

    @cached_property
    def points(self) -> ProblemPoints:
        """The parts of the score: groups, and each case's share and points."""
        return self.measure.points(self.answers)

    @cached_property
    def exact(self) -> Fraction:
        """The score without rounding."""
        return self.measure.exact(self.answers)


@dataclass(frozen=True, slots=True)
class Row:
    """One team's row: rank (1-based, shared on ties), total points, time of the last improvement, cells in order."""

    rank: int
    team: Team
    points: float
    time: timedelta | None
    cells: Sequence[Cell]

    @property
    def exact(self) -> Fraction:
        """The points without rounding, by which teams are ranked."""
        return sum((cell.exact for cell in self.cells), Fraction(0))


@dataclass(frozen=True, slots=True)
class Board:
    """The ranked rows of the visible teams, and BEST per problem and case."""

    rows: Sequence[Row]
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
) -> Board:
    """Compute the whole board. Attempts behind the `freeze` only count as pending, also for BEST.

    `chosen`: the answers of a chosen submission count in place of those that the rule selects.
    """
    visible = [team for team in teams if team.counts]
    by_cell = _by_cell(attempts)
    cells: dict[str, list[Cell]] = {team.id: [] for team in visible}
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
            cells[team.id].append(
                cell_of(Measure(problem, bests[problem.id], phase), answers[team.id], judged, pending)
            )
    scale = total_scale(problems)
    return Board(ranked([row_of(team, cells[team.id], scale) for team in visible]), bests)


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


def cell_of(measure: Measure, answers: Answers, judged: int, pending: int) -> Cell:
    """A cell with the points of these answers."""
    points = measure.points(answers)
    score, improved = points.points, points.improved
    return Cell(measure.problem.id, score, improved, answers, judged, pending, points.unrounded, measure)


def row_of(team: Team, cells: Sequence[Cell], scale: TotalScale) -> Row:
    """A team's row without a rank; `scale` is that of all problems."""
    times = [cell.improved for cell in cells if cell.improved is not None]
    points = total_points((cell.unrounded for cell in cells), scale)
    return Row(0, team, points, max(times) if points > 0 and times else None, tuple(cells))


def ranked(rows: Sequence[Row], standing: Sequence[Fraction | int] | None = None) -> tuple[Row, ...]:
    """Rank by exact points, then by the earlier last improvement; equal rows share the rank, and no points come last.

    Rows with equal exact points show the same number, that of the first. `standing` has a number per row that orders
    rows as their exact points do, if it is known already.
    """
    standing = [row.exact for row in rows] if standing is None else standing
    keyed = [
        ((-place, timedelta.max if row.time is None else row.time), row)
        for place, row in zip(standing, rows, strict=True)
    ]
    keyed.sort(key=lambda each: (each[0], collation_key(each[1].team.name), each[1].team.id))
    placed: list[Row] = []
    for at, (key, row) in enumerate(keyed):
        before, last = (keyed[at - 1][0], placed[-1]) if at else (None, row)
        rank = last.rank if key == before else at + 1
        points = last.points if before is not None and key[0] == before[0] else row.points
        placed.append(replace(row, rank=rank, points=points))
    return tuple(placed)


def collation_key(name: str) -> tuple[str, str]:
    """Alphabetical order of names: letters before accents before case, close to the Unicode Collation Algorithm.

    The exact tables of UCA are not in the standard library; equal ranks of names beyond Latin, Greek and Cyrillic may
    therefore be listed in another order than `en-US` gives.
    """
    letters = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    return letters.casefold(), name.swapcase()


# A team at a problem.
Place = tuple[str, str]


class Step(StrEnum):
    """How much is opened at once: one cell, all that is left of the lowest team that has something, or everything."""

    CELL = "cell"
    ROW = "row"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Pending:
    """The hidden problems of one team, in order."""

    team_id: str
    problem_ids: tuple[str, ...]


def pending(board: Board, hidden: Collection[Place]) -> list[Pending]:
    """The teams with `hidden` places, from the bottom of the board to its top."""
    rows = [(row, _hidden(row, hidden)) for row in reversed(board.rows)]
    return [Pending(row.team.id, problems) for row, problems in rows if problems]


def _hidden(row: Row, hidden: Collection[Place]) -> tuple[str, ...]:
    return tuple(cell.problem_id for cell in row.cells if (row.team.id, cell.problem_id) in hidden)


def opened(waiting: list[Pending], step: Step) -> list[Place]:
    """The places that a step opens of the `pending` ones."""
    if step is Step.ALL:
        return [(each.team_id, problem_id) for each in waiting for problem_id in each.problem_ids]
    if not waiting:
        return []
    lowest = waiting[0]
    problems = lowest.problem_ids if step is Step.ROW else lowest.problem_ids[:1]
    return [(lowest.team_id, problem_id) for problem_id in problems]
