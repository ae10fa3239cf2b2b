"""What a team decides in a contest beside submitting: its own clock, its final inputs, which submission counts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.board_tables import short_time
from app.cli.client import Client
from app.cli.contestant.commands import Contest, find_problem
from app.cli.contestant.upload import unpack
from app.cli.output import Failure, say, show, table, tell, write_json
from app.cli.solve import AsJson

Problem = Annotated[str, typer.Argument(metavar="PROBLEM", help="the problem's id or label")]


def begin(
    contest: Contest,
    virtual: Annotated[bool, typer.Option("--virtual", help="take part in a contest that is over")] = False,
    personal: Annotated[bool, typer.Option("--personal", help="start the time that each team has for itself")] = False,
    as_json: AsJson = False,
) -> None:
    """Start your team's own clock in a contest, once and for all; without an option, show by which clock it runs."""
    if virtual and personal:
        raise Failure("expected --virtual or --personal, found both")
    path = f"contests/{contest}/participation"
    with Client.open() as client:
        kind = "virtual" if virtual else "personal"
        found = client.post(path, {"kind": kind}) if virtual or personal else client.get(path)
    running = f"{short_time(found['contest_time'])} on the clock" if found["running"] else "not running"
    tell(
        f"{found['kind']} clock, {running}; it ends {found['end_time'] or 'at a time not set yet'}",
        found,
        as_json=as_json,
    )


def final_inputs(
    contest: Contest,
    problem: Problem,
    inputs: Annotated[Path | None, typer.Option(metavar="DIR", help="fetch them too, as DIR/PROBLEM/NAME.in")] = None,
    show_only: Annotated[bool, typer.Option("--show", help="ask for nothing, only show the deadline")] = False,
    as_json: AsJson = False,
) -> None:
    """Ask for the final inputs of a problem: from then on your team's time for their answers runs."""
    with Client.open() as client:
        problem_id = find_problem(client, contest, problem)
        path = f"contests/{contest}/problems/{problem_id}/inputs"
        found = client.get(path) if show_only else client.post(path)
        if inputs is not None and found["href"] is not None:
            reply = client.request("GET", f"/api/{found['href']}")
            unpack(reply.content, inputs / problem_id)
    if found["time"] is None:
        said = f"the final inputs of {problem_id} have not been asked for"
    else:
        said = f"answers to the final inputs of {problem_id} are taken until {found['deadline'] or 'the end'}"
    tell(said, found, as_json=as_json)


def choose(
    contest: Contest,
    problem: Problem,
    submission: Annotated[str | None, typer.Argument(metavar="SUBMISSION", help="its id")] = None,
    none: Annotated[bool, typer.Option("--none", help="choose none: the contest's rule says what counts")] = False,
    as_json: AsJson = False,
) -> None:
    """Choose which of your submissions counts after the end; without one, show which is chosen."""
    if none and submission is not None:
        raise Failure("expected SUBMISSION or --none, found both")
    with Client.open() as client:
        problem_id = find_problem(client, contest, problem)
        path = f"contests/{contest}/problems/{problem_id}/chosen"
        if none:
            found = client.body(client.request("DELETE", f"/api/{path}"))
        elif submission is not None:
            found = client.put(path, json={"submission_id": submission})
        else:
            found = client.get(path)
    chosen = found["submission_id"]
    said = f"submission {chosen} counts for {problem_id}" if chosen else f"none is chosen for {problem_id}"
    tell(said, found, as_json=as_json)


def quota(
    contest: Contest,
    problem: Annotated[str | None, typer.Argument(help="its id or label")] = None,
    team: Annotated[str | None, typer.Option(help="for judges: whose quota")] = None,
    as_json: AsJson = False,
) -> None:
    """Show how often your team may still submit, for one problem or all."""
    with Client.open() as client:
        listed = [find_problem(client, contest, problem)] if problem is not None else problem_ids(client, contest)
        found = [client.get(f"contests/{contest}/problems/{each}/quota", team_id=team) for each in listed]
    if as_json:
        write_json(found if problem is None else found[0])
        return
    rows = [(each["problem_id"], each["used"], left_text(each), next_text(each)) for each in found]
    show(table(contest, ["problem", ">sent", ">left", "next one"], rows))
    for each in found[:1]:
        most = each["bytes_limit"]
        say(f"{each['bytes_used']} bytes sent to {contest}" + (f" of {most} that may be" if most is not None else ""))


def problem_ids(client: Client, contest: str) -> list[str]:
    """The problems of a contest, in order."""
    return [each["id"] for each in client.get(f"contests/{contest}/problems")]


def left_text(quota: dict[str, Any]) -> str:
    """How many are left."""
    return "any number" if quota["left"] is None else str(quota["left"])


def next_text(quota: dict[str, Any]) -> str:
    """When the next one is taken."""
    if quota["next_allowed"] is not None:
        return str(quota["next_allowed"])
    return "never" if quota["left"] == 0 else "now"
