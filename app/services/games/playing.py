"""Playing: moves and resigning, one after the other in each game, durable before they are answered.

The rows are the games. What is kept in memory is a table of each game that was played lately, so that a move needs no
reading: a turn that was made of an old table is not stored (`app.storage.games.store`), and is made again of the rows.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from anyio.to_thread import run_sync
from cachetools import LRUCache

from app.domain.clock import utc_now
from app.domain.contests import Clock
from app.service import Service
from app.services.contests.changes import why_not_running
from app.services.errors import BadRequest, Conflict, Forbidden, NotFound
from app.services.games.binding import Binding, bound
from app.services.games.bodies import GameView, MoveBody
from app.services.games.ending import NOTHING, became, tell
from app.services.games.referee import (
    Table,
    after_move,
    answer,
    due,
    end,
    is_quick,
    paced,
    play,
    position_after,
    seat,
    thought,
)
from app.services.games.showing import may_play, view, visible
from app.services.viewer import Viewer
from app.storage import games as stored
from app.storage.games import Game, Stored, Turn
from checkers.doors import Rejected

MOST_KEPT = 20_000
MOST_TRIES = 3
"""Times that a turn is made of the rows where somebody else was faster."""
OVER = {
    "played": "the game has ended by its rules",
    "resigned": "the game has ended: you resigned",
    "clock": "the game is lost: the time ran out",
    "contest": "the game is lost: the contest ended before it did",
    "moves": "the game is lost: it had as many moves as a game may have",
}
Watcher = Callable[[], None]


@dataclass(slots=True)
class Seat:
    """A game's place: whoever moves holds its lock, and finds the table as it was left."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    table: Table | None = None


