"""`jurado submit`: answer files go to the server, and their report comes back.

- `jurado submissions`: one's past submissions, and their files.
- `jurado watch`: the verdict of one submission, or every verdict of a contest as it comes.
"""

import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from jurado_client.server_events import server_events

from app.core.commands import lookup, output, registry, uploading
from app.core.commands.client import Client

SECONDS_BETWEEN_LOOKS = 0.2
FINE = {"AC", "PC"}


@registry.command("submit")
def submit(
    contest: registry.Contest,
    problem: Annotated[str, typer.Argument(help="the problem's id or label")],
    files: Annotated[list[Path], typer.Argument(metavar="FILES...", help="answer files, a zip, or folders of them")],
    wait: Annotated[bool, typer.Option("--wait", help="wait for the verdict and show the report")] = False,
    comment: Annotated[str | None, typer.Option(help="a note to yourself, kept with it")] = None,
    testcase: Annotated[str | None, typer.Option(help="the test case a single file of another name is for")] = None,
    as_json: registry.AsJson = False,
) -> None:
    """Submit answer files: NAME.out for the test case NAME; several files go as one zip.

    A connection that fails is tried again with the same key, so that nothing is submitted twice. With --wait the exit
    code is 1 if nothing was accepted.

    Examples:
      jurado submit practice comesolo answers/ --wait
      jurado submit practice comesolo 101-n05-p70.out 103-n10-p50.out
      jurado submit practice comesolo answers.zip --comment 'wider beam' --json
    """
    name, data = output.pack(files)
    with Client.open() as client:
        problem_id = lookup.find_problem(client, contest, problem)
        stored = send(client, contest, problem_id, name, data, comment=comment, testcase=testcase)
        if wait:
            output.say(f"submission {stored['id']} has been stored; waiting for its verdict")
            finish(client, contest, stored["id"], as_json=as_json)
        elif as_json:
            output.write_json(stored)
        else:
            typer.echo(f"submission {stored['id']} has been stored; jurado watch {stored['id']} shows its verdict")


@registry.command("submissions")
def list_submissions(
    contest: registry.Contest,
    problem: Annotated[str | None, typer.Option(help="only those to this problem: its id or label")] = None,
    download: Annotated[
        Path | None, typer.Option(metavar="DIR", help="write the files of each submission to DIR/SUBMISSION")
    ] = None,
    as_json: registry.AsJson = False,
) -> None:
    """List the submissions of your team with their verdicts; judges see those of all teams.

    Examples:
      jurado submissions practice
      jurado submissions practice --problem A --download answers/
      jurado submissions practice --json
    """
    with Client.open() as client:
        wanted = {
            "team_id": client.get("account").get("team_id"),
            "problem_id": None if problem is None else lookup.find_problem(client, contest, problem),
        }
        listed = client.rows(f"contests/{contest}/submissions", **wanted)
        judgements = client.rows(f"contests/{contest}/judgements")
        judged = {each["submission_id"]: each for each in judgements if each.get("current") is not False}
        names = lookup.team_names(client, contest)
        for each in listed if download is not None else ():
            folder = Path(download or "") / each["id"]
            output.unpack(
                client.request("GET", f"/api/contests/{contest}/submissions/{each['id']}/files").content, folder
            )
            output.say(f"wrote {folder}")
    if as_json:
        output.write_json([{**each, "judgement": judged.get(each["id"])} for each in listed])
        return
    rows = []
    for each in listed:
        team, judgement = each["team_id"], judged.get(each["id"])
        verdict = None if judgement is None else judgement["judgement_type_id"]
        points = "" if judgement is None else lookup.points_text(judgement.get("score"))
        sent = (each["id"], each["problem_id"], names.get(team, team), lookup.short_time(each["contest_time"]))
        rows.append((*sent, verdict or "waiting", points, each.get("comment") or ""))
    output.show(
        output.table(contest, ["submission", "problem", "team", ">time", "verdict", ">points", "comment"], rows)
    )


def send(
    client: Client,
    contest: str,
    problem_id: str,
    name: str,
    data: bytes,
    *,
    comment: str | None = None,
    testcase: str | None = None,
) -> output.Json:
    """Upload once: by the key made here the server knows a repeated request for the same submission."""
    fields = {"problem_id": problem_id, "comment": comment, "testcase": testcase}
    with uploading.upload_shown(data) as (reader, _):
        return client.post(
            f"contests/{contest}/submissions",
            files={"files": (name, reader)},
            data={key: value for key, value in fields.items() if value is not None},
            headers={"Idempotency-Key": str(uuid.uuid4())},
            again=lambda: reader.seek(0),
        )


