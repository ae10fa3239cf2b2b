"""`jurado admin contest set`: the settings of a contest.

- `jurado admin contest list` and `extend`: the clocks of contests, and more time for one.
"""

import json
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated

import typer

from app.core.commands.client import Client
from app.core.commands.lookup import clock_words, facts_of, reltime, short_time, span, state_word
from app.core.commands.output import Failure
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


@command("admin contest extend")
def extend(
    contest_id: ContestId,
    minutes: Annotated[int, typer.Argument(min=1, max=999_999, help="how much longer")],
) -> Shown:
    """Make a contest longer, and print its new duration. A frozen board stays frozen from where it was.

    Examples:
      jurado admin contest extend finals 10
    """
    more = timedelta(minutes=minutes)
    with Client.open() as client:
        before = client.get(f"contests/{contest_id}")
        longer = reltime(span(before["duration"]) + more)
        changed = client.patch(f"contests/{contest_id}", {"duration": longer})
    return Shown(changed, f"contest {contest_id} is {more} longer: {short_time(changed['duration'])}")
