"""Progress of long work on standard error: bars on a terminal, a few lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from app.core.commands.output import console, say
from app.core.steps import OnStep, unseen
from app.judging.service.solver_process import OnReport, Summary
from app.programs.solving import SolverReport

OnProgress = Callable[[SolverReport], None]
"""Called with every report."""


@contextmanager
def progress_shown(label: str, *, quiet: bool) -> Iterator[OnReport]:
    """Show progress on standard error: a bar on a terminal, at most ten lines elsewhere."""
    if quiet:
        yield lambda _report: None
    elif sys.stderr.isatty():
        with bar_of_work() as bar:
            task = bar.add_task(label, total=1.0, text="starting")
            yield lambda report: bar.update(task, completed=fraction_of(report), text=progress_text(report))
    else:
        yield ProgressLines(label)


@contextmanager
def files_shown(count: int, *, quiet: bool) -> Iterator[OnReport]:
    """Show how many of many inputs are solved: a bar on a terminal, a line for each elsewhere."""
    if quiet:
        yield lambda _report: None
        return
    if not sys.stderr.isatty():
        yield lambda report: say(f"{report.get('instance')}: {raw_text(report)}") if "done" in report else None
        return
    with bar_of_work() as bar:
        task = bar.add_task("starting", total=float(count), text="")
        solved = 0

        def show_report(report: SolverReport | Summary) -> None:
            nonlocal solved
            solved += "done" in report
            within = 0.0 if "done" in report else report["fraction"]
            bar.update(task, completed=solved + within, description=f"{solved} of {count}")
            bar.update(task, text=progress_text(report))

        yield show_report


@contextmanager
def steps_shown(label: str, *, quiet: bool) -> Iterator[OnStep]:
    """Show the phases of an examination: a bar on a terminal, nothing elsewhere, as it takes seconds."""
    if quiet or not sys.stderr.isatty():
        yield unseen
        return
    with bar_of_work() as bar:
        task = bar.add_task(label, total=None, text="reading")

        def show_step(phase: str, done: int, total: int) -> None:
            bar.update(task, description=f"{label}: {phase}", completed=done, total=total, text=f"{done} of {total}")

        yield show_step


def bar_of_work() -> Progress:
    """Make a bar on standard error with a text beside it, which disappears at its end."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[text]}"), TimeElapsedColumn())
    return Progress(*columns, console=console(err=True), transient=True)


class ProgressLines:
    """Prints a line whenever another tenth of the way is done."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.tenths = 0

    def __call__(self, report: SolverReport | Summary) -> None:
        """Take one report."""
        tenths = int(report["fraction"] * 10) if "fraction" in report else 0
        if tenths > self.tenths:
            self.tenths = tenths
            say(f"{self.label}: {tenths * 10} %, {progress_text(report)}")


def fraction_of(report: SolverReport | Summary) -> float:
    """Give the part of the work that is done; a summary comes at its end."""
    return 1.0 if "done" in report else report["fraction"]


def progress_text(report: SolverReport | Summary) -> str:
    """Word a report in a few words; of a summary, its raw score."""
    if "done" in report:
        return raw_text(report)
    parts = [f"best {report['best']}"] if report["best"] is not None else []
    if report["states"]:
        parts.append(f"{in_units(report['states'])} states")
    if report["note"]:
        parts.append(report["note"])
    return ", ".join(parts)


def raw_text(summary: Summary) -> str:
    """Give the raw score, and its bound where one is known; or why there is none."""
    if summary["unsolved"]:
        return f"unsolved: {summary['message']}"
    bound = f" of at most {summary['max_raw']}" if summary["max_raw"] is not None else ""
    return f"raw {summary['raw']}{bound}"


def in_units(count: float) -> str:
    """Give a count with k or M behind it."""
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count:.0f}"
