"""`jurado admin contest reveal`: open a frozen board from the bottom up."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

import typer

from app.contests.commands.contests import ContestId
from app.core.commands.client import Client
from app.core.commands.lookup import team_names
from app.core.commands.options import AsJson
from app.core.commands.output import Failure, JsonMapping, report
from app.core.commands.registry import command
from app.scoreboard.commands.presenter import present


class Step(StrEnum):
    """A part of a frozen board that is opened at once."""

    CELL = "cell"
    ROW = "row"
    ALL = "all"


@command("admin contest reveal")
def reveal(
    contest_id: ContestId,
    step: Annotated[Step, typer.Option(help="the next problem, the next team's problems, or everything")] = Step.CELL,
    presenting: Annotated[
        bool, typer.Option("--present", help="before an audience: one key a step (space next, ← look back, q quit)")
    ] = False,
    only_next: Annotated[bool, typer.Option("--next", help="open nothing, show what comes next")] = False,
    as_json: AsJson = False,
) -> None:
    """Open a frozen board from the bottom up, after the end; with the last place it is thawed.

    Examples:
      jurado admin contest reveal finals
      jurado admin contest reveal finals --step row
      jurado admin contest reveal finals --step all --json
      jurado admin contest reveal finals --next
      jurado admin contest reveal finals --present
    """
    path = f"contests/{contest_id}/reveal"
    if presenting and (only_next or as_json):
        raise Failure("expected --present, --next or --json, found two of them")
    with Client.open() as client:
        if presenting:
            names = team_names(client, contest_id)
            last = present(client, contest_id, step.value, names)
            typer.echo("\n".join(revealed_lines({**last, "opened": []}, names)))
            return
        revealed = client.get(path) if only_next else client.post(path, {"step": step.value})
        names = {} if as_json else team_names(client, contest_id)
    report("\n".join(revealed_lines(revealed, names)), revealed, as_json=as_json)


def revealed_lines(revealed: JsonMapping, names: Mapping[str, str]) -> list[str]:
    """Say which places were opened, and which comes next."""
    lines = [
        f"opened: {names.get(place['team_id'], place['team_id'])}, {place['problem_id']}"
        for place in revealed["opened"]
    ]
    if (following := revealed["next"]) is not None:
        team, rank = following["team_id"], following["rank"]
        problems = ", ".join(following["problem_ids"])
        left = "1 place" if revealed["left"] == 1 else f"{revealed['left']} places"
        standing = "not on the board" if rank is None else f"rank {rank} by now"
        lines.append(f"next: {names.get(team, team)}, {standing}: {problems} ({left} left)")
    elif revealed["thawed"]:
        lines.append("everything is open: the board is thawed")
    else:
        lines.append("nothing is hidden")
    return lines
