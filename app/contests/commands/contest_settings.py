"""`jurado admin contest set`: the settings of a contest."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from app.contests.commands.contests import ContestId
from app.core.commands.client import Client
from app.core.commands.output import Failure
from app.core.commands.registry import command
from app.core.commands.requests import Shown


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
