"""`jurado admin similarity`: similar answers and sources of teams, for judges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from app.core.commands.client import Client
from app.core.commands.lookup import short_time, team_names
from app.core.commands.output import JsonMapping, show, table, write_json
from app.core.commands.registry import AsJson, Contest, command


@command("admin similarity")
def similarity(
    contest: Contest,
    problem: Annotated[str | None, typer.Option(metavar="PROBLEM", help="only this problem: id or label")] = None,
    least: Annotated[float, typer.Option("--min", metavar="RATIO", help="the least ratio of a pair, 0 to 1")] = 0.0,
    between: Annotated[
        tuple[str, str] | None, typer.Option(metavar="TEAM TEAM", help="lay these two teams side by side")
    ] = None,
    equal_only: Annotated[bool, typer.Option("--equal-only", help="only equal files, which is quicker")] = False,
    as_json: AsJson = False,
) -> None:
    """List the pairs of teams whose answers or sources are alike, the most telling first; for judges.

    Right answers that everybody has, expected answers and common mistakes are left out or weigh little. The ratio is
    the share of alike cases among those that could tell something. Exit code 0 also if there are none.

    Examples:
      jurado admin similarity finals
      jurado admin similarity finals --problem comesolo --min 0.5 --json
      jurado admin similarity finals --between ants bees
    """
    with Client.open() as client:
        names = {} if as_json else team_names(client, contest)
        if between is not None:
            teams = client.get(f"contests/{contest}/similarity/{between[0]}/{between[1]}", problem_id=problem)
            write_json(teams) if as_json else show(*side_by_side(teams))
        else:
            near = "false" if equal_only else None
            pairs = client.get(f"contests/{contest}/similarity", problem_id=problem, min=least or None, near=near)
            write_json(pairs) if as_json else show(*pair_tables(pairs, names))


def pair_tables(pairs: JsonMapping, names: Mapping[str, str]) -> list[object]:
    """Draw a table of pairs by answers, one by sources where there are any, and how many pairs were left off."""
    answers = [
        (*who(pair, names), pair["kind"], f"{pair['shared_cases']} of {pair['telling_cases']}", *how_much(pair))
        for pair in pairs["pairs"]
    ]
    columns = ["problem", "team", "team", "first", "submissions"]
    parts: list[object] = [
        table("answers alike", [*columns, "kind", ">cases", ">ratio", ">weight"], answers)
        if answers
        else "no answers alike"
    ]
    if pairs["sources"]:
        sources = [(*who(pair, names), pair["kind"], *how_much(pair)) for pair in pairs["sources"]]
        parts.append(table("sources alike", [*columns, "kind", ">ratio", ">weight"], sources))
    if pairs["left_off"]:
        parts.append(f"{pairs['left_off']} more pairs, each of less weight")
    if pairs["unread"]:
        parts.append(f"{pairs['unread']} of {pairs['texts']} texts were not read in time: use --problem")
    return parts


def who(pair: JsonMapping, names: Mapping[str, str]) -> tuple[str, ...]:
    """Give the problem, both teams, who was first and when, and the submissions that first had something alike."""
    first, second = pair["submissions"]
    teams = (names.get(team, team) for team in pair["team_ids"])
    earlier = f"{names.get(first['team_id'], first['team_id'])} at {short_time(first['contest_time'])}"
    return pair["problem_id"], *teams, earlier, f"{first['submission_id']}, {second['submission_id']}"


def how_much(pair: JsonMapping) -> tuple[str, str]:
    """Give the ratio and the weight of a pair."""
    return f"{pair['ratio']:.2f}", f"{pair['weight']:.2f}"


def side_by_side(pair: JsonMapping) -> list[object]:
    """Draw two teams' answers alike, a line a case, and their sources alike."""
    teams = pair["team_ids"]
    cases = [
        (
            shared["problem_id"],
            shared["case"],
            shared["kind"],
            shared["first_team_id"],
            *(sent_text(answer) for answer in shared["answers"]),
            shared["sharing_teams"],
            f"{shared['weight']:.2f}",
            shared["why_nothing"],
        )
        for shared in pair["cases"]
    ]
    columns = ["problem", "case", "kind", "first", *teams, ">teams with it", ">weight", "why none"]
    parts: list[object] = [table("answers alike", columns, cases) if cases else "no answers alike"]
    if pair["sources"]:
        sources = [
            (s["problem_id"], s["kind"], s["first_team_id"], *(file_text(file) for file in s["files"]), *how_much(s))
            for s in pair["sources"]
        ]
        columns = ["problem", "kind", "first", *teams, ">ratio", ">weight"]
        parts.append(table("sources alike", columns, sources))
    return parts


def sent_text(answer: JsonMapping) -> str:
    """Give an answer's submission, time, raw score or verdict, and size."""
    worth = answer["raw"] if answer["raw"] is not None else answer["verdict"] or "not judged"
    return f"{answer['submission_id']} at {short_time(answer['contest_time'])}: {worth}, {answer['size']} bytes"


def file_text(file: JsonMapping) -> str:
    """Give a source's submission, time and name."""
    return f"{file['submission_id']} at {short_time(file['contest_time'])}: {file['name']}"
