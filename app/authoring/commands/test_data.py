"""`jurado admin testcase`: test cases of problems, one or many at once, and the expected answers made for them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from jurado_client.connection import Param, named
from pydantic import JsonValue

from app.authoring.commands.problems import Method, ProblemId, Seconds, Seed, Wait, case_text
from app.core.commands import lookup, progress, registry, uploading
from app.core.commands.client import Client
from app.core.commands.output import Failure, JsonMapping, read_file, say

# Longest wait for the reply: all cases are checked before it.
SECONDS = 3600.0
ENDINGS = (".in", ".ans", ".yaml")


@registry.command("admin testcase upload")
def upload_cases(
    problem_id: ProblemId,
    place: Annotated[Path, typer.Argument(metavar="DIR_OR_ZIP", help="laid out as `data/` of a package")],
    only: Annotated[bool, typer.Option("--only", help="delete all test cases that are not among these")] = False,
    keep: registry.Keep = False,
    preview: registry.PreviewOnly = False,
) -> registry.Shown:
    """Put many test cases as one version: secret/GROUP/NAME.in, NAME.ans, NAME.yaml, and test_group.yaml of groups.

    With any fault nothing is kept and every fault is listed with its file.

    Examples:
      jurado admin testcase upload comesolo cases.zip --preview
      jurado admin testcase upload comesolo data --only
    """
    data = _zipped(place)
    params: dict[str, Param] = {
        **registry.parameters(keep=keep, preview=preview),
        "only": "true" if only else None,
    }
    headers = {"Content-Type": "application/zip"}
    with Client.open() as client, uploading.upload_shown(data) as (reader, _):
        path = f"problems/{problem_id}/testcases"
        reply = client.post(path, content=reader, params=params, headers=headers, timeout=SECONDS)
    return registry.Shown(reply, registry.changed(f"the test cases of {problem_id} have been stored"))


def _zipped(place: Path) -> bytes:
    """Give the zip of a folder of test cases, or the file as it is; what is no part of a test case is left out."""
    if not place.is_dir():
        return read_file(place, "test cases")
    from app.packages.zips import zip_bytes

    paths = sorted(path for path in place.rglob("*") if path.is_file() and path.suffix in ENDINGS)
    if not paths:
        raise Failure(f"{place}: expected test cases such as secret/01.in, found none")
    return zip_bytes({path.relative_to(place).as_posix(): path.read_bytes() for path in paths})


CasePath = Annotated[str, typer.Argument(metavar="GROUP/NAME", help="such as secret/121-mine")]


@registry.command("admin testcase list")
def list_cases(problem_id: ProblemId) -> registry.Shown:
    """List the test cases of a problem with the origin of their expected answers.

    Examples:
      jurado admin testcase list comesolo
      jurado admin testcase list comesolo --json
    """
    with Client.open() as client:
        cases = client.get(f"problems/{problem_id}")["testcases"]
    return registry.Shown(cases, registry.Table(CASES, problem_id))


@registry.command("admin testcase put")
def put_case(
    problem_id: ProblemId,
    path: CasePath,
    input_file: Annotated[Path, typer.Argument(metavar="INPUT")],
    answer: Annotated[Path | None, typer.Option(metavar="FILE", help="default: a reference run makes it")] = None,
    method: Method = None,
    seconds: Seconds = None,
    seed: Seed = None,
    keep: registry.Keep = False,
    preview: registry.PreviewOnly = False,
    wait: Wait = True,
    as_json: registry.AsJson = False,
) -> None:
    """Put a test case into a problem, or replace it; with any fault nothing is kept and every fault is listed.

    Without an answer the server's solver makes one, and the command follows that job until it ends. In a problem with
    submissions the case waits as a rejudging, which cannot be applied before the case has an answer.

    Examples:
      jurado admin testcase put comesolo secret/121-mine board.in
      jurado admin testcase put comesolo secret/121-mine board.in --answer board.ans
    """
    options = {"method": method, "seconds": seconds, "seed": seed}
    how = {name: str(value) for name, value in named(options).items()}
    if answer is not None and how:
        raise Failure("--answer: cannot be combined with --method, --seconds or --seed, which make the answer")
    files = {"input": (input_file.name, read_file(input_file, "input"))}
    if answer is not None:
        files["answer"] = (answer.name, read_file(answer, "answer"))
    with Client.open() as client:
        params = registry.parameters(keep=keep, preview=preview)
        reply = client.put(f"problems/{problem_id}/testcases/{path}", files=files, data=how, params=params)
        if preview:
            registry.Shown(reply, registry.changed("")).show(as_json=as_json)
            return
        ended = None
        if lacks_answer(reply, path):
            case = f"{path} of {problem_id}"
            ended = make_answer(client, case, reply["reference_run"], wait=wait, quiet=as_json)
    text = registry.unless_waiting(f"test case {path} of {problem_id} has been stored")
    registry.Shown(reply, text).show(as_json=as_json)
    raise typer.Exit(0 if ended is None or ended["state"] == "done" else 1)


def lacks_answer(reply: JsonMapping, path: str) -> bool:
    """Tell whether a case that was put has no expected answer yet."""
    if registry.is_waiting(reply):
        return path.rpartition("/")[2] in reply["without_answer"]
    return reply["answer_sha256"] is None


def make_answer(client: Client, case: str, job_id: str | None, *, wait: bool, quiet: bool) -> JsonMapping | None:
    """Say that a case has no expected answer yet, and follow the job that makes it; returns its end if awaited."""
    why = f"job {job_id} makes it" if job_id else "the problem names no reference solver: put it again with --answer"
    say(f"test case {case} has no expected answer yet, so it takes no answers: {why}")
    if job_id is None or not wait:
        return None
    with progress.progress_shown(f"job {job_id}", quiet=quiet) as on_progress:
        ended = lookup.follow_job(client, job_id, on_progress)
    for name, result in (ended["result"] or {}).get("cases", {}).items():
        say(f"{name}: {case_text(result)}")
    if ended["state"] != "done":
        say(f"job {job_id} has {ended['state']}: {case} still has no expected answer")
    return ended


@registry.command("admin testcase delete")
def delete_case(
    problem_id: ProblemId,
    path: CasePath,
    keep: registry.Keep = False,
    preview: registry.PreviewOnly = False,
) -> registry.Request:
    """Delete a test case; of a problem with submissions it waits as a rejudging.

    Examples:
      jurado admin testcase delete comesolo secret/121-mine
      jurado admin testcase delete comesolo secret/121-mine --preview
    """
    path = f"problems/{problem_id}/testcases/{path}"
    return registry.change("DELETE", path, f"{path} has been deleted", registry.parameters(keep=keep, preview=preview))


def origin(provenance: Mapping[str, JsonValue]) -> str:
    """Say in a few words where an expected answer comes from."""
    return " ".join(str(word) for word in (provenance.get("from"), provenance.get("method")) if word)


CASES: Mapping[str, registry.Cell] = {
    "test case": lambda case: f"{case['group']}/{case['name']}",
    ">bytes": "size",
    ">points": lambda case: f"{case['max_points']:.3f}",
    ">answer bytes": "answer_size",
    "made by": lambda case: origin(case["provenance"]),
}
