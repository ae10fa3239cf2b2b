"""Limits of a contest on the command line: how often a team may submit, and how many bytes."""

from __future__ import annotations

import re
from typing import Annotated

import typer
from pydantic import JsonValue

from app.core.commands.output import Failure, JsonMapping

SIZE = re.compile(r"([0-9]{1,15})([KMGT]?)", re.ASCII)
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
NUMBER = re.compile(r"[0-9]{1,9}", re.ASCII)
UNLIMITED: dict[str, JsonValue] = {"max_submissions": None, "interval_seconds": None, "per_window": None}

Most = Annotated[int | None, typer.Option("--max", metavar="N", help="the most submissions of a team to a problem")]
Interval = Annotated[int | None, typer.Option(metavar="SECONDS", help="the least time between two")]
Per = Annotated[str | None, typer.Option(metavar="N/SECONDS", help="so many in any so many seconds")]
OpenGames = Annotated[int | None, typer.Option(metavar="N", help="games of a team open at once; default: 10")]
MoveSeconds = Annotated[int | None, typer.Option(metavar="SECONDS", help="of games: a team's time for a move")]
GameSeconds = Annotated[int | None, typer.Option(metavar="SECONDS", help="of games: a team's time for all moves")]
TeamBytes = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="bytes a team may send to the contest: 500M, 2G, or none for any number"),
]

ContestBytes = Annotated[
    str | None,
    typer.Option(metavar="SIZE", help="bytes all teams together may send to the contest: 20G, or none for any number"),
]


def limits_of(most: int | None, interval: int | None, per: str | None) -> dict[str, JsonValue]:
    """The limits that options name, as the API takes them."""
    given: dict[str, JsonValue] = {"max_submissions": most, "interval_seconds": interval}
    if per is not None:
        count, seconds = window(per)
        given["per_window"] = {"count": count, "seconds": seconds}
    return {name: value for name, value in given.items() if value is not None}


def game_limits_of(open_games: int | None, move: int | None, game: int | None) -> dict[str, JsonValue]:
    """The limits of games that options name, as the API takes them."""
    given: dict[str, JsonValue] = {"open_games": open_games, "move_seconds": move, "game_seconds": game}
    return {name: value for name, value in given.items() if value is not None}


def settings_of(
    most: int | None, interval: int | None, per: str | None, team_bytes: str | None, contest_bytes: str | None
) -> dict[str, JsonValue]:
    """The settings of a contest that options name."""
    settings: dict[str, JsonValue] = {}
    if limits := limits_of(most, interval, per):
        settings["limits"] = limits
    for name, text in (("team_bytes", team_bytes), ("contest_bytes", contest_bytes)):
        if text is not None:
            settings[name] = size(text, f"--{name.replace('_', '-')}")
    return settings


def window(text: str) -> tuple[int, int]:
    """Read so many in so many seconds, such as 5/600."""
    count, _, seconds = text.partition("/")
    if not (NUMBER.fullmatch(count) and NUMBER.fullmatch(seconds)):
        raise Failure(f"--per: expected a number of submissions and of seconds such as 5/600, found {text!r}")
    return int(count), int(seconds)


def size(text: str, option: str) -> int | None:
    """Read an option's number of bytes such as 1000, 500M or 2G; None for none."""
    if text == "none":
        return None
    match = SIZE.fullmatch(text.upper())
    if match is None:
        raise Failure(f"{option}: expected a size such as 500M or 2G, or none, found {text!r}")
    return int(match[1]) * UNITS[match[2]]


def size_text(bytes_: int | None) -> str:
    """A number of bytes, in the largest unit that it is a whole number of."""
    if bytes_ is None:
        return "any number of bytes"
    unit = next(unit for unit in ("T", "G", "M", "K", "") if bytes_ % UNITS[unit] == 0) if bytes_ else ""
    return f"{bytes_ // UNITS[unit]} {unit}iB" if unit else f"{bytes_} bytes"


def limits_text(limits: JsonMapping) -> str:
    """Say what the limits of a problem are."""
    parts = []
    if (most := limits.get("max_submissions")) is not None:
        parts.append(f"at most {most} submissions")
    if (interval := limits.get("interval_seconds")) is not None:
        parts.append(f"{interval:g} s between two")
    if (per := limits.get("per_window")) is not None:
        parts.append(f"{per['count']} in any {per['seconds']:g} s")
    parts = parts or ["as often as one likes"]
    if (games := limits.get("open_games")) is not None:
        parts.append(f"{games} games open at once")
    for name, what in (("move_seconds", "a move"), ("game_seconds", "a game")):
        if (seconds := limits.get(name)) is not None:
            parts.append(f"{seconds:g} s for {what}")
    return ", ".join(parts)


def settings_text(settings: JsonMapping) -> str:
    """Say what a contest's settings limit."""
    team, teams = size_text(settings["team_bytes"]), size_text(settings["contest_bytes"])
    return f"a team sends {team}, all teams {teams}; to each problem: {limits_text(settings['limits'])}"
