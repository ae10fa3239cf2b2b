"""`jurado admin contest quota`: what a team may send, to a problem or to each problem of a contest."""

from __future__ import annotations

from typing import Annotated

import typer
from pydantic import JsonValue

from app.contests.commands.contests import ContestId
from app.contests.commands.limits import (
    UNLIMITED,
    ContestBytes,
    GameSeconds,
    Interval,
    Most,
    MoveSeconds,
    OpenGames,
    Per,
    TeamBytes,
    game_limits_of,
    limits_of,
    limits_text,
    settings_of,
    settings_text,
)
from app.core.commands.client import Client
from app.core.commands.lookup import find_problem
from app.core.commands.output import Failure
from app.core.commands.registry import command
from app.core.commands.requests import Shown


@command("admin contest quota")
def limit(
    contest_id: ContestId,
    problem: Annotated[
        str | None, typer.Argument(metavar="[PROBLEM]", help="the problem's id or label; default: each without its own")
    ] = None,
    most: Most = None,
    interval: Interval = None,
    per: Per = None,
    team_bytes: TeamBytes = None,
    contest_bytes: ContestBytes = None,
    open_games: OpenGames = None,
    move_seconds: MoveSeconds = None,
    game_seconds: GameSeconds = None,
    none: Annotated[bool, typer.Option("--none", help="as often as teams like")] = False,
) -> Shown:
    """Limit the submissions of a team, and their bytes; without options, show the limits of the contest.

    A new limit of submissions replaces --max, --interval and --per together; without any of them and --none they stay.
    Limits of games change one by one.

    Examples:
      jurado admin contest quota finals
      jurado admin contest quota finals --team-bytes 500M --contest-bytes 20G --per 30/600
      jurado admin contest quota finals comesolo --max 50 --interval 60
      jurado admin contest quota finals comesolo --none
      jurado admin contest quota finals lasttreatduel --move-seconds 60 --game-seconds 1800 --open-games 3
    """
    limits, games = limits_of(most, interval, per), game_limits_of(open_games, move_seconds, game_seconds)
    if limits and none:
        raise Failure("expected --max, --interval or --per, or --none, found both")
    if problem is not None:
        for option, text in (("--team-bytes", team_bytes), ("--contest-bytes", contest_bytes)):
            if text is not None:
                raise Failure(f"{option}: expected no problem beside it, as bytes are a contest's, found one")
        return _limit_problem(contest_id, problem, limits, games, none)
    changes = settings_of(None, None, None, team_bytes, contest_bytes)
    path = f"contests/{contest_id}"
    with Client.open() as client:
        if limits or none or games:
            own = contest_limits(client, contest_id)
            changes["limits"] = {**own, **({**UNLIMITED, **limits} if limits or none else {}), **games}
        shown = client.patch(path, {"settings": changes}) if changes else client.get(path)
    return Shown(shown, f"{contest_id}: {settings_text(shown['settings'])}")


def _limit_problem(
    contest_id: str,
    problem: str,
    limits: dict[str, JsonValue],
    games: dict[str, JsonValue],
    none: bool,
) -> Shown:
    if not (limits or games or none):
        raise Failure("expected --max, --interval or --per, --none, or a limit of games, found nothing")
    with Client.open() as client:
        problem_id = find_problem(client, contest_id, problem)
        own = problem_limits(client, contest_id, problem_id)
        if limits:  # what is left out of them is as the contest has it
            own = {name: value for name, value in own.items() if name not in UNLIMITED}
        changed = {**own, **(UNLIMITED if none else limits), **games}
        made = client.patch(f"contests/{contest_id}/problems/{problem_id}", {"limits": changed})
    return Shown(made, f"{problem_id} in {contest_id}: {limits_text(made['limits'])}")


def contest_limits(client: Client, contest_id: str) -> dict[str, JsonValue]:
    """The limits that a contest gives its problems."""
    return dict(client.get(f"contests/{contest_id}")["settings"]["limits"])


def problem_limits(client: Client, contest_id: str, problem_id: str) -> dict[str, JsonValue]:
    """The limits of a problem that are not those of its contest: a request replaces all of them together."""
    common = contest_limits(client, contest_id)
    shown = client.get(f"contests/{contest_id}/limits")["problems"]
    (limits,) = (each["limits"] for each in shown if each["problem_id"] == problem_id)
    return {name: whole(value) for name, value in limits.items() if common.get(name) != value}


def whole(value: JsonValue) -> JsonValue:
    """Write seconds, which are shown as fractions, as the whole numbers that limits are."""
    if isinstance(value, dict):
        return {name: whole(each) for name, each in value.items()}
    return int(value) if isinstance(value, float) else value