class Games:
    """The games of one running service, for one event loop."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._seats: LRUCache[str, Seat] = LRUCache(MOST_KEPT)
        self._watchers: defaultdict[str, set[Watcher]] = defaultdict(set)
        self._loop: asyncio.AbstractEventLoop | None = None

    async def move(self, viewer: Viewer, game_id: str, body: MoveBody) -> Table:
        """Make a move and the opponent's reply; posted again, it is the same move and gives the same table.

        Raises Conflict for another number than the next, and where the game has ended; BadRequest for an illegal move.
        """
        now = utc_now()
        seat_ = self._seat(game_id)
        async with seat_.lock:
            for _ in range(MOST_TRIES):
                table = await self._table(seat_, viewer, game_id)
                if (again := repeated(table, body)) is not None:
                    return again
                turn = await self._turn(seat_, table, body, now)
                if turn is not None:
                    return turn
        raise Conflict("the game has gone on meanwhile: look at it again")

    async def resign(self, viewer: Viewer, game_id: str) -> Table:
        """Give a game up; again, it stays as it is. Raises Conflict where it has ended otherwise."""
        now = utc_now()
        seat_ = self._seat(game_id)
        async with seat_.lock:
            for _ in range(MOST_TRIES):
                table = await self._table(seat_, viewer, game_id)
                if table.game.ending == "resigned":
                    return table
                binding = await self._bound(table.game)
                table = await self._in_time(seat_, table, binding, now)
                if (ended := await self._store(seat_, table, end(table, now, "resigned"), binding)) is not None:
                    return ended
        raise Conflict("the game has gone on meanwhile: look at it again")

    async def look(self, viewer: Viewer, game_id: str) -> Table:
        """A game as its rows have it; raises NotFound."""
        return await run_sync(partial(read_table, self._service, viewer, game_id))

    async def now(self, viewer: Viewer, game_id: str) -> Table:
        """A game as it is now: the table at hand, or its rows; raises NotFound."""
        seat_ = self._seats.get(game_id)
        if seat_ is None or seat_.table is None:
            return await self.look(viewer, game_id)
        visible(viewer, seat_.table.game, game_id)
        return seat_.table

    async def ended(self, viewer: Viewer, game_id: str) -> Table:
        """A game that has ended; raises Conflict for one in play, whose transcript would tell its seed."""
        table = await self.look(viewer, game_id)
        if not table.over:
            raise Conflict("the game is still played: its transcript is there when it has ended")
        return table

    async def shown(self, table: Table) -> GameView:
        """A game as its player sees it."""
        binding = await bound(self._service, table.game)
        submission_id = None
        if table.game.submission_id is not None:
            submission_id = await run_sync(self._shown_id, table.game)
        return view(table, submission_id, _clock(binding))

    def _shown_id(self, game: Game) -> str | None:
        with self._service.database.read() as session:
            return stored.submission_ids(session, [game]).get(game.id)

    def watch(self, game_id: str, watcher: Watcher) -> None:
        """Call a watcher, in this event loop, after each change of a game."""
        self._loop = asyncio.get_running_loop()
        self._watchers[game_id].add(watcher)

    def leave(self, game_id: str, watcher: Watcher) -> None:
        """Stop calling a watcher."""
        watchers = self._watchers[game_id]
        watchers.discard(watcher)
        if not watchers:
            del self._watchers[game_id]

    def ended_elsewhere(self, games: Sequence[Game]) -> None:
        """Tell those who watch games that the clock has ended them; may be called from any thread."""
        loop = self._loop
        if loop is not None and games:
            with suppress(RuntimeError):  # the loop is closed: nobody watches any more
                loop.call_soon_threadsafe(self._tell_watchers, [game.id for game in games])

    def _tell_watchers(self, game_ids: Sequence[str]) -> None:
        for game_id in game_ids:
            self._seats.pop(game_id, None)
            for watcher in list(self._watchers.get(game_id, ())):
                watcher()

    def _seat(self, game_id: str) -> Seat:
        seat_ = self._seats.get(game_id)
        if seat_ is None:
            seat_ = self._seats[game_id] = Seat()
        return seat_

    async def _table(self, seat_: Seat, viewer: Viewer, game_id: str) -> Table:
        """The table to play at; raises NotFound or Forbidden for who may not."""
        if seat_.table is None:
            try:
                table = await run_sync(read_table, self._service, viewer, game_id)
            except NotFound:
                self._seats.pop(game_id, None)
                raise
            seat_.table = table
        table = seat_.table
        visible(viewer, table.game, game_id)
        if not may_play(viewer, table.game):
            raise Forbidden("only whoever plays this game may move in it")
        if not table.over and not table.waits_for_contestant:
            table = await self._answered(seat_, table)
        return table

    async def _answered(self, seat_: Seat, table: Table) -> Table:
        """The table with the opponent's reply: one that was never stored is found again, the same."""
        binding = await self._bound(table.game)
        after = await self._reply(table, table.game.since)
        return await self._store(seat_, table, paced(after, _clock(binding)), binding) or table

    async def _turn(self, seat_: Seat, table: Table, body: MoveBody, now: datetime) -> Table | None:
        """Make a move and the reply to it; None where the rows were others."""
        binding = await self._bound(table.game)
        table = await self._in_time(seat_, table, binding, now)
        clock = _clock(binding)
        try:
            after = play(table, body.move, now, thought(table.game, clock, now))
        except Rejected as rejected:
            raise BadRequest(str(rejected)) from None
        return await self._store(seat_, table, paced(await self._reply(after, utc_now()), clock), binding)

    async def _in_time(self, seat_: Seat, table: Table, binding: Binding | None, now: datetime) -> Table:
        """The table while its contestant may move; raises Conflict where the time is over, Forbidden in a pause."""
        clock = _clock(binding)
        if not table.over:
            moment, ending = due(table.game, clock)
            if clock is not None and clock.paused(now):
                raise Forbidden(why_not_running(clock, now))
            if moment <= now:
                await self._store(seat_, table, end(table, moment, ending), binding)
                raise Conflict(OVER[ending])
            return table
        raise Conflict(OVER[table.game.ending or "played"])

    async def _reply(self, table: Table, now: datetime) -> Table:
        return answer(table, now) if is_quick(table) else await run_sync(answer, table, now)

    async def _store(self, seat_: Seat, before: Table, after: Table, binding: Binding | None) -> Table | None:
        """Make a turn durable and tell of it; None where the rows were others, and are to be read again."""
        result = NOTHING
        if after.over and after.game.counted:
            result = await run_sync(became, self._service, after, binding)
        turn = Turn(before.game.moves, after.game, after.moves[len(before.moves) :], result.new)
        with result.written():
            outcome = await self._service.writer.call(stored.store, turn)
        seat_.table = None
        if not isinstance(outcome, Stored):
            result.give_back()
            return None
        tell(self._service, outcome.game, outcome.submission)
        seat_.table = replace(after, game=outcome.game)
        for watcher in list(self._watchers.get(after.game.id, ())):
            watcher()
        return seat_.table

    async def _bound(self, game: Game) -> Binding | None:
        """The contest of a counted game; raises NotFound where it has the problem no more."""
        binding = await bound(self._service, game)
        if game.counted and binding is None:
            raise NotFound(f"the contest {game.contest_id!r} has the problem {game.problem_id!r} no more")
        return binding


def read_table(service: Service, viewer: Viewer, game_id: str) -> Table:
    """A game as its rows have it, for a thread; raises NotFound."""
    with service.database.read() as session:
        game = visible(viewer, stored.get(session, game_id), game_id)
        moves = stored.moves(session, game_id)
    return seat(game, moves)


def repeated(table: Table, body: MoveBody) -> Table | None:
    """The table after the reply to a move that was made before; None for the next move.

    Raises Conflict where the number is that of another move.
    """
    next_number = len(table.moves) + 1
    if body.number == next_number:
        return None
    if body.number > next_number:
        raise Conflict(f"number: expected {next_number}, the next move, found {body.number}")
    made = table.moves[body.number - 1]
    if made.side != table.game.side or made.move != body.move:
        who = "your" if made.side == table.game.side else "the opponent's"
        raise Conflict(f"number: expected {next_number}, the next move: {body.number} was {who} move {made.move!r}")
    moves = after_move(table.moves, table.game.side, body.number)
    if len(moves) == len(table.moves):
        return table
    game = replace(
        table.game,
        moves=len(moves),
        since=moves[-1].time,
        used_ms=sum(move.ms for move in moves if move.side == table.game.side),
        ended=None,
        ending=None,
        winner=None,
        submission_id=None,
    )
    return Table(game, position_after(game, moves), tuple(moves))


def _clock(binding: Binding | None) -> Clock | None:
    return None if binding is None else binding.clock
