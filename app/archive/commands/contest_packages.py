"""`jurado admin contest export` and `import`: contest packages."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from jurado_client.connection import Param

from app.accounts.commands.imports import Replace
from app.core.commands import output, registry, uploading
from app.core.commands.client import Client

# A large import takes minutes.
SECONDS = 3600.0
HOW = {
    "equal": "is here already, and equal",
    "new": "has been brought in",
    "version": "is another one here; the package's is used, as",
    "here": "is used as it is here, without a comparison",
}


@registry.command("admin contest export")
def export_contest(
    contest_id: registry.ContestId,
    out: Annotated[Path | None, typer.Option("--out", "-o", metavar="FILE", help="default: CONTEST.zip")] = None,
) -> None:
    """Write a contest as a contest package: everything in it, with its problems and submissions.

    Examples:
      jurado admin contest export finals
      jurado admin contest export finals -o f.zip
    """
    path = out or Path(f"{contest_id}.zip")
    with Client.open() as client:
        size = uploading.download(client, f"contests/{contest_id}/package.zip", path, code=1)
    output.say(f"{path}: {size} bytes")


@registry.command("admin contest import")
def import_contest(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a contest package: a zip")],
    contest_id: Annotated[str | None, typer.Option("--id", help="id of the imported contest")] = None,
    replace: Replace = False,
    submissions: Annotated[
        bool, typer.Option("--submissions/--no-submissions", help="also import the submissions; they are judged again")
    ] = True,
    as_json: registry.AsJson = False,
) -> None:
    """Import a contest package with its problems, completely or not at all.

    Examples:
      jurado admin contest import finals.zip
      jurado admin contest import finals.zip --id rerun --replace
    """
    params: dict[str, Param] = {"id": contest_id, "replace": replace, "submissions": submissions}
    headers = {"Content-Type": "application/zip"}
    if not file.is_file():
        raise output.Failure(f"{file}: expected a contest package, found no such file")
    with Client.open() as client, uploading.upload_shown(file) as (reader, on_step):
        brought_in = client.post_watched(
            "contests/import", on_step, params, content=reader, headers=headers, timeout=SECONDS
        )
    lines = [f"contest {brought_in['id']} has been brought in", *import_lines(brought_in["imported"])]
    output.report("\n".join(lines), brought_in, as_json=as_json)


def import_lines(imported: output.JsonMapping) -> Iterator[str]:
    """Say what an import did."""
    for problem in imported["problems"]:
        other = f" {problem['id']}" if problem["how"] == "version" else ""
        yield f"problem {problem['package_id']} {HOW[problem['how']]}{other} ({problem['test_cases']} test cases)"
        for each in problem["differences"]:
            yield f"  {each['where']}: in the package {each['before']}, here {each['after']}"
        if problem["more_differences"]:
            yield f"  and {problem['more_differences']} more differences"
    yield f"{imported['submissions']} submissions have been queued, and are judged from now on"
