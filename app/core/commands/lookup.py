"""From what a person names on the command line to the ids of the server."""

from __future__ import annotations

from app.core.commands.client import Client
from app.core.commands.contest_facts import why_nothing
from app.core.commands.names import nearest
from app.core.commands.output import Failure


def find_problem(client: Client, contest: str, problem: str) -> str:
    """Find a problem of a contest by its id or label; raises Failure with the nearest one."""
    problems = client.rows(f"contests/{contest}/problems")
    if not problems and (reason := why_nothing(client, contest)) is not None:
        raise Failure(reason, 1)
    for each in problems:
        if problem == each["id"] or problem.upper() == each["label"].upper():
            return str(each["id"])
    raise nearest(f"problem of the contest {contest}", problem, [each["id"] for each in problems])


def find_contest(client: Client, submission: str) -> str:
    """Find the contest of a submission among those that may be seen."""
    for contest in client.rows("contests"):
        path = f"/api/contests/{contest['id']}/submissions/{submission}"
        if client.request("GET", path, accept=(404,)).is_success:
            return str(contest["id"])
    raise Failure(f"no submission {submission!r} that you may see", 1)


def team_names(client: Client, contest: str) -> dict[str, str]:
    """Read the names of the teams by their ids."""
    return {team["id"]: team["name"] for team in client.rows(f"contests/{contest}/teams")}
