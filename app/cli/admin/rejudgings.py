"""`jurado admin rejudge|rejudgings|rejudging`: judge again, look at what it changes, apply it or not, undo it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer
from rich.table import Table

from app.cli.admin.commands import ContestId, known
from app.cli.admin.problems import follow_job
from app.cli.board_tables import number
from app.cli.client import Client, refusal
from app.cli.output import Failure, examples, plain, show, table, tell, write_json
from app.cli.solve import AsJson, progress_shown

rejudging = typer.Typer(no_args_is_help=True, help="One rejudging: what it changes, and whether it counts.")
SECONDS_BETWEEN_LOOKS = 0.3
MOST_ROUNDS = 100
MOST_NEWCOMERS = 20
FEW = 8
"""Judgements left to do with which the server applies a rejudging, because it has them done first."""
MOST_CASES = 200
"""Lines of a table that somebody reads; a program asks for all of them with --json."""
RejudgingId = Annotated[int, typer.Argument(metavar="ID", help="the rejudging's id")]
JudgeErrors = Annotated[
    bool, typer.Option("--judge-errors", help="also where the judge failed on submissions that had a verdict")
]


def rejudge(
    contest: ContestId,
    reason: Annotated[str, typer.Option(metavar="TEXT", help="why; kept with it")],
    problem: Annotated[
        str | None, typer.Option(metavar="PROBLEM", help="only submissions to this problem: id or label")
    ] = None,
    team: Annotated[str | None, typer.Option(metavar="ID", help="only submissions of this team")] = None,
    submission: Annotated[list[str] | None, typer.Option(metavar="ID", help="only these submissions")] = None,
    wait: Annotated[bool, typer.Option("--wait", help="follow it until it is judged, and show the difference")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="wait, show the difference, and apply it")] = False,
    as_json: AsJson = False,
) -> None:
    """Judge submissions again: silently, in the background, and counting only once it is applied."""
    asked = known({"reason": reason, "problem": problem, "team": team, "submissions": submission or None})
    with Client.open() as client:
        made = client.post(f"contests/{contest}/rejudgings", asked)
        if not (wait or apply):
            hint = f"next: jurado admin rejudging difference {contest} {made['id']}"
            tell(
                f"rejudging {made['id']} of {made['total']} submissions has been queued; {hint}", made, as_json=as_json
            )
            return
        follow(client, made, quiet=as_json)
        found = client.get(f"{made['href']}/difference")
        if apply:
            found["rejudging"] = applied(client, made["href"], {}, wait=True, quiet=as_json)
    show_difference(found, as_json=as_json)


def list_rejudgings(contest: ContestId, as_json: AsJson = False) -> None:
    """List the rejudgings of a contest, oldest first."""
    with Client.open() as client:
        found = client.get(f"contests/{contest}/rejudgings")
    if as_json:
        write_json(found)
        return
    rows = [
        (each["id"], each["state"], f"{each['judged']}/{each['total']}", each["created"], each["reason"], what(each))
        for each in found
    ]
    show(table("", ["id", "state", ">judged", "created", "reason", "what"], rows))


@rejudging.command("watch", epilog=examples("jurado admin rejudging watch finals 3"))
def watch(contest: ContestId, rejudging_id: RejudgingId, as_json: AsJson = False) -> None:
    """Follow a rejudging until all of it is judged, and show the difference."""
    with Client.open() as client:
        follow(client, client.get(f"contests/{contest}/rejudgings/{rejudging_id}"), quiet=as_json)
        found = client.get(f"contests/{contest}/rejudgings/{rejudging_id}/difference")
    show_difference(found, as_json=as_json)


@rejudging.command(
    "difference",
    epilog=examples(
        "jurado admin rejudging difference finals 3", "jurado admin rejudging difference finals 3 --all --json"
    ),
)
def difference(
    contest: ContestId,
    rejudging_id: RejudgingId,
    everything: Annotated[bool, typer.Option("--all", help="also what stays as it is")] = False,
    since: Annotated[
        str | None, typer.Option(metavar="VERSION", help="list the submissions that came after this version")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a rejudging changes, or has changed: submissions case by case, teams, ranks."""
    with Client.open() as client:
        path = f"contests/{contest}/rejudgings/{rejudging_id}/difference"
        found = client.get(path, all="true" if everything else None, since=since)
    show_difference(found, as_json=as_json)


