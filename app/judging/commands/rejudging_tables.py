"""The difference that a rejudging makes, as tables for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from app.core.commands.lookup import points_text
from app.core.commands.output import JsonMapping, plain, show, table, write_json

MOST_NEWCOMERS = 20
# Lines of a table that somebody reads; a program asks for all of them with --json.
MOST_CASES = 200


def show_difference(changes: JsonMapping, *, as_json: bool) -> None:
    """Print a difference as tables, or as it is."""
    if as_json:
        write_json(changes)
    else:
        show(*difference_tables(changes))


def difference_tables(changes: JsonMapping) -> list[Table | str]:
    """Draw a line on the whole, then the verdicts, submissions and teams that change."""
    rejudging, counts = changes["rejudging"], changes["counts"]
    head = f"rejudging {rejudging['id']} ({rejudging['state']}): {rejudging['reason']}"
    parts: list[Table | str] = [plain(head), *(plain(f"  {line}") for line in rejudging["changes"])]
    if rejudging["without_answer"]:
        parts.append("it cannot be applied before these test cases have an expected answer")
    parts.append(
        f"{counts['submissions_changed']} of {counts['submissions']} submissions, {counts['cases_changed']} cases, "
        f"points of {counts['teams_changed']} teams and the ranks of {counts['ranks_changed']} change"
    )
    if rejudging["state"] in {"judging", "ready"}:
        parts += version_lines(changes)
    if counts["types"]:
        rows = [(arrow(each["before"], each["after"]), each["count"]) for each in counts["types"]]
        parts.append(table("verdicts", ["verdict", ">submissions"], rows))
    parts += case_tables(changes["submissions"])
    if changes["teams"]:
        teams = [team_row(each) for each in changes["teams"]]
        columns = ["", "team", ">rank", ">points", ">rank shown to all", ">points shown to all"]
        parts.append(table("teams", columns, teams))
    return parts


def version_lines(changes: JsonMapping) -> list[str]:
    """Say what came after the rejudging began, and how to apply only the version that one has seen."""
    newcomers = changes["newcomers"]
    shown = ", ".join(newcomers[:MOST_NEWCOMERS]) + (", ..." if len(newcomers) > MOST_NEWCOMERS else "")
    came = [plain(f"submitted since: {shown} ({len(newcomers)})")] if newcomers else []
    return [*came, f"version {changes['version']}; apply --version {changes['version']} refuses any other"]


def case_tables(submissions: Sequence[JsonMapping]) -> list[Table | str]:
    """Draw a line for every submission, and below it one for each of its cases that changes."""
    rows: list[tuple[str, ...]] = []
    for each in submissions:
        before, after = each["before"], each["after"]
        verdict = arrow(before["judgement_type_id"], after["judgement_type_id"])
        name = f"{each['submission_id']} {each['team_id'] or ''}"
        rows.append((name, each["problem_id"], verdict, "", points(before["points"], after["points"])))
        for case in each["cases"]:
            one, other = case["before"], case["after"]
            raw = arrow(one["raw"], other["raw"])
            shown = arrow(one["verdict"], other["verdict"])
            rows.append(("", f"  {case['name']}", shown, raw, points(one["points"], other["points"])))
    if not rows:
        return []
    columns = ["submission", "problem, case", "verdict", ">raw", ">points"]
    left = len(rows) - MOST_CASES
    more = [f"and {left} more lines: --json has them all"] if left > 0 else []
    return [table("submissions", columns, rows[:MOST_CASES]), *more]


def team_row(team: JsonMapping) -> tuple[str, ...]:
    """Give the cells of a team: whether it rises or falls, and its rank and points before and after."""
    before, after = team["before"], team["after"]
    shown, then = team["public_before"], team["public_after"]
    return (
        move(before["rank"], after["rank"]),
        team["name"],
        arrow(before["rank"], after["rank"]),
        points(before["points"], after["points"]),
        arrow(shown["rank"], then["rank"]),
        points(shown["points"], then["points"]),
    )


def move(before: int | None, after: int | None) -> str:
    """Give an arrow up for a better rank, down for a worse one."""
    if before is None or after is None or before == after:
        return ""
    return f"▲{before - after}" if after < before else f"▼{after - before}"


def arrow(before: object, after: object) -> str:
    """Give one value that stays, or both of one that changes."""
    one, other = ("-" if value is None else str(value) for value in (before, after))
    return one if one == other else f"{one} → {other}"


def points(before: float | None, after: float | None) -> str:
    """Give points before and after, with two digits."""
    return arrow(points_text(before) or None, points_text(after) or None)


def subject(rejudging: JsonMapping) -> str:
    """Say in a few words what is judged again, or what changes."""
    if rejudging["changes"]:
        first, *more = rejudging["changes"]
        return f"{first}, and {len(more)} more" if more else str(first)
    selection = rejudging["selection"]
    parts = [f"problem {selection['problem_id']}"] if selection["problem_id"] else []
    parts += [f"team {selection['team_id']}"] if selection["team_id"] else []
    parts += [f"{len(selection['submission_ids'])} submissions"] if selection["submission_ids"] else []
    return ", ".join(parts) or "all submissions"
