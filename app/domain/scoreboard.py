"""From everybody's attempts to a ranked board: pure, from scratch, the authority every faster way is held to."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cached_property, partial

from app.domain.contests import OPEN, PROVISIONAL, CaseKind, Counting, Freeze, ScoredProblem, Team
from app.domain.fixed_point import total_bits, total_points
from app.domain.scoring import (
    Answers,
    Attempt,
    Bests,
    ProblemPoints,
    RawScore,
    counted_answers,
    problem_points,
    submission_answers,
)

ReferenceScores = Mapping[str, Mapping[str, RawScore]]
"""Per problem and case, the raw score of the expected answer."""
Chosen = Mapping[tuple[str, str], int]
"""Per team and problem, the id of the submission the team wants to be judged by."""


@dataclass(frozen=True)
class Cell:
    """One team at one problem: its score and when that last rose, what counts, and how much is judged or waits."""

    problem_id: str
    score: float
    improved: timedelta | None
    answers: Answers
    num_judged: int
    num_pending: int
    count: Callable[[Answers], ProblemPoints] = field(compare=False, repr=False)

    @cached_property
    def points(self) -> ProblemPoints:
        """How the score comes about: groups, and each case's share and points."""
        return self.count(self.answers)


@dataclass(frozen=True, slots=True)
class Row:
    """One team's line: rank (1-based, shared on ties), total points, time of the last improvement, cells in order."""

    rank: int
    team: Team
    points: float
    time: timedelta | None
    cells: Sequence[Cell]


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

    `chosen`: where a team has chosen a submission, its answers count in place of what the rule would have counted.
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
        bests[problem.id], answers = snapshots(problem, open_, reference, phase, choices)
        for team in visible:
            count = partial(problem_points, problem, bests=bests[problem.id], phase=phase)
            points = count(answers[team.id])
            judged = sum(1 for a in open_[team.id] if a.scores is not None)
            pending = len(mine[team.id]) - judged
            cells[team.id].append(
                Cell(problem.id, points.points, points.improved, answers[team.id], judged, pending, count)
            )
    bits = total_bits(problems)
    return Board(ranked([row_of(team, cells[team.id], bits) for team in visible]), bests)


def _by_cell(attempts: Iterable[Attempt]) -> dict[tuple[str, str], list[Attempt]]:
    found: dict[tuple[str, str], list[Attempt]] = defaultdict(list)
    for attempt in attempts:
        found[attempt.team_id, attempt.problem_id].append(attempt)
    return found


def snapshots(
    problem: ScoredProblem,
    attempts: Mapping[str, Sequence[Attempt]],
    reference: Mapping[str, RawScore] | None = None,
    phase: frozenset[CaseKind] = PROVISIONAL,
    chosen: Mapping[str, int] | None = None,
) -> tuple[Bests, Mapping[str, Answers]]:
    """BEST of one problem and each team's counted answers, from the visible teams' attempts.

    Of a team that has `chosen` a submission (of those given, and judged) the answers it stands for are counted.

    Where the best whole submission counts, which one that is depends on BEST; BEST is then taken over every answer of
    every submission, so that it depends on nothing that depends on it.
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
    """What the chosen submissions stand for, of those teams whose choice is among their judged attempts."""
    found: dict[str, Answers] = {}
    for team, submission_id in chosen.items():
        for attempt, answers in submission_answers(attempts.get(team, ()), problem.rule):
            if attempt.id == submission_id:
                found[team] = answers
    return found


def _best_scores(problem: ScoredProblem, tries: Sequence[Attempt]) -> list[tuple[str, RawScore]]:
    best_case = replace(problem.rule, counting=Counting.BEST_CASE)
    return [(case, answer.score) for case, answer in counted_answers(tries, best_case).items()]


def row_of(team: Team, cells: Sequence[Cell], bits: int) -> Row:
    """A team's line, still without a rank; `bits` are those of the problems together."""
    times = [cell.improved for cell in cells if cell.improved is not None]
    points = total_points((cell.score for cell in cells), bits)
    return Row(0, team, points, max(times) if points > 0 and times else None, tuple(cells))


def ranked(rows: Sequence[Row]) -> tuple[Row, ...]:
    """Order by points, then by the earlier last improvement, then share the rank; a team with nothing comes last."""
    ordered = sorted(rows, key=lambda row: (*_snapshot(row), collation_key(row.team.name), row.team.id))
    placed: list[Row] = []
    for at, row in enumerate(ordered, start=1):
        shared = placed and _snapshot(placed[-1]) == _snapshot(row)
        rank = placed[-1].rank if shared else at
        placed.append(Row(rank, row.team, row.points, row.time, row.cells))
    return tuple(placed)


def _snapshot(row: Row) -> tuple[float, timedelta]:
    return (-row.points, row.time if row.time is not None else timedelta.max)


def collation_key(name: str) -> tuple[str, str]:
    """Alphabetical order of names: letters before accents before case, close to the Unicode Collation Algorithm.

    The exact tables of UCA are not in the standard library; equal ranks of names beyond Latin, Greek and Cyrillic may
    therefore be listed in another order than `en-US` gives.
    """
    letters = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    return letters.casefold(), name.swapcase()
