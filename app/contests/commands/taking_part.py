"""Decisions of a team beside submitting: its own clock, its final inputs, which submission counts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.core.commands.client import Client
from app.core.commands.lookup import find_problem
from app.core.commands.options import AsJson, Contest, Problem
from app.core.commands.output import Failure, report, say, show, table, write_json
from app.core.commands.resources.contests import Chosen, ContestProblem, FinalInputs, Participation, Quota
from app.core.commands.times import short_time
from app.core.commands.upload import unpack


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
        clock = (
            client.post(path, {"kind": kind}, Participation) if virtual or personal else client.get(path, Participation)
        )
    running = f"{short_time(clock['contest_time'])} on the clock" if clock["running"] else "not running"
    end = clock["end_time"] or "at a time not set yet"
    report(f"{clock['kind']} clock, {running}; it ends {end}", clock, as_json=as_json)


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
        final = client.get(path, FinalInputs) if show_only else client.post(path, shape=FinalInputs)
        if inputs is not None and final["href"] is not None:
            reply = client.request("GET", f"/api/{final['href']}")
            unpack(reply.content, inputs / problem_id)
    if final["time"] is None:
        text = f"the final inputs of {problem_id} have not been asked for"
    else:
        text = f"answers to the final inputs of {problem_id} are taken until {final['deadline'] or 'the end'}"
    report(text, final, as_json=as_json)


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
            chosen = client.delete(path, Chosen)
        elif submission is not None:
            chosen = client.put(path, {"submission_id": submission}, Chosen)
        else:
            chosen = client.get(path, Chosen)
    counts = chosen["submission_id"]
    text = f"submission {counts} counts for {problem_id}" if counts else f"none is chosen for {problem_id}"
    report(text, chosen, as_json=as_json)


def quota(
    contest: Contest,
    problem: Annotated[str | None, typer.Argument(help="its id or label")] = None,
    team: Annotated[str | None, typer.Option(help="for judges: whose quota")] = None,
    as_json: AsJson = False,
) -> None:
    """Show how often your team may still submit, for one problem or all."""
    with Client.open() as client:
        ids = [find_problem(client, contest, problem)] if problem is not None else problem_ids(client, contest)
        quotas = [client.get(f"contests/{contest}/problems/{each}/quota", Quota, team_id=team) for each in ids]
    if as_json:
        write_json(quotas if problem is None else quotas[0])
        return
    rows = [(each["problem_id"], each["used"], left_text(each), next_text(each)) for each in quotas]
    show(table(contest, ["problem", ">sent", ">left", "next one"], rows))
    for each in quotas[:1]:  # the bytes are counted by contest
        most = each["bytes_limit"]
        say(f"{each['bytes_used']} bytes sent to {contest}" + (f" of {most} that may be" if most is not None else ""))


def problem_ids(client: Client, contest: str) -> list[str]:
    """List the problems of a contest, in order."""
    return [each["id"] for each in client.get(f"contests/{contest}/problems", list[ContestProblem])]


def left_text(quota: Quota) -> str:
    """Say how many submissions are left."""
    return "any number" if quota["left"] is None else str(quota["left"])


def next_text(quota: Quota) -> str:
    """Say when the next submission is taken."""
    if quota["next_allowed"] is not None:
        return quota["next_allowed"]
    return "never" if quota["left"] == 0 else "now"
