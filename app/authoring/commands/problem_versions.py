"""`jurado admin problem versions|version|diff|restore`, `jurado admin contest pin`: versions of problems."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import typer

from app.authoring.commands.problems import ProblemId
from app.contests.commands.contests import ContestId
from app.core.commands.changes import Joins, Keep, PreviewOnly, change, parameters
from app.core.commands.output import Failure, JsonMapping, plain
from app.core.commands.registry import command
from app.core.commands.requests import Cell, Request, Table

Number = Annotated[int, typer.Argument(metavar="VERSION", min=1, help="its number")]
NEWEST = "newest"


@command("admin problem versions")
def list_versions(problem_id: ProblemId) -> Request:
    """List the versions of a problem: who made each, when and why, and the contests that have it.

    Examples:
      jurado admin problem versions comesolo
    """
    return Request("GET", f"problems/{problem_id}/versions", Table(VERSIONS, problem_id))


def _contests(version: JsonMapping) -> str:
    return ", ".join(f"{each}*" if each in version["pinned"] else each for each in version["contests"])


VERSIONS: Mapping[str, Cell] = {
    ">version": "number",
    "made": "created",
    "by": "account_id",
    "why": "note",
    "contests (* stays with it)": _contests,
}
VERSION_CASES: Mapping[str, Cell] = {
    "test case": lambda case: f"{case['group']}/{case['name']}",
    ">points": lambda case: f"{case['max_points']:.3f}",
    "input": lambda case: case["sha256"][:12],
    "answer": lambda case: (case["answer_sha256"] or "")[:12],
}


@command("admin problem version")
def show_version(problem_id: ProblemId, number: Number) -> Request:
    """Show what a version of a problem consists of: its test cases with the sha256 of their inputs and answers.

    Examples:
      jurado admin problem version comesolo 2 --json
    """

    def parts(version: JsonMapping) -> list[object]:
        cases = Table(VERSION_CASES, f"{problem_id} {number}: {version['note']}").drawn(version["testcases"])
        return [cases, plain(f"sha256 {version['sha256']}")]

    return Request("GET", f"problems/{problem_id}/versions/{number}", parts)


@command("admin problem diff")
def show_diff(
    problem_id: ProblemId,
    number: Number,
    against: Annotated[int | None, typer.Option(metavar="VERSION", help="default: the version before")] = None,
) -> Request:
    """Show what a version of a problem changes.

    Examples:
      jurado admin problem diff comesolo 3
      jurado admin problem diff comesolo 3 --against 1
    """

    def parts(diff: JsonMapping) -> list[object]:
        before, after = diff["before"], diff["after"]
        reach = "verdicts" if diff["judging"] else "points" if diff["points"] else "neither verdicts nor points"
        columns = Table({"what": "where", f"version {before}": "before", f"version {after}": "after"})
        head = plain(f"{problem_id}: version {before} → {after}; may change {reach}")
        return [head, columns.drawn(diff["fields"])]

    path = f"problems/{problem_id}/versions/{number}/diff"
    return Request("GET", path, parts, params={"against": against})


@command("admin problem restore")
def restore_version(
    problem_id: ProblemId,
    number: Number,
    rejudging: Joins = None,
    keep: Keep = False,
    preview: PreviewOnly = False,
) -> Request:
    """Make a version of a problem the newest again; where there are submissions it waits as a rejudging.

    Examples:
      jurado admin problem restore comesolo 2 --preview
      jurado admin problem restore comesolo 2
    """
    text = f"{problem_id} is as it was in version {number}"
    params = parameters(rejudging, keep=keep, preview=preview)
    return change("POST", f"problems/{problem_id}/versions/{number}/restore", text, params)


@command("admin contest pin")
def pin(
    contest_id: ContestId,
    problem_id: Annotated[str, typer.Argument(metavar="PROBLEM", help="the problem's id or label")],
    version: Annotated[str, typer.Argument(metavar="VERSION", help=f"a number, or {NEWEST}: follow the problem")],
    preview: PreviewOnly = False,
) -> Request:
    """Let a contest stay with a version of a problem; where verdicts or points may differ it waits as a rejudging.

    Examples:
      jurado admin contest pin finals comesolo 3
      jurado admin contest pin finals comesolo newest --preview
    """
    if version != NEWEST and not version.isdigit():
        raise Failure(f"VERSION: expected a number or {NEWEST}, found {version!r}")
    wanted = None if version == NEWEST else int(version)
    place = "follows the newest version" if wanted is None else f"stays with version {wanted}"
    text = f"{contest_id} {place} of {problem_id}"
    path = f"contests/{contest_id}/problems/{problem_id}"
    return change("PATCH", path, text, parameters(preview=preview), {"version": wanted})
