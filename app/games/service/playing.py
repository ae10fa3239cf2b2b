"""Playing: moves and resigning, one after the other in each game, durable before they are answered.

The rows are the games. What is kept in memory is a table of each game that was played lately, so that a move needs no
reading: a turn made from an old table is not stored (`app.games.queries.store`), and is made again from the rows.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from anyio.to_thread import run_sync
from cachetools import LRUCache

from app.accounts.service.viewer import Viewer
from app.contests.service.changes import why_not_running
from app.core.clock import utc_now
from app.core.errors import BadRequest, Conflict, Forbidden, NotFound, message_of
from app.core.messages import N_
from app.core.service import Service
from app.games import queries as games_queries
from app.games.queries import Stored, Turn
from app.games.service.bodies import GameView, MoveBody
from app.games.service.ending import Binding, became, bound, clock_of_game, tell
from app.games.service.referee import Table, Thinking, after_move, due, end, paced, play, position_after, seat, thought
from app.games.service.showing import may_play, view, visible
from app.tables import GameRow
from checkers.doors import Rejected

MOST_KEPT = 20_000
# In place of the id of a game: any may have changed.
ANY = ""
# Times that a turn is made of the rows where somebody else was faster.
MOST_TRIES = 3
OVER = {
    "played": N_("the game has ended by its rules"),
    "resigned": N_("the game has ended: it was resigned"),
    "clock": N_("the game is lost: the time ran out"),
    "contest": N_("the game is lost: the contest ended before it did"),
    "moves": N_("the game has ended: it had as many moves as a game may have"),
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
        self._reading: dict[object, set[str]] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self.thinking = Thinking()

    async def move(self, viewer: Viewer, game_id: str, body: MoveBody) -> Table:
        """Make a move and the opponent's reply; posted again, it is the same move and gives the same table.

        Raises Conflict for another number than the next, and where the game has ended; BadRequest for an illegal move.
        """
        now = utc_now()

        async def attempt(seat_: Seat) -> Table | None:
            table = await self._table(seat_, viewer, game_id)
            again = repeated(table, body)
            return again if again is not None else await self._turn(seat_, table, body, now)

        return await self._tried(await self._seat(viewer, game_id), attempt)

    async def resign(self, viewer: Viewer, game_id: str) -> Table:
        """Give a game up; again, it stays as it is. Raises Conflict where it has ended otherwise."""
        now = utc_now()

        async def attempt(seat_: Seat) -> Table | None:
            table = await self._table(seat_, viewer, game_id)
            if table.game.ending == "resigned":
                return table
            binding = await self._bound(table.game)
            if not await self._in_time(seat_, table, binding, now):
                return None
            return await self._store(seat_, table, end(table, now, "resigned"), binding)

        return await self._tried(await self._seat(viewer, game_id), attempt)

    async def _tried(self, seat_: Seat, attempt: Callable[[Seat], Awaitable[Table | None]]) -> Table:
        """Make a turn of the table at hand, and of the rows where those were others; raises what refuses it.

        What refuses a turn at a table that is kept counts only if the rows say so too, where another server may have
        gone on with the game.
        """
        async with seat_.lock:
            for _ in range(MOST_TRIES):
                may_be_old = seat_.table is not None and self._service.settings.distributed
                try:
                    if (table := await attempt(seat_)) is not None:
                        return table
                except (BadRequest, Conflict, Forbidden):
                    if not may_be_old:
                        raise
                    seat_.table = None
        raise Conflict(N_("the game has gone on meanwhile: look at it again"))

    async def look(self, viewer: Viewer, game_id: str) -> Table:
        """A game as its rows have it; raises NotFound."""
        return await run_sync(partial(read_table, self._service, viewer, game_id))

    async def now(self, viewer: Viewer, game_id: str) -> Table:
        """A game as it is now: the table at hand, or its rows; raises NotFound."""
        table = (await self._seat(viewer, game_id)).table
        if table is None:  # a turn is being stored
            return await self.look(viewer, game_id)
        visible(viewer, table.game, game_id)
        return table

    def keep(self, table: Table) -> None:
        """Keep the table of a game that has begun: its first move need not read it."""
        self._loop = asyncio.get_running_loop()
        self._seats[table.game.id] = Seat(table=table)

    async def ended(self, viewer: Viewer, game_id: str) -> Table:
        """A game that has ended; raises Conflict for one in play, whose transcript would tell its seed."""
        table = await self.look(viewer, game_id)
        if not table.over:
            raise Conflict(N_("the game is still played: its transcript is there when it has ended"))
        return table

    async def shown(self, table: Table, since: int = 0) -> GameView:
        """A game as its player sees it, with the moves behind a number."""
        binding = await bound(self._service, table.game)
        submission_id = None
        if table.game.submission_id is not None:
            submission_id = await run_sync(self._shown_id, table.game)
        return view(table, since, submission_id, clock_of_game(binding, table.game))

    def _shown_id(self, game: GameRow) -> str | None:
        with self._service.database.read() as session:
            return games_queries.submission_ids(session, [game]).get(game.id)

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

    def ended_elsewhere(self, games: Sequence[GameRow]) -> None:
        """Tell those who watch games that the clock has ended them; may be called from any thread."""
        if games:
            self._soon([game.id for game in games])

    def changed_elsewhere(self, game_id: str) -> None:
        """Take note that another process has written to a game; may be called from any thread."""
        self._soon([game_id])

    def lost(self) -> None:
        """Take note that games may have gone on unnoticed; may be called from any thread."""
        self._soon(None)

    def _soon(self, game_ids: Sequence[str] | None) -> None:
        loop = self._loop
        if loop is not None:
            with suppress(RuntimeError):  # the loop is closed: nobody plays any more
                loop.call_soon_threadsafe(self._changed_elsewhere, game_ids)

    def _changed_elsewhere(self, game_ids: Sequence[str] | None) -> None:
        for meanwhile in self._reading.values():
            meanwhile.update([ANY] if game_ids is None else game_ids)
        self._tell_watchers([*{*self._seats, *self._watchers}] if game_ids is None else game_ids)

    def _tell_watchers(self, game_ids: Sequence[str]) -> None:
        for game_id in game_ids:
            self._seats.pop(game_id, None)
            for watcher in list(self._watchers.get(game_id, ())):
                watcher()

    async def _seat(self, viewer: Viewer, game_id: str) -> Seat:
        """The place of a game; raises NotFound."""
        self._loop = asyncio.get_running_loop()
        seat_ = self._seats.get(game_id)
        if seat_ is not None:
            return seat_
        table, is_new = await self._read(viewer, game_id)
        known = self._seats.get(game_id)  # somebody else may have been faster
        if known is not None:
            return known
        if not is_new:
            return Seat()
        self.keep(table)
        return self._seats[game_id]

    async def _read(self, viewer: Viewer, game_id: str) -> tuple[Table, bool]:
        """A game as its rows have it, and whether no other process has told of it meanwhile: its news would be lost."""
        reading, meanwhile = object(), set[str]()
        self._reading[reading] = meanwhile
        try:
            table = await run_sync(read_table, self._service, viewer, game_id)
        finally:
            del self._reading[reading]
        return table, meanwhile.isdisjoint((game_id, ANY))

    async def _table(self, seat_: Seat, viewer: Viewer, game_id: str) -> Table:
        """The table to play at; raises NotFound or Forbidden for who may not."""
        table = seat_.table
        if table is None:
            table = seat_.table = await run_sync(read_table, self._service, viewer, game_id)
        visible(viewer, table.game, game_id)
        if not may_play(viewer, table.game):
            raise Forbidden(N_("only whoever plays this game may move in it"))
        if table.over or table.awaits_contestant:
            return table
        return await self._answered(seat_, table)

    async def _answered(self, seat_: Seat, table: Table) -> Table:
        """The table with the opponent's reply: one that was never stored is found again, the same."""
        binding = await self._bound(table.game)
        after = await self.thinking.reply(table, table.game.since)
        return await self._store(seat_, table, paced(after, clock_of_game(binding, table.game)), binding) or table

    async def _turn(self, seat_: Seat, table: Table, body: MoveBody, now: datetime) -> Table | None:
        """Make a move and the reply to it; None where the rows were others."""
        binding = await self._bound(table.game)
        if not await self._in_time(seat_, table, binding, now):
            return None
        clock = clock_of_game(binding, table.game)
        try:
            after = play(table, body.move, now, thought(table.game, clock, now))
        except Rejected as rejected:
            raise BadRequest(message_of(rejected)) from None
        return await self._store(seat_, table, paced(await self.thinking.reply(after, utc_now()), clock), binding)

    async def _in_time(self, seat_: Seat, table: Table, binding: Binding | None, now: datetime) -> bool:
        """Whether the contestant may move; False where the rows are others than the table.

        Raises Conflict where the time is over, Forbidden in a pause.
        """
        clock = clock_of_game(binding, table.game)
        if not table.over:
            moment, ending = due(table.game, clock)
            if clock is not None and clock.paused(now):
                raise Forbidden(why_not_running(clock, now))
            if moment <= now:
                if await self._store(seat_, table, end(table, moment, ending), binding) is None:
                    return False
                raise Conflict(OVER[ending])
            return True
        raise Conflict(OVER[table.game.ending or "played"])

    async def _store(self, seat_: Seat, before: Table, after: Table, binding: Binding | None) -> Table | None:
        """Make a turn durable and tell of it; None where the rows were others, and are to be read again."""
        submission = None
        if after.over and after.game.counted:
            submission = await run_sync(became, self._service, after, binding)
        turn = Turn(before.game.moves, after.game, after.moves[len(before.moves) :], submission)
        outcome = await self._service.writer.call(games_queries.store, turn)
        seat_.table = None
        if not isinstance(outcome, Stored):
            return None
        tell(self._service, outcome.game, outcome.submission)
        return self._changed(seat_, replace(after, game=outcome.game))

    def _changed(self, seat_: Seat, table: Table) -> Table:
        """Keep the table of a game that has changed, and tell whoever watches it."""
        seat_.table = table
        for watcher in list(self._watchers.get(table.game.id, ())):
            watcher()
        return table

    async def _bound(self, game: GameRow) -> Binding | None:
        """The contest of a counted game; raises NotFound where it has the problem no more."""
        binding = await bound(self._service, game)
        if game.counted and binding is None:
            raise NotFound(
                N_("the contest %(contest)r has the problem %(problem)r no more"),
                contest=game.contest_id,
                problem=game.problem_id,
            )
        return binding


