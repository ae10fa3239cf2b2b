"""`jurado admin job`: long work on the server, followed until it ends."""

from __future__ import annotations

from typing import Annotated

import typer

from app.core.commands.client import Client
from app.core.commands.lookup import follow_job
from app.core.commands.output import JsonMapping, show, table, write_json
from app.core.commands.progress import progress_shown
from app.core.commands.registry import AsJson, Request, collection, command, keys

JobId = Annotated[str, typer.Argument(metavar="JOB", help="the job's id")]


@command("admin job list")
def list_jobs() -> Request:
    """List the latest jobs, newest first.

    Examples:
      jurado admin job list
      jurado admin job list --json
    """
    return collection("jobs", keys("id kind state progress created ended"))


@command("admin job watch")
def watch_job(job_id: JobId, as_json: AsJson = False) -> None:
    """Follow a job until it has ended; exit code 1 unless it is done.

    Examples:
      jurado admin job watch 7f3a
      jurado admin job watch 7f3a --json
    """
    with Client.open() as client:
        finish(client, job_id, as_json=as_json)


@command("admin job cancel")
def cancel_job(job_id: JobId) -> Request:
    """Stop a job and its processes; the work it has finished stays.

    Examples:
      jurado admin job cancel 7f3a
    """
    return Request("DELETE", f"jobs/{job_id}", f"job {job_id} has been cancelled")


def finish(client: Client, job_id: str, *, as_json: bool) -> None:
    """Follow a job, show how it ended, and end with the exit code."""
    with progress_shown(f"job {job_id}", quiet=as_json) as on_progress:
        ended = follow_job(client, job_id, on_progress)
    if as_json:
        write_json(ended)
    else:
        rows = [(name, case_text(result)) for name, result in (ended["result"] or {}).get("cases", {}).items()]
        show(table(f"job {job_id}: {ended['state']}", ["test case", "result"], rows))
    raise typer.Exit(0 if ended["state"] == "done" else 1)


def case_text(result: JsonMapping) -> str:
    """Say what a reference run made of a case."""
    if "error" in result:
        return f"failed: {result['error']}"
    optimal = ", optimal" if result.get("optimal") else ""
    waits = ""
    if "rejudging" in result:
        place = f"{result['contest']} {result['rejudging']}"
        waits = f"; waits in rejudging {result['rejudging']}: jurado admin rejudging difference {place}"
    return f"raw {result['raw']}{optimal}, {result['method']}, seed {result['seed']}, {result['seconds']} s{waits}"
