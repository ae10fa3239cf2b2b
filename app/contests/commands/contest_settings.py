"""`jurado admin contest set`: the settings of a contest."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from app.contests.commands.contests import ContestId, contest
from app.core.commands.client import Client
from app.core.commands.options import AsJson
from app.core.commands.output import Failure, examples, report
from app.core.commands.resources.contests import WithSettings


@contest.command(
    "set",
    epilog=examples(
        "jurado admin contest set finals",
        "jurado admin contest set finals virtual=true practice=true",
        "jurado admin contest set finals final_minutes=30 personal_duration=3:00:00",
        "jurado admin contest set finals final_minutes=null",
    ),
)
def set_settings(
    contest_id: ContestId,
    settings: Annotated[
        list[str] | None, typer.Argument(metavar="NAME=VALUE...", help="what to change; JSON or plain text")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Change settings of a contest, and show all of them; those not named stay."""
    given = dict(setting(text) for text in settings or [])
    with Client.open() as client:
        path = f"contests/{contest_id}"
        shown = client.patch(path, {"settings": given}, WithSettings) if given else client.get(path, WithSettings)
    lines = [f"{name}={value_text(value)}" for name, value in shown["settings"].items()]
    report("\n".join(lines), shown["settings"], as_json=as_json)


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
