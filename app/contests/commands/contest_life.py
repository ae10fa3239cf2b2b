"""`jurado admin contest`, its course: pause, resume, thaw, finalize, disqualify."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from app.contests.commands.contests import ContestId
from app.core.commands.registry import command
from app.core.commands.requests import Request


@command("admin contest pause")
def pause(contest_id: ContestId) -> Request:
    """Pause a running contest: its time stops, and no one may submit until `resume`.

    Examples:
      jurado admin contest pause finals
    """
    return Request("POST", f"contests/{contest_id}/pause", f"contest {contest_id} is paused")


@command("admin contest resume")
def resume(contest_id: ContestId) -> Request:
    """Resume a paused contest; its freeze and its end move by the length of the pause.

    Examples:
      jurado admin contest resume finals
    """
    return Request("POST", f"contests/{contest_id}/resume", f"contest {contest_id} has resumed")


@command("admin contest thaw")
def thaw(
    contest_id: ContestId,
    at: Annotated[str | None, typer.Option(metavar="TIME", help="a time with its zone; default: now")] = None,
) -> Request:
    """Open a frozen board at once or at a set time, without revealing it row by row.

    Examples:
      jurado admin contest thaw finals
      jurado admin contest thaw finals --at TIME
    """
    time = at or datetime.now(UTC).isoformat(timespec="milliseconds")
    text = f"the board of contest {contest_id} is thawed {'now' if at is None else f'at {at}'}"
    return Request("PATCH", f"contests/{contest_id}", text, {"id": contest_id, "scoreboard_thaw_time": time})


@command("admin contest finalize")
def finalize(
    contest_id: ContestId,
    undo: Annotated[bool, typer.Option("--undo", help="open it again for changes")] = False,
) -> Request:
    """Declare the results final: awards are given, and nothing changes after that.

    Examples:
      jurado admin contest finalize finals
      jurado admin contest finalize finals --undo
    """
    text = f"the results of contest {contest_id} are {'open again' if undo else 'final'}"
    return Request("PATCH", f"contests/{contest_id}", text, {"id": contest_id, "finalized": not undo})


@command("admin contest disqualify")
def disqualify(
    contest_id: ContestId,
    team: Annotated[str, typer.Argument(metavar="TEAM", help="the team's id")],
    undo: Annotated[bool, typer.Option("--undo", help="let it take part again")] = False,
) -> Request:
    """Take a team off the board and out of every BEST; its submissions stay.

    Examples:
      jurado admin contest disqualify finals ants
      jurado admin contest disqualify finals ants --undo
    """
    text = f"team {team} is {'taking part again' if undo else 'disqualified'} in {contest_id}"
    return Request("PATCH", f"contests/{contest_id}/teams/{team}", text, {"disqualified": not undo})
