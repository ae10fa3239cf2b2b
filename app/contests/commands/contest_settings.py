"""`jurado admin contest set`: the settings of a contest.

- `jurado admin contest list`, `show` and `extend`: the clocks of contests, and more time for one.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated

import typer

from app.contests.commands.limits import limits_text, settings_text, size_text
from app.core.commands.client import Client
from app.core.commands.lookup import clock_words, facts_of, reltime, short_time, span, state_word
from app.core.commands.output import Failure, JsonMapping, table
from app.core.commands.registry import Cell, ContestId, Shown, Table, command, keys


@command("admin contest set")
def set_settings(
    contest_id: ContestId,
    settings: Annotated[
        list[str] | None, typer.Argument(metavar="NAME=VALUE...", help="what to change; JSON or plain text")
    ] = None,
) -> Shown:
    """Change settings of a contest, and show all of them; those not named stay.

    Examples:
      jurado admin contest set finals
      jurado admin contest set finals virtual=true practice=true
      jurado admin contest set finals final_minutes=30 personal_duration=3:00:00
      jurado admin contest set finals final_minutes=null
    """
    given = dict(setting(text) for text in settings or [])
    path = f"contests/{contest_id}"
    with Client.open() as client:
        shown = (client.patch(path, {"settings": given}) if given else client.get(path))["settings"]
    return Shown(shown, "\n".join(f"{name}={value_text(value)}" for name, value in shown.items()))


def setting(text: str) -> tuple[str, object]:
    """Read NAME=VALUE; a value other than JSON is a text, such as a time."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise Failure(f"expected NAME=VALUE such as virtual=true, found {text!r}")
    try:
        return name, json.loads(value)
    except json.JSONDecodeError:
        return name, value


