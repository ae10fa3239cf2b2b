"""The part of a contest that one of its boards shows at a moment: to everybody, or to the judges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from app.domain.contests import OPEN, CaseKind, Freeze, ScoredProblem
from app.domain.scoreboard import Chosen
from app.domain.scoring import Attempt
from app.problems.queries.scoring_input import ScoredContest
from app.submissions.queries.attempts import Read

NEVER = timedelta(0)


@dataclass(frozen=True, slots=True)
class BoardView:
    """The problems of a board, what is hidden of them, and which cases count.

    finished   how long after the start a submission is too late for the board
    own        the same for teams that go by a clock of their own; nothing of virtual ones is on the board
    embargoed  by problem, the final cases of which nothing may be known yet
    teams      those on the board: what others do is not seen, not even by when the board last changed
    """

    problems: tuple[ScoredProblem, ...]
    freeze: Freeze
    phase: frozenset[CaseKind]
    chosen: Chosen
    finished: timedelta
    own: Mapping[str, timedelta] = field(default_factory=dict)
    embargoed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    teams: frozenset[str] = frozenset()

    def takes(self, attempt: Attempt) -> bool:
        """Whether the attempt is on the board. One sent outside its team's time is not."""
        return NEVER <= attempt.time < self.own.get(attempt.team_id, self.finished)

    def taken(self, reads: Iterable[Read]) -> list[Read]:
        """The attempts that are on the board, in the order they come."""
        if self.own:
            return [read for read in reads if self.takes(read.attempt)]
        return [read for read in reads if NEVER <= read.attempt.time < self.finished]

    def without_embargoed(self, attempt: Attempt) -> Attempt:
        """The attempt as far as it may be known: itself where nothing of it is embargoed."""
        embargoed = self.embargoed.get(attempt.problem_id)
        if not embargoed or attempt.scores is None or embargoed.isdisjoint(attempt.scores):
            return attempt
        scores = {case: score for case, score in attempt.scores.items() if case not in embargoed}
        return Attempt(attempt.id, attempt.team_id, attempt.problem_id, attempt.time, scores)

    def shows(self, attempt: Attempt) -> bool:
        """Whether the attempt's verdict is on the board."""
        return self.takes(attempt) and self.shows_taken(attempt)

    def shows_taken(self, attempt: Attempt) -> bool:
        """As `shows`, of an attempt that is on the board."""
        if attempt.team_id not in self.teams:
            return False
        return not self.freeze.hides(attempt.team_id, attempt.problem_id, attempt.time)


def view(contest: ScoredContest, now: datetime, *, public: bool) -> BoardView:
    """The view of everybody (`public`) or of the judges now.

    Chosen submissions decide after the end; on a frozen board once their place is revealed.
    """
    clock, finals = contest.clock, contest.finals
    freeze = Freeze(clock.freeze_time, contest.revealed) if public and clock.frozen(now) else OPEN
    has_embargo = public and not finals.decide(clock, now)
    problems = contest.outside if has_embargo else contest.problems
    chosen = dict(contest.chosen) if clock.ended(now) else {}
    if freeze.until is not None:
        chosen = {place: choice for place, choice in chosen.items() if place in freeze.revealed}
    own = {team_id: contest.own_clock(team_id).duration for team_id in contest.participations}
    return BoardView(
        tuple(problems) if not public or clock.started(now) else (),
        freeze,
        finals.phase(clock, now, public=public),
        chosen,
        clock.duration,
        {team_id: NEVER if contest.is_virtual(team_id) else duration for team_id, duration in own.items()},
        {p.id: p.final_cases for p in contest.problems if p.final_cases} if has_embargo else {},
        contest.on_board,
    )
