"""The referee of one game: its position by the rules, the opponent's replies, and whose time runs out when.

Nothing here reads or writes rows. A table is never changed: what happens gives another one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Literal

from app.domain.contests import Clock
from app.storage.games import Game, Move
from games.catalog import games
from games.doors import draws

Ending = Literal["played", "resigned", "clock", "contest", "moves"]
MOST_MOVES = 10_000
"""Moves of one game over both sides: a game that is longer ends, lost for the contestant."""
LONGEST_PRACTICE = timedelta(hours=1)
LONGEST_MOVE = timedelta(hours=24)
"""The time for a move where nothing sets one: abandoned games end by it."""
MS = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Table:
    """A game with its position and its moves; `position` is whatever the game's rules make of it."""

    game: Game
    position: Any
    moves: tuple[Move, ...]

    @property
    def over(self) -> bool:
        """Whether the game has ended, by its rules or otherwise."""
        return self.game.ended is not None

    @property
    def waits_for_contestant(self) -> bool:
        """Whether the next move is the contestant's."""
        rules = games()[self.game.game]
        return not self.over and not rules.over(self.position) and rules.to_move(self.position) == self.game.side


def seat(game: Game, moves: Sequence[Move]) -> Table:
    """The table of a stored game; raises Rejected where its moves break the rules as they are now."""
    return Table(game, position_after(game, moves), tuple(moves))


# Any: a position is what the game's own rules make of it
def position_after(game: Game, moves: Sequence[Move]) -> Any:
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
    made = Move(len(table.moves) + 1, table.game.side, move, ms, now)
    game = replace(table.game, moves=made.number, used_ms=table.game.used_ms + ms, since=now)
    return Table(game, position, (*table.moves, made))


def is_quick(table: Table) -> bool:
    """Whether the opponent answers so soon that nobody else has to wait for it."""
    opponent = games()[table.game.game].opponents[table.game.opponent]
    return bool(getattr(opponent, "quick", False))


def answer(table: Table, now: datetime) -> Table:
    """The table after the opponent's moves, as many as are theirs; ended where the rules end it."""
    rules = games()[table.game.game]
    opponent = rules.opponents[table.game.opponent]
    while not rules.over(table.position) and rules.to_move(table.position) != table.game.side:
        if len(table.moves) >= MOST_MOVES:
            break
        number = len(table.moves) + 1
        move = opponent.choose(table.position, draws(table.game.seed, number))
        made = Move(number, 1 - table.game.side, move, 0, now)
        game = replace(table.game, moves=number, since=now)
        table = Table(game, rules.apply(table.position, move), (*table.moves, made))
    if rules.over(table.position):
        return end(table, now, "played")
    return end(table, now, "moves") if len(table.moves) >= MOST_MOVES else table


def end(table: Table, when: datetime, ending: Ending) -> Table:
    """The table with its game ended: won by whom the rules say, or lost for the contestant."""
    winner: int | None = 1 - table.game.side
    if ending == "played":
        winner = games()[table.game.game].winner(table.position)
    return replace(table, game=replace(table.game, ended=when, ending=ending, winner=winner))


def allowance(game: Game) -> timedelta:
    """The time that the contestant has for the next move."""
    left = [LONGEST_MOVE if game.counted else LONGEST_PRACTICE]
    if game.move_ms is not None:
        left.append(game.move_ms * MS)
    if game.game_ms is not None:
        left.append(max(timedelta(0), (game.game_ms - game.used_ms) * MS))
    return min(left)


def thought(game: Game, clock: Clock | None, now: datetime) -> timedelta:
    """The time that the contestant has taken for the next move; the pauses of a contest's clock do not count."""
    if clock is None:
        return now - game.since
    return clock.contest_time(now) - clock.contest_time(game.since)


def due(game: Game, clock: Clock | None) -> tuple[datetime, Ending]:
    """When the game ends if the contestant does not move, and by what: their time, or the end of their contest.

    While a contest is paused the moment is unknown: then it is the latest possible look.
    """
    if clock is None:
        return game.since + allowance(game), "clock"
    by_time = clock.moment_of(clock.contest_time(game.since) + allowance(game))
    moments: list[tuple[datetime, Ending]] = []
    if by_time is not None:
        moments.append((by_time, "clock"))
    if clock.end is not None and game.started < clock.end:
        moments.append((clock.end, "contest"))
    return min(moments, default=(game.since + LONGEST_MOVE, "clock"))


def paced(table: Table, clock: Clock | None) -> Table:
    """The table with the deadline of the contestant's next move."""
    moment, _ = due(table.game, clock)
    return replace(table, game=replace(table.game, deadline=moment))


def after_move(moves: Sequence[Move], side: int, number: int) -> Sequence[Move]:
    """The moves up to the opponent's reply to one of the contestant's."""

    def until() -> Iterator[Move]:
        for move in moves:
            if move.number > number and move.side == side:
                return
            yield move

    return list(until())
