"""`jurado play`: a game in the terminal, or many games of a program."""

import os
import shlex
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from app.core.commands.output import Failure, console, harmless, person_at_stdin, show, table, write_file, write_json
from app.core.commands.registry import AsJson, command
from app.games.commands import choices
from app.games.commands.program import Program, run_all, save
from checkers.doors import Rejected
from games.catalog import names
from games.doors import AnyGame, Position, Side
from games.match import Computer, Lost, Match, Player
from games.transcript import End, Transcript, write

HELP = "moves (list them), resign, quit, help"
MOST_SHOWN = 60
STYLES = {"plain": "", "dim": "dim", "move": "green", "mark": "bold reverse"}


def picture(game: AnyGame, position: Position) -> Text:
    """Draw a position; lines are cut at the width of the terminal and never folded, as folded boards are unreadable."""
    text = Text(no_wrap=True, overflow="crop")
    for line in game.picture(position):
        for part, style in line:
            text.append(part, STYLES[style])
        text.append("\n")
    text.right_crop(1)
    return text


class Quit(Exception):
    """The person leaves the game as it stands."""


@dataclass
class Person:
    """A person at the terminal as a player, against an opponent of this name."""

    opponent: str
    game: AnyGame = field(init=False)
    side: Side = field(init=False)
    position: Position = field(init=False)
    made: int = 0

    def start(self, game: AnyGame, side: Side, instance: str) -> None:
        """Show who plays."""
        self.game, self.side, self.position = game, side, game.start(instance)
        show(f"{game.title}: {self._name(0)} against {self._name(1)}. Type a move, or {HELP}.")

    def choose(self, position: Position, number: int) -> str:
        """Show the position, and ask until a legal move is typed; raises Lost to resign, and Quit."""
        while True:
            console().print(picture(self.game, position))
            answer = ask_at_terminal(f"{self.game.sides[self.side]}> ")
            if answer is None or answer == "quit":
                raise Quit
            if answer == "resign":
                raise Lost("resigned")
            legal = self.game.legal(position)
            if answer == "help":
                show(f"{legal.rule}. Commands: {HELP}")
            elif answer == "moves":
                is_short = legal.moves is not None and len(legal.moves) <= MOST_SHOWN
                show(f"{legal.rule}: {', '.join(legal.moves)}" if legal.moves and is_short else legal.rule)
            elif answer:
                try:
                    self._follow(answer)
                except Rejected as error:
                    show(f"not a move here: {harmless(str(error))}")
                else:
                    return answer

    def hear(self, move: str) -> None:
        """Show the opponent's move."""
        self._follow(move)
        show(f"{self._name(1 - self.side)}: {move}")

    def finish(self, won: bool | None, end: End) -> None:
        """Show the last position and who won."""
        if end.reason == "over":
            console().print(picture(self.game, self.position))
        elif end.reason == "resigned":
            show(f"{self.game.sides[self.side]} resigns")
        show("a draw" if end.winner is None else f"{self._name(end.winner)} won after {self.made} moves")

    def _follow(self, move: str) -> None:
        self.position = self.game.apply(self.position, move)
        self.made += 1

    def _name(self, side: int) -> str:
        name = self.game.sides[side]
        return name if side == self.side else f"{self.opponent} ({name})"


def play_person(game: AnyGame, instance: str, side: Side, opponent: str, seed: int) -> Transcript:
    """Let a person play a game in the terminal; the transcript of one that was left has no end."""
    person, other = Person(opponent), Computer(game.opponents[opponent], seed)
    match = Match(game, instance, (other, person) if side else (person, other), side, opponent, seed)
    try:
        return match.play()
    except Quit:
        return Transcript(game.slug, instance, side, opponent, seed, tuple(match.moves), None)


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


MOST_AT_ONCE = 64
DEFAULT = "optimal"


