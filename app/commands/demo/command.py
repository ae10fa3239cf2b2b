"""`jurado demo`: play the story, show the board before and after, and say whether it is exactly what it must be."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic

import typer

from app.accounts.commands.access import new_login
from app.commands.demo.expected import differences, expected_rows
from app.commands.demo.finale import finale, points_of
from app.commands.demo.service_process import fresh_service
from app.commands.demo.story import CONTEST, TEAMS, Story, add_case, begin, first_round, get_ready, second_round, work
from app.core.commands.board_tables import board_table
from app.core.commands.client import Client
from app.core.commands.options import AsJson
from app.core.commands.output import JsonMapping, say, show, write_json
from app.core.commands.registry import command
from app.core.files.temporary import DEMO_PREFIX, locked_folder

NO_SPARE = {"JURADO_SPARE_GRADERS": "0"}
"""No grader dies in the story, so that none in reserve need start beside the others."""
LOWERED = ("ants", "rollingballs")
"""The team and the problem whose points the new BESTs of the second round must lower."""


@dataclass(frozen=True)
class CheckedBoard:
    """A public board, and where it differs from what the raw scores make it."""

    board: JsonMapping
    differences: list[str]

    def points(self, team: str, problem: str) -> float:
        """Give the points of a team at a problem."""
        row = next(row for row in self.board["rows"] if row["team_id"] == team)
        return points_of(row, problem)


@command("demo")
def demo(as_json: AsJson = False) -> None:
    """Play a whole contest through HTTP with a fresh service, and check its board.

    An admin uploads a test case and a solver makes its answer; three teams submit and improve; a question is answered,
    a rejudging tried and undone, a frozen board opened from the bottom, an award given. Every point is computed here
    too, from raw scores and apart from the service; exit code 0 only if each board is exactly that.

    Examples:
      jurado demo
      jurado demo --json
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
    faults += [*(fault for board in boards for fault in board.differences), *lowering(before, after)]
    seconds = round(monotonic() - began, 1)
    if as_json:
        documents = [{"rows": each.board["rows"], "differences": each.differences} for each in boards]
        write_json({"ok": not faults, "seconds": seconds, "differences": faults, "boards": documents})
    else:
        print_end(before, after, faults, seconds)
    raise typer.Exit(1 if faults else 0)


@contextmanager
def fresh_story(began: float, *, quiet: bool) -> Iterator[Story]:
    """Begin a story with a service of its own, in a temporary folder."""

    def talk(text: str) -> None:
        if quiet:
            say(text)
        else:
            typer.echo(f"{monotonic() - began:5.1f} s  {text}")

    with locked_folder(DEMO_PREFIX) as folder, fresh_service(folder, NO_SPARE) as running:
        talk(f"a fresh service answers at {running.url}")
        story = Story(running.url, Client(new_login(running.url, "admin", running.password)), folder, talk)
        try:
            yield story
        finally:
            story.close()


def checked_board(story: Story, *, as_json: bool) -> CheckedBoard:
    """Fetch the public board, show it, and compare it with the expected one."""
    board = story.board()
    faults = differences(expected_rows(story.rules, list(TEAMS), story.sent), board)
    if not as_json:
        show(*board_table(CONTEST, board, TEAMS))
        story.talk("exactly what the raw scores make it" if not faults else f"{len(faults)} differences")
    return CheckedBoard(board, faults)


def lowering(before: CheckedBoard, after: CheckedBoard) -> list[str]:
    """Check that the new BESTs lowered the relative points of the team that had the BESTs before."""
    first, second = before.points(*LOWERED), after.points(*LOWERED)
    if second < first:
        return []
    return [f"{' '.join(LOWERED)}: expected fewer points than {first} after a new BEST, found {second}"]


def print_end(before: CheckedBoard, after: CheckedBoard, faults: list[str], seconds: float) -> None:
    """Print what the story showed, and whether the boards were right."""
    first, second = before.points(*LOWERED), after.points(*LOWERED)
    typer.echo(
        f"{TEAMS[LOWERED[0]]} changed nothing at {LOWERED[1]}: {first:.2f} points became {second:.2f} by new BESTs."
    )
    for fault in faults:
        say(f"wrong: {fault}")
    verdict = "Every board was exactly what it must be" if not faults else f"{len(faults)} things were wrong"
    typer.echo(f"{verdict}; {seconds} s.")
