"""`jurado admin similarity`: for judges, which teams' answers or sources are alike."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from app.cli.board_tables import short_time
from app.cli.client import Client
from app.cli.contestant.commands import Contest, team_names
from app.cli.output import console, show, table, write_json
from app.cli.solve import AsJson

ONE_READ = 100
"""Percent."""


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
    """
    with Client.open() as client:
        if between is not None:
            found = client.get(f"contests/{contest}/similarity/{between[0]}/{between[1]}", problem_id=problem)
            tables = side_by_side(found)
        else:
            near = "false" if equal_only else None
            found = read_all(client, contest, problem_id=problem, min=least or None, near=near)
            tables = pair_tables(found, team_names(client, contest))
    if as_json:
        write_json(found)
    else:
        show(*tables)


def read_all(client: Client, contest: str, **asked: Any) -> dict[str, Any]:
    """Ask until every text has been read, with a line on how far that is."""
    with console(err=True).status("comparing") as shown:
        while True:
            found: dict[str, Any] = client.get(f"contests/{contest}/similarity", **asked)
            if not found["unread"]:
                return found
            shown.update(f"comparing: {ONE_READ * (1 - found['unread'] / found['texts']):.0f} % of the texts are read")


def pair_tables(found: dict[str, Any], names: dict[str, str]) -> list[object]:
    """A table of pairs by answers, one by sources where there are any, and what was left off."""
    answers = [
        (*who(pair, names), pair["kind"], f"{pair['shared_cases']} of {pair['telling_cases']}", *how_much(pair))
        for pair in found["pairs"]
    ]
    columns = ["problem", "team", "team", "first", "submissions"]
    things: list[object] = [
        table("answers alike", [*columns, "kind", ">cases", ">ratio", ">weight"], answers)
        if answers
        else "no answers alike"
    ]
    if found["sources"]:
        sources = [(*who(pair, names), pair["kind"], *how_much(pair)) for pair in found["sources"]]
        things.append(table("sources alike", [*columns, "kind", ">ratio", ">weight"], sources))
    if found["left_off"]:
        things.append(f"{found['left_off']} more pairs, each of less weight")
    return things


def who(pair: dict[str, Any], names: dict[str, str]) -> tuple[str, ...]:
    """Problem, both teams, who was first and when, and the submissions that first had something alike."""
    first, second = pair["submissions"]
    teams = (names.get(team, team) for team in pair["team_ids"])
    earlier = f"{names.get(first['team_id'], first['team_id'])} at {short_time(first['contest_time'])}"
    return pair["problem_id"], *teams, earlier, f"{first['submission_id']}, {second['submission_id']}"


def how_much(pair: dict[str, Any]) -> tuple[str, str]:
    """Ratio and weight."""
    return f"{pair['ratio']:.2f}", f"{pair['weight']:.2f}"


def side_by_side(found: dict[str, Any]) -> list[object]:
    """Two teams' answers alike, a line a case, and their sources alike."""
    teams = found["team_ids"]
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
        for shared in found["cases"]
    ]
    columns = ["problem", "case", "kind", "first", *teams, ">teams with it", ">weight", "why none"]
    things: list[object] = [table("answers alike", columns, cases) if cases else "no answers alike"]
    if found["sources"]:
        sources = [
            (s["problem_id"], s["kind"], s["first_team_id"], *(file_text(file) for file in s["files"]), *how_much(s))
            for s in found["sources"]
        ]
        columns = ["problem", "kind", "first", *teams, ">ratio", ">weight"]
        things.append(table("sources alike", columns, sources))
    return things


def sent_text(answer: dict[str, Any]) -> str:
    """One answer: its submission, time, verdict and size."""
    said = answer["raw"] if answer["raw"] is not None else answer["verdict"] or "not judged"
    return f"{answer['submission_id']} at {short_time(answer['contest_time'])}: {said}, {answer['size']} bytes"


def file_text(file: dict[str, Any]) -> str:
    """One source: its submission, time and name."""
    return f"{file['submission_id']} at {short_time(file['contest_time'])}: {file['name']}"