@command("play")
def play(
    game: Annotated[
        str | None, typer.Argument(metavar="[GAME]", help="such as lasttreat; none: list the games")
    ] = None,
    opponent: Annotated[
        str | None, typer.Option("--opponent", metavar="NAME", help="who plays the other side; default: optimal")
    ] = None,
    side: Annotated[str | None, typer.Option("--as", metavar="SIDE", help="your side: its name, or 1 or 2")] = None,
    position: Annotated[
        list[str] | None, typer.Option(metavar="TEXT", help="where to begin: a file, -, or the position on one line")
    ] = None,
    seed: Annotated[int, typer.Option(help="seed of the opponent's choices; of many games the first one's", min=0)] = 1,
    program: Annotated[
        str | None, typer.Option("--with", metavar="CMD", help="a program plays, by standard input and output")
    ] = None,
    games: Annotated[int, typer.Option(help="with --with: how many games from each position", min=1)] = 1,
    jobs: Annotated[int | None, typer.Option(help="with --with: games at once", min=1, max=MOST_AT_ONCE)] = None,
    move_seconds: Annotated[float, typer.Option(help="with --with: time for a move", min=0.001)] = 10.0,
    save_to: Annotated[
        Path | None, typer.Option("--save", metavar="PATH", help="write the transcript; with --with a folder of them")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Play a game against an opponent of the catalogue: yourself in the terminal, or a program with --with.

    A program reads `GAME SIDE N` and the N lines of the position, then `go` (it prints its move), `move TEXT` (the
    other player's) and at last `end won`. Exit code 1: a program lost a game.

    Examples:
      jurado play lasttreat --opponent adversarial --position '2 5 2'
      jurado play netgame --position net.in
      jurado play lasttreat --with './mine' --opponent adversarial --games 100
    """
    if game is None:
        list_games(as_json=as_json)
        return
    rules = choices.game_named(game)
    opponent = opponent or DEFAULT
    starts = choices.positions(rules, position or [])
    own = choices.side_named(rules, side)
    choices.opponent_named(rules, opponent)
    if program is not None:
        played = play_program(rules, program, own, opponent, starts, seed, games, jobs, move_seconds, quiet=as_json)
        save(save_to, [(f"{at:04}", transcript) for at, transcript in enumerate(played, start=1)])
        report(rules, own, opponent, played, as_json=as_json)
        return
    if len(starts) > 1:
        raise Failure(f"expected one position, found {len(starts)}: in the terminal one game is played at a time")
    transcript = play_person(rules, starts[0], own, opponent, seed)
    if save_to is not None:
        write_file(save_to, write(transcript).encode())


def list_games(*, as_json: bool) -> None:
    """List the games and their opponents."""
    rows = [
        (slug, name, opponent.summary)
        for slug in names()
        for name, opponent in choices.game_named(slug).opponents.items()
    ]
    if as_json:
        write_json([{"game": slug, "opponent": name, "summary": summary} for slug, name, summary in rows])
    else:
        show(table("", ["game", "opponent", "how it plays"], rows))


def play_program(
    game: AnyGame,
    command: str,
    side: Side,
    opponent: str,
    starts: list[str],
    seed: int,
    games: int,
    jobs: int | None,
    seconds: float,
    *,
    quiet: bool,
) -> list[Transcript]:
    """Let a program play games from each position, with a seed each, several at once."""
    words = split(command)

    def one_game(start: str, own_seed: int) -> Transcript:
        mine = Program(words, seconds)
        other = Computer(game.opponents[opponent], own_seed)
        players: tuple[Player, Player] = (other, mine) if side else (mine, other)
        try:
            return Match(game, start, players, side, opponent, own_seed).play()
        finally:
            mine.close()

    wanted = [partial(one_game, start, seed + at) for start in starts for at in range(games)]
    return run_all(wanted, jobs or os.cpu_count() or 1, f"{game.slug} against {opponent}", quiet=quiet)


def split(command: str) -> list[str]:
    """Split a command line into words, as a shell does; raises Failure where it is empty or a quote is open."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise Failure(f"command {command!r}: {str(error).lower()}") from None
    if not words:
        raise Failure("expected a command, found nothing")
    return words


def report(game: AnyGame, side: Side, opponent: str, played: list[Transcript], *, as_json: bool) -> None:
    """Print how the games of a program ended; exit code 1 unless all were won."""
    won = [each for each in played if each.end is not None and each.end.winner == side]
    if as_json:
        write_json(
            {"game": game.slug, "opponent": opponent, "won": len(won), "games": [as_data(each) for each in played]}
        )
    else:
        rows = [
            (
                at,
                each.seed,
                ended(each, side),
                len(each.moves),
                f"{max((move.seconds for move in each.moves if move.side == side), default=0.0):.3f}",
                "" if each.end is None else each.end.text,
            )
            for at, each in enumerate(played, start=1)
            if len(played) <= 20 or each not in won
        ]
        columns = [">game", ">seed", "ended", ">moves", ">slowest s", "why"]
        title = f"{game.slug} against {opponent}: {len(won)} of {len(played)} games won"
        show(table(title, columns, rows) if rows else title)
    if len(won) < len(played):
        raise typer.Exit(1)


def ended(transcript: Transcript, side: Side) -> str:
    """Say in a word or two how a game ended for a side."""
    end = transcript.end
    if end is None:
        return "goes on"
    result = "draw" if end.winner is None else "won" if end.winner == side else "lost"
    return result if end.reason == "over" else f"{result}, {end.reason}"


def as_data(transcript: Transcript) -> dict[str, object]:
    """Give a game as JSON: how it ended, and its moves."""
    game, end = choices.game_named(transcript.game), transcript.end
    winner = None if end is None or end.winner is None else game.sides[end.winner]
    moves = [{"side": game.sides[move.side], "move": move.text, "seconds": move.seconds} for move in transcript.moves]
    reason, text = (None, "") if end is None else (end.reason, end.text)
    return {
        "position": transcript.instance,
        "seed": transcript.seed,
        "winner": winner,
        "reason": reason,
        "text": text,
        "moves": moves,
    }
