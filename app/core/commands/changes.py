"""Changes of problems as commands make them: their options, and what is said of a preview or of a change that waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

import typer

from app.core.commands.client import Param
from app.core.commands.output import Json, JsonMapping, plain
from app.core.commands.requests import Request, Table, unless_waiting

Joins = Annotated[
    int | None, typer.Option(metavar="ID", help="make the change a part of this open rejudging, if one is needed")
]
Keep = Annotated[bool, typer.Option("--keep", help="contests with submissions keep the version that they have")]
PreviewOnly = Annotated[bool, typer.Option("--preview", help="only say what the change would do")]
MOST_CASES = 200


def parameters(rejudging: int | None = None, *, keep: bool = False, preview: bool = False) -> dict[str, Param]:
    """Give the query parameters of a change; those that are None are left out."""
    return {
        "rejudging": rejudging,
        "contests": "keep" if keep else None,
        "preview": "true" if preview else None,
    }


def change(method: str, path: str, text: str, params: Mapping[str, Param], body: object = None) -> Request:
    """Give the request that changes a problem; `text` says that the change is made."""
    return Request(method, path, changed(text), body, params)


def changed(text: str) -> Callable[[Json], str | Sequence[object]]:
    """Give the function that says that a change is made, that it waits as a rejudging, or what it would do."""
    return lambda reply: preview_parts(reply) if is_preview(reply) else unless_waiting(text)(reply)


def is_preview(reply: object) -> bool:
    """Tell whether a reply is the preview of a change."""
    return isinstance(reply, dict) and "outcome" in reply


def preview_parts(preview: JsonMapping) -> Sequence[object]:
    """Draw what a change would do: the outcome, the test cases, and the contests."""
    parts: list[object] = [plain(OUTCOMES[preview["outcome"]].format(**preview))]
    cases = preview["testcases"]
    if cases:
        parts.append(CASES.drawn(cases[:MOST_CASES]))
    if len(cases) > MOST_CASES:
        parts.append(f"and {len(cases) - MOST_CASES} more: --json has them all")
    parts += [plain(line) for line in preview["changes"] if not line.startswith("test case ")]
    if preview["contests"]:
        parts.append(CONTESTS.drawn(preview["contests"]))
    return parts


CASES = Table(
    {
        "test case": lambda case: f"{case['group']}/{case['name']}",
        "change": "change",
        "parts": lambda case: ", ".join(case["parts"]),
    },
    "test cases",
)
CONTESTS = Table(
    {
        "contest": "id",
        ">version": "version",
        ">submissions": "submissions",
        ">teams": "teams",
        "goes along": lambda contest: "yes" if contest["goes_along"] else contest["why"],
    },
    "contests",
)
OUTCOMES = {
    "nothing": "nothing would change",
    "at_once": "the change would be made at once, as the next version after {version}",
    "rejudging": "the change would wait as a rejudging of {submissions} submissions of {teams} teams",
}
