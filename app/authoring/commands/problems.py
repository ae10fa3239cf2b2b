"""`jurado admin problem|reference|job`: problems, the expected answers made for them, and jobs.

- `jurado admin problem versions|restore`, `jurado admin contest pin`: versions of problems.
"""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from jurado_client.connection import Param, named

from app.core.commands import lookup, progress, registry, uploading
from app.core.commands.client import Client
from app.core.commands.output import Failure, JsonMapping, report, say, show, table, write_json

# A package of gigabytes or ten thousand cases takes the server minutes.
SECONDS = 3600.0
ProblemId = Annotated[str, typer.Argument(metavar="PROBLEM", help="the problem's id")]
Method = Annotated[str | None, typer.Option(help="default: the problem's reference method")]
Seconds = Annotated[float | None, typer.Option(help="time for each case")]
Seed = Annotated[int | None, typer.Option(help="seed of the solver")]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="follow the reference run until it has ended")]


@registry.command("admin problem list")
def list_problems() -> registry.Request:
    """List the problems of the server.

    Examples:
      jurado admin problem list
      jurado admin problem list --json
    """
    return registry.collection("problems", registry.keys("id checker test_data_count max_score languages updated"))


@registry.command("admin problem upload")
def upload_problem(
    place: Annotated[Path, typer.Argument(metavar="DIR_OR_ZIP", help="a package: its folder, or a zip of it")],
    keep: registry.Keep = False,
    preview: registry.PreviewOnly = False,
) -> registry.Shown:
    """Import a problem package, or a new version of one; with any fault nothing is kept and every fault is listed.

    A new version of a problem with submissions waits as a rejudging.

    Examples:
      jurado admin problem upload problems/comesolo
      jurado admin problem upload mine.zip
    """
    how = registry.parameters(keep=keep, preview=preview)
    with packed(place) as (slug, archive):
        return upload_archive(slug, archive, how, name=str(place))


def upload_archive(
    slug: str | None,
    archive: bytes | Path,
    how: Mapping[str, Param],
    *,
    name: str | None = None,
    format_name: str | None = None,
) -> registry.Shown:
    """Send a package's zip to the server; `name`: for a zip whose id is in its files."""
    params = {"id": slug, "format": format_name, **how}
    headers = {"Content-Type": "application/zip"}
    with Client.open() as client, uploading.upload_shown(archive) as (reader, on_step):
        reply = client.post_watched("problems", on_step, params, content=reader, headers=headers, timeout=SECONDS)
    if registry.is_preview(reply) or registry.is_waiting(reply):
        return registry.Shown(reply, registry.changed(""))
    return registry.Shown(reply, lambda stored: stored_text(stored, slug or name or stored["id"]))


def stored_text(stored: JsonMapping, name: str) -> str:
    """Show the warnings about a package, and say what was stored."""
    progress.show_faults(name, stored.get("warnings", []))
    text = f"problem {stored['id']} has {stored['test_data_count']} test cases"
    if (job_id := stored.get("reference_run")) is not None:
        text += f"; its solution makes missing expected answers: jurado admin job watch {job_id}"
    return text


@registry.command("admin problem download")
def download_problem(
    problem_id: ProblemId,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="default: PROBLEM.zip")] = None,
    version: Annotated[int | None, typer.Option(min=1, help="default: the newest")] = None,
) -> None:
    """Fetch a problem as a package: the current version or an earlier one.

    Examples:
      jurado admin problem download comesolo --out comesolo.zip
      jurado admin problem download comesolo --version 2 --out as-judged.zip
    """
    target = out or Path(f"{problem_id}.zip")
    place = f"problems/{problem_id}" + ("" if version is None else f"/versions/{version}")
    with Client.open() as client:
        size = uploading.download(client, f"{place}/package.zip", target)
    say(f"{target}: {size} bytes")


@registry.command("admin problem delete")
def delete_problem(problem_id: ProblemId) -> registry.Request:
    """Delete a problem that no contest has.

    Examples:
      jurado admin problem delete mysum
    """
    return registry.deletion(f"problems/{problem_id}")


