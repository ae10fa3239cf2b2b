"""What `jurado package serve` prints of each change: faults by file and line, and who is judged otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

import typer

from app.commands.package_serve.stage import Outcome, Stage
from app.core.commands.faults import counted, fault_lines
from app.core.commands.output import JsonMapping, harmless, say, write_json

MOST_NAMES = 3
MOST_CHANGES = 20


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
    typer.echo(harmless(f"{time} {names_of(stage, names)}: {result_of(stage, outcome, errors)}"))
    if outcome.change is not None:
        for line in change_lines(stage, outcome.change):
            typer.echo(harmless(line))


def names_of(stage: Stage, names: Sequence[str]) -> str:
    """The files that changed, the first of them by name."""
    if not names:
        return str(stage.folder)
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")


def result_of(stage: Stage, outcome: Outcome, errors: int) -> str:
    """Say in a few words what came of it; `errors` have been shown."""
    if not outcome.is_stored:
        goes_on = "its last good state goes on" if stage.is_served else "it comes in once that is mended"
        return f"{counted(errors, 'error')}; {goes_on}" if errors else f"not brought in; {goes_on}"
    if outcome.change is None:
        return "brought in"
    counts = outcome.change["counts"]
    changed, total = counts["submissions_changed"], counts["submissions"]
    return f"brought in; {changed} of {total} submissions judged otherwise"


def change_lines(stage: Stage, change: JsonMapping) -> Iterator[str]:
    """Yield a line for each submission that is judged otherwise."""
    teams = stage.team_names()
    shown = change["submissions"][:MOST_CHANGES]
    for each in shown:
        team = teams.get(each["team_id"] or "", each["team_id"])
        sides = f"{side(each['before'])} -> {side(each['after'])}"
        yield f"  {team}, submission {each['submission_id']}: {sides} ({counted(len(each['cases']), 'case')})"
    if len(change["submissions"]) > len(shown):
        yield f"  and {len(change['submissions']) - len(shown)} more"


def side(of: JsonMapping) -> str:
    """A submission's verdict and points, before or after."""
    points = of["points"]
    return f"{of['judgement_type_id'] or 'nothing'}" + (f" {points:.2f}" if points is not None else "")
