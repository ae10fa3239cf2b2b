"""Changes of problems as commands make them: their options, and what is said of a preview or of a change that waits."""

from __future__ import annotations

from typing import Annotated

import typer
from pydantic import JsonValue

from app.core.commands.client import checked
from app.core.commands.output import plain, report, show, table
from app.core.commands.requests import waiting, waiting_text
from app.core.commands.resources.problems import Preview

Joins = Annotated[
    int | None, typer.Option(metavar="ID", help="make the change a part of this open rejudging, if one is needed")
]
Keep = Annotated[bool, typer.Option("--keep", help="contests with submissions keep the version that they have")]
PreviewOnly = Annotated[bool, typer.Option("--preview", help="only say what the change would do")]
MOST_CASES = 200


def parameters(rejudging: int | None, *, keep: bool, preview: bool) -> dict[str, str | int | None]:
    """Give the query parameters of a change; those that are None are left out."""
    return {
        "rejudging": rejudging,
        "contests": "keep" if keep else None,
        "preview": "true" if preview else None,
    }


def previewed(reply: JsonValue) -> Preview | None:
    """Give the preview that a reply is, if one was asked for; else None."""
    return checked(reply, Preview) if isinstance(reply, dict) and "outcome" in reply else None


def say_changed(reply: JsonValue, text: str, *, as_json: bool) -> None:
    """Say that a change is made, that it waits as a rejudging, or what it would do."""
    preview = previewed(reply)
    if preview is not None and not as_json:
        show_preview(preview)
        return
    waits = None if preview is not None else waiting(reply)
    report(text if waits is None else waiting_text(waits), reply, as_json=as_json)


def show_preview(preview: Preview) -> None:
    """Print what a change would do: the outcome, the test cases, and the contests."""
    show(plain(OUTCOMES[preview["outcome"]].format(**preview)))
    rows = [
        (f"{each['group']}/{each['name']}", each["change"], ", ".join(each["parts"])) for each in preview["testcases"]
    ]
    if rows:
        more = [f"and {len(rows) - MOST_CASES} more: --json has them all"] if len(rows) > MOST_CASES else []
        show(table("test cases", ["test case", "change", "parts"], rows[:MOST_CASES]), *more)
    others = [line for line in preview["changes"] if not line.startswith("test case ")]
    show(*(plain(line) for line in others))
    contests = [
        (c["id"], c["version"], c["submissions"], c["teams"], "yes" if c["goes_along"] else c["why"])
        for c in preview["contests"]
    ]
    if contests:
        show(table("contests", ["contest", ">version", ">submissions", ">teams", "goes along"], contests))


OUTCOMES = {
    "nothing": "nothing would change",
    "at_once": "the change would be made at once, as the next version after {version}",
    "rejudging": "the change would wait as a rejudging of {submissions} submissions of {teams} teams",
}