@registry.command("admin reference run")
def run_reference(
    problem_id: ProblemId,
    cases: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="default: those without answer")
    ] = None,
    method: Method = None,
    seconds: Seconds = None,
    seed: Seed = None,
    wait: Wait = True,
    as_json: registry.AsJson = False,
) -> None:
    """Have the server's solver make expected answers, and follow it; exit code 1 if a case failed.

    Examples:
      jurado admin reference run comesolo
      jurado admin reference run comesolo 121-mine --method beam --seconds 20 --seed 1
    """
    given = named({"testcases": cases or None, "method": method, "seconds": seconds, "seed": seed})
    with Client.open() as client:
        started = client.post(f"problems/{problem_id}/reference-runs", given)
        if wait:
            finish(client, started["id"], as_json=as_json)
    report(f"job {started['id']} has been queued; jurado admin job watch {started['id']}", started, as_json=as_json)


@contextmanager
def packed(place: Path) -> Iterator[tuple[str | None, Path]]:
    """Give the slug (None where the zip has to know it) and the zip of a package; one made of a folder is gone then."""
    if not place.is_dir():
        yield None, place
        return
    from app.core.commands.uploading import read_sound
    from app.packages.model import write_archive_file

    package = read_sound(place)
    with tempfile.TemporaryDirectory(prefix="jurado-packed-") as folder:
        archive = Path(folder) / f"{package.slug}.zip"
        write_archive_file(package, archive)
        yield package.slug, archive


JobId = Annotated[str, typer.Argument(metavar="JOB", help="the job's id")]
Number = Annotated[int, typer.Argument(metavar="VERSION", min=1, help="its number")]
NEWEST = "newest"


@registry.command("admin problem versions")
def list_versions(problem_id: ProblemId) -> registry.Request:
    """List the versions of a problem: who made each, when and why, and the contests that have it.

    Examples:
      jurado admin problem versions comesolo
    """
    return registry.Request("GET", f"problems/{problem_id}/versions", registry.Table(VERSIONS, problem_id))


def _contests(version: JsonMapping) -> str:
    return ", ".join(f"{each}*" if each in version["pinned"] else each for each in version["contests"])


VERSIONS: Mapping[str, registry.Cell] = {
    ">version": "number",
    "made": "created",
    "by": "account_id",
    "why": "note",
    "contests (* stays with it)": _contests,
}


@registry.command("admin problem restore")
def restore_version(
    problem_id: ProblemId,
    number: Number,
    keep: registry.Keep = False,
    preview: registry.PreviewOnly = False,
) -> registry.Request:
    """Make a version of a problem the newest again; where there are submissions it waits as a rejudging.

    Examples:
      jurado admin problem restore comesolo 2 --preview
      jurado admin problem restore comesolo 2
    """
    text = f"{problem_id} is as it was in version {number}"
    params = registry.parameters(keep=keep, preview=preview)
    return registry.change("POST", f"problems/{problem_id}/versions/{number}/restore", text, params)


@registry.command("admin contest pin")
def pin(
    contest_id: registry.ContestId,
    problem_id: Annotated[str, typer.Argument(metavar="PROBLEM", help="the problem's id or label")],
    version: Annotated[str, typer.Argument(metavar="VERSION", help=f"a number, or {NEWEST}: follow the problem")],
    preview: registry.PreviewOnly = False,
) -> registry.Request:
    """Let a contest stay with a version of a problem; where verdicts or points may differ it waits as a rejudging.

    Examples:
      jurado admin contest pin finals comesolo 3
      jurado admin contest pin finals comesolo newest --preview
    """
    if version != NEWEST and not version.isdigit():
        raise Failure(f"VERSION: expected a number or {NEWEST}, found {version!r}")
    wanted = None if version == NEWEST else int(version)
    place = "follows the newest version" if wanted is None else f"stays with version {wanted}"
    text = f"{contest_id} {place} of {problem_id}"
    path = f"contests/{contest_id}/problems/{problem_id}"
    return registry.change("PATCH", path, text, registry.parameters(preview=preview), {"version": wanted})


@registry.command("admin job watch")
def watch_job(job_id: JobId, as_json: registry.AsJson = False) -> None:
    """Follow a job until it has ended; exit code 1 unless it is done.

    Examples:
      jurado admin job watch 7f3a
      jurado admin job watch 7f3a --json
    """
    with Client.open() as client:
        finish(client, job_id, as_json=as_json)


def finish(client: Client, job_id: str, *, as_json: bool) -> None:
    """Follow a job, show how it ended, and end with the exit code."""
    with progress.progress_shown(f"job {job_id}", quiet=as_json) as on_progress:
        ended = lookup.follow_job(client, job_id, on_progress)
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
