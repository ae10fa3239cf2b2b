"""`jurado replay`: a game move by move, from its transcript or from the server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from app.core.commands.client import Client
from app.core.commands.options import AsJson
from app.core.commands.output import Failure, console, harmless, person_at_stdin, show, write_json
from app.core.commands.registry import command
from app.games.commands.checking import summary, transcript_file
from app.games.commands.choices import game_named
from app.games.commands.drawing import picture
from checkers.doors import Rejected
from games.transcript import Move, Transcript, read, replay, won_by_contestant


@command("replay")
def replay_game(
    game: Annotated[str, typer.Argument(metavar="GAME", help="a transcript's file, or the id of an ended game")],
    move: Annotated[
        int | None, typer.Option("--move", metavar="N", help="only the position after this move; 0: the start", min=0)
    ] = None,
    step: Annotated[bool, typer.Option("--step", help="wait for Enter before each move")] = False,
    as_json: AsJson = False,
) -> None:
    """Replay a game move by move, and verify it: legal moves, the opponent's own moves, and the end.

    Exit code 1: the transcript has a fault, which is named with the move's number.

    Examples:
      jurado replay evening.game
      jurado replay evening.game --move 3 --json
    """
    transcript = fetched(game)
    rules = game_named(transcript.game)
    positions: list[tuple[int, Move | None, Any]] = []
    outcome = replay(transcript, lambda number, made, position: positions.append((number, made, position)))
    if outcome.fault is None or outcome.fault.number is not None:
        positions.insert(0, (0, None, rules.start(transcript.instance)))
    if move is not None and move >= len(positions):
        raise Failure(f"--move: expected 0 to {len(positions) - 1}, found {move}")
    wanted = positions if move is None else [positions[move]]
    fault = None if outcome.fault is None else outcome.fault.message.text
    if as_json:
        write_json(
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
            if step and number and person_at_stdin():
                typer.prompt("Enter for the next move", default="", show_default=False)
            if made is not None:
                show(f"{number} {rules.sides[made.side]}: {harmless(made.text)} ({made.seconds:.3f} s)")
            console().print(picture(rules, position))
        if outcome.fault is None and move is None:
            show(summary(transcript, won=won_by_contestant(transcript, outcome)))
    if outcome.fault is not None:
        raise Failure(f"{game}: {fault}", 1)


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
        raise Failure(f"{game}: {error}", 1) from None
