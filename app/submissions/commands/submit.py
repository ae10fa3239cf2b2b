"""`jurado submit`: answer files go to the server, and their report comes back."""

from __future__ import annotations

import time
import uuid
from pathlib import Path
from typing import Annotated

import typer

from app.core.commands.board_tables import report_tables
from app.core.commands.client import Client
from app.core.commands.images import write_image
from app.core.commands.lookup import find_problem
from app.core.commands.options import AsJson, Contest
from app.core.commands.output import Json, JsonMapping, say, show, write_json
from app.core.commands.registry import command
from app.core.commands.upload import pack
from app.core.commands.uploading import upload_shown

SECONDS_BETWEEN_LOOKS = 0.2
FINE = {"AC", "PC"}


@command("submit")
def submit(
    contest: Contest,
    problem: Annotated[str, typer.Argument(help="the problem's id or label")],
    files: Annotated[list[Path], typer.Argument(metavar="FILES...", help="answer files, a zip, or folders of them")],
    wait: Annotated[bool, typer.Option("--wait", help="wait for the verdict and show the report")] = False,
    comment: Annotated[str | None, typer.Option(help="a note to yourself, kept with it")] = None,
    testcase: Annotated[str | None, typer.Option(help="the test case a single file of another name is for")] = None,
    as_json: AsJson = False,
) -> None:
    """Submit answer files: NAME.out for the test case NAME; several files go as one zip.

    A connection that fails is tried again with the same key, so that nothing is submitted twice. With --wait the exit
    code is 1 if nothing was accepted.

    Examples:
      jurado submit practice comesolo answers/ --wait
      jurado submit practice comesolo 101-n05-p70.out 103-n10-p50.out
      jurado submit practice comesolo answers.zip --comment 'wider beam' --json
    """
    name, data = pack(files)
    with Client.open() as client:
        problem_id = find_problem(client, contest, problem)
        stored = send(client, contest, problem_id, name, data, comment=comment, testcase=testcase)
        if wait:
            say(f"submission {stored['id']} has been stored; waiting for its verdict")
            finish(client, contest, stored["id"], as_json=as_json)
        elif as_json:
            write_json(stored)
        else:
            typer.echo(f"submission {stored['id']} has been stored; jurado watch {stored['id']} shows its verdict")


def send(
    client: Client,
    contest: str,
    problem_id: str,
    name: str,
    data: bytes,
    *,
    comment: str | None = None,
    testcase: str | None = None,
) -> Json:
    """Upload once: by the key made here the server knows a repeated request for the same submission."""
    fields = {"problem_id": problem_id, "comment": comment, "testcase": testcase}
    with upload_shown(data) as (reader, _):
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
        write_json(report)
    else:
        show(*report_tables(report))
    raise typer.Exit(0 if report["judgement"]["judgement_type_id"] in FINE else 1)


def save_images(client: Client, report: JsonMapping, folder: Path) -> None:
    """Write the images that checkers left to `folder`, one folder a test case."""
    for case in report["cases"]:
        for image in case.get("images", []):
            data = client.request("GET", f"/api/{image['href']}").content
            say(f"wrote {write_image(folder / case['name'], image['name'], data)}")


def wait_for_report(client: Client, contest: str, submission: str) -> JsonMapping:
    """Ask for the report until the submission is judged."""
    path = f"contests/{contest}/submissions/{submission}/report"
    while True:
        report = client.get(path)
        if report["judgement"]["judgement_type_id"] is not None:
            # The verdict may have come while the report was being put together; the next one has its points too.
            return report if report["points"] is not None else client.get(path)
        time.sleep(SECONDS_BETWEEN_LOOKS)