@rejudging.command(
    "apply",
    epilog=examples(
        "jurado admin rejudging apply finals 3",
        "jurado admin rejudging apply finals 3 --wait",
        "jurado admin rejudging apply finals 3 --version 812-0c1f4a5b9d2e7788",
    ),
)
def apply(
    contest: ContestId,
    rejudging_id: RejudgingId,
    judge_errors: JudgeErrors = False,
    version: Annotated[
        str | None, typer.Option(metavar="VERSION", help="only if this version of the difference is still the latest")
    ] = None,
    wait: Annotated[bool, typer.Option("--wait", help="follow it until it is judged, then apply it")] = False,
    as_json: AsJson = False,
) -> None:
    """Let a rejudging count, all of it at once, with what teams submitted meanwhile."""
    asked = known({"judge_errors": judge_errors, "version": version})
    with Client.open() as client:
        made = applied(client, f"contests/{contest}/rejudgings/{rejudging_id}", asked, wait=wait, quiet=as_json)
    tell(f"rejudging {made['id']} is {made['state']}", made, as_json=as_json)


def applied(client: Client, path: str, asked: object, *, wait: bool, quiet: bool) -> dict[str, Any]:
    """Apply a rejudging, and with `wait` follow it first, again and again where much was submitted meanwhile."""
    for last in (False,) * MOST_ROUNDS + (True,):
        if wait:
            wait_for_answers(client, client.get(path), quiet=quiet)
            follow(client, client.get(path), quiet=quiet)
        reply = client.request("POST", f"/api/{path}/apply", json=asked, accept=() if last or not wait else (409,))
        made: dict[str, Any] = client.body(reply)
        if reply.status_code != 409:
            return made
        if "retry-after" not in reply.headers:
            raise Failure(refusal(reply), 1)
    raise AssertionError("the last round has no 409")


@rejudging.command("cancel", epilog=examples("jurado admin rejudging cancel finals 3"))
def cancel(contest: ContestId, rejudging_id: RejudgingId, as_json: AsJson = False) -> None:
    """Give a rejudging up before it is applied; nothing of it is ever seen."""
    do("cancel", contest, rejudging_id, None, as_json=as_json)


@rejudging.command("undo", epilog=examples("jurado admin rejudging undo finals 3"))
def undo(contest: ContestId, rejudging_id: RejudgingId, as_json: AsJson = False) -> None:
    """Put back what was before a rejudging was applied."""
    do("undo", contest, rejudging_id, None, as_json=as_json)


def do(deed: str, contest: str, rejudging_id: int, body: object, *, as_json: bool) -> None:
    """Do something with a rejudging and say what it is then."""
    with Client.open() as client:
        made = client.post(f"contests/{contest}/rejudgings/{rejudging_id}/{deed}", body)
    tell(f"rejudging {made['id']} is {made['state']}", made, as_json=as_json)


def wait_for_answers(client: Client, made: Mapping[str, Any], *, quiet: bool) -> None:
    """Follow the reference runs that make expected answers without which it cannot be applied."""
    while made["reference_run"] is not None:
        with progress_shown(f"expected answer of {', '.join(made['without_answer'])}", quiet=quiet) as on_progress:
            follow_job(client, made["reference_run"], on_progress)
        made = client.get(made["href"])


def follow(client: Client, made: Mapping[str, Any], *, quiet: bool) -> None:
    """Look at a rejudging until it is judged, with a bar."""
    with progress_shown(f"rejudging {made['id']}", quiet=quiet) as on_progress:
        wait_until_judged(client, made["href"], on_progress)


def wait_until_judged(client: Client, path: str, on_progress: Callable[[dict[str, Any]], None]) -> None:
    """Look at a rejudging until nothing of it waits to be judged, or only what has just been submitted."""
    at_first: int | None = None
    while True:
        found = client.get(path)
        note = f"{found['judged']} of {found['total']} judged"
        on_progress({"fraction": found["progress"], "best": None, "states": 0, "note": note})
        left = found["total"] - found["judged"]
        if found["state"] != "judging" or (at_first is not None and found["total"] > at_first and left <= FEW):
            return
        at_first = at_first or found["total"]
        time.sleep(SECONDS_BETWEEN_LOOKS)


def show_difference(found: Mapping[str, Any], *, as_json: bool) -> None:
    """Show it as tables, or as it is."""
    if as_json:
        write_json(found)
    else:
        show(*difference_tables(found))


