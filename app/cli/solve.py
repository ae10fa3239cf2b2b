"""`jurado solve` and `jurado methods`: find answers here, without a server."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from app.cli.names import problem_folder, read_file
from app.cli.output import Failure, console, person_at_stdin, say, show, table, write_json
from app.cli.solver_process import list_methods, run_solver, run_solver_on_files
from app.grading.solver_process import OnReport

Problem = Annotated[str, typer.Argument(metavar="PROBLEM", help="a bundled problem, such as comesolo")]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON for a program")]


def solve(
    problem: Problem,
    files: Annotated[
        list[Path] | None, typer.Argument(metavar="[FILES]...", help="inputs or folders of .in files")
    ] = None,
    method: Annotated[str | None, typer.Option(help="see `jurado methods`; default: the reference method")] = None,
    seconds: Annotated[float | None, typer.Option(help="time for the search, start-up not counted", min=0.001)] = None,
    steps: Annotated[int | None, typer.Option(help="steps instead of seconds: repeats exactly", min=0)] = None,
    seed: Annotated[int, typer.Option(help="seed of the random choices", min=0)] = 1,
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="write NAME.out there for each input")] = None,
    reference: Annotated[Path | None, typer.Option(metavar="FILE", help="write the expected answer (.ans) too")] = None,
    as_json: AsJson = False,
) -> None:
    """Find an answer: input on standard input, answer on standard output, progress and a summary on standard error.

    The last line says the raw score and the bound known for it; Ctrl-C gives the best answer so far. With --out every
    input named is solved, one after the other, and a table shows how good the answers are. Exit code 1: an input is
    left without an answer.
    """
    slug = problem_folder(problem).resolve().name
    options = solver_options(method, seconds, steps, seed)
    inputs = input_files(files or [])
    if out is not None:
        solve_all(slug, inputs, options, out, as_json=as_json)
        return
    if len(inputs) > 1:
        raise Failure(f"expected one input, or --out DIR for the answers, found {len(inputs)} inputs")
    if not inputs and person_at_stdin():
        raise Failure(f"expected an input: jurado solve {slug} < FILE.in")
    data = read_file(inputs[0] if inputs else Path("-"), "input")
    if reference is not None:
        options += ["--reference", str(reference)]
    with progress_shown(slug, quiet=as_json) as on_report:
        solved = run_solver(slug, data, options, on_report)
    sys.stdout.buffer.write(solved.answer)
    sys.stdout.buffer.flush()
    if as_json:
        write_json(solved.summary, err=True)
    else:
        say(summary_line(solved.summary))


def methods(problem: Problem, as_json: AsJson = False) -> None:
    """List the methods of a problem's solver."""
    slug = problem_folder(problem).resolve().name
    listed = list_methods(slug)
    if as_json:
        write_json(listed)
        return
    rows = [
        (name + (" *" if name == listed["reference"] else ""), method["summary"], f"{method['seconds']:g}")
        for name, method in listed["methods"].items()
    ]
    show(table(f"{slug} (* makes the expected answers)", ["method", "what it does", ">seconds"], rows))


def solver_options(method: str | None, seconds: float | None, steps: int | None, seed: int) -> list[str]:
    """Build the options of `python -m solvers`."""
    options = ["--seed", str(seed)]
    for name, value in (("--method", method), ("--seconds", seconds), ("--steps", steps)):
        if value is not None:
            options += [name, str(value)]
    return options


def input_files(paths: Sequence[Path]) -> list[Path]:
    """List the inputs: files as named, folders by their .in files; two of one name are refused."""
    inputs = [file for path in paths for file in (sorted(path.glob("*.in")) if path.is_dir() else [path])]
    if paths and not inputs:
        raise Failure(f"expected .in files, found none in {', '.join(map(str, paths))}")
    seen: dict[str, Path] = {}
    for path in inputs:
        if path.stem in seen:
            raise Failure(f"expected inputs of different names, found {seen[path.stem]} and {path}")
        seen[path.stem] = path
    return inputs


def solve_all(problem: str, inputs: Sequence[Path], options: Sequence[str], out: Path, *, as_json: bool) -> None:
    """Solve every input in turn, write the answers, and show how good they are."""
    if not inputs:
        raise Failure("--out: expected inputs to solve, found none")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(f"--out {out}: {error.strerror}") from None
    with files_shown(len(inputs), quiet=as_json) as on_report:
        summaries = run_solver_on_files(problem, inputs, out, options, on_report)
    if as_json:
        write_json({"problem": problem, "runs": summaries, "mean": mean_share(summaries)})
    else:
        show(summary_table(problem, summaries))
    if any(summary["unsolved"] for summary in summaries):
        raise typer.Exit(1)


