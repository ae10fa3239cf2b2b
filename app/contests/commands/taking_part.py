"""Decisions of a team beside submitting: its own clock, its final inputs, which submission counts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from app.core.commands import lookup, output
from app.core.commands.client import Client
from app.core.commands.registry import Contest, Problem, Request, Shown, command


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
