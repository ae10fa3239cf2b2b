"""Playing: moves and resigning, one after the other in each game, durable before they are answered.

The rows are the games, and nothing of them is kept in memory. A turn that was made of rows that have changed in the
meantime is not stored (`app.games.queries.store`), and is made again.
"""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import datetime
from itertools import takewhile

from anyio.to_thread import run_sync

from app.accounts.service.viewer import Viewer
from app.contests.service.changes import why_not_running
from app.core.clock import utc_now
from app.core.messages import N_, BadRequest, Conflict, Forbidden, NotFound, message_of
from app.core.service import Service
from app.games import queries as games_queries
from app.games.service.ending import Binding, became, bound, clock_of_game, store
from app.games.service.referee import Table, due, end, paced, play, position_after, reply, seat, thought
from app.games.service.showing import GameView, MoveBody, may_play, view, visible
from app.tables import GameRow
from checkers.doors import Rejected

# Times that a turn is made of the rows where someone else was faster.
MOST_TRIES = 3
OVER = {
    "played": N_("the game has ended by its rules"),
    "resigned": N_("the game has ended: it was resigned"),
    "clock": N_("the game is lost: the time ran out"),
    "contest": N_("the game is lost: the contest ended before it did"),
    "moves": N_("the game has ended: it had as many moves as a game may have"),
}


class Games:
    """The games of one running service, for one event loop."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def move(self, viewer: Viewer, game_id: str, body: MoveBody) -> Table:
        """Make a move and the opponent's reply; posted again, it is the same move and gives the same table.

        Raises Conflict for another number than the next, and where the game has ended; BadRequest for an illegal move.
        """
        now = utc_now()

        async def attempt(table: Table) -> Table | None:
            again = repeated(table, body)
            return again if again is not None else await self._turn(table, body, now)

        return await self._tried(viewer, game_id, attempt)

    async def resign(self, viewer: Viewer, game_id: str) -> Table:
        """Give a game up; again, it stays as it is. Raises Conflict where it has ended otherwise."""
        now = utc_now()

        async def attempt(table: Table) -> Table | None:
            if table.game.ending == "resigned":
                return table
            binding = await self._bound(table.game)
            if not await self._in_time(table, binding, now):
                return None
            return await self._store(table, end(table, now, "resigned"), binding)

        return await self._tried(viewer, game_id, attempt)

    async def _tried(self, viewer: Viewer, game_id: str, attempt: Callable[[Table], Awaitable[Table | None]]) -> Table:
        """Make a turn of the rows, again where others have changed them in the meantime; raises what refuses it."""
        for _ in range(MOST_TRIES):
            table: Table | None = await self.look(viewer, game_id)
            if table is not None and not may_play(viewer, table.game):
                raise Forbidden(N_("only the player of this game may move"))
            if table is not None and not (table.over or table.awaits_contestant):
                table = await self._answered(table)
            if table is not None and (table := await attempt(table)) is not None:
                return table
        raise Conflict(N_("the game has changed: reload it"))

    async def look(self, viewer: Viewer, game_id: str) -> Table:
        """A game as its rows have it; raises NotFound."""
        return await run_sync(self._read, viewer, game_id)

    def _read(self, viewer: Viewer, game_id: str) -> Table:
        with self._service.database.read() as session:
            game = visible(viewer, games_queries.get(session, game_id), game_id)
            moves = games_queries.moves_of(session, [game.id])[game.id]
        return seat(game, moves)

    async def ended(self, viewer: Viewer, game_id: str) -> Table:
        """A game that has ended; raises Conflict for one in play, whose transcript would tell its seed."""
        table = await self.look(viewer, game_id)
        if not table.over:
            raise Conflict(N_("the game is not over: its transcript is available after the end"))
        return table

    async def shown(self, table: Table) -> GameView:
        """A game as its player sees it."""
        binding = await bound(self._service, table.game)
        submission_id = None
        if table.game.submission_id is not None:
            submission_id = await run_sync(self._shown_id, table.game)
        return view(table, submission_id, clock_of_game(binding, table.game))

    def _shown_id(self, game: GameRow) -> str | None:
        with self._service.database.read() as session:
            return games_queries.submission_ids(session, [game]).get(game.id)

    async def _answered(self, table: Table) -> Table | None:
        """The table with the opponent's reply: one that was never stored is found again, the same."""
        binding = await self._bound(table.game)
        after = await reply(table, table.game.since)
        return await self._store(table, paced(after, clock_of_game(binding, table.game)), binding)

    async def _turn(self, table: Table, body: MoveBody, now: datetime) -> Table | None:
        """Make a move and the reply to it; None where the rows were others."""
        binding = await self._bound(table.game)
        if not await self._in_time(table, binding, now):
            return None
        clock = clock_of_game(binding, table.game)
        try:
            after = play(table, body.move, now, thought(table.game, clock, now))
        except Rejected as rejected:
            raise BadRequest(message_of(rejected)) from None
        # The opponent's time is not the contestant's: it starts again with the reply.
        return await self._store(table, paced(await reply(after, utc_now()), clock), binding)

    async def _in_time(self, table: Table, binding: Binding | None, now: datetime) -> bool:
        """Whether the contestant may move; False where the rows are others than the table.

        Raises Conflict where the time is over, Forbidden in a pause.
        """
        clock = clock_of_game(binding, table.game)
        if not table.over:
            moment, ending = due(table.game, clock)
            if clock is not None and clock.paused(now):
                raise Forbidden(why_not_running(clock, now))
            if moment <= now:
                # Its end is stored first: no later request may find the game in play.
                if await self._store(table, end(table, moment, ending), binding) is None:
                    return False
                raise Conflict(OVER[ending])
            return True
        raise Conflict(OVER[table.game.ending or "played"])

    async def _store(self, before: Table, after: Table, binding: Binding | None) -> Table | None:
        """Make a turn durable and tell of it; None where the rows were others, and are to be read again."""
        submission = None
        if after.over and after.game.counted:
            submission = await run_sync(became, self._service, after, binding)
        turn = games_queries.Turn(before.game.moves, after.game, after.moves[len(before.moves) :], submission)
        game = await run_sync(store, self._service, turn)
        return None if game is None else replace(after, game=game)

    async def _bound(self, game: GameRow) -> Binding | None:
        """The contest of a counted game; raises NotFound where it has the problem no more."""
        binding = await bound(self._service, game)
        if game.counted and binding is None:
            raise NotFound(
                N_("contest %(contest)r no longer has the problem %(problem)r"),
                contest=game.contest_id,
                problem=game.problem_id,
            )
        return binding


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
        was = N_("expected %(next)s, the next move: %(number)s was %(move)r")
        raise Conflict(was, where="number", next=next_number, number=body.number, move=made.move)
    # The client has not got the first reply: it is shown the game as it was then, and not as it has gone on since.
    moves = list(takewhile(lambda each: each.number <= body.number or each.side != side, table.moves))
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
