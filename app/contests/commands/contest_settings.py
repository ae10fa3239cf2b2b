"""`jurado admin contest set`: the settings of a contest.

- `jurado admin contest list`, `show` and `extend`: the clocks of contests, and more time for one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated

import typer

from app.contests.commands.limits import limits_text, settings_text, size_text
from app.core.commands.client import Client
from app.core.commands.lookup import clock_words, contest_time, facts_of, reltime, short_time, span, state_word
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
    counts = counts_of(board)
    own = {each["problem_id"]: limits_text(each["limits"]) for each in limits["problems"]}
    numbers = {"teams": len(teams), "judged": sum(judged for judged, _ in counts.values())}
    numbers["pending"] = sum(pending for _, pending in counts.values())
    document = {**facts, "state_word": state_word(facts), "problems": problems, "counts": numbers, "limits": limits}
    lines = [*time_rows(facts, now), *crowd_rows(facts, len(teams), counts), ("bytes", bytes_text(limits))]
    settings = [(name, value_text(each)) for name, each in facts["settings"].items()]
    tables = [
        table(f"{contest_id}: {facts['name']}", ["", ""], lines),
        table("problems", PROBLEM_COLUMNS, [(*problem_row(each, counts), own[each["id"]]) for each in problems]),
        table("settings", ["name", "value"], settings),
    ]
    return Shown(document, lambda _document: tables)


PROBLEM_COLUMNS = [
    "label",
    "id",
    "name",
    ">test cases",
    ">points",
    "scoring",
    ">judged",
    ">pending",
    "limits of a team",
]


def counts_of(board: JsonMapping) -> dict[str, tuple[int, int]]:
    """Count the submissions on the board that are judged, and those that wait, by problem."""
    counts: dict[str, tuple[int, int]] = {}
    for row in board["rows"]:
        for cell in row["problems"]:
            judged, pending = counts.get(cell["problem_id"], (0, 0))
            counts[cell["problem_id"]] = judged + cell["num_judged"], pending + cell["num_pending"]
    return counts


def time_rows(facts: JsonMapping, now: datetime) -> list[tuple[str, str]]:
    """List the times of a contest, each with how far away it is."""
    rows = [("state", f"{state_word(facts)}; {clock_words(facts, now)}")]
    gone = contest_time(facts, now)
    duration, length = span(facts["duration"]), facts["scoreboard_freeze_duration"]
    rows.append(("starts", moment_text(facts["start_time"], now) if facts["start_time"] else "no start set yet"))
    if gone is not None and gone >= timedelta(0):
        rows.append(("contest time", f"{gone} of {short_time(facts['duration'])}"))
    else:
        rows.append(("duration", short_time(facts["duration"])))
    if length:
        frozen = facts["state"].get("frozen")
        begun = f"; frozen since {moment_text(frozen, now)}" if frozen else ""
        rows.append(("freeze", f"at contest time {duration - span(length)}, the last {short_time(length)}{begun}"))
    else:
        rows.append(("freeze", "none"))
    for removed in facts["removed_intervals"]:
        taken = f"{removed['start']} to {removed['end'] or 'now'}"
        rows.append(("pause", f"at contest time {short_time(removed['contest_time'])}, {taken}"))
    state = facts["state"]
    ends = (("ended", state.get("ended")), ("thawed", state.get("thawed")), ("finalised", state.get("finalized")))
    rows += [(name, moment_text(moment, now)) for name, moment in ends if moment]
    if facts["scoreboard_thaw_time"] and not facts["state"].get("thawed"):
        rows.append(("thaws", moment_text(facts["scoreboard_thaw_time"], now)))
    return rows


def crowd_rows(facts: JsonMapping, teams: int, counts: Mapping[str, tuple[int, int]]) -> list[tuple[str, str]]:
    """Say how many teams take part, and how much was submitted."""
    judged, pending = (sum(pair[at] for pair in counts.values()) for at in (0, 1))
    who = "open to all" if facts["open_to_all"] else "enrolled"
    return [
        ("teams", f"{teams}, {who}"),
        ("submissions", f"{judged} judged, {pending} pending"),
        ("limits", settings_text(facts["settings"])),
    ]


def bytes_text(limits: JsonMapping) -> str:
    """Say how many bytes all teams have sent, and how many they may send."""
    most = limits["bytes_limit"]
    of = "" if most is None else f" of {size_text(most)}"
    return f"{size_text(limits['bytes_used'])}{of} sent"


def moment_text(time: str, now: datetime) -> str:
    """Give a moment, and how far away it is."""
    away = timedelta(seconds=round((datetime.fromisoformat(time) - now).total_seconds()))
    return f"{time} (in {away})" if away > timedelta(0) else f"{time} ({-away} ago)"


def problem_row(problem: JsonMapping, counts: Mapping[str, tuple[int, int]]) -> tuple[object, ...]:
    """Give the cells of a problem: its name and size, how it is scored, and how much was sent for it."""
    rule = problem["rule"]
    scoring = ", ".join(str(rule[name]) for name in ("kind", "direction", "counting", "carry") if rule.get(name))
    size = problem["test_data_count"], problem["max_score"]
    return problem["label"], problem["id"], problem["name"], *size, scoring, *counts.get(problem["id"], (0, 0))


@command("admin contest extend")
def extend(
    contest_id: ContestId,
    by: Annotated[str, typer.Argument(metavar="MINUTES", help="how much longer: 10 or 10m, 1h, 90s, 1h30m")],
) -> Shown:
    """Make a contest longer, and print its new times. A frozen board stays frozen from where it was.

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
    times = changed["times_change"]
    lines = [f"contest {contest_id} is {more} longer"]
    for name in ("freeze", "end", "thaw"):
        if times[name]["before"] != times[name]["after"]:
            lines.append(f"{name}: {times[name]['before']} → {times[name]['after']}")
    if times["frozen"]:
        lines.append("the board stays frozen: only judges see more of it than before")
    return Shown(changed, "\n".join(lines))


def length(text: str) -> timedelta:
    """Read a length of time: minutes, or hours, minutes and seconds with their letters."""
    match = LENGTH.fullmatch(f"{text}m" if BARE_MINUTES.fullmatch(text) else text)
    parts = [int(part or 0) for part in match.groups()] if match else []
    if not any(parts):
        raise Failure(f"expected minutes such as 10 or 10m, or 1h, 90s, 1h30m, found {text!r}")
    hours, minutes, seconds = parts
    return timedelta(hours=hours, minutes=minutes, seconds=seconds)
