"""One game between two players, whoever they are: opponents of the catalogue, people, programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Protocol

from checkers.doors import Rejected
from games.doors import AnyGame, AnyOpponent, Position, Side, begin, draws
from games.transcript import End, Move, Reason, Transcript, loser_end

Clock = Callable[[], float]


class Lost(Exception):
    """A player gives up, is late, or has fallen silent: `reason` says which, the text says more."""

    def __init__(self, reason: Reason, text: str = "") -> None:
        super().__init__(text)
        self.reason = reason


class Player(Protocol):
    """Whoever plays one side of one game."""

    def start(self, game: AnyGame, side: Side, instance: str) -> None:
        """Take a seat; raises Lost where that is not possible."""
        ...

    def choose(self, position: Position, number: int) -> str:
        """Give the text of move `number`; raises Lost."""
        ...

    def hear(self, move: str) -> None:
        """Hear the other player's move."""
        ...

    def finish(self, won: bool | None, end: End) -> None:
        """Hear how the game ended; `won` is None for a draw."""
        ...


@dataclass
class Computer:
    """An opponent of the catalogue as a player."""

    opponent: AnyOpponent
    seed: int

    def start(self, game: AnyGame, side: Side, instance: str) -> None:
        """Nothing to do: an opponent knows the game."""

    def choose(self, position: Position, number: int) -> str:
        """Choose by the position and the numbers drawn for this move."""
        return self.opponent.choose(position, draws(self.seed, number))

    def hear(self, move: str) -> None:
        """Nothing to do: the position tells all."""

    def finish(self, won: bool | None, end: End) -> None:
        """Nothing to do."""


@dataclass
class Match:
    """A game to be played: its players by side, and what its transcript says of the opponent."""

    game: AnyGame
    instance: str
    players: tuple[Player, Player]
    contestant: Side
    opponent: str | None
    seed: int
    clock: Clock = monotonic
    most_moves: int = 100_000
    moves: list[Move] = field(default_factory=list)

    def play(self) -> Transcript:
        """Play to the end; a move that is illegal loses. Raises Rejected for a position that is malformed or over.

        A game of more than `most_moves` moves is broken off and lost by whoever is to move.
        """
        position = begin(self.game, self.instance)
        end = None
        for side in (0, 1):
            try:
                self.players[side].start(self.game, side, self.instance)
            except Lost as lost:
                end = end or loser_end(lost.reason, side, str(lost))
        while end is None:
            position, end = self._move(position)
        for player, own in zip(self.players, (0, 1), strict=True):
            player.finish(None if end.winner is None else end.winner == own, end)
        return Transcript(
            self.game.slug, self.instance, self.contestant, self.opponent, self.seed, tuple(self.moves), end
        )

    def _move(self, position: Position) -> tuple[Any, End | None]:
        """Make one move; gives the position after it, and the end of the game if it has come."""
        side, began = self.game.to_move(position), self.clock()
        try:
            if len(self.moves) == self.most_moves:
                raise Lost("late", f"a game has at most {self.most_moves} moves")
            text = self.players[side].choose(position, len(self.moves) + 1)
            position = self.game.apply(position, text)
        except Lost as lost:
            return position, loser_end(lost.reason, side, str(lost))
        except Rejected as error:
            return position, loser_end("illegal", side, str(error))
        self.moves.append(Move(side, text, round(self.clock() - began, 3)))
        over = self.game.over(position)
        if not over or self.game.to_move(position) != side:
            self.players[1 - side].hear(text)
        return position, End("over", self.game.winner(position)) if over else None
