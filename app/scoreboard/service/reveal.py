"""Opening a frozen board row by row after the end, as the jury tells how the contest ended.

- The resolving of a frozen board step by step, forward and back, for judges alone: nothing of it is stored.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app.contests.queries import contest_of
from app.core import bodies, clics, clock
from app.core.messages import N_, Conflict
from app.core.service import Service
from app.domain.board import Step, opened, pending
from app.domain.contests import Freeze
from app.domain.counting import Place, by_place
from app.scoreboard.queries.contest_snapshot import ContestSnapshot, once_a_snapshot
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.tables import ContestRow


class RevealBody(bodies.Body):
    """The extent of a step: a place, a team, or all."""

    step: Step = Field(
        Step.CELL, strict=False, description="the next problem, all problems of the next team, or everything"
    )


class Next(BaseModel):
    """The lowest team with hidden results, its current rank, and its hidden problems in order.

    Its rank is null where the board is one group's, and the team not in it.
    """

    team_id: str
    rank: int | None
    problem_ids: list[str]


class Opened(BaseModel):
    """A revealed team and problem."""

    team_id: str
    problem_id: str


class RevealView(BaseModel):
    """The places opened by this step, the next ones, the number of those left, and the time of the thaw."""

    opened: list[Opened]
    next: Next | None
    left: int
    thawed: str | None


def next_step(session: Session, boards: ScoreboardCache, contest_id: str) -> RevealView:
    """The places that the next step opens, from the bottom of the board as everyone sees it; raises NotFound."""
    row = contest_of(session, contest_id)
    snapshot = boards.snapshot(contest_id, public=True)
    assert snapshot is not None, "it has a row"
    waiting = pending(snapshot.board, hidden_places(snapshot))
    thawed = row.thaw_time if row.thaw_time is not None and row.thaw_time <= clock.utc_now() else None
    return RevealView(
        opened=[],
        next=_next(snapshot, waiting) if waiting else None,
        left=len(waiting),
        thawed=clics.format_time_or_none(thawed),
    )


def reveal(service: Service, contest_id: str, step: Step) -> RevealView:
    """Open the places of one step, durable when this returns; raises Conflict where nothing may be opened now."""
    with service.database.write() as session:
        places = _open_places(session, service.boards, contest_of(session, contest_id, for_update=True), step)
    service.boards.changed(contest_id)
    with service.database.read() as session:
        view = next_step(session, service.boards, contest_id)
    view.opened = [Opened(team_id=team, problem_id=problem) for team, problem in places]
    return view


def _next(snapshot: ContestSnapshot, waiting: Sequence[Place]) -> Next:
    """The team and the problems that the next step opens."""
    team_id = waiting[0][0]
    rank = next((row.rank for row in snapshot.main.rows if row.team.id == team_id), None)
    return Next(team_id=team_id, rank=rank, problem_ids=[problem for _, problem in opened(waiting, Step.ROW)])


def _open_places(session: Session, boards: ScoreboardCache, row: ContestRow, step: Step) -> list[Place]:
    """Open the places of one step; the contest thaws with the last of them."""
    waiting = _waiting(boards, row)
    places = opened(waiting, step)
    row.revealed = [*row.revealed, *([team_id, problem_id] for team_id, problem_id in places)]
    if len(places) == len(waiting):
        row.thaw_time = clock.utc_now()
    session.flush()
    return places


def _waiting(boards: ScoreboardCache, row: ContestRow) -> list[Place]:
    """The hidden places; raises Conflict where nothing may be opened now."""
    # Read again now that no one else can open anything: what was kept may be from before the last step.
    boards.changed(row.id)
    snapshot = boards.snapshot(row.id, public=True)
    assert snapshot is not None, "it has a row"
    if snapshot.state.ended is None:
        raise Conflict(N_("the contest has not ended"))
    if snapshot.freeze.until is None:
        raise Conflict(N_("the scoreboard is not frozen"))
    visible = {team.id for team in snapshot.contest.teams if team.counts}
    unjudged = [a for a in snapshot.official() if a.scores is None and a.team_id in visible]
    if unjudged:
        raise Conflict(N_("%(count)s submissions are still to be judged"), count=len(unjudged))
    return pending(snapshot.board, hidden_places(snapshot))


def hidden_places(snapshot: ContestSnapshot) -> set[Place]:
    """The places of which more will be seen: something sent after the freeze, or a submission chosen to count."""
    freeze, contest = snapshot.freeze, snapshot.contest
    if freeze.until is None:
        return set()
    sent = {(a.team_id, a.problem_id) for a in snapshot.official() if freeze.hides(a.team_id, a.problem_id, a.time)}
    return sent | {place for place in contest.chosen if place not in freeze.revealed}


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
        """`snapshot` is everyone's, frozen."""
        self._snapshot = snapshot
        self._guard = threading.Lock()
        self._cells = by_place(snapshot.official())
        self._live = snapshot.view.live(snapshot.contest)
        self._hidden = pending(snapshot.board, hidden_places(snapshot))
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
        view = replace(seen, freeze=freeze, chosen=chosen)
        return replace(self._snapshot, view=view, board=view.board(contest, self._cells, self._live), memo={})

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


# The rehearsal of everyone's board; kept as long as the board.
rehearsal = once_a_snapshot(Rehearsal)


def _standing(snapshot: ContestSnapshot, team_id: str, problem_id: str) -> Standing:
    row = next((row for row in snapshot.board.rows if row.team.id == team_id), None)
    cell = snapshot.cell(team_id, problem_id)
    if row is None or cell is None:
        return Standing(None, 0.0, 0.0)
    rank = next((row.rank for row in snapshot.main.rows if row.team.id == team_id), None)
    return Standing(rank, row.points, cell.score)
