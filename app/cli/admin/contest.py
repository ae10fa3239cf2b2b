"""`jurado admin contest`, its life: pause, resume, reveal, thaw, finalize, disqualify, settings."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any

import typer

from app.cli.admin.commands import ContestId, contest
from app.cli.admin.presenter import present
from app.cli.client import Client
from app.cli.contestant.commands import team_names
from app.cli.output import Failure, examples, tell
from app.cli.solve import AsJson

GROUPS = {"contest": contest}


class Step(StrEnum):
    """How much of a frozen board is opened at once."""

    CELL = "cell"
    ROW = "row"
    ALL = "all"


@contest.command("pause", epilog=examples("jurado admin contest pause finals"))
def pause(contest_id: ContestId, as_json: AsJson = False) -> None:
    """Let a running contest's time stand still; nobody may submit until `resume`."""
    with Client.open() as client:
        found = client.post(f"contests/{contest_id}/pause")
    tell(f"contest {contest_id} is paused", found, as_json=as_json)


@contest.command("resume", epilog=examples("jurado admin contest resume finals"))
def resume(contest_id: ContestId, as_json: AsJson = False) -> None:
    """Let a paused contest go on; its freeze and its end have moved by what was taken out."""
    with Client.open() as client:
        found = client.post(f"contests/{contest_id}/resume")
    tell(f"contest {contest_id} goes on", found, as_json=as_json)


@contest.command(
    "reveal",
    epilog=examples(
        "jurado admin contest reveal finals",
        "jurado admin contest reveal finals --step row",
        "jurado admin contest reveal finals --step all --json",
        "jurado admin contest reveal finals --next",
        "jurado admin contest reveal finals --present",
    ),
)
def reveal(
    contest_id: ContestId,
    step: Annotated[Step, typer.Option(help="the next problem, the next team's problems, or everything")] = Step.CELL,
    presenting: Annotated[
        bool, typer.Option("--present", help="before an audience: one key a step (space next, ← look back, q quit)")
    ] = False,
    only_next: Annotated[bool, typer.Option("--next", help="open nothing, show what comes next")] = False,
    as_json: AsJson = False,
) -> None:
    """Open a frozen board from the bottom up, after the end; with the last place it is thawed."""
    path = f"contests/{contest_id}/reveal"
    if presenting and (only_next or as_json):
        raise Failure("expected --present, --next or --json, found two of them")
    with Client.open() as client:
        if presenting:
            names = team_names(client, contest_id)
            last = present(client, contest_id, step.value, names)
            typer.echo("\n".join(revealed_lines({**last, "opened": []}, names)))
            return
        found = client.get(path) if only_next else client.post(path, {"step": step.value})
        names = {} if as_json else team_names(client, contest_id)
    tell("\n".join(revealed_lines(found, names)), found, as_json=as_json)


def revealed_lines(found: dict[str, Any], names: dict[str, str]) -> list[str]:
    """What was opened, and what comes next."""
    lines = [f"opened: {names.get(each['team_id'], each['team_id'])}, {each['problem_id']}" for each in found["opened"]]
    if found["next"] is not None:
        team, rank = found["next"]["team_id"], found["next"]["rank"]
        problems = ", ".join(found["next"]["problem_ids"])
        left = "1 place" if found["left"] == 1 else f"{found['left']} places"
        place = "not on the board" if rank is None else f"rank {rank} by now"
        lines.append(f"next: {names.get(team, team)}, {place}: {problems} ({left} left)")
    elif found["thawed"]:
        lines.append("everything is open: the board is thawed")
    else:
        lines.append("nothing is hidden")
    return lines


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
        found = client.patch(f"contests/{contest_id}", {"id": contest_id, "finalized": not undo})
    tell(f"the results of contest {contest_id} are {'open again' if undo else 'final'}", found, as_json=as_json)


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
        found = client.patch(f"contests/{contest_id}/teams/{team}", {"disqualified": not undo})
    tell(f"team {team} is {'taking part again' if undo else 'disqualified'} in {contest_id}", found, as_json=as_json)


@contest.command(
    "set",
    epilog=examples(
        "jurado admin contest set finals",
        "jurado admin contest set finals virtual=true practice=true",
        "jurado admin contest set finals final_minutes=30 personal_duration=3:00:00",
        "jurado admin contest set finals final_minutes=null",
    ),
)
def set_settings(
    contest_id: ContestId,
    settings: Annotated[
        list[str] | None, typer.Argument(metavar="NAME=VALUE...", help="what to change; JSON or plain text")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change settings of a contest, and show all of them; what is not named stays."""
    given = dict(setting(text) for text in settings or [])
    with Client.open() as client:
        path = f"contests/{contest_id}"
        found = client.patch(path, {"settings": given}) if given else client.get(path)
    there = found["settings"]
    tell("\n".join(f"{name}={value_text(value)}" for name, value in there.items()), there, as_json=as_json)


def setting(text: str) -> tuple[str, object]:
    """Read NAME=VALUE; a value that is no JSON is a text, such as a time."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise Failure(f"expected NAME=VALUE such as virtual=true, found {text!r}")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def value_text(value: object) -> str:
    """Write a value as it may be given: a text plainly, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)
