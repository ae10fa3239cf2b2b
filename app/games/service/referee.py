"""The referee of one game: its position by the rules, the opponent's replies, and whose time runs out when.

Nothing here reads or writes rows. A table is never changed: what happens gives another one.

- Opponents that think for longer: in few threads of their own, beside the event loop (guarantee 4).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from app.core.load import run_heavy
from app.domain.contests import Clock
from app.tables import GameMoveRow, GameRow
from games.catalog import games
from games.doors import Position, draws

Ending = Literal["played", "resigned", "clock", "contest", "moves"]
# Moves of one game over both sides: a game that is longer ends, lost for the contestant.
MOST_MOVES = 10_000
LONGEST_PRACTICE = timedelta(hours=1)
# The time for a move where nothing sets one: abandoned games end by it.
LONGEST_MOVE = timedelta(hours=24)
MS = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Table:
    """A game with its position and its moves; `position` is whatever the game's rules make of it."""

    game: GameRow
    position: Position
    moves: tuple[GameMoveRow, ...]

    @property
    def over(self) -> bool:
        """Whether the game has ended, by its rules or otherwise."""
        return self.game.ended is not None

    @property
    def awaits_contestant(self) -> bool:
        """Whether the next move is the contestant's."""
        rules = games()[self.game.game]
        return not self.over and not rules.over(self.position) and rules.to_move(self.position) == self.game.side


def seat(game: GameRow, moves: Sequence[GameMoveRow]) -> Table:
    """The table of a stored game; raises Rejected where its moves break the rules as they are now."""
    return Table(game, position_after(game, moves), tuple(moves))


def position_after(game: GameRow, moves: Sequence[GameMoveRow]) -> Position:
    """The position after these moves."""
    rules = games()[game.game]
    position = rules.start(game.instance)
    for move in moves:
        position = rules.apply(position, move.move)
    return position


def play(table: Table, move: str, now: datetime, used: timedelta) -> Table:
    """The table after a move of the contestant, who took `used` for it; raises Rejected for one that is no move."""
    position = games()[table.game.game].apply(table.position, move)
    ms = max(0, used // MS)
    made = GameMoveRow(table.game.id, len(table.moves) + 1, table.game.side, move, ms, now)
    game = replace(table.game, moves=made.number, used_ms=table.game.used_ms + ms, since=now)
    return Table(game, position, (*table.moves, made))


def answer(table: Table, now: datetime) -> Table:
    """The table after the opponent's moves, as many as are theirs; ended where the rules end it."""
    rules = games()[table.game.game]
    while not table.awaits_contestant and not rules.over(table.position):
        if len(table.moves) >= MOST_MOVES:
            break
        number = len(table.moves) + 1
        opponent = rules.opponents[table.game.opponent]
        # Drawn by the move's number alone: a reply that was lost is found again, the same.
        move = opponent.choose(table.position, draws(table.game.seed, number))
        made = GameMoveRow(table.game.id, number, 1 - table.game.side, move, 0, now)
        game = replace(table.game, moves=number, since=now)
        table = Table(game, rules.apply(table.position, move), (*table.moves, made))
    if rules.over(table.position):
        return end(table, now, "played")
    return end(table, now, "moves") if len(table.moves) >= MOST_MOVES else table


def end(table: Table, when: datetime, ending: Ending) -> Table:
    """The table with its game ended: won as the rules say, or lost for the contestant."""
    rules = games()[table.game.game]
    winner = rules.winner(table.position) if ending == "played" else 1 - table.game.side
    return replace(table, game=replace(table.game, ended=when, ending=ending, winner=winner))


def allowance(game: GameRow) -> timedelta:
    """The contestant's time for the next move."""
    left = [LONGEST_MOVE if game.counted else LONGEST_PRACTICE]
    if game.move_ms is not None:
        left.append(game.move_ms * MS)
    if game.game_ms is not None:
        left.append(max(timedelta(0), (game.game_ms - game.used_ms) * MS))
    return min(left)


def thought(game: GameRow, clock: Clock | None, now: datetime) -> timedelta:
    """The time taken for the next move by now; the pauses of a contest's clock do not count."""
    if clock is None:
        return now - game.since
    return clock.contest_time(now) - clock.contest_time(game.since)


def due(game: GameRow, clock: Clock | None) -> tuple[datetime, Ending]:
    """When the game ends if the contestant makes no move, and why: out of time, or the end of the contest.

    While a contest is paused the moment is unknown: then it is the latest possible look.
    """
    time = allowance(game)
    if clock is None:
        return game.since + time, "clock"
    by_time = clock.moment_of(clock.contest_time(game.since) + time)
    moments: list[tuple[datetime, Ending]] = []
    if by_time is not None:
        moments.append((by_time, "clock"))
    if clock.end is not None and game.started < clock.end:
        moments.append((clock.end, "contest"))
    return min(moments, default=(game.since + LONGEST_MOVE, "clock"))


def paced(table: Table, clock: Clock | None) -> Table:
    """The table with the deadline of the next move."""
    return replace(table, game=replace(table.game, deadline=due(table.game, clock)[0]))


async def reply(table: Table, now: datetime) -> Table:
    """The table after the opponent's moves; a slow opponent thinks in one of a few threads, games in their order."""
    opponent = games()[table.game.game].opponents[table.game.opponent]
    if getattr(opponent, "quick", False):
        return answer(table, now)
    return await run_heavy(lambda: answer(table, now), "games")
