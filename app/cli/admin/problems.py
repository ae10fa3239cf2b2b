"""`jurado admin problem|testcase|reference|job`: problems, their test cases, and the expected answers made for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from app.cli.admin.jobs import case_text, finish, follow_job
from app.cli.admin.requests import delete, listing, waiting, waiting_text
from app.cli.client import Client, checked, without_none
from app.cli.names import read_file
from app.cli.options import AsJson
from app.cli.output import Failure, examples, report, say, show, table, write_file, write_json
from app.cli.package import show_faults
from app.cli.progress import progress_shown
from app.cli.resources.problems import Job, ProblemDetails, StoredCase, StoredProblem
from app.cli.resources.rejudgings import Rejudging
from app.cli.uploading import upload_shown

problem = typer.Typer(no_args_is_help=True, help="Problems and their packages.")
testcase = typer.Typer(no_args_is_help=True, help="Single test cases.")
reference = typer.Typer(no_args_is_help=True, help="Expected answers, made by the reference solver.")
ProblemId = Annotated[str, typer.Argument(metavar="PROBLEM", help="the problem's id")]
CasePath = Annotated[str, typer.Argument(metavar="GROUP/NAME", help="such as secret/121-mine")]
Joins = Annotated[
    int | None, typer.Option(metavar="ID", help="make the change a part of this open rejudging, if one is needed")
]
Method = Annotated[str | None, typer.Option(help="default: the problem's reference method")]
Seconds = Annotated[float | None, typer.Option(help="time for each case")]
Seed = Annotated[int | None, typer.Option(help="seed of the solver")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="follow the reference run until it has ended")]


@problem.command("list", epilog=examples("jurado admin problem list", "jurado admin problem list --json"))
def list_problems(as_json: AsJson = False) -> None:
    """List the problems of the server."""
    listing("problems", ["id", "checker", "test_data_count", "max_score", "languages", "updated"], as_json=as_json)


@problem.command(
    "upload", epilog=examples("jurado admin problem upload problems/comesolo", "jurado admin problem upload mine.zip")
)
def upload_problem(
    place: Annotated[Path, typer.Argument(metavar="DIR_OR_ZIP", help="a package: its folder, or a zip of it")],
    rejudging: Joins = None,
    as_json: AsJson = False,
) -> None:
    """Bring in a problem package, or a new version of one; with any fault nothing is kept and every fault is listed.

    A new version of a problem with submissions waits as a rejudging.
    """
    upload_archive(*packed(place), rejudging, as_json, name=str(place))


def upload_archive(
    slug: str | None, data: bytes, rejudging: int | None, as_json: bool, *, name: str | None = None
) -> None:
    """Send a package's zip to the server, and say what came of it; `name`: for a zip that knows its id itself."""
    params = {"id": slug, "rejudging": rejudging}
    with Client.open() as client, upload_shown(data) as reader:
        reply = client.post("problems", content=reader, params=params, headers={"Content-Type": "application/zip"})
    if (waits := waiting(reply)) is not None:
        report(waiting_text(waits), reply, as_json=as_json)
        return
    stored = checked(reply, StoredProblem)
    if not as_json:
        show_faults(slug or name or stored["id"], stored.get("warnings", []))
    report(f"problem {stored['id']} has {stored['test_data_count']} test cases", reply, as_json=as_json)


@problem.command("download", epilog=examples("jurado admin problem download comesolo --out comesolo.zip"))
def download_problem(
    problem_id: ProblemId,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="default: PROBLEM.zip")] = None,
) -> None:
    """Fetch a problem as a package, with its test cases as they are now."""
    target = out or Path(f"{problem_id}.zip")
    with Client.open() as client:
        data = client.request("GET", f"/api/problems/{problem_id}/package.zip").content
    write_file(target, data)
    say(f"{target}: {len(data)} bytes")


@problem.command("delete", epilog=examples("jurado admin problem delete mysum"))
def delete_problem(problem_id: ProblemId) -> None:
    """Delete a problem that no contest has."""
    delete(f"problems/{problem_id}")