def value_text(value: object) -> str:
    """Write a value as it may be given: a text plainly, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


LENGTH = re.compile(r"(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?", re.ASCII)
BARE_MINUTES = re.compile(r"\d{1,6}", re.ASCII)


@command("admin contest list")
def list_contests() -> Shown:
    """List all contests, each with its state: before, running, paused, frozen, ended, thawed or finalised.

    Examples:
      jurado admin contest list
      jurado admin contest list --json
    """
    with Client.open() as client:
        contests = [facts_of(client, each["id"]) for each in client.rows("contests")]
        contests = [{**each, "state_word": state_word(each)} for each in contests]
        now = client.now()
    columns: Mapping[str, Cell] = {
        **keys("id name"),
        "state": "state_word",
        "clock": lambda each: clock_words(each, now),
        "start": "start_time",
        ">duration": lambda each: short_time(each["duration"]),
        "open to all": lambda each: "yes" if each["open_to_all"] else "",
    }
    return Shown(contests, Table(columns))


@command("admin contest show")
def show_contest(contest_id: ContestId) -> Shown:
    """Show one contest in full: its times, state, teams, problems with their limits, submissions, and settings.

    Examples:
      jurado admin contest show finals
      jurado admin contest show finals --json
    """
    with Client.open() as client:
        facts = facts_of(client, contest_id)
        problems = client.rows(f"contests/{contest_id}/problems")
        teams = client.rows(f"contests/{contest_id}/teams")
        board = client.get(f"contests/{contest_id}/scoreboard")
        limits = client.get(f"contests/{contest_id}/limits")
        now = client.now()
    judged, pending = Counter[str](), Counter[str]()
    for cell in (cell for row in board["rows"] for cell in row["problems"]):
        judged[cell["problem_id"]] += cell["num_judged"]
        pending[cell["problem_id"]] += cell["num_pending"]
    own = {each["problem_id"]: limits_text(each["limits"]) for each in limits["problems"]}
    counts = {"teams": len(teams), "judged": judged.total(), "pending": pending.total()}
    document = {**facts, "state_word": state_word(facts), "problems": problems, "counts": counts, "limits": limits}
    most = "" if limits["bytes_limit"] is None else f" of {size_text(limits['bytes_limit'])}"
    lines = [
        *time_rows(facts, now),
        ("teams", f"{len(teams)}, {'open to all' if facts['open_to_all'] else 'enrolled'}"),
        ("submissions", f"{judged.total()} judged, {pending.total()} pending"),
        ("limits", settings_text(facts["settings"])),
        ("bytes", f"{size_text(limits['bytes_used'])}{most} sent"),
    ]
    columns: Mapping[str, Cell] = {
        **keys("label id name"),
        ">test cases": "test_data_count",
        ">points": "max_score",
        "scoring": lambda each: ", ".join(filter(None, map(each["rule"].get, SCORING))),
        ">judged": lambda each: judged[each["id"]],
        ">pending": lambda each: pending[each["id"]],
        "limits of a team": lambda each: own[each["id"]],
    }
    settings = [(name, value_text(each)) for name, each in facts["settings"].items()]
    tables = [
        table(f"{contest_id}: {facts['name']}", ["", ""], lines),
        Table(columns, "problems").drawn(problems),
        table("settings", ["name", "value"], settings),
    ]
    return Shown(document, lambda _document: tables)


SCORING = ("kind", "direction", "counting", "carry")


def time_rows(facts: JsonMapping, now: datetime) -> list[tuple[str, str]]:
    """List the times of a contest, each with how far away it is."""
    state, length = facts["state"], facts["scoreboard_freeze_duration"]
    starts = moment_text(facts["start_time"], now) if facts["start_time"] else "no start set yet"
    rows = [
        ("state", f"{state_word(facts)}; {clock_words(facts, now)}"),
        ("starts", starts),
        ("duration", short_time(facts["duration"])),
        ("freeze", "none"),
    ]
    if length:
        begins = f"at contest time {span(facts['duration']) - span(length)}, the last {short_time(length)}"
        rows[-1] = ("freeze", begins)
    for removed in facts["removed_intervals"]:
        taken = f"{removed['start']} to {removed['end'] or 'now'}"
        rows.append(("pause", f"at contest time {short_time(removed['contest_time'])}, {taken}"))
    moments = {name: state.get(name) for name in ("frozen", "ended", "thawed", "finalized")}
    if not moments["thawed"]:
        moments["thaws"] = facts["scoreboard_thaw_time"]
    return rows + [(name, moment_text(moment, now)) for name, moment in moments.items() if moment]


def moment_text(time: str, now: datetime) -> str:
    """Give a moment, and how far away it is."""
    away = timedelta(seconds=round((datetime.fromisoformat(time) - now).total_seconds()))
    return f"{time} (in {away})" if away > timedelta(0) else f"{time} ({-away} ago)"


@command("admin contest extend")
def extend(
    contest_id: ContestId,
    by: Annotated[str, typer.Argument(metavar="MINUTES", help="how much longer: 10 or 10m, 1h, 90s, 1h30m")],
) -> Shown:
    """Make a contest longer, and print its new duration. A frozen board stays frozen from where it was.

    Examples:
      jurado admin contest extend finals 10
      jurado admin contest extend finals 1h30m
      jurado admin contest extend finals 90s --json
    """
    more = length(by)
    with Client.open() as client:
        before = client.get(f"contests/{contest_id}")
        longer = reltime(span(before["duration"]) + more)
        changed = client.patch(f"contests/{contest_id}", {"duration": longer})
    return Shown(changed, f"contest {contest_id} is {more} longer: {short_time(changed['duration'])}")


def length(text: str) -> timedelta:
    """Read a length of time: minutes, or hours, minutes and seconds with their letters."""
    match = LENGTH.fullmatch(f"{text}m" if BARE_MINUTES.fullmatch(text) else text)
    parts = [int(part or 0) for part in match.groups()] if match else []
    if not any(parts):
        raise Failure(f"expected minutes such as 10 or 10m, or 1h, 90s, 1h30m, found {text!r}")
    hours, minutes, seconds = parts
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)
