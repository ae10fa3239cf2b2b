"""The resolving of a frozen board step by step, forward and back, for judges alone: nothing of it is stored."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.domain.contests import Freeze
from app.domain.incremental_scoreboard import LiveBoard
from app.domain.reveal import Place, Step, opened, pending
from app.domain.scoreboard import Row
from app.scoreboard.queries.contest_snapshot import ContestSnapshot, once_a_snapshot
from app.scoreboard.service.reveal import hidden_places


@dataclass(frozen=True, slots=True)
class Standing:
    """A team at a moment of the rehearsal: its rank and points on the shown board, and its points in one problem."""

    rank: int | None
    points: float
    cell: float


@dataclass(frozen=True, slots=True)
class Opening:
    """A step: the team and the problem that it opens, the team before and after; `is_last`: nothing of it is left."""

    team_id: str
    problem_id: str
    before: Standing
    after: Standing
    is_last: bool


@dataclass(frozen=True, slots=True)
class Scene:
    """The board after `at` of all `steps`: what the last one opened (None: nothing), what the next one opens."""

    board: ContestSnapshot
    at: int
    steps: int
    opening: Opening | None
    next: Place | None


class Rehearsal:
    """A board of its own that is turned to any step; the order of the steps is that of the reveal.

    The order depends on how the board moves, and is computed as far as it is asked for.
    """

    def __init__(self, snapshot: ContestSnapshot) -> None:
        """`snapshot` is everybody's, frozen."""
        self._snapshot = snapshot
        self._guard = threading.Lock()
        seen = snapshot.view
        self._board = LiveBoard(
            seen.problems,
            snapshot.contest.official_teams,
            freeze=seen.freeze,
            chosen=seen.chosen,
            phase=seen.phase,
            references=snapshot.contest.references,
        )
        known_ids = {problem.id for problem in seen.problems}
        self._board.put(attempt for attempt in snapshot.official() if attempt.problem_id in known_ids)
        self._hidden = opened(pending(snapshot.board, hidden_places(snapshot)), Step.ALL)
        self._places: list[Place] = []

    def scene(self, step: int) -> Scene:
        """The board after so many steps, at most all of them."""
        steps = len(self._hidden)
        at = min(max(step, 0), steps)
        with self._guard:
            if at == steps > len(self._places):
                return Scene(self._turned_to(self._hidden), at, steps, None, None)
            self._extend(min(at + 1, steps))
            places = self._places
            before = self._turned_to(places[: at - 1]) if at else None
            board = self._turned_to(places[:at])
            opening = None if before is None else self._opening(before, board, at)
            return Scene(board, at, steps, opening, places[at] if at < steps else None)

    def _extend(self, count: int) -> None:
        """Find the first so many places in their order: each is the first one hidden of the lowest team by then."""
        left = set(self._hidden) - set(self._places)
        while len(self._places) < count:
            step = opened(pending(self._turned_to(self._places).board, left), Step.CELL)
            self._places += step
            left -= set(step)

    def _turned_to(self, places: Sequence[Place]) -> ContestSnapshot:
        """The snapshot with these places open, beside those that were."""
        seen, contest = self._snapshot.view, self._snapshot.contest
        freeze = Freeze(seen.freeze.until, seen.freeze.revealed | set(places))
        chosen = {place: choice for place, choice in contest.chosen.items() if place in freeze.revealed}
        self._board.set_freeze(freeze)
        self._board.set_chosen(chosen)
        view = replace(seen, freeze=freeze, chosen=chosen)
        return replace(self._snapshot, view=view, board=self._board.board(), memo={})

    def _opening(self, before: ContestSnapshot, after: ContestSnapshot, at: int) -> Opening:
        team_id, problem_id = self._places[at - 1]
        left = set(self._hidden) - set(self._places[:at])
        return Opening(
            team_id,
            problem_id,
            _standing(before, team_id, problem_id),
            _standing(after, team_id, problem_id),
            all(team != team_id for team, _ in left),
        )


@once_a_snapshot
def rehearsal(snapshot: ContestSnapshot) -> Rehearsal:
    """The rehearsal of everybody's board; kept as long as the board."""
    return Rehearsal(snapshot)


def _standing(snapshot: ContestSnapshot, team_id: str, problem_id: str) -> Standing:
    row = _row(snapshot.main.rows, team_id) or _row(snapshot.board.rows, team_id)
    if row is None:
        return Standing(None, 0.0, 0.0)
    cell = next((cell.score for cell in row.cells if cell.problem_id == problem_id), 0.0)
    is_shown = _row(snapshot.main.rows, team_id) is not None
    return Standing(row.rank if is_shown else None, row.points, cell)


def _row(rows: Sequence[Row], team_id: str) -> Row | None:
    return next((row for row in rows if row.team.id == team_id), None)
