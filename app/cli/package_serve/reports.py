"""What `jurado package serve` prints of each change: faults by file and line, and who is judged otherwise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

import typer

from app.cli.output import harmless, say, write_json
from app.cli.package_serve.stage import Fault, Outcome, Stage
from app.cli.resources.rejudgings import Difference, SubmissionSide

MOST_NAMES = 3
IN_PROGRAM = re.compile(r'File "/program/([^"]+)", line ([0-9]+)')
"""A frame of a traceback of the package's own program, as the sandbox shows its files."""
MOST_CHANGES = 20
LINE_FIRST = re.compile(r"^line [0-9]+(, )?")
NUMBER_AFTER = re.compile(r"(?:, line |:)([0-9]+)")


def report_outcome(stage: Stage, outcome: Outcome | None, names: Sequence[str], *, as_json: bool) -> None:
    """Print what came of bringing the package in; `names` are the files that changed, none at the start."""
    if outcome is None:
        return
    if as_json:
        write_json(
            {
                "stored": outcome.is_stored,
                "changed": list(names),
                "faults": list(outcome.faults),
                "refused": outcome.refused or None,
                "judged_otherwise": None if outcome.change is None else outcome.change["submissions"],
                "examples": list(outcome.examples),
            }
        )
        return
    lines = fault_lines(stage.folder, outcome.faults)
    for line in lines:
        say(line)
    if outcome.refused:
        say(outcome.refused)
    time = f"{datetime.now().astimezone():%H:%M:%S}"
    errors = sum(": error: " in line for line in lines)
    typer.echo(harmless(f"{time} {names_of(stage, names)}: {result_of(outcome, names, errors)}"))
    if outcome.change is not None:
        for line in change_lines(stage, outcome.change):
            typer.echo(harmless(line))


def names_of(stage: Stage, names: Sequence[str]) -> str:
    """The files that changed, the first of them by name."""
    if not names:
        return str(stage.folder)
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def result_of(outcome: Outcome, names: Sequence[str], errors: int) -> str:
    """Say in a few words what came of it; `errors` have been shown."""
    if not outcome.is_stored:
        goes_on = "its last good state goes on" if names else "it comes in once that is mended"
        return f"{counted(errors, 'error')}; {goes_on}" if errors else f"not brought in; {goes_on}"
    if outcome.change is None:
        return "brought in"
    counts = outcome.change["counts"]
    changed, total = counts["submissions_changed"], counts["submissions"]
    return f"brought in; {changed} of {total} submissions judged otherwise"


def change_lines(stage: Stage, change: Difference) -> Iterator[str]:
    """Yield a line for each submission that is judged otherwise."""
    teams = stage.team_names()
    shown = change["submissions"][:MOST_CHANGES]
    for each in shown:
        team = teams.get(each["team_id"] or "", each["team_id"])
        sides = f"{side(each['before'])} -> {side(each['after'])}"
        yield f"  {team}, submission {each['submission_id']}: {sides} ({counted(len(each['cases']), 'case')})"
    if len(change["submissions"]) > len(shown):
        yield f"  and {len(change['submissions']) - len(shown)} more"


def counted(count: int, what: str) -> str:
    """Write `1 case` or `2 cases`."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def side(of: SubmissionSide) -> str:
    """A submission's verdict and points, before or after."""
    points = of["points"]
    return f"{of['judgement_type_id'] or 'nothing'}" + (f" {points:.2f}" if points is not None else "")


def fault_lines(folder: Path, faults: Sequence[Fault]) -> list[str]:
    """List faults as compilers print theirs, so that editors find their places: `FILE:LINE: error: ...`.

    What the package's own program raised is shown at its line there, once for all files that it was asked about.
    """
    raised: dict[str, list[Fault]] = {}
    others = []
    for fault in faults:
        if places := IN_PROGRAM.findall(fault["message"]):
            file, line = places[-1]
            raised.setdefault(f"{folder / file}:{line}", []).append(fault)
        else:
            others.append(fault_line(folder, fault))
    return [raised_line(place, of) for place, of in raised.items()] + others


def raised_line(place: str, faults: Sequence[Fault]) -> str:
    """What a program of the package raised at a place, about one file or several."""
    severity = min(fault["severity"] for fault in faults)  # an error before a warning
    reason = faults[0]["message"].rstrip().rpartition("\n")[2].strip()
    more = f" and {len(faults) - 1} more" if len(faults) > 1 else ""
    return f"{place}: {severity}: {reason} ({faults[0]['file']}{more})"


def fault_line(folder: Path, fault: Fault) -> str:
    """A fault of a file of the package."""
    file, message = fault["file"], fault["message"]
    line = fault["line"] or line_in(message, file)
    place = f"{folder / file}:{line}" if line else str(folder / file)
    about = LINE_FIRST.sub("", fault["where"])
    return f"{place}: {fault['severity']}: {about}{': ' if about else ''}{message}"


def line_in(message: str, file: str) -> int | None:
    """The line of a file that a compiler (`FILE:7:`) or a reason (`FILE, line 7`) names: the first one."""
    parts = message.split(Path(file).name)[1:] if file else []
    matches = (NUMBER_AFTER.match(part) for part in parts)
    return next((int(match[1]) for match in matches if match is not None), None)