def read_table(service: Service, viewer: Viewer, game_id: str) -> Table:
    """A game as its rows have it, for a thread; raises NotFound."""
    with service.database.read() as session:
        game = visible(viewer, games_queries.get(session, game_id), game_id)
        moves = games_queries.moves(session, game.id)
    return seat(game, moves)


def repeated(table: Table, body: MoveBody) -> Table | None:
    """The table after the reply to a move that the contestant made before; None for the next move.

    Raises Conflict where the number is that of another move.
    """
    side, next_number = table.game.side, len(table.moves) + 1
    if body.number == next_number:
        return None
    if body.number > next_number:
        raise Conflict(
            N_("expected %(next)s, the next move, found %(found)s"),
            where="number",
            next=next_number,
            found=body.number,
        )
    made = table.moves[body.number - 1]
    if made.side != side or made.move != body.move:
        was = (
            N_("expected %(next)s, the next move: %(number)s was your move %(move)r")
            if made.side == side
            else N_("expected %(next)s, the next move: %(number)s was the opponent's move %(move)r")
        )
        raise Conflict(was, where="number", next=next_number, number=body.number, move=made.move)
    moves = after_move(table.moves, side, body.number)
    if len(moves) == len(table.moves):
        return table
    game = replace(
        table.game,
        moves=len(moves),
        since=moves[-1].time,
        used_ms=sum(move.ms for move in moves if move.side == side),
        ended=None,
        ending=None,
        winner=None,
        submission_id=None,
    )
    return Table(game, position_after(game, moves), tuple(moves))
