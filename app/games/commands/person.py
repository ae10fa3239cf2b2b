"""A person plays in the terminal, or two do: the board, moves by name, hints from the solver, undo."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import typer

from app.core.commands.output import console, harmless, person_at_stdin
from app.games.commands.replaying import picture
from checkers.doors import Rejected
from games.doors import Game, Opponent, Side, draws
from games.transcript import End, Move, Transcript, loser_end

HELP = "moves (list them), hint, undo, resign, quit, help"
MOST_SHOWN = 60


@dataclass
class Table:
    """A game at a terminal: the positions so far, of which the last one counts, and the moves between them.

    `opponent` plays every side that is not in `people`.
    """

    game: Game[Any]
    instance: str
    people: frozenset[Side]
    opponent: tuple[str, Opponent[Any]] | None
    seed: int
    ask: Callable[[str], str | None]
    show: Callable[[object], None] = field(default_factory=lambda: console().print)
    positions: list[Any] = field(default_factory=list)
    moves: list[Move] = field(default_factory=list)

    @property
    def position(self) -> Any:
        """The position that the game has come to."""
        return self.positions[-1]

    def play(self) -> Transcript:
        """Play until the game is over, somebody resigns, or the input ends."""
        self.positions = [self.game.start(self.instance)]
        self.show(f"{self.game.title}: {self._players()}. Type a move, or {HELP}.")
        end: End | None = None
        while end is None and not self.game.over(self.position):
            side = self.game.to_move(self.position)
            if side in self.people:
                self.show(picture(self.game, self.position))
                answer = self.ask(f"{self.game.sides[side]}> ")
                if answer is None or answer == "quit":
                    return self._transcript(None)
                end = self._obey(answer, side)
            else:
                self._reply(side)
        return self._transcript(self._ended(end))

    def _players(self) -> str:
        return " against ".join(self._name(side) for side in (0, 1))

    def _obey(self, answer: str, side: Side) -> End | None:
        """Do what a person typed: a command, or else a move."""
        if answer == "resign":
            return loser_end("resigned", side)
        commands = {"hint": self._hint, "undo": self._undo, "moves": self._list, "help": self._help}
        command = commands.get(answer)
        if command is not None:
            command()
        elif answer:
            try:
                self._make(side, answer)
            except Rejected as error:
                self.show(f"not a move here: {harmless(str(error))}")
        return None

    def _make(self, side: Side, text: str) -> None:
        position = self.game.apply(self.position, text)
        self.positions.append(position)
        self.moves.append(Move(side, text))

    def _reply(self, side: Side) -> None:
        assert self.opponent is not None, "whoever is no person is an opponent"
        name, opponent = self.opponent
        move = opponent.choose(self.position, draws(self.seed, len(self.moves) + 1))
        self._make(side, move)
        self.show(f"{name} ({self.game.sides[side]}): {move}")

    def _hint(self) -> None:
        """Show a move of the opponent `optimal`, and what is known of the position."""
        outlook = self.game.outlook(self.position)
        move = self.game.opponents["optimal"].choose(self.position, Random(0))
        value = {True: "you can win", False: "lost against best play", None: "not known who wins"}[outlook.won]
        self.show(f"hint: {move} ({value}; {outlook.note})")

    def _undo(self) -> None:
        """Take back moves, as far as the last one of a person."""
        people = [at for at, move in enumerate(self.moves) if move.side in self.people]
        if not people:
            self.show("there is no move of yours to take back")
            return
        del self.moves[people[-1] :]
        del self.positions[people[-1] + 1 :]

    def _list(self) -> None:
        legal = self.game.legal(self.position)
        if legal.moves is None or len(legal.moves) > MOST_SHOWN:
            self.show(legal.rule)
        else:
            self.show(f"{legal.rule}: {', '.join(legal.moves)}")

    def _help(self) -> None:
        self.show(f"{self.game.legal(self.position).rule}. Commands: {HELP}")

    def _ended(self, end: End | None) -> End:
        """Show the last position and who won."""
        if end is None:
            self.show(picture(self.game, self.position))
            end = End("over", self.game.winner(self.position))
        elif end.reason == "resigned":
            self.show(f"{self.game.sides[self.game.to_move(self.position)]} resigns")
        self.show("a draw" if end.winner is None else f"{self._name(end.winner)} won after {len(self.moves)} moves")
        return end

    def _name(self, side: int) -> str:
        side_name = self.game.sides[side]
        return side_name if side in self.people or self.opponent is None else f"{self.opponent[0]} ({side_name})"

    def _transcript(self, end: End | None) -> Transcript:
        contestant: Side = 0 if 0 in self.people else 1
        name = None if self.opponent is None else self.opponent[0]
        return Transcript(self.game.slug, self.instance, contestant, name, self.seed, tuple(self.moves), end)


def ask_at_terminal(prompt: str) -> str | None:
    """Read a line, without the white space around it; None at the end of the input. One that is piped is shown."""
    typer.echo(prompt, nl=False)
    try:
        line = input()
    except (EOFError, KeyboardInterrupt):
        typer.echo()
        return None
    if not person_at_stdin():
        typer.echo(harmless(line))
    return " ".join(line.split())
