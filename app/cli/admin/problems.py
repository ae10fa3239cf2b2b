"""`jurado admin problem|testcase|reference|job`: problems, their test cases, and the answers solvers make for them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.admin.commands import delete, known, listing, waiting, waits
from app.cli.client import Client
from app.cli.contestant.upload import upload_shown
from app.cli.names import read_file
from app.cli.output import Failure, examples, say, show, table, tell, write_json
from app.cli.package import show_faults
from app.cli.solve import AsJson, progress_shown

problem = typer.Typer(no_args_is_help=True, help="Problems and their packages.")
testcase = typer.Typer(no_args_is_help=True, help="Single test cases.")
reference = typer.Typer(no_args_is_help=True, help="Expected answers, made by the reference solver.")
job = typer.Typer(no_args_is_help=True, help="Long work on the server.")
GROUPS = {"problem": problem, "testcase": testcase, "reference": reference, "job": job}
ENDED = {"done", "failed", "cancelled"}
SECONDS_BETWEEN_LOOKS = 0.3
ProblemId = Annotated[str, typer.Argument(metavar="PROBLEM", help="the problem's id")]
CasePath = Annotated[str, typer.Argument(metavar="GROUP/NAME", help="such as secret/121-mine")]
Joins = Annotated[
    int | None, typer.Option(metavar="ID", help="make the change a part of this open rejudging, if one is needed")
]
Method = Annotated[str | None, typer.Option(help="default: the problem's reference method")]
Seconds = Annotated[float | None, typer.Option(help="time for each case")]
Seed = Annotated[int | None, typer.Option(help="seed of the solver")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="follow the reference run until it has ended")]
JobId = Annotated[str, typer.Argument(metavar="JOB", help="the job's id")]


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
    """Bring a problem package in, or a new version of one; every fault is listed, and then nothing is kept.

    A new version of a problem with submissions waits as a rejudging.
    """
    slug, data = packed(place)
    params = {"id": slug, "rejudging": rejudging}
    with Client.open() as client, upload_shown(data) as reader:
        made = client.post("problems", content=reader, params=params, headers={"Content-Type": "application/zip"})
    told = waiting(made) if waits(made) else f"problem {made['id']} has {made['test_data_count']} test cases"
    if not as_json:
        show_faults(str(slug or place), made.get("warnings", []))
    tell(told, made, as_json=as_json)


@problem.command("download", epilog=examples("jurado admin problem download comesolo --out comesolo.zip"))
def download_problem(
    problem_id: ProblemId,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="default: PROBLEM.zip")] = None,
) -> None:
    """Fetch a problem as a package, with its test cases as they are now."""
    target = out or Path(f"{problem_id}.zip")
    with Client.open() as client:
        data = client.request("GET", f"/api/problems/{problem_id}/package.zip").content
    try:
        target.write_bytes(data)
    except OSError as error:
        raise Failure(f"{target}: {error.strerror}") from None
    say(f"{target}: {len(data)} bytes")


@problem.command("delete", epilog=examples("jurado admin problem delete mysum"))
def delete_problem(problem_id: ProblemId) -> None:
    """Delete a problem that no contest has."""
    delete(f"problems/{problem_id}")


@testcase.command(
    "list", epilog=examples("jurado admin testcase list comesolo", "jurado admin testcase list comesolo --json")
)
def list_cases(problem_id: ProblemId, as_json: AsJson = False) -> None:
    """List the test cases of a problem, and where their expected answers come from."""
    with Client.open() as client:
        cases = client.get(f"problems/{problem_id}")["testcases"]
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
    """Put a test case into a problem, or replace it; everything wrong with it is listed, and then nothing is kept.

    Without an answer the server's solver makes it, which is followed until it ends. In a problem with submissions the
    case waits as a rejudging, which cannot be applied before it has an answer.
    """
    how = {key: str(value) for key, value in known({"method": method, "seconds": seconds, "seed": seed}).items()}
    if answer is not None and how:
        raise Failure(
            "--answer: expected no --method, --seconds or --seed beside it, as these are for making the answer"
        )
    files = {"input": (input_file.name, read_file(input_file, "input"))}
    if answer is not None:
        files["answer"] = (answer.name, read_file(answer, "answer"))
    with Client.open() as client:
        made = client.put(
            f"problems/{problem_id}/testcases/{path}", files=files, data=how, params={"rejudging": rejudging}
        )
        ended = answer_made(client, problem_id, path, made, wait=wait, quiet=as_json)
    put = waiting(made) if waits(made) else f"test case {path} of {problem_id} has been put"
    tell(put, made, as_json=as_json)
    raise typer.Exit(0 if ended is None or ended["state"] == "done" else 1)


def answer_made(
    client: Client, problem_id: str, path: str, made: dict[str, Any], *, wait: bool, quiet: bool
) -> dict[str, Any] | None:
    """Say that a case that was put has no expected answer yet, and follow the job that makes it; returns its end."""
    name, job_id = path.rpartition("/")[2], made["reference_run"]
    lacking = name in made["without_answer"] if waits(made) else made["answer_sha256"] is None
    if not lacking:
        return None
    why = f"job {job_id} makes it" if job_id else "the problem names no reference solver: put it again with --answer"
    say(f"test case {path} of {problem_id} has no expected answer yet, and nobody can answer it: {why}")
    if job_id is None or not wait:
        return None
    with progress_shown(f"job {job_id}", quiet=quiet) as on_progress:
        ended = follow_job(client, job_id, on_progress)
    for case, result in (ended["result"] or {}).get("cases", {}).items():
        say(f"{case}: {case_text(result)}")
    if ended["state"] != "done":
        say(f"job {job_id} has {ended['state']}: {path} still has no expected answer")
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
    asked = known({"testcases": cases or None, "method": method, "seconds": seconds, "seed": seed})
    with Client.open() as client:
        started = client.post(f"problems/{problem_id}/reference-runs", asked)
        if wait:
            finish(client, started["id"], as_json=as_json)
    tell(f"job {started['id']} has been queued; jurado admin job watch {started['id']}", started, as_json=as_json)


@job.command("list", epilog=examples("jurado admin job list", "jurado admin job list --json"))
def list_jobs(as_json: AsJson = False) -> None:
    """List the latest jobs, newest first."""
    listing("jobs", ["id", "kind", "state", "progress", "created", "ended"], as_json=as_json)


@job.command("watch", epilog=examples("jurado admin job watch 7f3a", "jurado admin job watch 7f3a --json"))
def watch_job(job_id: JobId, as_json: AsJson = False) -> None:
    """Follow a job until it has ended; exit code 1 unless it is done."""
    with Client.open() as client:
        finish(client, job_id, as_json=as_json)


@job.command("cancel", epilog=examples("jurado admin job cancel 7f3a"))
def cancel_job(job_id: JobId) -> None:
    """Kill what a job runs; what it has finished stays."""
    with Client.open() as client:
        client.delete(f"jobs/{job_id}")
    typer.echo(f"job {job_id} has been cancelled")


def packed(place: Path) -> tuple[str | None, bytes]:
    """Give the slug (None where the zip has to know it) and the zip of a package."""
    if not place.is_dir():
        return None, read_file(place, "package")
    from app.cli.package import read
    from app.packages.export import write_archive

    package = read(place)
    return package.slug, write_archive(package)


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


def follow_job(client: Client, job_id: str, on_progress: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Look at a job until it has ended, passing its progress on."""
    while True:
        found: dict[str, Any] = client.get(f"jobs/{job_id}")
        said = found["log"].strip().rpartition("\n")[2]
        on_progress({"fraction": found["progress"], "best": None, "states": 0, "note": said})
        if found["state"] in ENDED:
            return found
        time.sleep(SECONDS_BETWEEN_LOOKS)


def case_text(result: dict[str, Any]) -> str:
    """What a reference run made of a case."""
    if "error" in result:
        return f"failed: {result['error']}"
    optimal = ", optimal" if result.get("optimal") else ""
    waits = ""
    if "rejudging" in result:
        place = f"{result['contest']} {result['rejudging']}"
        waits = f"; waits in rejudging {result['rejudging']}: jurado admin rejudging difference {place}"
    return f"raw {result['raw']}{optimal}, {result['method']}, seed {result['seed']}, {result['seconds']} s{waits}"


def origin(provenance: dict[str, Any]) -> str:
    """Where an expected answer comes from, in a few words."""
    method = provenance.get("method")
    return " ".join(str(word) for word in (provenance.get("from"), method) if word)
