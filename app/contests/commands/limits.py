"""Limits of a contest on the command line: how often a team may submit, and how many bytes.

- Decisions of a team beside submitting: its own clock, its final inputs, which submission counts.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from app.core.commands import lookup, output
from app.core.commands.client import Client
from app.core.commands.registry import Cell, Contest, Problem, Request, Shown, Table, command

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}


def size_text(bytes_: int | None) -> str:
    """A number of bytes, in the largest unit that it is a whole number of."""
    if bytes_ is None:
        return "any number of bytes"
    unit = next(unit for unit in ("T", "G", "M", "K", "") if bytes_ % UNITS[unit] == 0) if bytes_ else ""
    return f"{bytes_ // UNITS[unit]} {unit}iB" if unit else f"{bytes_} bytes"


def limits_text(limits: output.JsonMapping) -> str:
    """Say what the limits of a problem are."""
    parts = []
    if (most := limits.get("max_submissions")) is not None:
        parts.append(f"at most {most} submissions")
    if (interval := limits.get("interval_seconds")) is not None:
        parts.append(f"{interval:g} s between two")
    if (per := limits.get("per_window")) is not None:
        parts.append(f"{per['count']} in any {per['seconds']:g} s")
    parts = parts or ["as often as one likes"]
    if (games := limits.get("open_games")) is not None:
        parts.append(f"{games} games open at once")
    for name, what in (("move_seconds", "a move"), ("game_seconds", "a game")):
        if (seconds := limits.get(name)) is not None:
            parts.append(f"{seconds:g} s for {what}")
    return ", ".join(parts)


def settings_text(settings: output.JsonMapping) -> str:
    """Say what a contest's settings limit."""
    team, teams = size_text(settings["team_bytes"]), size_text(settings["contest_bytes"])
    return f"a team sends {team}, all teams {teams}; to each problem: {limits_text(settings['limits'])}"


def clock_text(clock: Mapping[str, str]) -> str:
    """Say by which clock a team takes part."""
    running = f"{lookup.short_time(clock['contest_time'])} on the clock" if clock["running"] else "not running"
    return f"{clock['kind']} clock, {running}; it ends {clock['end_time'] or 'at a time not set yet'}"


@command("begin")
def begin(
    contest: Contest,
    virtual: Annotated[bool, typer.Option("--virtual", help="take part in a contest that is over")] = False,
    personal: Annotated[bool, typer.Option("--personal", help="start the time that each team has for itself")] = False,
) -> Request:
    """Start your team's own clock in a contest, once and for all; without an option, show by which clock it runs.

    Examples:
      jurado begin finals --virtual
      jurado begin finals --personal
      jurado begin finals
    """
    if virtual and personal:
        raise output.Failure("expected --virtual or --personal, found both")
    path = f"contests/{contest}/participation"
    if virtual or personal:
        return Request("POST", path, clock_text, {"kind": "virtual" if virtual else "personal"})
    return Request("GET", path, clock_text)


@command("final-inputs")
def final_inputs(
    contest: Contest,
    problem: Problem,
    inputs: Annotated[Path | None, typer.Option(metavar="DIR", help="fetch them too, as DIR/PROBLEM/NAME.in")] = None,
    show_only: Annotated[bool, typer.Option("--show", help="ask for nothing, only show the deadline")] = False,
) -> Shown:
    """Ask for the final inputs of a problem: from then on your team's time for their answers runs.

    Examples:
      jurado final-inputs finals comesolo --inputs inputs/
      jurado final-inputs finals comesolo --show
    """
    with Client.open() as client:
        problem_id = lookup.find_problem(client, contest, problem)
        path = f"contests/{contest}/problems/{problem_id}/inputs"
        final = client.get(path) if show_only else client.post(path)
        if inputs is not None and final["href"] is not None:
            output.unpack(client.request("GET", f"/api/{final['href']}").content, inputs / problem_id)
    if final["time"] is None:
        return Shown(final, f"the final inputs of {problem_id} have not been requested")
    return Shown(
        final, f"answers to the final inputs of {problem_id} are accepted until {final['deadline'] or 'the end'}"
    )


@command("choose")
def choose(
    contest: Contest,
    problem: Problem,
    submission: Annotated[str | None, typer.Argument(metavar="SUBMISSION", help="its id")] = None,
    none: Annotated[bool, typer.Option("--none", help="choose none: the contest's rule says what counts")] = False,
) -> Request:
    """Choose which of your submissions counts after the end; without one, show which is chosen.

    Examples:
      jurado choose finals comesolo 17
      jurado choose finals comesolo --none
    """
    if none and submission is not None:
        raise output.Failure("expected SUBMISSION or --none, found both")
    with Client.open() as client:
        problem_id = lookup.find_problem(client, contest, problem)

    def text(chosen: Mapping[str, str | None]) -> str:
        counts = chosen["submission_id"]
        return f"submission {counts} counts for {problem_id}" if counts else f"none is chosen for {problem_id}"

    method = "DELETE" if none else "GET" if submission is None else "PUT"
    body = None if submission is None else {"submission_id": submission}
    return Request(method, f"contests/{contest}/problems/{problem_id}/chosen", text, body)


@command("quota")
def quota(
    contest: Contest,
    problem: Annotated[str | None, typer.Argument(help="its id or label")] = None,
    team: Annotated[str | None, typer.Option(help="for judges: whose quota")] = None,
) -> Shown:
    """Show how often your team may still submit, for one problem or all.

    Examples:
      jurado quota finals
      jurado quota finals comesolo --json
    """
    with Client.open() as client:
        ids = [lookup.find_problem(client, contest, problem)] if problem is not None else problem_ids(client, contest)
        quotas = [client.get(f"contests/{contest}/problems/{each}/quota", team_id=team) for each in ids]

    def tables(_reply: object) -> list[object]:
        for each in quotas[:1]:  # the bytes are counted by contest
            most = each["bytes_limit"]
            output.say(f"{each['bytes_used']} bytes sent to {contest}" + (f" of {most}" if most is not None else ""))
        return [Table(QUOTA, contest).drawn(quotas)]

    return Shown(quotas if problem is None else quotas[0], tables)


def problem_ids(client: Client, contest: str) -> list[str]:
    """List the problems of a contest, in order."""
    return [each["id"] for each in client.rows(f"contests/{contest}/problems")]


def next_text(quota: Mapping[str, object]) -> object:
    """Say when the next submission is accepted."""
    return quota["next_allowed"] or ("never" if quota["left"] == 0 else "now")


QUOTA: Mapping[str, Cell] = {
    "problem": "problem_id",
    ">sent": "used",
    ">left": lambda quota: "any number" if quota["left"] is None else quota["left"],
    "next one": next_text,
}