def difference_tables(found: Mapping[str, Any]) -> list[Table | str]:
    """What changes: a line on the whole, then types, cases, teams."""
    rejudging, counts = found["rejudging"], found["counts"]
    head = f"rejudging {rejudging['id']} ({rejudging['state']}): {rejudging['reason']}"
    things: list[Table | str] = [plain(head), *(plain(f"  {line}") for line in rejudging["changes"])]
    if rejudging["without_answer"]:
        things.append("it cannot be applied before these test cases have an expected answer")
    things.append(
        f"{counts['submissions_changed']} of {counts['submissions']} submissions, {counts['cases_changed']} cases, "
        f"points of {counts['teams_changed']} teams and the ranks of {counts['ranks_changed']} change"
    )
    if rejudging["state"] in {"judging", "ready"}:
        things += version_lines(found)
    if counts["types"]:
        rows = [(arrow(each["before"], each["after"]), each["count"]) for each in counts["types"]]
        things.append(table("verdicts", ["verdict", ">submissions"], rows))
    things += case_tables(found["submissions"])
    if found["teams"]:
        teams = [team_row(each) for each in found["teams"]]
        columns = ["", "team", ">rank", ">points", ">rank shown to all", ">points shown to all"]
        things.append(table("teams", columns, teams))
    return things


def version_lines(found: Mapping[str, Any]) -> list[str]:
    """Which version of the difference this is, what came after it began, and how to apply only what one has seen."""
    newcomers = found["newcomers"]
    shown = ", ".join(newcomers[:MOST_NEWCOMERS]) + (", ..." if len(newcomers) > MOST_NEWCOMERS else "")
    came = [plain(f"submitted since: {shown} ({len(newcomers)})")] if newcomers else []
    return [*came, f"version {found['version']}; apply --version {found['version']} refuses any other"]


def case_tables(submissions: list[Any]) -> list[Table | str]:
    """A line for every submission, and below it for every case of it that is another."""
    rows = []
    for each in submissions:
        before, after = each["before"], each["after"]
        verdict = arrow(before["judgement_type_id"], after["judgement_type_id"])
        name = f"{each['submission_id']} {each['team_id'] or ''}"
        rows.append((name, each["problem_id"], verdict, "", points(before["points"], after["points"])))
        for case in each["cases"]:
            one, other = case["before"], case["after"]
            raw = arrow(one["raw"], other["raw"])
            shown = arrow(one["verdict"], other["verdict"])
            rows.append(("", f"  {case['name']}", shown, raw, points(one["points"], other["points"])))
    if not rows:
        return []
    left = len(rows) - MOST_CASES
    things: list[Table | str] = [
        table("submissions", ["submission", "problem, case", "verdict", ">raw", ">points"], rows[:MOST_CASES])
    ]
    return [*things, f"and {left} more lines: --json has them all"] if left > 0 else things


def team_row(team: Mapping[str, Any]) -> tuple[str, ...]:
    """One team: whether it rises or falls, and its rank and points before and after."""
    before, after = team["before"], team["after"]
    shown, then = team["public_before"], team["public_after"]
    return (
        move(before["rank"], after["rank"]),
        team["name"],
        arrow(before["rank"], after["rank"]),
        points(before["points"], after["points"]),
        arrow(shown["rank"], then["rank"]),
        points(shown["points"], then["points"]),
    )


def move(before: int | None, after: int | None) -> str:
    """An arrow up for a better rank, down for a worse one."""
    if before is None or after is None or before == after:
        return ""
    return f"▲{before - after}" if after < before else f"▼{after - before}"


def arrow(before: object, after: object) -> str:
    """One value that stays, or the two of one that changes."""
    one, other = ("-" if value is None else str(value) for value in (before, after))
    return one if one == other else f"{one} → {other}"


def points(before: float | None, after: float | None) -> str:
    """Points before and after, with two digits."""
    return arrow(number(before) or None, number(after) or None)


def what(rejudging: Mapping[str, Any]) -> str:
    """What is judged again, or becomes different, in a few words."""
    if rejudging["changes"]:
        first, *more = rejudging["changes"]
        return f"{first}, and {len(more)} more" if more else str(first)
    selection = rejudging["selection"]
    chosen = [f"{key.removesuffix('_id')} {selection[key]}" for key in ("problem_id", "team_id") if selection[key]]
    ids = selection["submission_ids"]
    return ", ".join([*chosen, *([f"{len(ids)} submissions"] if ids else [])]) or "all submissions"
