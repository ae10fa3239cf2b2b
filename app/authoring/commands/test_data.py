"""`jurado admin testcase upload|move|group|order|points`: many test cases at once, and the groups of a problem."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from app.authoring.commands.problems import ProblemId
from app.authoring.commands.testcases import testcase
from app.core.commands.changes import Joins, Keep, PreviewOnly, parameters, say_changed
from app.core.commands.client import Client, Param, without_none
from app.core.commands.names import read_file
from app.core.commands.options import AsJson
from app.core.commands.output import Failure, examples
from app.core.commands.uploading import upload_shown

SECONDS = 3600.0
"""Longest wait for the reply: all cases are checked before it."""
ENDINGS = (".in", ".ans", ".yaml")
SHARE = "share"


@testcase.command(
    "upload",
    epilog=examples(
        "jurado admin testcase upload comesolo cases.zip --preview",
        "jurado admin testcase upload comesolo data --only",
    ),
)
def upload_cases(
    problem_id: ProblemId,
    place: Annotated[Path, typer.Argument(metavar="DIR_OR_ZIP", help="laid out as `data/` of a package")],
    only: Annotated[bool, typer.Option("--only", help="delete all test cases that are not among these")] = False,
    rejudging: Joins = None,
    keep: Keep = False,
    preview: PreviewOnly = False,
    as_json: AsJson = False,
) -> None:
    """Put many test cases as one version: secret/GROUP/NAME.in, NAME.ans, NAME.yaml, and test_group.yaml of groups.

    With any fault nothing is kept and every fault is listed with its file.
    """
    data = _zipped(place)
    params: dict[str, Param] = {**parameters(rejudging, keep=keep, preview=preview), "only": "true" if only else None}
    headers = {"Content-Type": "application/zip"}
    with Client.open() as client, upload_shown(data) as (reader, _):
        path = f"problems/{problem_id}/testcases"
        reply = client.post(path, content=reader, params=params, headers=headers, timeout=SECONDS)
    say_changed(reply, f"the test cases of {problem_id} have been put", as_json=as_json)


def _zipped(place: Path) -> bytes:
    """Give the zip of a folder of test cases, or the file as it is; what is no part of a test case is left out."""
    if not place.is_dir():
        return read_file(place, "test cases")
    from app.packages.zips import zip_bytes

    paths = sorted(path for path in place.rglob("*") if path.is_file() and path.suffix in ENDINGS)
    if not paths:
        raise Failure(f"{place}: expected test cases such as secret/01.in, found none")
    return zip_bytes({path.relative_to(place).as_posix(): path.read_bytes() for path in paths})


@testcase.command("move", epilog=examples("jurado admin testcase move mysum secret/large 07 08"))
def move_cases(
    problem_id: ProblemId,
    group: Annotated[str, typer.Argument(metavar="GROUP", help="such as secret/large")],
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="base names of test cases")],
    rejudging: Joins = None,
    keep: Keep = False,
    preview: PreviewOnly = False,
    as_json: AsJson = False,
) -> None:
    """Move test cases to another group, which shares out its points anew."""
    body: dict[str, object] = {"move": dict.fromkeys(names, group)}
    _change(problem_id, body, parameters(rejudging, keep=keep, preview=preview), as_json=as_json)


@testcase.command(
    "group",
    epilog=examples(
        "jurado admin testcase group mysum secret/large --points 60 --aggregation sum",
        "jurado admin testcase group mysum secret/large --rename secret/huge",
        "jurado admin testcase group mysum secret/final --points 20 --final --with 07 --with 08",
    ),
)
def change_group(
    problem_id: ProblemId,
    group: Annotated[str, typer.Argument(metavar="GROUP", help="such as secret/large")],
    points: Annotated[int | None, typer.Option(min=0, help="the most points of the group")] = None,
    aggregation: Annotated[str | None, typer.Option(help="sum, min or pass-fail")] = None,
    rename: Annotated[str | None, typer.Option(metavar="GROUP", help="its new name")] = None,
    require_pass: Annotated[list[str] | None, typer.Option(metavar="GROUP", help="groups to be passed first")] = None,
    final: Annotated[bool | None, typer.Option("--final/--provisional", help="when its cases count")] = None,
    cases: Annotated[list[str] | None, typer.Option("--with", metavar="NAME", help="a case that moves to it")] = None,
    rejudging: Joins = None,
    keep: Keep = False,
    preview: PreviewOnly = False,
    as_json: AsJson = False,
) -> None:
    """Make a group, or change its points, aggregation and name; a new one needs at least one case (--with)."""
    given = {"rename": rename, "max_points": points, "aggregation": aggregation, "final": final}
    body: dict[str, object] = {
        "groups": [{"name": group, **without_none({**given, "require_pass": require_pass or None})}],
        "move": dict.fromkeys(cases or [], rename or group),
    }
    _change(problem_id, body, parameters(rejudging, keep=keep, preview=preview), as_json=as_json)


def _change(problem_id: str, body: dict[str, object], params: dict[str, str | int | None], *, as_json: bool) -> None:
    with Client.open() as client:
        reply = client.patch(f"problems/{problem_id}/testcases", body, params=params)
    say_changed(reply, f"the test data of {problem_id} have been changed", as_json=as_json)


@testcase.command("order", epilog=examples("jurado admin testcase order mysum 07 03"))
def order_cases(
    problem_id: ProblemId,
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="base names of test cases")],
    keep: Keep = False,
    preview: PreviewOnly = False,
    as_json: AsJson = False,
) -> None:
    """List these test cases first in their groups, in this order; the others follow by name."""
    _change(problem_id, {"order": names}, parameters(None, keep=keep, preview=preview), as_json=as_json)


@testcase.command("points", epilog=examples("jurado admin testcase points mysum 07=30 08=20 09=share"))
def give_points(
    problem_id: ProblemId,
    points: Annotated[list[str], typer.Argument(metavar="NAME=POINTS...", help=f"or NAME={SHARE}: as the others")],
    rejudging: Joins = None,
    keep: Keep = False,
    preview: PreviewOnly = False,
    as_json: AsJson = False,
) -> None:
    """Give test cases of groups with the aggregation sum points of their own; the others share what is left."""
    given = dict(_points(each) for each in points)
    _change(problem_id, {"points": given}, parameters(rejudging, keep=keep, preview=preview), as_json=as_json)


def _points(text: str) -> tuple[str, int | None]:
    name, _, points = text.rpartition("=")
    if not name or not (points == SHARE or points.isdecimal()):
        raise Failure(f"NAME=POINTS: expected a name and whole points such as 07=30, or 07={SHARE}, found {text!r}")
    return name, None if points == SHARE else int(points)
