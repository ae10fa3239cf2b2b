"""`jurado history`: points over time, a small chart for each team."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Annotated, Any

import typer

from app.cli.board_tables import short_time, span
from app.cli.client import Client
from app.cli.contestant.commands import Contest, team_names
from app.cli.output import show, table, write_json
from app.cli.solve import AsJson

BARS = " ▁▂▃▄▅▆▇█"
WIDTH = 48


def history(
    contest: Contest,
    teams: Annotated[list[str] | None, typer.Option("--team", metavar="ID", help="only this team")] = None,
    as_json: AsJson = False,
) -> None:
    """Show how the points of the teams grew: a chart from the start until now or the end, all to the same height."""
    with Client.open() as client:
        found = client.get(f"contests/{contest}/scores/history", team_id=teams or None)
        names = {} if as_json else team_names(client, contest)
        duration = None if as_json else client.get(f"contests/{contest}").get("duration")
    if as_json:
        write_json(found)
        return
    told = sorted((each for each in found["teams"] if each["points"]), key=lambda each: each["points"][-1]["rank"])
    now = span(found["contest_time"]) if duration is None else min(span(found["contest_time"]), span(duration))
    until = max([now, *(span(each["points"][-1]["contest_time"]) for each in told)])
    most = max((past["score"] for each in told for past in each["points"]), default=0.0)
    rows = [
        (last["rank"], names.get(each["team_id"], each["team_id"]), chart(each["points"], until, most), points(last))
        for each in told
        for last in (each["points"][-1],)
    ]
    over = duration is not None and span(duration) < span(found["contest_time"])
    title = f"{contest} until {short_time(duration if over else found['contest_time'])}"
    show(table(title, [">", "team", "points over time", ">points"], rows) if rows else f"{title}: no points yet")


def points(past: Mapping[str, Any]) -> str:
    """Points with two digits."""
    return f"{past['score']:.2f}"


def chart(past: Sequence[Mapping[str, Any]], until: timedelta, most: float, width: int = WIDTH) -> str:
    """Points as bars of one line: each column shows what the team had at its end."""
    columns = []
    for at in range(1, width + 1):
        moment = until * at / width
        had = [each["score"] for each in past if span(each["contest_time"]) <= moment]
        columns.append(bar(had[-1] if had else 0.0, most))
    return "".join(columns)


def bar(value: float, most: float) -> str:
    """One bar: empty for nothing, and never empty or full by rounding."""
    if value <= 0 or most <= 0:
        return BARS[0]
    if value >= most:
        return BARS[-1]
    return BARS[min(len(BARS) - 2, max(1, round(value / most * (len(BARS) - 1))))]
