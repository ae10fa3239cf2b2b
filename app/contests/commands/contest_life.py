"""`jurado admin contest`, its course: pause, resume, thaw, finalize, disqualify."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer

from app.contests.commands.contests import ContestId, contest
from app.core.commands.client import Client
from app.core.commands.options import AsJson
from app.core.commands.output import examples, report


@contest.command("pause", epilog=examples("jurado admin contest pause finals"))
def pause(contest_id: ContestId, as_json: AsJson = False) -> None:
    """Let a running contest's time stand still; nobody may submit until `resume`."""
    with Client.open() as client:
        changed = client.post(f"contests/{contest_id}/pause")
    report(f"contest {contest_id} is paused", changed, as_json=as_json)


@contest.command("resume", epilog=examples("jurado admin contest resume finals"))
def resume(contest_id: ContestId, as_json: AsJson = False) -> None:
    """Let a paused contest go on; its freeze and its end have moved by the time taken out."""
    with Client.open() as client:
        changed = client.post(f"contests/{contest_id}/resume")
    report(f"contest {contest_id} goes on", changed, as_json=as_json)


@contest.command(
    "thaw", epilog=examples("jurado admin contest thaw finals", "jurado admin contest thaw finals --at TIME")
)
def thaw(
    contest_id: ContestId,
    at: Annotated[str | None, typer.Option(metavar="TIME", help="a time with its zone; default: now")] = None,
) -> None:
    """Open a frozen board at once or at a set time, without revealing it row by row."""
    time = at or datetime.now(UTC).isoformat(timespec="milliseconds")
    with Client.open() as client:
        client.patch(f"contests/{contest_id}", {"id": contest_id, "scoreboard_thaw_time": time})
    typer.echo(f"the board of contest {contest_id} is thawed {'now' if at is None else f'at {at}'}")


@contest.command(
    "finalize", epilog=examples("jurado admin contest finalize finals", "jurado admin contest finalize finals --undo")
)
def finalize(
    contest_id: ContestId,
    undo: Annotated[bool, typer.Option("--undo", help="open it again for changes")] = False,
    as_json: AsJson = False,
) -> None:
    """Say that the results are final: awards are given, and nothing changes any more."""
    with Client.open() as client:
        changed = client.patch(f"contests/{contest_id}", {"id": contest_id, "finalized": not undo})
    report(f"the results of contest {contest_id} are {'open again' if undo else 'final'}", changed, as_json=as_json)


@contest.command(
    "disqualify",
    epilog=examples(
        "jurado admin contest disqualify finals ants", "jurado admin contest disqualify finals ants --undo"
    ),
)
def disqualify(
    contest_id: ContestId,
    team: Annotated[str, typer.Argument(metavar="TEAM", help="the team's id")],
    undo: Annotated[bool, typer.Option("--undo", help="let it take part again")] = False,
    as_json: AsJson = False,
) -> None:
    """Take a team off the board and out of every BEST; its submissions stay."""
    with Client.open() as client:
        changed = client.patch(f"contests/{contest_id}/teams/{team}", {"disqualified": not undo})
    report(
        f"team {team} is {'taking part again' if undo else 'disqualified'} in {contest_id}", changed, as_json=as_json
    )
