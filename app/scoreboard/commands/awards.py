"""`jurado admin award`: awards given by hand.

- `jurado awards`: who gets which award.
- `jurado history`: points over time, a small chart for each team.
- `jurado admin contest reveal`: open a frozen board from the bottom up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Annotated

import typer

from app.core.commands.client import Client
from app.core.commands.lookup import points_text, short_time, span, team_names
from app.core.commands.output import JsonMapping, show, table, write_json
from app.core.commands.registry import AsJson, Cell, Contest, ContestId, Request, Shown, Table, command, deletion

AwardId = Annotated[str, typer.Argument(metavar="AWARD", help="the award's id, such as winner or most-original")]


@command("admin award set")
def set_award(
    contest: Contest,
    award_id: AwardId,
    citation: Annotated[str, typer.Argument(metavar="CITATION", help="what it is for")],
    teams: Annotated[list[str] | None, typer.Option("--team", metavar="ID", help="a team that gets it")] = None,
) -> Request:
    """Give an award, or replace a computed one.

    Examples:
      jurado admin award set finals most-original 'Most original answer' --team ants --team bees
    """
    given = {"id": award_id, "citation": citation, "team_ids": teams or []}
    text = f"award {award_id} goes to {', '.join(teams or []) or 'no team'}"
    return Request("PUT", f"contests/{contest}/awards/{award_id}", text, given)


@command("admin award delete")
def delete_award(contest: Contest, award_id: AwardId) -> Request:
    """Delete an award; a computed one is no longer given.

    Examples:
      jurado admin award delete finals most-original
    """
    return deletion(f"contests/{contest}/awards/{award_id}")


@command("awards")
def awards(contest: Contest) -> Shown:
    """Show the awards of a contest; who gets them is known once its results are final.

    Examples:
      jurado awards finals
      jurado awards finals --json
    """
    with Client.open() as client:
        given = client.rows(f"contests/{contest}/awards")
        names = team_names(client, contest)
    columns: Mapping[str, Cell] = {
        "id": "id",
        "award": "citation",
        "teams": lambda each: teams_text(each["team_ids"], names),
    }
    return Shown(given, Table(columns, contest, "no awards yet"))


def teams_text(team_ids: Sequence[str] | None, names: Mapping[str, str]) -> str:
    """Name the teams that get an award."""
    if team_ids is None:
        return "not known yet"
    return ", ".join(names.get(team, team) for team in team_ids) or "no team"


BARS = " ▁▂▃▄▅▆▇█"
WIDTH = 48


@command("history")
def history(
    contest: Contest,
    teams: Annotated[list[str] | None, typer.Option("--team", metavar="ID", help="only this team")] = None,
    as_json: AsJson = False,
) -> None:
    """Show how the points of the teams grew: a chart from the start until now or the end, all to the same height.

    Examples:
      jurado history practice
      jurado history finals --team ants
    """
    with Client.open() as client:
        past = client.get(f"contests/{contest}/scores/history", team_id=teams or None)
        if as_json:
            write_json(past)
            return
        names = team_names(client, contest)
        duration = client.get(f"contests/{contest}")["duration"]
    now = span(past["contest_time"]) if duration is None else min(span(past["contest_time"]), span(duration))
    over = duration is not None and span(duration) < span(past["contest_time"])
    title = f"{contest} until {short_time(duration if over else past['contest_time'])}"
    rows = history_rows(past, names, now)
    show(table(title, [">", "team", "points over time", ">points"], rows) if rows else f"{title}: no points yet")


def history_rows(past: JsonMapping, names: Mapping[str, str], now: timedelta) -> list[tuple[object, ...]]:
    """Give a row a team that has points, in order of rank; charts end now, or with the last change."""
    teams = sorted((team for team in past["teams"] if team["points"]), key=lambda team: team["points"][-1]["rank"])
    until = max([now, *(span(team["points"][-1]["contest_time"]) for team in teams)])
    most = max((step["score"] for team in teams for step in team["points"]), default=0.0)
    return [
        (
            last["rank"],
            names.get(team["team_id"], team["team_id"]),
            chart(team["points"], until, most),
            points_text(last["score"]),
        )
        for team in teams
        for last in (team["points"][-1],)
    ]


def chart(past: Sequence[JsonMapping], until: timedelta, most: float, width: int = WIDTH) -> str:
    """Draw points as bars of one line: each column shows what the team had at its end."""
    columns = []
    for at in range(1, width + 1):
        moment = until * at / width
        had = [each["score"] for each in past if span(each["contest_time"]) <= moment]
        columns.append(bar(had[-1] if had else 0.0, most))
    return "".join(columns)


def bar(value: float, most: float) -> str:
    """Choose a bar: empty for nothing, and never empty or full by rounding."""
    if value <= 0 or most <= 0:
        return BARS[0]
    if value >= most:
        return BARS[-1]
    return BARS[min(len(BARS) - 2, max(1, round(value / most * (len(BARS) - 1))))]


class Step(StrEnum):
    """A part of a frozen board that is opened at once."""

    CELL = "cell"
    ROW = "row"
    ALL = "all"


@command("admin contest reveal")
def reveal(
    contest_id: ContestId,
    step: Annotated[Step, typer.Option(help="the next problem, the next team's problems, or everything")] = Step.CELL,
    only_next: Annotated[bool, typer.Option("--next", help="open nothing, show what comes next")] = False,
) -> Request:
    """Open a frozen board from the bottom up, after the end; with the last place it is thawed.

    Examples:
      jurado admin contest reveal finals
      jurado admin contest reveal finals --step row
      jurado admin contest reveal finals --step all --json
      jurado admin contest reveal finals --next
    """
    path = f"contests/{contest_id}/reveal"
    if only_next:
        return Request("GET", path, revealed_lines)
    return Request("POST", path, revealed_lines, {"step": step.value})


def revealed_lines(revealed: JsonMapping) -> str:
    """Say which places were opened, and which comes next."""
    lines = [f"opened: {place['team_id']}, {place['problem_id']}" for place in revealed["opened"]]
    if (following := revealed["next"]) is not None:
        rank = following["rank"]
        problems = ", ".join(following["problem_ids"])
        left = "1 place" if revealed["left"] == 1 else f"{revealed['left']} places"
        standing = "not on the board" if rank is None else f"rank {rank} by now"
        lines.append(f"next: {following['team_id']}, {standing}: {problems} ({left} left)")
    elif revealed["thawed"]:
        lines.append("everything is open: the board is thawed")
    else:
        lines.append("nothing is hidden")
    return "\n".join(lines)
