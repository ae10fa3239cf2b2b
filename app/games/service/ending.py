"""The end of games: what a counted one becomes, and the end by the clock, also of games that no one plays any longer.

- The contest that a counted game is bound to: its clock, and whether what becomes of the game may count.
- The keeper of games: ends those whose time has run out, also those that ran out while no server was there.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog
from anyio.to_thread import run_sync

from app.core.clock import utc_now
from app.core.loops import Loop
from app.core.service import Service
from app.domain.contests import Clock
from app.games import queries as games_queries
from app.games.service.referee import MS, Table, due, end, seat
from app.games.service.showing import transcript
from app.submissions.queries import submission_context, submissions
from app.submissions.service import answer_files, submit
from app.tables import GameMoveRow, GameRow
from checkers.doors import Rejected


@dataclass(frozen=True, slots=True)
class Binding:
    """A counted game's contest as it is now: its problem as one may submit to it, and the team's own clock."""

    entry: submission_context.Entry
    entrant: submission_context.Entrant

    @property
    def clock(self) -> Clock:
        """The clock that the team goes by."""
        return self.entrant.clock

    def case(self, game: GameRow) -> submission_context.OpenCase | None:
        """The game's test case; None where it is no case any longer."""
        return next((case for case in self.entry.all_cases if case.id == game.test_case_id), None)


def clock_of_game(binding: Binding | None, game: GameRow) -> Clock | None:
    """The clock that cuts a game: the team's own, up to the end of its window for final cases where it is of one."""
    if binding is None:
        return None
    clock, finals, asked = binding.clock, binding.entry.settings.finals, binding.entrant.asked
    is_final = any(game.test_case_id == case.id for case in binding.entry.final_cases)
    if not is_final or finals.window is None or asked is None:
        return clock
    end = clock.contest_time(asked) + finals.window
    if clock.contest_time(game.started) >= end:  # played once all is open to everyone
        return clock
    return replace(clock, duration=min(clock.duration, end))


async def bound(service: Service, game: GameRow) -> Binding | None:
    """The contest of a counted game; None for practice, or where the contest has the problem no more."""
    return await run_sync(read_bound, service, game) if game.counted else None


def read_bound(service: Service, game: GameRow) -> Binding | None:
    """As `bound`, for a thread: it may read rows."""
    if not game.counted:
        return None
    entry = service.entries.known(game.contest_id, game.problem_id)
    entry = entry or service.entries.read(game.contest_id, game.problem_id)
    if entry is None:
        return None
    if not entry.asks_the_team:
        return Binding(entry, submission_context.Entrant(entry.clock))
    with service.database.read() as session:
        return Binding(entry, submission_context.read_entrant(session, entry, game.team_id or ""))


log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.games")

# Games that are ended with one look at the rows.
AT_ONCE = 200


def became(service: Service, table: Table, binding: Binding | None) -> submissions.NewSubmission | None:
    """The submission that a counted game becomes when it has ended, if any; may read and write files.

    It counts as made when the game ended; one that the contest's end cut, in the last millisecond before.
    """
    game = table.game
    case = None if binding is None else binding.case(game)
    if binding is None or case is None or game.ended is None or game.account_id is None or game.team_id is None:
        return None
    entry, clock = binding.entry, binding.clock
    when = game.ended - MS if game.ending == "contest" else game.ended  # at its end nothing is taken any longer
    time = clock.contest_time(when)
    is_late = entry.final and time < clock.duration and not binding.entrant.is_virtual
    # A team may have left the contest since, or the contest may have become final.
    if game.team_id not in entry.teams or is_late:
        return None
    data = transcript(table).encode()
    name = f"{case.name}.out"
    answer = submit.store_answer(service, answer_files.Answer(case, name, data, len(data)))
    return submissions.NewSubmission(
        game.contest_id,
        game.problem_id,
        game.team_id,
        game.account_id,
        when,
        time // timedelta(milliseconds=1),
        [answer],
        [{"name": name, "case": case.name, "ignored": None}],
        comment=f"game {game.id}",
    )


