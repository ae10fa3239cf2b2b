"""`jurado admin contest`: contests, their problems and teams."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from app.contests.commands.limits import ContestBytes, Interval, Most, Per, TeamBytes, settings_of
from app.core.commands.client import Client, without_none
from app.core.commands.options import AsJson
from app.core.commands.output import examples, report, say
from app.core.commands.requests import delete
from app.core.commands.resources.contests import Contest, ProblemEntry
from app.core.commands.resources.people import TeamName

contest = typer.Typer(no_args_is_help=True, help="Contests and what is in them.")
SOON = timedelta(seconds=35)  # the server wants a start to be more than 30 s away
ContestId = Annotated[str, typer.Argument(metavar="CONTEST", help="the contest's id")]


@contest.command(
    "create",
    epilog=examples(
        "jurado admin contest create finals 'The finals' --start now --duration 5:00:00",
        "jurado admin contest create finals 'The finals' --start 2026-12-01T09:00:00+01:00 --freeze 1:00:00",
        "jurado admin contest create training Training --start now --duration 8760:00:00 --open-to-all "
        "--per 100/600 --team-bytes 256M",
    ),
)
def create_contest(
    contest_id: Annotated[str, typer.Argument(metavar="ID")],
    full_name: Annotated[str, typer.Argument(metavar="NAME")],
    start: Annotated[str | None, typer.Option(metavar="TIME", help="now, or a time with its zone")] = None,
    duration: Annotated[str, typer.Option(metavar="H:MM:SS")] = "5:00:00",
    freeze: Annotated[
        str | None, typer.Option(metavar="H:MM:SS", help="freeze the board so long before the end")
    ] = None,
    open_to_all: Annotated[bool, typer.Option("--open-to-all", help="every team takes part")] = False,
    most: Most = None,
    interval: Interval = None,
    per: Per = None,
    team_bytes: TeamBytes = None,
    contest_bytes: ContestBytes = None,
    as_json: AsJson = False,
) -> None:
    """Make a contest."""
    given = {
        "id": contest_id,
        "name": full_name,
        "start_time": datetime.now(UTC).isoformat(timespec="milliseconds") if start == "now" else start,
        "duration": duration,
        "scoreboard_freeze_duration": freeze,
        "open_to_all": open_to_all,
        "settings": settings_of(most, interval, per, team_bytes, contest_bytes) or None,
    }
    with Client.open() as client:
        stored = client.post("contests", without_none(given), Contest)
    start_text = stored["start_time"] or "when you say so"
    report(f"contest {stored['id']} has been made; it starts {start_text}", stored, as_json=as_json)


@contest.command(
    "start", epilog=examples("jurado admin contest start finals", "jurado admin contest start finals --at TIME")
)
def start_contest(
    contest_id: ContestId,
    at: Annotated[str | None, typer.Option(metavar="TIME", help="a time with its zone; default: in 35 seconds")] = None,
    as_json: AsJson = False,
) -> None:
    """Set when a contest starts, more than 30 seconds from now."""
    start = at or (datetime.now(UTC) + SOON).isoformat(timespec="milliseconds")
    with Client.open() as client:
        changed = client.patch(f"contests/{contest_id}", {"id": contest_id, "start_time": start}, Contest)
    report(f"contest {contest_id} starts {changed['start_time']}", changed, as_json=as_json)


@contest.command(
    "add-problem",
    epilog=examples(
        "jurado admin contest add-problem finals comesolo",
        "jurado admin contest add-problem finals rollingballs --kind relative --counting last --carry best --label R",
    ),
)
def add_problem(
    contest_id: ContestId,
    problem: Annotated[str, typer.Argument(help="the problem's id")],
    label: Annotated[str | None, typer.Option(help="default: the next free letter")] = None,
    kind: Annotated[str | None, typer.Option(help="absolute, relative or rank")] = None,
    direction: Annotated[str | None, typer.Option(help="maximise or minimise")] = None,
    counting: Annotated[str | None, typer.Option(help="best-case, best or last")] = None,
    carry: Annotated[str | None, typer.Option(help="best, latest or none")] = None,
    max_points: Annotated[str | None, typer.Option(help="a number or a ratio such as 100/3")] = None,
    reference_counts: Annotated[
        bool, typer.Option("--reference-counts", help="the reference takes part in BEST")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Put a problem into a contest; the scoring left out is the problem's own."""
    rule = {"kind": kind, "direction": direction, "counting": counting, "carry": carry, "max_points": max_points}
    given = {
        "id": problem,
        "label": label,
        "rule": without_none({**rule, "reference_counts": reference_counts or None}),
    }
    with Client.open() as client:
        entry = client.post(f"contests/{contest_id}/problems", without_none(given), ProblemEntry)
    report(f"problem {problem} is {entry['label']} in {contest_id}", entry, as_json=as_json)


@contest.command("remove-problem", epilog=examples("jurado admin contest remove-problem finals comesolo"))
def remove_problem(
    contest_id: ContestId, problem: Annotated[str, typer.Argument(help="the problem's id or label")]
) -> None:
    """Take a problem nobody has submitted to out of a contest."""
    delete(f"contests/{contest_id}/problems/{problem}")


@contest.command("add-team", epilog=examples("jurado admin contest add-team finals red blue"))
def enrol(contest_id: ContestId, teams: Annotated[list[str], typer.Argument(metavar="TEAM...")]) -> None:
    """Let teams take part in a contest."""
    with Client.open() as client:
        enrolled = client.post(f"contests/{contest_id}/teams", {"team_ids": teams}, list[TeamName])
    say(f"{len(enrolled)} teams take part in {contest_id}")


@contest.command("delete", epilog=examples("jurado admin contest delete finals"))
def delete_contest(contest_id: ContestId) -> None:
    """Delete a contest without submissions."""
    delete(f"contests/{contest_id}")