def finish(client: Client, contest: str, submission: str, *, as_json: bool, images: Path | None = None) -> None:
    """Wait for the verdict, show the report, write images to a folder, and end with the exit code."""
    report = wait_for_report(client, contest, submission)
    if images is not None:
        save_images(client, report, images)
    if as_json:
        output.write_json(report)
    else:
        output.show(*lookup.report_tables(report))
    raise typer.Exit(0 if report["judgement"]["judgement_type_id"] in FINE else 1)


def save_images(client: Client, report: output.JsonMapping, folder: Path) -> None:
    """Write the images that checkers left to `folder`, one folder a test case."""
    for case in report["cases"]:
        for image in case.get("images", []):
            data = client.request("GET", f"/api/{image['href']}").content
            output.say(f"wrote {output.write_image(folder / case['name'], image['name'], data)}")


def wait_for_report(client: Client, contest: str, submission: str) -> output.JsonMapping:
    """Ask for the report until the submission is judged."""
    path = f"contests/{contest}/submissions/{submission}/report"
    while True:
        report = client.get(path)
        if report["judgement"]["judgement_type_id"] is not None:
            # The verdict may have come while the report was being put together; the next one has its points too.
            return report if report["points"] is not None else client.get(path)
        time.sleep(SECONDS_BETWEEN_LOOKS)


@registry.command("watch")
def watch(
    submission: Annotated[str | None, typer.Argument(help="the submission's id")] = None,
    contest: Annotated[str | None, typer.Option(help="its contest, if you know it")] = None,
    live: Annotated[bool, typer.Option("--live", help="show each new verdict of --contest, until Ctrl-C")] = False,
    images: Annotated[
        Path | None, typer.Option(metavar="DIR", help="write the images of the report to this folder")
    ] = None,
    as_json: registry.AsJson = False,
) -> None:
    """Wait for the verdict of a submission and show its report; exit code 1 if nothing was accepted.

    With --live, those of all your submissions in a contest, from now on (judges: of all teams); as JSON, a line each.

    Examples:
      jurado watch 17
      jurado watch 17 --contest practice --json
      jurado watch --live --contest practice
    """
    if live != (submission is None) or (live and contest is None):
        raise output.Failure("expected SUBMISSION, or --live and --contest")
    with Client.open() as client:
        if submission is not None:
            finish(
                client, contest or lookup.find_contest(client, submission), submission, as_json=as_json, images=images
            )
        with suppress(KeyboardInterrupt):
            show_verdicts(client, str(contest), as_json=as_json)


def show_verdicts(client: Client, contest: str, *, as_json: bool) -> None:
    """Print a line for each submission and each judgement that has ended."""
    problems: dict[str, str] = {}
    names = lookup.team_names(client, contest)
    for change in verdict_changes(client, contest):
        if as_json:
            output.write_json(change)
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


def verdict_changes(client: Client, contest: str) -> Iterator[output.JsonMapping]:
    """Yield the changes of one's own submissions and judgements as the server sends them, from now on, unlimited."""
    for event in server_events(client, f"contests/{contest}/submissions/stream"):
        if event.name == "submissions" or event.name == "judgements":
            yield event.json()
    raise output.Failure(f"{client.url} sends no verdicts of {contest}", 1)


def submission_line(submission: output.JsonMapping, names: Mapping[str, str]) -> str:
    """Word a submission that has come in."""
    team_id = submission["team_id"]
    team = "no team" if team_id is None else names.get(team_id, team_id)
    at = lookup.short_time(submission["contest_time"])
    return f"{at} {team}, {submission['problem_id']}: submission {submission['id']} has come in"


def judgement_line(judgement: output.JsonMapping, problems: Mapping[str, str]) -> str:
    """Word a verdict; empty for a judgement that has only begun or counts no more. `problems`: by submission."""
    verdict = judgement.get("judgement_type_id")
    if verdict is None or judgement.get("current") is False:
        return ""
    problem, score = problems.get(judgement["submission_id"]), judgement.get("score")
    about = f" ({problem})" if problem else ""
    worth = f", {lookup.points_text(score)} points" if score is not None else ""
    at = lookup.short_time(judgement.get("end_contest_time"))
    return f"{at} submission {judgement['submission_id']}{about}: {verdict}{worth}"