@contextmanager
def progress_shown(label: str, *, quiet: bool) -> Iterator[OnReport]:
    """Show progress on standard error: a bar on a terminal, at most ten lines elsewhere."""
    if quiet:
        yield lambda _report: None
    elif sys.stderr.isatty():
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[said]}"),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=console(err=True), transient=True) as bar:
            task = bar.add_task(label, total=1.0, said="starting")
            yield lambda said: bar.update(task, completed=said.get("fraction", 1.0), said=progress_text(said))
    else:
        yield ProgressLines(label)


@contextmanager
def files_shown(count: int, *, quiet: bool) -> Iterator[OnReport]:
    """Show how many of many inputs are solved: a bar on a terminal, a line for each elsewhere."""
    if quiet:
        yield lambda _said: None
        return
    if not sys.stderr.isatty():
        yield lambda said: say(f"{said['instance']}: {raw_text(said)}") if "done" in said else None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[said]}"), TimeElapsedColumn())
    with Progress(*columns, console=console(err=True), transient=True) as bar:
        task = bar.add_task("starting", total=float(count), said="")
        solved = 0

        def show_report(said: dict[str, Any]) -> None:
            nonlocal solved
            solved += "done" in said
            bar.update(task, completed=solved + said.get("fraction", 0.0), description=f"{solved} of {count}")
            bar.update(task, said=progress_text(said))

        yield show_report


class ProgressLines:
    """Prints a line whenever another tenth of the way is done."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.tenths = 0

    def __call__(self, report: dict[str, Any]) -> None:
        """Take one report."""
        tenths = int(report.get("fraction", 0.0) * 10)
        if tenths > self.tenths:
            self.tenths = tenths
            say(f"{self.label}: {tenths * 10} %, {progress_text(report)}")


def progress_text(report: dict[str, Any]) -> str:
    """Say what a report says, in a few words; a summary has said it before."""
    if "done" in report:
        return raw_text(report)
    parts = [f"best {report['best']}"] if report["best"] is not None else []
    if report["states"]:
        parts.append(f"{in_units(report['states'])} states")
    if report["note"]:
        parts.append(report["note"])
    return ", ".join(parts)


def summary_line(summary: dict[str, Any]) -> str:
    """The last line of `jurado solve`; the time before the search (interpreter, kernels) is told apart."""
    parts = [raw_text(summary)]
    if summary["optimal"]:
        parts.append("optimal")
    elif summary.get("most") is not None:
        parts.append(f"proven at most {summary['most']}")
    parts.append(f"{summary['seconds']:.1f} s after {summary['start_up']:.1f} s of start-up")
    if speed := rate(summary):
        parts.append(f"{speed} states/s")
    if summary["steps"]:
        parts.append(f"{summary['steps']} steps")
    if summary["stopped"]:
        parts.append("stopped early")
    return f"{summary['problem']} {summary['method']}: {summary['message']}; {', '.join(parts)}"


def summary_table(problem: str, summaries: Sequence[dict[str, Any]]) -> object:
    """One line an input and the mean of raw/max below."""
    mean = mean_share(summaries)
    rows = [
        (
            s["instance"],
            s["raw"],
            s["max_raw"],
            share_text(share(s)),
            "yes" if s["optimal"] else "",
            s["seconds"],
            rate(s),
        )
        for s in summaries
    ]
    columns = ["instance", ">raw", ">bound", ">raw/bound", "optimal", ">seconds", ">states/s"]
    proven = sum(1 for s in summaries if s["optimal"])
    total = sum(s["seconds"] for s in summaries)
    footer = ["mean", "", "", share_text(mean), f"{proven} of {len(summaries)}", f"{total:.1f}", ""]
    title = f"{problem} {summaries[0]['method']}: raw score by its bound"
    return table(title, columns, rows, footer=footer)


def raw_text(summary: dict[str, Any]) -> str:
    """The raw score, and its bound where one is known; or why there is none."""
    if summary["unsolved"]:
        return f"unsolved: {summary['message']}"
    bound = f" of at most {summary['max_raw']}" if summary["max_raw"] is not None else ""
    return f"raw {summary['raw']}{bound}"


def share(summary: dict[str, Any]) -> float | None:
    """Raw score by its bound, where one is known."""
    return summary["raw"] / summary["max_raw"] if summary["max_raw"] else None


def mean_share(summaries: Sequence[dict[str, Any]]) -> float | None:
    """The mean of raw/max, if every run has one."""
    shares = [share(summary) for summary in summaries]
    known = [value for value in shares if value is not None]
    return sum(known) / len(known) if known and len(known) == len(shares) else None


def share_text(value: float | None) -> str:
    """A share with five digits behind the point."""
    return "" if value is None else f"{value:.5f}"


def rate(summary: dict[str, Any]) -> str:
    """States per second, in units."""
    return in_units(summary["states"] / summary["seconds"]) if summary["states"] and summary["seconds"] > 0 else ""


def in_units(count: float) -> str:
    """A count with k or M behind it."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:.0f}"
