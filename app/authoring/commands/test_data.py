"""`jurado admin testcase upload|move|group|order|points`: many test cases at once, and the groups of a problem."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from app.authoring.commands.problems import ProblemId
from app.core.commands.changes import Joins, Keep, PreviewOnly, change, changed, parameters
from app.core.commands.client import Client, Param, without_none
from app.core.commands.names import read_file
from app.core.commands.output import Failure
from app.core.commands.registry import command
from app.core.commands.requests import Request, Shown
from app.core.commands.uploading import upload_shown

SECONDS = 3600.0
"""Longest wait for the reply: all cases are checked before it."""
ENDINGS = (".in", ".ans", ".yaml")
SHARE = "share"


@command("admin testcase upload")
def upload_cases(
    problem_id: ProblemId,
    place: Annotated[Path, typer.Argument(metavar="DIR_OR_ZIP", help="laid out as `data/` of a package")],
    only: Annotated[bool, typer.Option("--only", help="delete all test cases that are not among these")] = False,
    rejudging: Joins = None,
    keep: Keep = False,
    preview: PreviewOnly = False,
) -> Shown:
    """Put many test cases as one version: secret/GROUP/NAME.in, NAME.ans, NAME.yaml, and test_group.yaml of groups.

    With any fault nothing is kept and every fault is listed with its file.

    Examples:
      jurado admin testcase upload comesolo cases.zip --preview
      jurado admin testcase upload comesolo data --only
    """
    data = _zipped(place)
    params: dict[str, Param] = {**parameters(rejudging, keep=keep, preview=preview), "only": "true" if only else None}
    headers = {"Content-Type": "application/zip"}
    with Client.open() as client, upload_shown(data) as (reader, _):
        path = f"problems/{problem_id}/testcases"
        reply = client.post(path, content=reader, params=params, headers=headers, timeout=SECONDS)
    return Shown(reply, changed(f"the test cases of {problem_id} have been stored"))


def _zipped(place: Path) -> bytes:
    """Give the zip of a folder of test cases, or the file as it is; what is no part of a test case is left out."""
    if not place.is_dir():
        return read_file(place, "test cases")
    from app.packages.zips import zip_bytes

    paths = sorted(path for path in place.rglob("*") if path.is_file() and path.suffix in ENDINGS)
    if not paths:
        raise Failure(f"{place}: expected test cases such as secret/01.in, found none")
    return zip_bytes({path.relative_to(place).as_posix(): path.read_bytes() for path in paths})


@command("admin testcase move")
def move_cases(
    problem_id: ProblemId,
    group: Annotated[str, typer.Argument(metavar="GROUP", help="such as secret/large")],
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="base names of test cases")],
    rejudging: Joins = None,
    keep: Keep = False,
    preview: PreviewOnly = False,
) -> Request:
    """Move test cases to another group, which shares its points among its cases again.

    Examples:
      jurado admin testcase move mysum secret/large 07 08
    """
    return _change(problem_id, {"move": dict.fromkeys(names, group)}, parameters(rejudging, keep=keep, preview=preview))


@command("admin testcase group")
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
) -> Request:
    """Make a group, or change its points, aggregation and name; a new one needs at least one case (--with).

    Examples:
      jurado admin testcase group mysum secret/large --points 60 --aggregation sum
      jurado admin testcase group mysum secret/large --rename secret/huge
      jurado admin testcase group mysum secret/final --points 20 --final --with 07 --with 08
    """
    given = {"rename": rename, "max_points": points, "aggregation": aggregation, "final": final}
    body = {
        "groups": [{"name": group, **without_none({**given, "require_pass": require_pass or None})}],
        "move": dict.fromkeys(cases or [], rename or group),
    }
    return _change(problem_id, body, parameters(rejudging, keep=keep, preview=preview))


def _change(problem_id: str, body: object, params: Mapping[str, Param]) -> Request:
    text = f"the test data of {problem_id} have been changed"
    return change("PATCH", f"problems/{problem_id}/testcases", text, params, body)


@command("admin testcase order")
def order_cases(
    problem_id: ProblemId,
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="base names of test cases")],
    keep: Keep = False,
    preview: PreviewOnly = False,
) -> Request:
    """List these test cases first in their groups, in this order; the others follow by name.

    Examples:
      jurado admin testcase order mysum 07 03
    """
    return _change(problem_id, {"order": names}, parameters(keep=keep, preview=preview))


@command("admin testcase points")
def give_points(
    problem_id: ProblemId,
    points: Annotated[list[str], typer.Argument(metavar="NAME=POINTS...", help=f"or NAME={SHARE}: as the others")],
    rejudging: Joins = None,
    keep: Keep = False,
    preview: PreviewOnly = False,
) -> Request:
    """Give test cases of groups with the aggregation sum points of their own; the others share what is left.

    Examples:
      jurado admin testcase points mysum 07=30 08=20 09=share
    """
    given = dict(_points(each) for each in points)
    return _change(problem_id, {"points": given}, parameters(rejudging, keep=keep, preview=preview))


def _points(text: str) -> tuple[str, int | None]:
    name, _, points = text.rpartition("=")
    if not name or not (points == SHARE or points.isdecimal()):
        raise Failure(f"NAME=POINTS: expected a name and whole points such as 07=30, or 07={SHARE}, found {text!r}")
    return name, None if points == SHARE else int(points)
