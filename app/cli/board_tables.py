"""Scoreboards and reports as tables for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from rich.table import Table

from app.cli.output import plain, table


def board_table(
    contest: str,
    board: Mapping[str, Any],
    names: Mapping[str, str],
    *,
    cases: bool = False,
    moves: Mapping[str, int] | None = None,
    now: timedelta | None = None,
) -> list[Table]:
    """The ranked rows; with `cases` a table of raw scores for each problem follows.

    `moves` are ranks risen by team. `now` is the contest time of whoever looks; a board has its last change by itself.
    """
    rows = board["rows"]
    problems = [cell["problem_id"] for cell in rows[0]["problems"]] if rows else []
    drawn = [
        (
            rank_text(row["rank"], (moves or {}).get(row["team_id"], 0)),
            names.get(row["team_id"], row["team_id"]),
            *(cell_text(cell) for cell in row["problems"]),
            f"{row['score']['score']:.2f}",
            short_time(row["score"].get("time")),
        )
        for row in rows
    ]
    title = f"{contest}{time_text(board, now)}{state_text(board['state'])}"
    columns = [">", "team", *(f">{problem}" for problem in problems), ">points", ">last rise"]
    tables = [table(title, columns, drawn)]
    if cases:
        tables += [
            cases_table(problem, at, rows, names)
            for at, problem in enumerate(problems)
            if any(row["problems"][at].get("raw") for row in rows)
        ]
    return tables


def time_text(board: Mapping[str, Any], now: timedelta | None) -> str:
    """When a board is looked at, where that is known, and when it last changed."""
    changed = short_time(board["contest_time"])
    return f", last change at {changed}" if now is None else f" at {now}, last change at {changed}"


def rank_text(rank: int, risen: int) -> str:
    """A rank, and how many ranks the team has risen or fallen."""
    return f"{'▲' if risen > 0 else '▼'}{abs(risen)} {rank}" if risen else str(rank)


def cases_table(problem: str, at: int, rows: list[Any], names: Mapping[str, str]) -> Table:
    """Raw scores of one problem: a line a team, a column a test case."""
    raws = {row["team_id"]: row["problems"][at].get("raw") or {} for row in rows}
    cases = sorted({case for raw in raws.values() for case in raw})
    drawn = [(names.get(team, team), *(raw_text(raw.get(case)) for case in cases)) for team, raw in raws.items()]
    return table(f"{problem}: raw scores", ["team", *(f">{case}" for case in cases)], drawn)


def cell_text(cell: Mapping[str, Any]) -> str:
    """Points of one team at one problem, how many submissions made them, and how many wait."""
    if not cell["num_judged"] and not cell["num_pending"]:
        return ""
    waiting = f" +{cell['num_pending']}?" if cell["num_pending"] else ""
    return f"{cell.get('score') or 0:.2f} ({cell['num_judged']}{waiting})"


def raw_text(answer: Mapping[str, Any] | None) -> str:
    """One raw score, or the verdict where there is none."""
    if answer is None:
        return ""
    return str(answer["raw"]) if answer.get("raw") is not None else str(answer.get("verdict", ""))


def short_time(text: str | None) -> str:
    """A relative time without its milliseconds."""
    return (text or "").partition(".")[0]


def span(reltime: str) -> timedelta:
    """Read a relative time h:mm:ss.uuu; before the start it is below 0."""
    hours, minutes, seconds = reltime.lstrip("-").split(":")
    duration = timedelta(hours=int(hours), minutes=int(minutes), seconds=float(seconds))
    return -duration if reltime.startswith("-") else duration


def reltime(duration: timedelta) -> str:
    """A duration as the API takes it, h:mm:ss.uuu."""
    milliseconds = duration // timedelta(milliseconds=1)
    seconds, milliseconds = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}.{milliseconds:03d}"


def state_text(state: Mapping[str, Any]) -> str:
    """What a reader of the board has to know: not begun, frozen, or over."""
    if not state.get("started"):
        return ", not begun"
    if state.get("frozen") and not state.get("thawed"):
        return ", frozen"
    return ", over" if state.get("ended") else ""


def report_tables(report: Mapping[str, Any]) -> list[Table | str]:
    """One line on the whole, then its files that were not taken, its cases and its groups."""
    points, most = report.get("points"), report.get("max_points")
    head = f"submission {report['submission_id']}: {report['judgement']['judgement_type_id']}"
    things: list[Table | str] = [plain(head if points is None else f"{head}, {points:.2f} of {number(most)} points")]
    ignored = [(file["name"], file["ignored"]) for file in report["files"] if file.get("ignored")]
    if ignored:
        things.append(table("files not taken", ["file", "why"], ignored))
    things += cases_with_answers(report["cases"])
    groups = [(g["name"], number(g["points"]), number(g["max_points"]), g["why"]) for g in report["groups"]]
    things.append(table("groups", ["group", ">points", ">of", "why none"], groups))
    return things


def cases_with_answers(cases: list[Any]) -> list[Table | str]:
    """A line for every test case with an answer; those without one are only named: there may be hundreds."""
    answered = [case for case in cases if case["verdict"] is not None or case["file"] is not None]
    rows = [
        (
            case["name"],
            case["verdict"],
            case["raw"],
            number(case["points"]),
            number(case["max_points"]),
            message_text(case),
        )
        for case in answered
    ]
    things: list[Table | str] = [table("test cases", ["case", "verdict", ">raw", ">points", ">of", "message"], rows)]
    missing = [case["name"] for case in cases if case not in answered]
    if missing:
        things.append(plain(f"no answer yet for {len(missing)} of {len(cases)}: {', '.join(missing)}"))
    return things


def number(points: float | None) -> str:
    """Points with two digits, or nothing."""
    return "" if points is None else f"{points:.2f}"


def message_text(case: Mapping[str, Any]) -> str:
    """A case's message in English, and where its answer was carried over from."""
    text = (case["message"] or {}).get("text", "")
    origin = case["carried_over_from"]
    return f"{text} (from submission {origin})" if origin else str(text)
