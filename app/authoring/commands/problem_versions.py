"""`jurado admin problem versions|version|diff|restore`, `jurado admin contest pin`: versions of problems."""

from __future__ import annotations

from typing import Annotated

import typer

from app.authoring.commands.problems import ProblemId, problem
from app.contests.commands.contests import ContestId, contest
from app.core.commands.changes import Joins, Keep, PreviewOnly, parameters, say_changed
from app.core.commands.client import Client
from app.core.commands.options import AsJson
from app.core.commands.output import Failure, examples, plain, show, table, write_json
from app.core.commands.resources.problems import Version, VersionDetails, VersionDiff

Number = Annotated[int, typer.Argument(metavar="VERSION", min=1, help="its number")]
NEWEST = "newest"


@problem.command("versions", epilog=examples("jurado admin problem versions comesolo"))
def list_versions(problem_id: ProblemId, as_json: AsJson = False) -> None:
    """List the versions of a problem: who made each, when and why, and the contests that have it."""
    with Client.open() as client:
        versions = client.get(f"problems/{problem_id}/versions", list[Version])
    if as_json:
        write_json(versions)
        return
    rows = [(v["number"], v["created"], v["account_id"], v["note"], _contests(v)) for v in versions]
    show(table(problem_id, [">version", "made", "by", "why", "contests (* stays with it)"], rows))


def _contests(version: Version) -> str:
    return ", ".join(f"{each}*" if each in version["pinned"] else each for each in version["contests"])


@problem.command("version", epilog=examples("jurado admin problem version comesolo 2 --json"))
def show_version(problem_id: ProblemId, number: Number, as_json: AsJson = False) -> None:
    """Show what a version of a problem consists of: its test cases with the sha256 of their inputs and answers."""
    with Client.open() as client:
        version = client.get(f"problems/{problem_id}/versions/{number}", VersionDetails)
    if as_json:
        write_json(version)
        return
    rows = [
        (f"{c['group']}/{c['name']}", f"{c['max_points']:.3f}", c["sha256"][:12], (c["answer_sha256"] or "")[:12])
        for c in version["testcases"]
    ]
    title = f"{problem_id} {number}: {version['note']}"
    show(table(title, ["test case", ">points", "input", "answer"], rows), plain(f"sha256 {version['sha256']}"))


@problem.command(
    "diff", epilog=examples("jurado admin problem diff comesolo 3", "jurado admin problem diff comesolo 3 --against 1")
)
def show_diff(
    problem_id: ProblemId,
    number: Number,
    against: Annotated[int | None, typer.Option(metavar="VERSION", help="default: the version before")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a version of a problem changes."""
    with Client.open() as client:
        diff = client.get(f"problems/{problem_id}/versions/{number}/diff", VersionDiff, against=against)
    if as_json:
        write_json(diff)
        return
    reach = "verdicts" if diff["judging"] else "points" if diff["points"] else "neither verdicts nor points"
    show(plain(f"{problem_id}: version {diff['before']} → {diff['after']}; may change {reach}"))
    rows = [(each["where"], each["before"], each["after"]) for each in diff["fields"]]
    show(table("", ["what", f"version {diff['before']}", f"version {diff['after']}"], rows))


@problem.command(
    "restore",
    epilog=examples("jurado admin problem restore comesolo 2 --preview", "jurado admin problem restore comesolo 2"),
)
def restore_version(
    problem_id: ProblemId,
    number: Number,
    rejudging: Joins = None,
    keep: Keep = False,
    preview: PreviewOnly = False,
    as_json: AsJson = False,
) -> None:
    """Make a version of a problem the newest again; where there are submissions it waits as a rejudging."""
    with Client.open() as client:
        path = f"problems/{problem_id}/versions/{number}/restore"
        reply = client.post(path, params=parameters(rejudging, keep=keep, preview=preview))
    say_changed(reply, f"{problem_id} is as it was in version {number}", as_json=as_json)


@contest.command(
    "pin",
    epilog=examples(
        "jurado admin contest pin finals comesolo 3",
        "jurado admin contest pin finals comesolo newest --preview",
    ),
)
def pin(
    contest_id: ContestId,
    problem_id: Annotated[str, typer.Argument(metavar="PROBLEM", help="the problem's id or label")],
    version: Annotated[str, typer.Argument(metavar="VERSION", help=f"a number, or {NEWEST}: follow the problem")],
    preview: PreviewOnly = False,
    as_json: AsJson = False,
) -> None:
    """Let a contest stay with a version of a problem; where verdicts or points may differ it waits as a rejudging."""
    if version != NEWEST and not version.isdigit():
        raise Failure(f"VERSION: expected a number or {NEWEST}, found {version!r}")
    wanted = None if version == NEWEST else int(version)
    path = f"contests/{contest_id}/problems/{problem_id}"
    with Client.open() as client:
        reply = client.patch(path, {"version": wanted}, params=parameters(None, keep=False, preview=preview))
    place = "follows the newest version" if wanted is None else f"stays with version {wanted}"
    say_changed(reply, f"{contest_id} {place} of {problem_id}", as_json=as_json)
