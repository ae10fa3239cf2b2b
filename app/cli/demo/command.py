"""`jurado demo`: play the story, show the board before and after, and say whether it is exactly what it must be."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import typer

from app.cli.access import new_login
from app.cli.board_tables import board_table
from app.cli.client import Client
from app.cli.demo.expected import differences, expected_rows
from app.cli.demo.finale import finale
from app.cli.demo.service_process import fresh_service
from app.cli.demo.story import CONTEST, TEAMS, Story, add_case, begin, first_round, get_ready, second_round, work
from app.cli.output import say, show, write_json
from app.cli.solve import AsJson

LOWERED = ("ants", "rollingballs")
"""Whose points at which problem the new BESTs of the second round must lower."""


def demo(as_json: AsJson = False) -> None:
    """Play a whole contest through HTTP with a fresh service, and check its board.

    An admin uploads a test case and a solver makes its answer; three teams submit and improve; a question is answered,
    a rejudging tried and undone, a frozen board opened from the bottom, an award given. Every point is worked out
    apart from the service, from raw scores found here; exit code 0 only if the board is exactly that.
    """
    began = monotonic()
    with fresh_story(began, quiet=as_json) as story:
        begin(story)
        add_case(story)
        get_ready(story)
        made = work(story)
        first_round(story, made)
        before = checked_board(story, as_json=as_json)
        second_round(story, made)
        after = checked_board(story, as_json=as_json)
        faults = finale(story, made)
        final = checked_board(story, as_json=as_json)
    boards = [before, after, final]
    faults += [*(fault for board in boards for fault in board["differences"]), *lowering(before, after)]
    seconds = round(monotonic() - began, 1)
    if as_json:
        write_json({"ok": not faults, "seconds": seconds, "differences": faults, "boards": boards})
    else:
        tell_end(before, after, faults, seconds)
    raise typer.Exit(1 if faults else 0)


@contextmanager
def fresh_story(began: float, *, quiet: bool) -> Iterator[Story]:
    """A story with a service of its own, in a temporary folder."""

    def talk(text: str) -> None:
        if quiet:
            say(text)
        else:
            typer.echo(f"{monotonic() - began:5.1f} s  {text}")

    with tempfile.TemporaryDirectory(prefix="jurado-demo-") as folder, fresh_service(Path(folder)) as running:
        talk(f"a fresh service answers at {running.url}")
        story = Story(running.url, Client(new_login(running.url, "admin", running.password)), Path(folder), talk)
        try:
            yield story
        finally:
            story.close()


def checked_board(story: Story, *, as_json: bool) -> dict[str, Any]:
    """Fetch the public board, show it, and note what is not as it must be."""
    board = story.board()
    found = differences(expected_rows(story.rules, list(TEAMS), story.sent), board)
    if not as_json:
        show(*board_table(CONTEST, board, TEAMS))
        story.talk("exactly what the raw scores make it" if not found else f"{len(found)} differences")
    return {"rows": board["rows"], "differences": found}


def points(board: Mapping[str, Any], team: str, problem: str) -> float:
    """Points of a team at a problem."""
    row = next(row for row in board["rows"] if row["team_id"] == team)
    return float(next(cell["score"] for cell in row["problems"] if cell["problem_id"] == problem))


def lowering(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The new BESTs must have cost the team that had them before some of its relative points."""
    first, second = points(before, *LOWERED), points(after, *LOWERED)
    if second < first:
        return []
    return [f"{' '.join(LOWERED)}: expected fewer points than {first} after a new BEST, found {second}"]


def tell_end(before: Mapping[str, Any], after: Mapping[str, Any], faults: list[str], seconds: float) -> None:
    """Say what the story showed, and whether the board was right."""
    first, second = points(before, *LOWERED), points(after, *LOWERED)
    typer.echo(
        f"{TEAMS[LOWERED[0]]} changed nothing at {LOWERED[1]}: {first:.2f} points became {second:.2f} by new BESTs."
    )
    for fault in faults:
        say(f"wrong: {fault}")
    verdict = "Every board was exactly what it must be" if not faults else f"{len(faults)} things were wrong"
    typer.echo(f"{verdict}; {seconds} s.")
