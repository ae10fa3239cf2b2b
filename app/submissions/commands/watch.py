"""`jurado watch`: the verdict of one submission, or every verdict of a contest as it comes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from app.core.commands.board_tables import points_text
from app.core.commands.client import Client
from app.core.commands.lookup import find_contest, team_names
from app.core.commands.options import AsJson
from app.core.commands.output import Failure, JsonMapping, write_json
from app.core.commands.registry import command
from app.core.commands.server_events import server_events
from app.core.commands.times import short_time
from app.submissions.commands.submit import finish


@command("watch")
def watch(
    submission: Annotated[str | None, typer.Argument(help="the submission's id")] = None,
    contest: Annotated[str | None, typer.Option(help="its contest, if you know it")] = None,
    live: Annotated[
        bool, typer.Option("--live", help="show every verdict of --contest as it comes, until Ctrl-C")
    ] = False,
    images: Annotated[
        Path | None, typer.Option(metavar="DIR", help="write the images of the report to this folder")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Wait for the verdict of a submission and show its report; exit code 1 if nothing was accepted.

    With --live, those of all your submissions in a contest, from now on (judges: of everybody's); as JSON, a line each.

    Examples:
      jurado watch 17
      jurado watch 17 --contest practice --json
      jurado watch --live --contest practice
    """
    if live != (submission is None) or (live and contest is None):
        raise Failure("expected SUBMISSION, or --live and --contest")
    with Client.open() as client:
        if submission is not None:
            finish(client, contest or find_contest(client, submission), submission, as_json=as_json, images=images)
        with suppress(KeyboardInterrupt):
            show_verdicts(client, str(contest), as_json=as_json)


def show_verdicts(client: Client, contest: str, *, as_json: bool) -> None:
    """Print a line for each submission and each judgement that has ended."""
    problems: dict[str, str] = {}
    names = team_names(client, contest)
    for change in verdict_changes(client, contest):
        if as_json:
            write_json(change)
            continue
        line = ""
        if change["type"] == "submissions":
            if (submission := change["data"]) is not None:
                problems[submission["id"]] = submission["problem_id"]
                line = submission_line(submission, names)
        elif (judgement := change["data"]) is not None:
            line = judgement_line(judgement, problems)
        if line:
            typer.echo(line)


def verdict_changes(client: Client, contest: str) -> Iterator[JsonMapping]:
    """Yield the changes of one's own submissions and judgements as the server sends them, from now on, without end."""
    for event in server_events(client, f"contests/{contest}/submissions/stream"):
        if event.name == "submissions" or event.name == "judgements":
            yield event.json()
    raise Failure(f"{client.url} sends no verdicts of {contest}", 1)


def submission_line(submission: JsonMapping, names: Mapping[str, str]) -> str:
    """Word a submission that has come in."""
    team_id = submission["team_id"]
    team = "no team" if team_id is None else names.get(team_id, team_id)
    at = short_time(submission["contest_time"])
    return f"{at} {team}, {submission['problem_id']}: submission {submission['id']} has come in"


def judgement_line(judgement: JsonMapping, problems: Mapping[str, str]) -> str:
    """Word a verdict; empty for a judgement that has only begun or counts no more. `problems`: by submission."""
    verdict = judgement.get("judgement_type_id")
    if verdict is None or judgement.get("current") is False:
        return ""
    problem, score = problems.get(judgement["submission_id"]), judgement.get("score")
    about = f" ({problem})" if problem else ""
    worth = f", {points_text(score)} points" if score is not None else ""
    at = short_time(judgement.get("end_contest_time"))
    return f"{at} submission {judgement['submission_id']}{about}: {verdict}{worth}"
