"""`jurado admin contest quota`: what a team may send, to a problem or to each problem of a contest."""

from __future__ import annotations

from typing import Annotated

import typer
from pydantic import JsonValue

from app.cli.admin.contests import ContestId, contest
from app.cli.admin.limits import (
    UNLIMITED,
    ContestBytes,
    Interval,
    Most,
    Per,
    TeamBytes,
    limits_of,
    limits_text,
    settings_of,
    settings_text,
)
from app.cli.client import Client
from app.cli.lookup import find_problem
from app.cli.options import AsJson
from app.cli.output import Failure, examples, report
from app.cli.resources.contests import WithLimits, WithSettings


@contest.command(
    "quota",
    epilog=examples(
        "jurado admin contest quota finals",
        "jurado admin contest quota finals --team-bytes 500M --contest-bytes 20G --per 30/600",
        "jurado admin contest quota finals comesolo --max 50 --interval 60",
        "jurado admin contest quota finals comesolo --none",
    ),
)
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
    none: Annotated[bool, typer.Option("--none", help="as often as teams like")] = False,
    as_json: AsJson = False,
) -> None:
    """Limit the submissions of a team, and their bytes; without options, show the limits of the contest.

    A new limit of submissions replaces --max, --interval and --per together; without any of them and --none they stay.
    """
    limits = limits_of(most, interval, per)
    if limits and none:
        raise Failure("expected --max, --interval or --per, or --none, found both")
    if problem is not None:
        for option, text in (("--team-bytes", team_bytes), ("--contest-bytes", contest_bytes)):
            if text is not None:
                raise Failure(f"{option}: expected no problem beside it, as bytes are a contest's, found one")
        _limit_problem(contest_id, problem, limits, none, as_json=as_json)
        return
    changes = settings_of(None, None, None, team_bytes, contest_bytes)
    if limits or none:
        changes["limits"] = {**UNLIMITED, **limits}
    path = f"contests/{contest_id}"
    with Client.open() as client:
        shown = client.patch(path, {"settings": changes}, WithSettings) if changes else client.get(path, WithSettings)
    report(f"{contest_id}: {settings_text(shown['settings'])}", shown, as_json=as_json)


def _limit_problem(contest_id: str, problem: str, limits: dict[str, JsonValue], none: bool, *, as_json: bool) -> None:
    if not (limits or none):
        raise Failure("expected --max, --interval or --per, or --none, found nothing")
    with Client.open() as client:
        problem_id = find_problem(client, contest_id, problem)
        made = client.patch(f"contests/{contest_id}/problems/{problem_id}", {"limits": limits or UNLIMITED}, WithLimits)
    report(f"{problem_id} in {contest_id}: {limits_text(made['limits'])}", made, as_json=as_json)
