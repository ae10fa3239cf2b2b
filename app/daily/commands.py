"""`jurado daily`: the puzzles of a day, made here without a server."""

from __future__ import annotations

import subprocess
from datetime import date
from typing import TYPE_CHECKING, Annotated

import typer

from app.core.commands import output, registry
from app.core.messages import NotFound
from app.sandbox.child import environment, last_line, module_command

if TYPE_CHECKING:
    from app.daily.service import Day


@registry.command("daily")
def daily(
    day: Annotated[
        str | None, typer.Option("--date", metavar="YYYY-MM-DD", help="the day; default: today, UTC")
    ] = None,
    kind: Annotated[str | None, typer.Option(help="optimiza, comesolo or netgame")] = None,
    size: Annotated[str | None, typer.Option(help="small, medium or large")] = None,
    svg: Annotated[bool, typer.Option("--svg", help="print the drawing of one puzzle, without its solution")] = False,
    as_json: registry.AsJson = False,
) -> None:
    """Make the puzzles of a day and print one of them as an input, or list all with their levels.

    Any day may be asked for, also one to come: a newspaper prints ahead. JSON has the solutions.

    Examples:
      jurado daily
      jurado daily --kind optimiza --size medium --svg > board.svg
      jurado daily --date 2026-12-24 --json
    """
    from app.daily.drawing import drawing
    from app.daily.service import KINDS, READER, day_called, kind_called, size_called, today

    try:
        asked = today() if day is None else day_called(day)
        kind, size = kind and kind_called(kind), size and size_called(size)
    except NotFound as error:
        raise output.Failure(str(error)) from None
    if (kind is None) != (size is None) or (svg and kind is None):
        raise output.Failure("expected --kind and --size together, for one puzzle")
    made = made_here(asked)
    if kind is None or size is None:
        rows = [(each.kind, each.size, each.x, each.y, each.z, each.drawn) for each in made.puzzles]
        columns = ["kind", "size", ">X", ">Y", ">Z", ">drawn"]
        output.write_json(READER.dump_python(made, mode="json")) if as_json else output.show(
            output.table(f"Puzzles of {made.date}", columns, rows)
        )
        return
    puzzle = made.puzzle(kind, size)
    if as_json:
        output.write_json({"date": asked.isoformat(), **puzzle.model_dump(mode="json")})
    elif svg:
        typer.echo(drawing(puzzle, f"{KINDS[kind]}, {size}, {asked}"))
    else:
        typer.echo(puzzle.instance, nl=False)


def made_here(day: date) -> Day:
    """Run the program that makes the puzzles; raises Failure with its last line where it fails."""
    from app.daily.service import READER

    done = subprocess.run(
        module_command("solvers.daily", day.isoformat()), env=environment(), capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise output.Failure(last_line(done.stderr), 1)
    return READER.validate_json(done.stdout)
