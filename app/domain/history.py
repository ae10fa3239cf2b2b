"""Points over time: a replay of the contest from its raw scores, at some moments."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from app.domain.board_arrays import BoardArrays, LiveArrays
from app.domain.contests import CaseKind, Freeze, ScoredProblem, Team
from app.domain.incremental_scoreboard import LiveBoard
from app.domain.scoreboard import Chosen, ReferenceScores
from app.domain.scoring import Attempt


@dataclass(frozen=True, slots=True)
class Past:
    """A team's points and rank from a contest time on, until its next entry."""

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

    Each moment has the board of all submissions until then, with today's verdicts. With `among` the result has these
    teams only, ranked among themselves; the others still take part in BEST.
    """
    live = LiveBoard(problems, teams, freeze=freeze, chosen=chosen, phase=phase, references=references)
    by_team: dict[str, list[Past]] = {t.id: [] for t in teams if t.counts and (among is None or t.id in among)}
    shown = [a for a in attempts if not freeze.hides(a.team_id, a.problem_id, a.time)]
    for time, some in _moments(sorted(shown, key=lambda a: (a.time, a.id)), steps):
        live.put(some)
        arrays = live.board().arrays
        if among is not None:
            arrays = arrays.among(lambda team: team.id in among)
        _note(by_team, time, arrays)
    return by_team


def board_at(
    problems: Sequence[ScoredProblem],
    teams: Sequence[Team],
    attempts: Sequence[Attempt],
    time: timedelta,
    *,
    freeze: Freeze,
    chosen: Chosen,
    phase: frozenset[CaseKind],
    references: ReferenceScores,
) -> LiveArrays:
    """The board of all submissions until a contest time, with today's verdicts; nothing behind the freeze is on it."""
    live = LiveBoard(problems, teams, freeze=freeze, chosen=chosen, phase=phase, references=references)
    live.put([a for a in attempts if a.time <= time and not freeze.hides(a.team_id, a.problem_id, a.time)])
    return live.board()


def _note(by_team: dict[str, list[Past]], time: timedelta, arrays: BoardArrays) -> None:
    order, ranks, totals = arrays.order.tolist(), arrays.ranks.tolist(), arrays.totals.tolist()
    for team, rank in zip(order, ranks, strict=True):
        past = by_team[arrays.teams[team].id]
        if not past or (past[-1].points, past[-1].rank) != (totals[team], rank):
            past.append(Past(time, totals[team], rank))


def _moments(attempts: Sequence[Attempt], steps: int) -> Iterator[tuple[timedelta, Sequence[Attempt]]]:
    """Attempts in order, in portions; attempts of equal time stay together."""
    size = max(1, -(-len(attempts) // steps))
    start = 0
    while start < len(attempts):
        end = min(start + size, len(attempts))
        time = attempts[end - 1].time
        while end < len(attempts) and attempts[end].time == time:
            end += 1
        yield time, attempts[start:end]
        start = end
