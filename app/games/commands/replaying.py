"""`jurado replay`: a game move by move, from its transcript or from the server.

- `jurado games`: the games of a contest, one's own or, for judges, all of them.
- Positions on a terminal: the game's own picture, in colours where there are any.
"""

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from app.core.commands import output, registry
from app.core.commands.client import Client
from app.games.commands.choices import GAMES, game_named, summary, transcript_file
from checkers.doors import Rejected
from games.doors import AnyGame, Position
from games.transcript import Move, Transcript, read, replay, won_by_contestant

STATES = ("playing", "ended")


@registry.command("games")
def games(
    contest: registry.Contest,
    state: Annotated[str | None, typer.Option(metavar="STATE", help="playing or ended; default: both")] = None,
    problem: Annotated[str | None, typer.Option(metavar="PROBLEM", help="only of this one: its id or label")] = None,
    team: Annotated[str | None, typer.Option(metavar="ID", help="only of this team, for judges")] = None,
) -> registry.Request:
    """List the games of a contest, the latest first: your own, or as a judge everybody's.

    `jurado replay GAME` shows one move by move.

    Examples:
      jurado games games
      jurado games finals --state playing --problem C --json
    """
    if state is not None and state not in STATES:
        raise output.Failure(f"--state: expected {' or '.join(STATES)}, found {state!r}")
    params = {"state": state, "problem_id": problem, "team_id": team}
    columns = registry.Table(GAMES, f"games of {contest}", f"{contest}: no games")
    return registry.Request("GET", f"contests/{contest}/games", columns, params=params)


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


@registry.command("replay")
def replay_game(
    game: Annotated[str, typer.Argument(metavar="GAME", help="a transcript's file, or the id of an ended game")],
    move: Annotated[
        int | None, typer.Option("--move", metavar="N", help="only the position after this move; 0: the start", min=0)
    ] = None,
    as_json: registry.AsJson = False,
) -> None:
    """Replay a game move by move, and verify it: legal moves, the opponent's own moves, and the end.

    Exit code 1: the transcript has a fault, which is named with the move's number.

    Examples:
      jurado replay evening.game
      jurado replay evening.game --move 3 --json
    """
    transcript = fetched(game)
    rules = game_named(transcript.game)
    positions: list[tuple[int, Move | None, Position]] = []
    outcome = replay(transcript, lambda number, made, position: positions.append((number, made, position)))
    if outcome.fault is None or outcome.fault.number is not None:
        positions.insert(0, (0, None, rules.start(transcript.instance)))
    if move is not None and move >= len(positions):
        raise output.Failure(f"--move: expected 0 to {len(positions) - 1}, found {move}")
    wanted = positions if move is None else [positions[move]]
    fault = None if outcome.fault is None else outcome.fault.message.text
    if as_json:
        output.write_json(
            {
                "game": transcript.game,
                "fault": None if outcome.fault is None else {"move": outcome.fault.number, "message": fault},
                "won": won_by_contestant(transcript, outcome),
                "positions": [
                    {"number": number, "move": made and made.text, "position": rules.render(position)}
                    for number, made, position in wanted
                ],
            }
        )
    else:
        for number, made, position in wanted:
            if made is not None:
                output.show(f"{number} {rules.sides[made.side]}: {output.harmless(made.text)} ({made.seconds:.3f} s)")
            output.console().print(picture(rules, position))
        if outcome.fault is None and move is None:
            output.show(summary(transcript, won=won_by_contestant(transcript, outcome)))
    if outcome.fault is not None:
        raise output.Failure(f"{game}: {fault}", 1)


def fetched(game: str) -> Transcript:
    """Read a transcript from a file, else from the server; raises Failure."""
    if Path(game).is_file():
        data = transcript_file(Path(game))
    else:
        with Client.open() as client:
            data = client.request("GET", f"/api/games/{game}/transcript").content
    try:
        return read(data.decode("utf-8", "backslashreplace"))
    except Rejected as error:
        raise output.Failure(f"{game}: {error}", 1) from None