def store(service: Service, turn: games_queries.Turn) -> GameRow | None:
    """Make a turn durable, and tell of the submission that its game has become; None where the rows were others."""
    with service.database.transaction() as connection:
        outcome = games_queries.store(connection, turn)
    if outcome is None:
        return None
    game, accepted = outcome
    if accepted is not None and accepted.judgement_id is not None:
        service.engine.wake()
        service.boards.changed(game.contest_id, accepted.submission_id)
    return game


def end_due(service: Service, games: Sequence[GameRow], now: datetime) -> None:
    """End those of the games in play that are over by the clock now. For a thread.

    Those that are not get the deadline that they have now.
    """
    with service.database.read() as session:
        moves = games_queries.moves_of(session, [game.id for game in games])
    for game in games:
        turn = _turn(service, game, moves[game.id], read_bound(service, game), now)
        if turn is not None:
            store(service, turn)


def _turn(
    service: Service, game: GameRow, moves: Sequence[GameMoveRow], binding: Binding | None, now: datetime
) -> games_queries.Turn | None:
    """What happens to a game by the clock: its end, another deadline, or nothing."""
    clock = clock_of_game(binding, game)
    moment, ending = due(game, clock)
    if clock is not None and clock.paused(now):
        moment = max(moment, now + LATER)
    if moment > now:
        return games_queries.Turn(game.moves, replace(game, deadline=moment)) if moment != game.deadline else None
    try:
        table = end(seat(game, moves), moment, ending)
    except Rejected as broken:
        # The rules are others than those it was played by: it ends, and nothing becomes of it.
        log.warning("a game no longer fits its rules", game=game.id, error=str(broken))
        lost = replace(game, ended=moment, ending=ending, winner=1 - game.side)
        return games_queries.Turn(game.moves, lost)
    return games_queries.Turn(game.moves, table.game, submission=became(service, table, binding))


# The time between two looks at a game whose contest is paused.
LATER = timedelta(seconds=30)


SECONDS_BETWEEN_LOOKS = 1.0
LOOKS_BETWEEN_CLEANINGS = 3600
LOCK = "clocks of games"
# The time for which practice games that were played without login stay after their end.
KEPT_OF_NOBODY = timedelta(days=7)


class Keeper:
    """A loop that looks at the deadlines.

    Of several processes on a database one looks at a time.
    """

    def __init__(self, service: Service) -> None:
        self._service = service
        self._generation = -1
        self._looks = 0
        self._loop = Loop("games", self._step, SECONDS_BETWEEN_LOOKS)

    def start(self) -> None:
        """Begin to look."""
        self._loop.start()

    def close(self) -> None:
        """Stop looking."""
        self._loop.close()

    def look(self) -> None:
        """End what is over now. After an admin's change every counted game is looked at: its contest may end sooner."""
        now = utc_now()
        # Before the rows: a change that comes in between is looked at again.
        generation = self._service.database.generation
        with self._service.database.read() as session:
            games = games_queries.due(session, now, AT_ONCE)
            if generation != self._generation:
                known_ids = {game.id for game in games}
                games += [game for game in games_queries.counted_playing(session) if game.id not in known_ids]
        for at in range(0, len(games), AT_ONCE):
            end_due(self._service, games[at : at + AT_ONCE], now)
        self._generation = generation

    def clean(self) -> None:
        """Remove practice games of no one that ended long ago."""
        with self._service.database.write(quiet=True) as session:
            games_queries.remove_old(session, utc_now() - KEPT_OF_NOBODY)

    def _step(self) -> None:
        if not self._service.locks.take(LOCK):
            self._generation = -1  # if this process is the next to look, it looks at all games
            return
        self.look()
        if self._looks % LOOKS_BETWEEN_CLEANINGS == 0:
            self.clean()
        self._looks += 1
