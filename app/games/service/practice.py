"""What practice allows beside playing: a hint, and taking moves back. Neither exists in games that count."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace

from anyio.to_thread import run_sync

from app.accounts.service.viewer import Viewer
from app.core.clock import utc_now
from app.core.errors import Conflict, Forbidden, TooManyRequests
from app.core.messages import N_
from app.core.service import Service
from app.games import queries as games_queries
from app.games.queries import NewGame
from app.games.service.playing import Games
from app.games.service.referee import Table, paced, position_after
from app.games.service.showing import may_play
from app.submissions.queries.submissions import LimitReached
from games.catalog import games as catalog
from games.doors import draws

ADVISER = "optimal"


@dataclass(frozen=True, slots=True)
class Hint:
    """A move that `optimal` would make, whether the player to move wins (None: unknown), and how that is known."""

    move: str
    won: bool | None
    note: str


async def hint(table: Table) -> Hint:
    """Advise the player of a practice game against the judge; raises Forbidden, or Conflict out of turn."""
    _check_alone(table)
    if table.over or not table.waits_for_person:
        raise Conflict(N_("expected a game in which it is your turn, found another one"), where="hint")
    return await run_sync(_hint, table)


def _hint(table: Table) -> Hint:
    rules = catalog()[table.game.game]
    outlook = rules.outlook(table.position)
    move = rules.opponents[ADVISER].choose(table.position, draws(table.game.seed, len(table.moves) + 1))
    return Hint(move, outlook.won, outlook.note)


async def take_back(service: Service, games: Games, viewer: Viewer, game_id: str) -> Table:
    """Take the last own move back, and what was answered: a new game begins with the moves before it.

    The old one stays as it is, resigned if it was not over, since moves of a stored game are never lost. Opponents
    answer by the seed and the move's number, so that the new game goes on as the old one would have.
    """
    table = await games.look(viewer, game_id)
    _check_alone(table)
    if not may_play(viewer, table.game, game_id):
        raise Forbidden(N_("only whoever plays this game may take moves back"))
    before = _before_last_move(table)
    if not table.over:
        await games.resign(viewer, game_id)
    settings = service.settings
    new = NewGame(before.game, before.moves, settings.most_games_of_one, settings.most_games)
    outcome = await service.writer.call(games_queries.start, new)
    if isinstance(outcome, LimitReached):
        raise TooManyRequests(outcome.message, None)
    games.keep(before)
    return before


def _check_alone(table: Table) -> None:
    if table.game.counted:
        raise Forbidden(N_("this game counts: hints and taking back are for practice"))
    if table.game.guest is not None:
        raise Forbidden(N_("this game is between two people: hints and taking back are for practice against the judge"))


def _before_last_move(table: Table) -> Table:
    game, now = table.game, utc_now()
    own = [move.number for move in table.moves if move.side == game.side]
    if not own:
        raise Conflict(N_("there is no move of yours to take back"))
    moves = table.moves[: own[-1] - 1]
    fresh = replace(
        game,
        id=secrets.token_hex(12),
        started=now,
        since=now,
        moves=len(moves),
        used_ms=sum(move.ms for move in moves if move.side == game.side),
        ended=None,
        ending=None,
        winner=None,
        submission_id=None,
    )
    return paced(Table(fresh, position_after(fresh, moves), moves), None)