@testcase.command(
    "list", epilog=examples("jurado admin testcase list comesolo", "jurado admin testcase list comesolo --json")
)
def list_cases(problem_id: ProblemId, as_json: AsJson = False) -> None:
    """List the test cases of a problem with the origin of their expected answers."""
    with Client.open() as client:
        cases = client.get(f"problems/{problem_id}", ProblemDetails)["testcases"]
    if as_json:
        write_json(cases)
        return
    rows = [
        (f"{c['group']}/{c['name']}", c["size"], f"{c['max_points']:.3f}", c["answer_size"], origin(c["provenance"]))
        for c in cases
    ]
    show(table(problem_id, ["test case", ">bytes", ">points", ">answer bytes", "made by"], rows))


@testcase.command(
    "put",
    epilog=examples(
        "jurado admin testcase put comesolo secret/121-mine board.in",
        "jurado admin testcase put comesolo secret/121-mine board.in --answer board.ans",
    ),
)
def put_case(
    problem_id: ProblemId,
    path: CasePath,
    input_file: Annotated[Path, typer.Argument(metavar="INPUT")],
    answer: Annotated[Path | None, typer.Option(metavar="FILE", help="else a reference run makes it")] = None,
    method: Method = None,
    seconds: Seconds = None,
    seed: Seed = None,
    rejudging: Joins = None,
    wait: Wait = True,
    as_json: AsJson = False,
) -> None:
    """Put a test case into a problem, or replace it; with any fault nothing is kept and every fault is listed.

    Without an answer the server's solver makes one, and the command follows that job until it ends. In a problem with
    submissions the case waits as a rejudging, which cannot be applied before the case has an answer.
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
        reply = client.put(
            f"problems/{problem_id}/testcases/{path}", files=files, data=how, params={"rejudging": rejudging}
        )
        waits = waiting(reply)
        ended = None
        if lacks_answer(reply, waits, path):
            job_id = (waits or checked(reply, StoredCase))["reference_run"]
            ended = make_answer(client, f"{path} of {problem_id}", job_id, wait=wait, quiet=as_json)
    text = f"test case {path} of {problem_id} has been put" if waits is None else waiting_text(waits)
    report(text, reply, as_json=as_json)
    raise typer.Exit(0 if ended is None or ended["state"] == "done" else 1)


def lacks_answer(reply: JsonValue, waits: Rejudging | None, path: str) -> bool:
    """Tell whether a case that was put has no expected answer yet."""
    if waits is not None:
        return path.rpartition("/")[2] in waits["without_answer"]
    return checked(reply, StoredCase)["answer_sha256"] is None


def make_answer(client: Client, case: str, job_id: str | None, *, wait: bool, quiet: bool) -> Job | None:
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


@testcase.command("delete", epilog=examples("jurado admin testcase delete comesolo secret/121-mine"))
def delete_case(problem_id: ProblemId, path: CasePath) -> None:
    """Delete a test case; of a problem with submissions it waits as a rejudging."""
    delete(f"problems/{problem_id}/testcases/{path}")


@reference.command(
    "run",
    epilog=examples(
        "jurado admin reference run comesolo",
        "jurado admin reference run comesolo 121-mine --method beam --seconds 20 --seed 1",
    ),
)
def run_reference(
    problem_id: ProblemId,
    cases: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="default: those without answer")
    ] = None,
    method: Method = None,
    seconds: Seconds = None,
    seed: Seed = None,
    wait: Wait = True,
    as_json: AsJson = False,
) -> None:
    """Have the server's solver make expected answers, and follow it; exit code 1 if a case failed."""
    given = without_none({"testcases": cases or None, "method": method, "seconds": seconds, "seed": seed})
    with Client.open() as client:
        started = client.post(f"problems/{problem_id}/reference-runs", given, Job)
        if wait:
            finish(client, started["id"], as_json=as_json)
    report(f"job {started['id']} has been queued; jurado admin job watch {started['id']}", started, as_json=as_json)


def packed(place: Path) -> tuple[str | None, bytes]:
    """Give the slug (None where the zip has to know it) and the zip of a package."""
    if not place.is_dir():
        return None, read_file(place, "package")
    from app.cli.package import read
    from app.packages.export import write_archive

    package = read(place)
    return package.slug, write_archive(package)


def origin(provenance: Mapping[str, JsonValue]) -> str:
    """Say in a few words where an expected answer comes from."""
    method = provenance.get("method")
    return " ".join(str(word) for word in (provenance.get("from"), method) if word)
