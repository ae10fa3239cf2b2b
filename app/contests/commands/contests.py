"""`jurado admin contest`: contests, their problems and teams.

- `jurado admin contest`, its course: pause, resume, finalize, disqualify, extra time.
"""

from datetime import UTC, datetime
from typing import Annotated

import typer
from jurado_client.connection import named

from app.core.commands.registry import ContestId, Request, command, deletion


@command("admin contest create")
def create_contest(
    contest_id: Annotated[str, typer.Argument(metavar="ID")],
    full_name: Annotated[str, typer.Argument(metavar="NAME")],
    start: Annotated[str | None, typer.Option(metavar="TIME", help="now, or a time with its zone")] = None,
    duration: Annotated[str, typer.Option(metavar="H:MM:SS")] = "5:00:00",
    freeze: Annotated[
        str | None, typer.Option(metavar="H:MM:SS", help="freeze the board so long before the end")
    ] = None,
    open_to_all: Annotated[bool, typer.Option("--open-to-all", help="every team takes part")] = False,
    already_over: Annotated[bool, typer.Option("--already-over", help="allow an end in the past")] = False,
) -> Request:
    """Create a contest. `jurado admin contest set` limits what teams may send to it.

    Examples:
      jurado admin contest create finals 'The finals' --start now --duration 5:00:00
      jurado admin contest create finals 'The finals' --start 2026-12-01T09:00:00+01:00 --freeze 1:00:00
      jurado admin contest create gym Gym --start now --duration 8760:00:00 --open-to-all
    """
    given = {
        "id": contest_id,
        "name": full_name,
        "start_time": datetime.now(UTC).isoformat(timespec="milliseconds") if start == "now" else start,
        "duration": duration,
        "scoreboard_freeze_duration": freeze,
        "open_to_all": open_to_all,
        "already_over": already_over or None,
    }
    return Request(
        "POST",
        "contests",
        lambda made: f"contest {made['id']} has been created; it starts {made['start_time'] or 'when you say so'}",
        named(given),
    )


@command("admin contest add-problem")
def add_problem(
    contest_id: ContestId,
    problem: Annotated[str, typer.Argument(help="the problem's id")],
    label: Annotated[str | None, typer.Option(help="default: the next free letter")] = None,
    kind: Annotated[str | None, typer.Option(help="absolute, relative or rank")] = None,
    direction: Annotated[str | None, typer.Option(help="maximise or minimise")] = None,
    counting: Annotated[str | None, typer.Option(help="best-case, best or last")] = None,
    carry: Annotated[str | None, typer.Option(help="best, latest or none")] = None,
    max_points: Annotated[str | None, typer.Option(help="a number or a ratio such as 100/3")] = None,
    reference_counts: Annotated[
        bool, typer.Option("--reference-counts", help="the reference takes part in BEST")
    ] = False,
) -> Request:
    """Put a problem into a contest; the scoring left out is the problem's own.

    Examples:
      jurado admin contest add-problem finals comesolo
      jurado admin contest add-problem finals rollingballs --kind relative --counting last --carry best --label R
    """
    rule = {"kind": kind, "direction": direction, "counting": counting, "carry": carry, "max_points": max_points}
    given = {"id": problem, "label": label, "rule": named({**rule, "reference_counts": reference_counts or None})}
    address, text = f"contests/{contest_id}/problems", f"problem {problem} is %s in {contest_id}"
    return Request("POST", address, lambda entry: text % entry["label"], named(given))


@command("admin contest remove-problem")
def remove_problem(
    contest_id: ContestId, problem: Annotated[str, typer.Argument(help="the problem's id or label")]
) -> Request:
    """Remove a problem without submissions from a contest.

    Examples:
      jurado admin contest remove-problem finals comesolo
    """
    return deletion(f"contests/{contest_id}/problems/{problem}")


@command("admin contest add-team")
def enrol(contest_id: ContestId, teams: Annotated[list[str], typer.Argument(metavar="TEAM...")]) -> Request:
    """Let teams take part in a contest.

    Examples:
      jurado admin contest add-team finals red blue
    """
    return Request(
        "POST",
        f"contests/{contest_id}/teams",
        lambda enrolled: f"{len(enrolled)} teams take part in {contest_id}",
        {"team_ids": teams},
    )


@command("admin contest delete")
def delete_contest(contest_id: ContestId) -> Request:
    """Delete a contest without submissions.

    Examples:
      jurado admin contest delete finals
    """
    return deletion(f"contests/{contest_id}")


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


@command("admin contest extra-time")
def give_extra_time(
    contest_id: ContestId,
    team: Annotated[str, typer.Argument(metavar="TEAM", help="the team's id")],
    minutes: Annotated[int, typer.Argument(metavar="MINUTES", min=0, help="0: none")],
) -> Request:
    """Let a team submit for some minutes after the end of the contest.

    Examples:
      jurado admin contest extra-time finals ants 15
    """
    extra = f"{minutes // 60}:{minutes % 60:02}:00"
    text = f"team {team} has {minutes} extra minutes in {contest_id}"
    return Request("PATCH", f"contests/{contest_id}/teams/{team}", text, {"extra_time": extra})
