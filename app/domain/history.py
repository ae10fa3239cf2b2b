"""Points over time: the contest played again from its raw scores, at some moments of it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from app.domain.board_arrays import BoardArrays
from app.domain.contests import CaseKind, Freeze, ScoredProblem, Team
from app.domain.incremental_scoreboard import LiveBoard
from app.domain.scoreboard import Chosen, ReferenceScores
from app.domain.scoring import Attempt


@dataclass(frozen=True, slots=True)
class Past:
    """A team's points and rank from a contest time on, until the next."""

    time: timedelta
    points: float
    rank: int


def history(
    problems: Sequence[ScoredProblem],
    teams: Sequence[Team],
    attempts: Sequence[Attempt],
    *,
    freeze: Freeze,
    chosen: Chosen,
    phase: frozenset[CaseKind],
    references: ReferenceScores,
    steps: int,
    among: Collection[str] | None = None,
) -> dict[str, list[Past]]:
    """Each visible team's points and ranks at about `steps` moments at most; the last are those of the board.

    What a moment shows is the board of everything sent until then, with the verdicts of today. Where only the teams
    `among` are on the board, it tells of no others; these still take part in BEST.
    """
    live = LiveBoard(problems, teams, freeze=freeze, chosen=chosen, phase=phase, references=references)
    told: dict[str, list[Past]] = {t.id: [] for t in teams if t.counts and (among is None or t.id in among)}
    shown = [a for a in attempts if not freeze.hides(a.team_id, a.problem_id, a.time)]
    for time, some in _moments(sorted(shown, key=lambda a: (a.time, a.id)), steps):
        live.put(some)
        arrays = live.board().arrays
        if among is not None:
            arrays = arrays.among(lambda team: team.id in among)
        _tell(told, time, arrays)
    return told


def _tell(told: dict[str, list[Past]], time: timedelta, arrays: BoardArrays) -> None:
    order, ranks, totals = arrays.order.tolist(), arrays.ranks.tolist(), arrays.totals.tolist()
    for team, rank in zip(order, ranks, strict=True):
        past = told[arrays.teams[team].id]
        if not past or (past[-1].points, past[-1].rank) != (totals[team], rank):
            past.append(Past(time, totals[team], rank))


def _moments(attempts: Sequence[Attempt], steps: int) -> Iterator[tuple[timedelta, Sequence[Attempt]]]:
    """Attempts in order, in portions: those of one time stay together."""
    size = max(1, -(-len(attempts) // steps))
    start = 0
    while start < len(attempts):
        end = min(start + size, len(attempts))
        time = attempts[end - 1].time
        while end < len(attempts) and attempts[end].time == time:
            end += 1
        yield time, attempts[start:end]
        start = end
