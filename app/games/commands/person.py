"""A person plays an opponent in the terminal: the board, and moves by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import typer

from app.core.commands.output import console, harmless, person_at_stdin
from app.games.commands.replaying import picture
from checkers.doors import Rejected
from games.doors import AnyGame, AnyOpponent, Position, Side, draws
from games.transcript import End, Move, Transcript, loser_end

HELP = "moves (list them), resign, quit, help"
MOST_SHOWN = 60


@dataclass
class Table:
    """A game at a terminal, of the person on `side` against an opponent, with its position and the moves so far."""

    game: AnyGame
    instance: str
    side: Side
    opponent: tuple[str, AnyOpponent]
    seed: int
    ask: Callable[[str], str | None]
    show: Callable[[object], None] = field(default_factory=lambda: console().print)
    position: Position = None
    moves: list[Move] = field(default_factory=list)

    def play(self) -> Transcript:
        """Play until the game is over, somebody resigns, or the input ends."""
        self.position = self.game.start(self.instance)
        self.show(f"{self.game.title}: {self._players()}. Type a move, or {HELP}.")
        end: End | None = None
        while end is None and not self.game.over(self.position):
            side = self.game.to_move(self.position)
            if side == self.side:
                self.show(picture(self.game, self.position))
                answer = self.ask(f"{self.game.sides[side]}> ")
                if answer is None or answer == "quit":
                    return self._transcript(None)
                end = self._obey(answer)
            else:
                self._reply(side)
        return self._transcript(self._ended(end))

    def _players(self) -> str:
        return " against ".join(self._name(side) for side in (0, 1))

    def _obey(self, answer: str) -> End | None:
        """Do what a person typed: a command, or else a move."""
        if answer == "resign":
            return loser_end("resigned", self.side)
        commands = {"moves": self._list, "help": self._help}
        command = commands.get(answer)
        if command is not None:
            command()
        elif answer:
            try:
                self._make(self.side, answer)
            except Rejected as error:
                self.show(f"not a move here: {harmless(str(error))}")
        return None

    def _make(self, side: Side, text: str) -> None:
        self.position = self.game.apply(self.position, text)
        self.moves.append(Move(side, text))

    def _reply(self, side: Side) -> None:
        name, opponent = self.opponent
        move = opponent.choose(self.position, draws(self.seed, len(self.moves) + 1))
        self._make(side, move)
        self.show(f"{name} ({self.game.sides[side]}): {move}")

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
            self.show(f"{self.game.sides[self.side]} resigns")
        self.show("a draw" if end.winner is None else f"{self._name(end.winner)} won after {len(self.moves)} moves")
        return end

    def _name(self, side: int) -> str:
        side_name = self.game.sides[side]
        return side_name if side == self.side else f"{self.opponent[0]} ({side_name})"

    def _transcript(self, end: End | None) -> Transcript:
        return Transcript(self.game.slug, self.instance, self.side, self.opponent[0], self.seed, tuple(self.moves), end)


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
