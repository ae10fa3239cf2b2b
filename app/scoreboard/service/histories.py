"""Points over time, as the history of one board, within bounds of what it may cost."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypedDict

from app.core.clics import format_reltime
from app.domain.history import Past, history
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.service.row_renderer import dump, head_of

STEPS = (1, 10, 50, 200, 1000)
MOST_FIGURES = 200_000
"""Figures that a history has at most: steps times teams."""
DEAR_SECONDS, REST = 0.5, 20.0
"""A history that took longer than this is not computed again for so many times as long."""


@dataclass(frozen=True, slots=True)
class WrittenHistory:
    """A contest's history as one snapshot had it; until `good_until` (monotonic) it is good for later ones too."""

    snapshot: ContestSnapshot
    teams: Mapping[str, list[Past]]
    good_until: float

    def is_good_for(self, snapshot: ContestSnapshot, now: float) -> bool:
        """Whether it is of this snapshot, or too dear to compute again yet while all it shows is still public."""
        return self.snapshot is snapshot or (now < self.good_until and self.snapshot.is_like(snapshot))

    def written(self, team_ids: Sequence[str] | None) -> bytes:
        """The history as JSON, of all teams or some."""
        wanted = self.teams if team_ids is None else {team: self.teams[team] for team in team_ids}
        teams = [{"team_id": team, "points": [_past(each) for each in past]} for team, past in wanted.items()]
        return dump({**head_of(self.snapshot), "teams": teams})


def history_steps(snapshot: ContestSnapshot, steps: int) -> int:
    """The number of steps, one of few so that hundreds are never computed; fewer where there are many teams."""
    most = min(steps, MOST_FIGURES // max(1, len(snapshot.main.rows)))
    return max((each for each in STEPS if each <= most), default=1)


def compute_history(snapshot: ContestSnapshot, steps: int) -> WrittenHistory:
    """The history of a snapshot's main board: takes a while."""
    seen, began = snapshot.view, time.monotonic()
    teams = history(
        seen.problems,
        snapshot.contest.official_teams,
        snapshot.official(),
        freeze=seen.freeze,
        chosen=seen.chosen,
        phase=seen.phase,
        references=snapshot.contest.references,
        steps=steps,
        among=snapshot.contest.main_teams,
    )
    ended = time.monotonic()
    seconds = ended - began
    return WrittenHistory(snapshot, teams, ended + (REST * seconds if seconds > DEAR_SECONDS else 0.0))


class PastDocument(TypedDict):
    """A team's points and rank from a moment on."""

    contest_time: str
    score: float
    rank: int


def _past(past: Past) -> PastDocument:
    return {"contest_time": format_reltime(past.time), "score": past.points, "rank": past.rank}
