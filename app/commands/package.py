"""`jurado package`: verify, pack and begin problem packages; importing one is the admin's upload over HTTP.

- `jurado solve` and `jurado methods`: find answers here, without a server.
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.solver_process import list_methods, run_solver
from app.core.commands import output, progress, registry, uploading
from app.judging.service.solver_process import Summary

if TYPE_CHECKING:
    from app.packages.verify import Report


Place = Annotated[Path, typer.Argument(metavar="DIR_OR_ZIP", help="a package: its folder, or a zip of it")]


@registry.command("package verify")
def verify(
    places: Annotated[list[Path], typer.Argument(metavar="DIR_OR_ZIP...")],
    strict: Annotated[bool, typer.Option("--strict", help="exit code 1 for warnings too")] = False,
    as_json: registry.AsJson = False,
) -> None:
    """Read packages strictly and try everything in them: validators, generators, checker, data, example submissions.

    Every fault is listed with its file. An error: the server refuses the package. A warning: the server takes it, but
    something in it will not work as its author expects. A note: nothing is wrong, such as a file that nothing uses.
    Exit code 0: no errors; 1: errors.

    Examples:
      jurado package verify problems/comesolo
      jurado package verify mine.zip --json
    """
    from app.core.faults import Steps
    from app.packages.verify import verify_report

    for place in places:
        uploading.must_exist(place)
    reports = []
    for place in places:
        with progress.steps_shown(place.name, quiet=as_json) as on_step:
            reports.append(verify_report(place, Steps(on_step)))
    if as_json:
        output.write_json(reports[0] if len(reports) == 1 else reports)
    else:
        for report in reports:
            show_report(report)
    fine = all(report["valid"] and not (strict and report["warnings"]) for report in reports)
    raise typer.Exit(0 if fine else 1)


@registry.command("package export")
def export(
    place: Place,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="default: SLUG.zip in the current folder")] = None,
) -> None:
    """Pack a package as a zip: the same files give the same bytes, on every machine.

    Examples:
      jurado package export problems/comesolo --out comesolo.zip
    """
    from app.packages.model import below_top
    from app.packages.zips import write_files

    with TemporaryDirectory(prefix="jurado-packed-") as folder:
        package = uploading.read_sound(place, Path(folder) / "files")
        target = out or Path(f"{package.slug}.zip")
        files = below_top(package)
        with output.new_file(target) as file:
            write_files(file, files)
    output.say(f"{target}: {len(files)} files, {target.stat().st_size} bytes")


def show_report(report: Report) -> None:
    """Print one report: the faults, and without an error the cases and points of the package."""
    name, place = report["slug"] or report["path"], Path(report["path"])
    folder = place if place.is_dir() else progress.NO_FOLDER
    progress.show_faults(name, [*report["errors"], *report["warnings"], *report["notes"]], folder)
    if report["errors"]:
        typer.echo(f"{name}: the server refuses this package")
        return
    cases = ", ".join(f"{count} in {group}" for group, count in report.get("cases", {}).items())
    verdict = "the server takes it, see the warnings" if report["warnings"] else "sound"
    typer.echo(f"{name}: {verdict}; cases: {cases}")
    for path, points in report.get("points", {}).items():
        typer.echo(f"  {path}: {points:.2f} points")


@registry.command("solve")
def solve(
    problem: registry.BundledProblem,
    method: Annotated[str | None, typer.Option(help="see `jurado methods`; default: the reference method")] = None,
    seconds: Annotated[float | None, typer.Option(help="time for the search, start-up not counted", min=0.001)] = None,
    steps: Annotated[int | None, typer.Option(help="steps instead of seconds: repeats exactly", min=0)] = None,
    seed: Annotated[int, typer.Option(help="seed of the random choices", min=0)] = 1,
    reference: Annotated[Path | None, typer.Option(metavar="FILE", help="write the expected answer (.ans) too")] = None,
    as_json: registry.AsJson = False,
) -> None:
    """Find an answer: input on standard input, answer on standard output, progress and a summary on standard error.

    The last line says the raw score and the bound known for it; Ctrl-C gives the best answer so far. Exit code 1: the
    method finds no answer.

    Examples:
      jurado solve comesolo < board.in > board.out
      jurado solve rollingballs --method greedy --seconds 2 --seed 7 < maze.in > maze.out
    """
    slug = output.problem_folder(problem).resolve().name
    options = ["--seed", str(seed)]
    for name, value in (("--method", method), ("--seconds", seconds), ("--steps", steps), ("--reference", reference)):
        if value is not None:
            options += [name, str(value)]
    if output.person_at_stdin():
        raise output.Failure(f"expected an input: jurado solve {slug} < FILE.in")
    data = output.read_file(Path("-"), "input")
    with progress.progress_shown(slug, quiet=as_json) as on_report:
        answer, summary = run_solver(slug, data, options, on_report)
    sys.stdout.buffer.write(answer)
    sys.stdout.buffer.flush()
    if as_json:
        output.write_json(summary, err=True)
    else:
        output.say(summary_line(summary))


@registry.command("methods")
def methods(problem: registry.BundledProblem) -> registry.Shown:
    """List the methods of a problem's solver.

    Examples:
      jurado methods comesolo
      jurado methods comesolo --json
    """
    slug = output.problem_folder(problem).resolve().name
    listed = list_methods(slug)
    rows = [
        (name + (" *" if name == listed["reference"] else ""), method["summary"], f"{method['seconds']:g}")
        for name, method in listed["methods"].items()
    ]
    drawn = output.table(f"{slug} (* makes the expected answers)", ["method", "what it does", ">seconds"], rows)
    return registry.Shown(listed, lambda _listed: [drawn])


def summary_line(summary: Summary) -> str:
    """Word the last line of `jurado solve`; the time before the search (interpreter, kernels) stands apart."""
    parts = [progress.raw_text(summary)]
    if summary["optimal"]:
        parts.append("optimal")
    elif summary["most"] is not None:
        parts.append(f"proven at most {summary['most']}")
    parts.append(f"{summary['seconds']:.1f} s after {summary['start_up']:.1f} s of start-up")
    if summary["steps"]:
        parts.append(f"{summary['steps']} steps")
    if summary["stopped"]:
        parts.append("stopped early")
    return f"{summary['problem']} {summary['method']}: {summary['message']}; {', '.join(parts)}"
