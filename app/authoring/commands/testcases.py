"""`jurado admin testcase`: test cases of problems, and the expected answers made for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from app.authoring.commands.jobs import case_text, follow_job
from app.authoring.commands.problems import Method, ProblemId, Seconds, Seed, Wait
from app.core.commands.changes import Joins, Keep, PreviewOnly, change, changed, parameters
from app.core.commands.client import Client, without_none
from app.core.commands.names import read_file
from app.core.commands.options import AsJson
from app.core.commands.output import Failure, JsonMapping, say
from app.core.commands.progress import progress_shown
from app.core.commands.registry import command
from app.core.commands.requests import Cell, Request, Shown, Table, is_waiting, unless_waiting

CasePath = Annotated[str, typer.Argument(metavar="GROUP/NAME", help="such as secret/121-mine")]


@command("admin testcase list")
def list_cases(problem_id: ProblemId) -> Shown:
    """List the test cases of a problem with the origin of their expected answers.

    Examples:
      jurado admin testcase list comesolo
      jurado admin testcase list comesolo --json
    """
    with Client.open() as client:
        cases = client.get(f"problems/{problem_id}")["testcases"]
    return Shown(cases, Table(CASES, problem_id))


@command("admin testcase put")
def put_case(
    problem_id: ProblemId,
    path: CasePath,
    input_file: Annotated[Path, typer.Argument(metavar="INPUT")],
    answer: Annotated[Path | None, typer.Option(metavar="FILE", help="else a reference run makes it")] = None,
    method: Method = None,
    seconds: Seconds = None,
    seed: Seed = None,
    rejudging: Joins = None,
    keep: Keep = False,
    preview: PreviewOnly = False,
    wait: Wait = True,
    as_json: AsJson = False,
) -> None:
    """Put a test case into a problem, or replace it; with any fault nothing is kept and every fault is listed.

    Without an answer the server's solver makes one, and the command follows that job until it ends. In a problem with
    submissions the case waits as a rejudging, which cannot be applied before the case has an answer.

    Examples:
      jurado admin testcase put comesolo secret/121-mine board.in
      jurado admin testcase put comesolo secret/121-mine board.in --answer board.ans
    """
    options = {"method": method, "seconds": seconds, "seed": seed}
    how = {name: str(value) for name, value in without_none(options).items()}
    if answer is not None and how:
        raise Failure(
            "--answer: expected no --method, --seconds or --seed beside it, as these are for making the answer"
        )
    files = {"input": (input_file.name, read_file(input_file, "input"))}
    if answer is not None:
        files["answer"] = (answer.name, read_file(answer, "answer"))
    with Client.open() as client:
        params = parameters(rejudging, keep=keep, preview=preview)
        reply = client.put(f"problems/{problem_id}/testcases/{path}", files=files, data=how, params=params)
        if preview:
            Shown(reply, changed("")).show(as_json=as_json)
            return
        ended = None
        if lacks_answer(reply, path):
            case = f"{path} of {problem_id}"
            ended = make_answer(client, case, reply["reference_run"], wait=wait, quiet=as_json)
    text = unless_waiting(f"test case {path} of {problem_id} has been stored")
    Shown(reply, text).show(as_json=as_json)
    raise typer.Exit(0 if ended is None or ended["state"] == "done" else 1)


def lacks_answer(reply: JsonMapping, path: str) -> bool:
    """Tell whether a case that was put has no expected answer yet."""
    if is_waiting(reply):
        return path.rpartition("/")[2] in reply["without_answer"]
    return reply["answer_sha256"] is None


def make_answer(client: Client, case: str, job_id: str | None, *, wait: bool, quiet: bool) -> JsonMapping | None:
    """Say that a case has no expected answer yet, and follow the job that makes it; returns its end if awaited."""
    why = f"job {job_id} makes it" if job_id else "the problem names no reference solver: put it again with --answer"
    say(f"test case {case} has no expected answer yet, and nobody can answer it: {why}")
    if job_id is None or not wait:
        return None
    with progress_shown(f"job {job_id}", quiet=quiet) as on_progress:
        ended = follow_job(client, job_id, on_progress)
    for name, result in (ended["result"] or {}).get("cases", {}).items():
        say(f"{name}: {case_text(result)}")
    if ended["state"] != "done":
        say(f"job {job_id} has {ended['state']}: {case} still has no expected answer")
    return ended


@command("admin testcase delete")
def delete_case(
    problem_id: ProblemId,
    path: CasePath,
    rejudging: Joins = None,
    keep: Keep = False,
    preview: PreviewOnly = False,
) -> Request:
    """Delete a test case; of a problem with submissions it waits as a rejudging.

    Examples:
      jurado admin testcase delete comesolo secret/121-mine
      jurado admin testcase delete comesolo secret/121-mine --preview
    """
    path = f"problems/{problem_id}/testcases/{path}"
    return change("DELETE", path, f"{path} has been deleted", parameters(rejudging, keep=keep, preview=preview))


def origin(provenance: Mapping[str, JsonValue]) -> str:
    """Say in a few words where an expected answer comes from."""
    return " ".join(str(word) for word in (provenance.get("from"), provenance.get("method")) if word)


CASES: Mapping[str, Cell] = {
    "test case": lambda case: f"{case['group']}/{case['name']}",
    ">bytes": "size",
    ">points": lambda case: f"{case['max_points']:.3f}",
    ">answer bytes": "answer_size",
    "made by": lambda case: origin(case["provenance"]),
}
