"""Progress of long work on standard error: bars on a terminal.

- Faults of packages for people: as compilers print theirs, so that editors find their places, and wrapped.
"""

from __future__ import annotations

import re
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from app.core.commands.output import console, harmless
from app.core.faults import OnStep, unseen
from app.judging.service.solver_process import OnReport, SolverReport, Summary

if TYPE_CHECKING:
    from app.core.faults import PackageErrors, PackageFault


# Called with every report.
OnProgress = Callable[[SolverReport], None]


@contextmanager
def progress_shown(label: str, *, quiet: bool) -> Iterator[OnReport]:
    """Show progress on standard error: a bar on a terminal, nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield lambda _report: None
        return
    with bar_of_work() as bar:
        task = bar.add_task(label, total=1.0, text="starting")

        def show_report(report: SolverReport | Summary) -> None:
            # A summary comes at the end of the work.
            bar.update(task, completed=1.0 if "done" in report else report["fraction"], text=progress_text(report))

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


SEVERITIES = {"error": typer.colors.RED, "warning": typer.colors.YELLOW, "note": typer.colors.CYAN}
# A frame of a traceback of the package's own program, as the sandbox shows its files.
IN_PROGRAM = re.compile(r'File "/program/([^"]+)", line ([0-9]+)')
LINE_FIRST = re.compile(r"^line [0-9]+(, )?")
NUMBER_AFTER = re.compile(r"(?:, line |:)([0-9]+)")
SEVERITY = re.compile(r": (error|warning|note): ")
HANGING = "    "
WIDEST = 120
NO_FOLDER = Path()


def show_faults(name: str, faults: Sequence[PackageFault], folder: Path = NO_FOLDER) -> None:
    """Print how many faults there are and then each, errors first; nothing where there are none.

    `folder`: the package's, put before the files' names.
    """
    if not faults:
        return
    typer.echo(harmless(f"{name}: {summary(faults)}"))
    width = console().width if sys.stdout.isatty() else None
    for line in fault_lines(folder, faults):
        typer.echo(coloured(wrapped(harmless(line), width)))


def summary(faults: Sequence[PackageFault]) -> str:
    """Count faults by their severity: `2 errors, 1 note`."""
    counts = {kind: sum(fault["severity"] == kind for fault in faults) for kind in SEVERITIES}
    return ", ".join(counted(count, kind) for kind, count in counts.items() if count)


def counted(count: int, what: str) -> str:
    """Write `1 error` or `2 errors`."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def wrapped(text: str, width: int | None) -> str:
    """Break lines at so many columns, the following ones indented; None: as they are."""
    if width is None:
        return text
    return "\n".join(_wrapped(line, min(width, WIDEST)) for line in text.split("\n"))


def _wrapped(line: str, width: int) -> str:
    indent = line[: len(line) - len(line.lstrip(" "))]
    return textwrap.fill(
        line, width, subsequent_indent=indent + HANGING, break_on_hyphens=False, replace_whitespace=False
    )


def coloured(text: str) -> str:
    """Give the word of a fault's severity its colour, which typer leaves out where no terminal is."""
    return SEVERITY.sub(lambda match: f": {typer.style(match[1], fg=SEVERITIES[match[1]], bold=True)}: ", text, 1)


def fault_lines(folder: Path, faults: Sequence[PackageFault]) -> list[str]:
    """List faults, errors first, each as `FILE:LINE: error: ...`.

    What the package's own program raised is shown at its line there, once for all files that it was asked about.
    """
    raised: dict[str, list[PackageFault]] = {}
    others = []
    for fault in sorted(faults, key=lambda each: list(SEVERITIES).index(each["severity"])):
        if places := IN_PROGRAM.findall(fault["message"]):
            file, line = places[-1]
            raised.setdefault(f"{folder / file}:{line}", []).append(fault)
        else:
            others.append(fault_line(folder, fault))
    return [raised_line(place, of) for place, of in raised.items()] + others


def all_lines(errors: PackageErrors) -> str:
    """Write the faults for which a package cannot be used, one a line."""
    return "\n".join(fault_lines(NO_FOLDER, [error.as_data() for error in errors.errors]))


def raised_line(place: str, faults: Sequence[PackageFault]) -> str:
    """What a program of the package raised at a place, about one file or several."""
    severity = min(fault["severity"] for fault in faults)  # an error before a warning
    reason = faults[0]["message"].rstrip().rpartition("\n")[2].strip()
    more = f" and {len(faults) - 1} more" if len(faults) > 1 else ""
    return f"{place}: {severity}: {reason} ({faults[0]['file']}{more})"


def fault_line(folder: Path, fault: PackageFault) -> str:
    """A fault of a file of the package; further lines of its message are indented."""
    file, message = fault["file"], fault["message"].rstrip().replace("\n", f"\n{HANGING}")
    line = fault["line"] or line_in(message, file)
    parts = [part for part in (str(folder / file) if file or folder != NO_FOLDER else "", str(line or "")) if part]
    about = LINE_FIRST.sub("", fault["where"])
    return ": ".join(part for part in (":".join(parts), fault["severity"], about, message) if part)


def line_in(message: str, file: str) -> int | None:
    """The line of a file that a compiler (`FILE:7:`) or a reason (`FILE, line 7`) names: the first one."""
    parts = message.split(Path(file).name)[1:] if file else []
    matches = (NUMBER_AFTER.match(part) for part in parts)
    return next((int(match[1]) for match in matches if match is not None), None)
