"""`jurado package`: verify, pack and begin problem packages; importing one is the admin's upload over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.output import Failure, examples, say, show, table, write_json
from app.cli.package_skeleton import skeleton
from app.cli.solve import AsJson
from app.packages.errors import PackageErrors
from app.packages.files import SLUG
from app.packages.model import Package

program = typer.Typer(no_args_is_help=True, help="Verify, pack and begin problem packages.")
Place = Annotated[Path, typer.Argument(metavar="DIR_OR_ZIP", help="a package: its folder, or a zip of it")]


@program.command(epilog=examples("jurado package verify problems/comesolo", "jurado package verify mine.zip --json"))
def verify(places: Annotated[list[Path], typer.Argument(metavar="DIR_OR_ZIP...")], as_json: AsJson = False) -> None:
    """Read packages strictly and try everything in them: validators, checker, data, example submissions.

    Every fault is listed with its file. Exit code 0: all are sound; 1: something is wrong.
    """
    from app.packages.verify import verify_report

    for place in places:
        must_exist(place)
    reports = [verify_report(place) for place in places]
    if as_json:
        write_json(reports[0] if len(reports) == 1 else reports)
    else:
        for report in reports:
            show_report(report)
    raise typer.Exit(0 if all(report["valid"] for report in reports) else 1)


@program.command(epilog=examples("jurado package export problems/comesolo --out comesolo.zip"))
def export(
    place: Place,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="default: SLUG.zip in the current folder")] = None,
) -> None:
    """Pack a package as a zip: the same files give the same bytes, on every machine."""
    from app.packages.export import write_archive

    package = read(place)
    target = out or Path(f"{package.slug}.zip")
    try:
        target.write_bytes(write_archive(package))
    except OSError as error:
        raise Failure(f"{target}: {error.strerror}") from None
    say(f"{target}: {len(package.files)} files, {target.stat().st_size} bytes")


@program.command(epilog=examples("jurado package new problems/mysum"))
def new(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="named by the slug: lowercase letters, digits")],
) -> None:
    """Begin a package: a small problem that verifies, to be changed into yours."""
    if not SLUG.fullmatch(folder.name):
        raise Failure(f"{folder}: expected a folder named by lowercase letters and digits, found {folder.name!r}")
    if folder.exists():
        raise Failure(f"{folder}: expected a folder that is not there yet, found one")
    try:
        for name, text in skeleton(folder.name).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise Failure(f"{folder}: {error.strerror}") from None
    say(f"{folder}: a small problem to begin with; next: jurado package verify {folder}")


def read(place: Path) -> Package:
    """Read a package from a folder or zip; raises Failure listing every fault."""
    from app.packages.read import read_archive, read_package

    must_exist(place)
    try:
        return read_package(place) if place.is_dir() else read_archive(place)
    except PackageErrors as errors:
        raise Failure(f"{place} is not a sound package:\n" + "\n".join(f"  {e}" for e in errors.errors), 1) from None


def must_exist(place: Path) -> None:
    """Raise Failure where there is neither a folder nor a file."""
    if not place.is_dir() and not place.is_file():
        raise Failure(f"{place}: expected a package's folder or zip, found nothing")


def show_report(report: dict[str, Any]) -> None:
    """Print one report: the faults, or what the package holds."""
    name = report["slug"] or report["path"]
    faults = [*report["errors"], *report["findings"]]
    if faults:
        rows = [(fault["file"], fault["where"], fault["message"]) for fault in faults]
        show(table(f"{name}: {len(faults)} fault{'s' if len(faults) > 1 else ''}", ["file", "where", "fault"], rows))
        return
    cases = ", ".join(f"{count} in {group}" for group, count in report["cases"].items())
    typer.echo(f"{name}: sound; cases: {cases}")
    for path, points in report["points"].items():
        typer.echo(f"  {path}: {points:.2f} points")
