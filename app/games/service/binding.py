"""The contest that a counted game is bound to: its clock, and whether what becomes of the game may count."""

from __future__ import annotations

from dataclasses import dataclass, replace

from anyio.to_thread import run_sync

from app.core.service import Service
from app.domain.contests import Clock
from app.submissions.queries.submission_context import Entrant, Entry, read_entrant
from app.tables import GameRow


@dataclass(frozen=True, slots=True)
class Binding:
    """A counted game's contest as it is now: its problem as one may submit to it, and the team's own clock."""

    entry: Entry
    entrant: Entrant

    @property
    def clock(self) -> Clock:
        """The clock that the team goes by."""
        return self.entrant.clock

    def case(self, game: GameRow) -> tuple[int, str] | None:
        """The game's test case by the number of its row and its name; None where it is no case any more."""
        cases = (*self.entry.cases, *self.entry.final_cases)
        return next((case for case in cases if case[0] == game.test_case_id), None)


def clock_of_game(binding: Binding | None, game: GameRow) -> Clock | None:
    """The clock that cuts a game: the team's own, up to the end of its window for final cases where it is of one."""
    if binding is None:
        return None
    clock, finals, asked = binding.clock, binding.entry.finals, binding.entrant.asked
    is_final = any(game.test_case_id == case_id for case_id, _ in binding.entry.final_cases)
    if not is_final or finals.window is None or asked is None:
        return clock
    end = clock.contest_time(asked) + finals.window
    if clock.contest_time(game.started) >= end:  # played once all is open to everybody
        return clock
    return replace(clock, duration=min(clock.duration, end))


async def bound(service: Service, game: GameRow) -> Binding | None:
    """The contest of a counted game; None for practice, or where the contest has the problem no more."""
    if not game.counted:
        return None
    entry = service.entries.known(game.contest_id, game.problem_id)
    if entry is None or entry.asks_the_team:
        return await run_sync(read_bound, service, game)
    return Binding(entry, Entrant(entry.clock))


def read_bound(service: Service, game: GameRow) -> Binding | None:
    """As `bound`, for a thread: it may read rows."""
    if not game.counted:
        return None
    entry = service.entries.known(game.contest_id, game.problem_id)
    entry = entry or service.entries.read(game.contest_id, game.problem_id)
    if entry is None:
        return None
    if not entry.asks_the_team:
        return Binding(entry, Entrant(entry.clock))
    with service.database.read() as session:
        return Binding(entry, read_entrant(session, entry, game.team_id or ""))
