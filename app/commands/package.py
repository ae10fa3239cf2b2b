"""`jurado package`: verify, pack and begin problem packages; importing one is the admin's upload over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from app.core.commands.faults import NO_FOLDER, all_lines, show_faults
from app.core.commands.options import AsJson
from app.core.commands.output import Failure, new_file, say, write_json
from app.core.commands.progress import steps_shown
from app.core.commands.registry import command
from app.core.faults import PackageErrors

if TYPE_CHECKING:
    from app.packages.model import Package
    from app.packages.verify import Report

Place = Annotated[Path, typer.Argument(metavar="DIR_OR_ZIP", help="a package: its folder, or a zip of it")]


@command("package verify")
def verify(
    places: Annotated[list[Path], typer.Argument(metavar="DIR_OR_ZIP...")],
    strict: Annotated[bool, typer.Option("--strict", help="exit code 1 for warnings too")] = False,
    as_json: AsJson = False,
) -> None:
    """Read packages strictly and try everything in them: validators, generators, checker, data, example submissions.

    Every fault is listed with its file. An error: the server refuses the package. A warning: the server takes it, but
    something in it will not work as its author expects. A note: nothing is wrong, such as a file that nothing uses.
    Exit code 0: no errors; 1: errors.

    Examples:
      jurado package verify problems/comesolo
      jurado package verify mine.zip --json
    """
    from app.core.steps import Steps
    from app.packages.verify import verify_report

    for place in places:
        must_exist(place)
    reports = []
    for place in places:
        with steps_shown(place.name, quiet=as_json) as on_step:
            reports.append(verify_report(place, Steps(on_step)))
    if as_json:
        write_json(reports[0] if len(reports) == 1 else reports)
    else:
        for report in reports:
            show_report(report)
    fine = all(report["valid"] and not (strict and report["warnings"]) for report in reports)
    raise typer.Exit(0 if fine else 1)


@command("package export")
def export(
    place: Place,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="default: SLUG.zip in the current folder")] = None,
    format_name: Annotated[
        str, typer.Option("--format", metavar="kattis|omegaup", help="the judge that is to read it")
    ] = "kattis",
    data_only: Annotated[
        bool, typer.Option("--data-only", help="omegaup: without a validator, whatever the checker is")
    ] = False,
) -> None:
    """Pack a package as a zip: the same files give the same bytes, on every machine.

    `omegaup` holds less than a package: warnings name what is left out.

    Examples:
      jurado package export problems/comesolo --out comesolo.zip
      jurado package export mine --format omegaup
    """
    if format_name not in ("kattis", "omegaup"):
        raise Failure(f"--format: expected kattis or omegaup, found {format_name!r}")
    if data_only and format_name != "omegaup":
        raise Failure("--data-only: expected --format omegaup beside it")
    from app.packages.export import below_top
    from app.packages.zips import write_files

    with TemporaryDirectory(prefix="jurado-packed-") as folder:
        package = read(place, Path(folder) / "files")
        target = out or Path(f"{package.slug}.zip")
        files = for_omegaup(package, data_only=data_only) if format_name == "omegaup" else below_top(package)
        with new_file(target) as file:
            write_files(file, files)
    say(f"{target}: {len(files)} files, {target.stat().st_size} bytes")


def for_omegaup(package: Package, *, data_only: bool) -> Mapping[str, bytes]:
    """Give the files of omegaUp's zip; shows warnings, raises Failure with all faults."""
    from app.packages.formats.export_omegaup import export_omegaup

    try:
        exported = export_omegaup(package, data_only=data_only)
    except PackageErrors as errors:
        raise Failure(f"{package.slug} would be judged otherwise by omegaUp:\n{all_lines(errors)}", 1) from None
    show_faults(package.slug, [fault.as_data() for fault in exported.warnings])
    return exported.files


def read(place: Path, spool: Path | None = None) -> Package:
    """Read a package from a folder, or a zip in memory or into the new file `spool`; raises Failure with all faults."""
    from app.packages.files import LARGEST, LIMITS
    from app.packages.read import read_archive, read_package

    must_exist(place)
    try:
        return (
            read_package(place)
            if place.is_dir()
            else read_archive(place, limits=LIMITS if spool is None else LARGEST, spool=spool)
        )
    except PackageErrors as errors:
        raise Failure(f"{place} is not a sound package:\n{all_lines(errors)}", 1) from None


def must_exist(place: Path) -> None:
    """Raise Failure where there is neither a folder nor a file."""
    if not place.is_dir() and not place.is_file():
        raise Failure(f"{place}: expected a package's folder or zip, found nothing")


def show_report(report: Report) -> None:
    """Print one report: the faults, and without an error the cases and points of the package."""
    name, place = report["slug"] or report["path"], Path(report["path"])
    folder = place if place.is_dir() else NO_FOLDER
    show_faults(name, [*report["errors"], *report["warnings"], *report["notes"]], folder)
    if report["errors"]:
        typer.echo(f"{name}: the server refuses this package")
        return
    cases = ", ".join(f"{count} in {group}" for group, count in report.get("cases", {}).items())
    verdict = "the server takes it, see the warnings" if report["warnings"] else "sound"
    typer.echo(f"{name}: {verdict}; cases: {cases}")
    for path, points in report.get("points", {}).items():
        typer.echo(f"  {path}: {points:.2f} points")
