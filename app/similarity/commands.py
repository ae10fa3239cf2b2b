"""`jurado admin similarity`: similar answers and sources of teams, for judges."""

from collections.abc import Mapping
from typing import Annotated

import typer

from app.core.commands import lookup, output, registry

PAIRS: Mapping[str, registry.Cell] = {
    "problem": "problem_id",
    "team": lambda pair: pair["team_ids"][0],
    "other team": lambda pair: pair["team_ids"][1],
    "first": lambda pair: f"{pair['first_team_id']} at {lookup.short_time(pair['submissions'][0]['contest_time'])}",
    "submissions": lambda pair: ", ".join(each["submission_id"] for each in pair["submissions"]),
    "kind": "kind",
    ">cases": lambda pair: f"{pair['shared_cases']} of {pair['telling_cases']}",
    ">ratio": lambda pair: f"{pair['ratio']:.2f}",
    ">weight": lambda pair: f"{pair['weight']:.2f}",
}


@registry.command("admin similarity")
def similarity(
    contest: registry.Contest,
    problem: Annotated[str | None, typer.Option(metavar="PROBLEM", help="only this problem: id or label")] = None,
    least: Annotated[float, typer.Option("--min", metavar="RATIO", help="the least ratio of a pair, 0 to 1")] = 0.0,
) -> registry.Request:
    """List the pairs of teams whose answers or sources are alike, the most telling first; for judges.

    Right answers that everybody has, expected answers and common mistakes are left out or weigh little. The ratio is
    the share of alike cases among those that could tell something. Exit code 0 also if there are none.

    Examples:
      jurado admin similarity finals
      jurado admin similarity finals --problem comesolo --min 0.5 --json
    """
    params = {"problem_id": problem, "min": least or None}
    return registry.Request("GET", f"contests/{contest}/similarity", pair_tables, params=params)


def pair_tables(pairs: output.JsonMapping) -> list[object]:
    """Draw a table of pairs by answers, one by sources where there are any, and how many pairs were left off."""
    parts: list[object] = [
        registry.Table(PAIRS, title).drawn(some)
        for title, some in (("answers alike", pairs["pairs"]), ("sources alike", pairs["sources"]))
        if some
    ]
    if not pairs["pairs"]:
        parts.insert(0, "no answers alike")
    if pairs["left_off"]:
        parts.append(f"{pairs['left_off']} more pairs, each of less weight")
    if pairs["unread"]:
        parts.append(f"{pairs['unread']} of {pairs['texts']} texts were not read in time: use --problem")
    return parts
