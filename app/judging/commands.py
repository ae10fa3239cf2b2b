"""`jurado admin rejudge|rejudgings|rejudging`: judge again, show the difference, apply or cancel it, undo it."""

import time
from collections.abc import Mapping, Sequence
from typing import Annotated

import typer
from jurado_client.connection import named, refusal_of
from rich.table import Table as RichTable

from app.core.commands.client import Client
from app.core.commands.lookup import follow_job, points_text
from app.core.commands.output import Json, JsonMapping, plain, report, show, table, write_json
from app.core.commands.progress import progress_shown
from app.core.commands.registry import AsJson, Cell, ContestId, Request, Shown, Table, command

SECONDS_BETWEEN_LOOKS = 0.3
MOST_ROUNDS = 100
MOST_NEWCOMERS = 20
# Lines of a table for people; programs ask for all of them with --json.
MOST_CASES = 200
RejudgingId = Annotated[int, typer.Argument(metavar="ID", help="the rejudging's id")]
JudgeErrors = Annotated[
    bool, typer.Option("--judge-errors", help="also where the judge failed on submissions that had a verdict")
]


@command("admin rejudge")
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
    """Judge submissions again: silently, in the background, and counting only once it is applied.

    Examples:
      jurado admin rejudge finals --reason 'the checker took spaces' --problem comesolo --wait
      jurado admin rejudge finals --reason 'a broken file system' --submission 17 --submission 18 --apply
    """
    given = named({"reason": reason, "problem": problem, "team": team, "submissions": submission or None})
    with Client.open() as client:
        queued = client.post(f"contests/{contest}/rejudgings", given)
        if not (wait or apply):
            hint = f"next: jurado admin rejudging difference {contest} {queued['id']}"
            text = f"rejudging {queued['id']} of {queued['total']} submissions has been queued; {hint}"
            report(text, queued, as_json=as_json)
            return
        follow(client, queued, quiet=as_json)
        changes = client.get(f"{queued['href']}/difference")
        if apply:
            changes["rejudging"] = applied(client, queued["href"], {}, wait=True, quiet=as_json)
    show_difference(changes, as_json=as_json)


@command("admin rejudgings")
def list_rejudgings(contest: ContestId) -> Request:
    """List the rejudgings of a contest, oldest first.

    Examples:
      jurado admin rejudgings finals
      jurado admin rejudgings finals --json
    """
    return Request("GET", f"contests/{contest}/rejudgings", Table(COLUMNS))


@command("admin rejudging watch")
def watch(contest: ContestId, rejudging_id: RejudgingId, as_json: AsJson = False) -> None:
    """Follow a rejudging until all of it is judged, and show the difference.

    Examples:
      jurado admin rejudging watch finals 3
    """
    with Client.open() as client:
        path = f"contests/{contest}/rejudgings/{rejudging_id}"
        follow(client, client.get(path), quiet=as_json)
        changes = client.get(f"{path}/difference")
    show_difference(changes, as_json=as_json)


@command("admin rejudging difference")
def difference(
    contest: ContestId,
    rejudging_id: RejudgingId,
    everything: Annotated[bool, typer.Option("--all", help="also unchanged results")] = False,
) -> Request:
    """Show what a rejudging changes, or has changed: submissions case by case, teams, ranks.

    Examples:
      jurado admin rejudging difference finals 3
      jurado admin rejudging difference finals 3 --all --json
    """
    path = f"contests/{contest}/rejudgings/{rejudging_id}/difference"
    return Request("GET", path, difference_tables, params={"all": "true" if everything else None})


@command("admin rejudging apply")
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
    """Apply a rejudging in one step, including submissions made since it was created.

    Examples:
      jurado admin rejudging apply finals 3
      jurado admin rejudging apply finals 3 --wait
      jurado admin rejudging apply finals 3 --version 0c1f4a5b9d2e7788
    """
    given = named({"judge_errors": judge_errors, "version": version})
    with Client.open() as client:
        path = f"contests/{contest}/rejudgings/{rejudging_id}"
        rejudging = applied(client, path, given, wait=wait, quiet=as_json)
    Shown(rejudging, state_text).show(as_json=as_json)


def applied(client: Client, path: str, body: object, *, wait: bool, quiet: bool) -> Json:
    """Apply a rejudging, and with `wait` follow it first, again and again where much was submitted in the meantime."""
    for last in (False,) * MOST_ROUNDS + (True,):
        if wait:
            wait_for_answers(client, client.get(path), quiet=quiet)
            follow(client, client.get(path), quiet=quiet)
        reply = client.request("POST", f"/api/{path}/apply", json=body, accept=() if last or not wait else (409,))
        if reply.status_code != 409:
            return client.body(reply)
        if "retry-after" not in reply.headers:
            raise client.refused(refusal_of(reply))
    raise AssertionError("the last round has no 409")


@command("admin rejudging cancel")
def cancel(contest: ContestId, rejudging_id: RejudgingId) -> Request:
    """Cancel a rejudging before it is applied; its verdicts are never shown.

    Examples:
      jurado admin rejudging cancel finals 3
    """
    return Request("POST", f"contests/{contest}/rejudgings/{rejudging_id}/cancel", state_text)


@command("admin rejudging undo")
def undo(contest: ContestId, rejudging_id: RejudgingId) -> Request:
    """Undo a rejudging that was applied: its submissions get their earlier judgements back.

    Examples:
      jurado admin rejudging undo finals 3
    """
    return Request("POST", f"contests/{contest}/rejudgings/{rejudging_id}/undo", state_text)


def state_text(rejudging: Mapping[str, object]) -> str:
    """Say which state a rejudging has."""
    return f"rejudging {rejudging['id']} is {rejudging['state']}"


def subject(rejudging: JsonMapping) -> str:
    """Say in a few words what is judged again, or what changes."""
    if rejudging["changes"]:
        first, *more = rejudging["changes"]
        return f"{first}, and {len(more)} more" if more else str(first)
    selection = rejudging["selection"]
    parts = [f"problem {selection['problem_id']}"] if selection["problem_id"] else []
    parts += [f"team {selection['team_id']}"] if selection["team_id"] else []
    parts += [f"{len(selection['submission_ids'])} submissions"] if selection["submission_ids"] else []
    return ", ".join(parts) or "all submissions"


COLUMNS: Mapping[str, Cell] = {
    "id": "id",
    "state": "state",
    ">judged": lambda each: f"{each['judged']}/{each['total']}",
    "created": "created",
    "reason": "reason",
    "what": subject,
}


def wait_for_answers(client: Client, rejudging: JsonMapping, *, quiet: bool) -> None:
    """Follow the reference runs that make expected answers without which a rejudging cannot be applied."""
    while (job_id := rejudging["reference_run"]) is not None:
        with progress_shown(f"expected answer of {', '.join(rejudging['without_answer'])}", quiet=quiet) as on_progress:
            follow_job(client, job_id, on_progress)
        rejudging = client.get(rejudging["href"])


def follow(client: Client, rejudging: JsonMapping, *, quiet: bool) -> None:
    """Wait with a bar until all is judged that a rejudging had at first; more may have been submitted since."""
    at_first = rejudging["total"]
    with progress_shown(f"rejudging {rejudging['id']}", quiet=quiet) as on_progress:
        while rejudging["state"] == "judging" and rejudging["judged"] < at_first:
            note = f"{rejudging['judged']} of {rejudging['total']} judged"
            on_progress({"fraction": rejudging["progress"], "best": None, "states": 0, "note": note})
            time.sleep(SECONDS_BETWEEN_LOOKS)
            rejudging = client.get(rejudging["href"])


def show_difference(changes: JsonMapping, *, as_json: bool) -> None:
    """Print a difference as tables, or as it is."""
    if as_json:
        write_json(changes)
    else:
        show(*difference_tables(changes))


def difference_tables(changes: JsonMapping) -> list[RichTable | str]:
    """Draw a line on the whole, then the verdicts, submissions and teams that change."""
    rejudging, counts = changes["rejudging"], changes["counts"]
    head = f"rejudging {rejudging['id']} ({rejudging['state']}): {rejudging['reason']}"
    parts: list[RichTable | str] = [plain(head), *(plain(f"  {line}") for line in rejudging["changes"])]
    if rejudging["without_answer"]:
        parts.append("it cannot be applied before these test cases have an expected answer")
    parts.append(
        f"{counts['submissions_changed']} of {counts['submissions']} submissions, {counts['cases_changed']} cases, "
        f"points of {counts['teams_changed']} teams and the ranks of {counts['ranks_changed']} change"
    )
    if rejudging["state"] in {"judging", "ready"}:
        parts += version_lines(changes)
    if counts["types"]:
        rows = [(arrow(each["before"], each["after"]), each["count"]) for each in counts["types"]]
        parts.append(table("verdicts", ["verdict", ">submissions"], rows))
    parts += case_tables(changes["submissions"])
    if changes["teams"]:
        teams = [team_row(each) for each in changes["teams"]]
        columns = ["", "team", ">rank", ">points", ">rank shown to all", ">points shown to all"]
        parts.append(table("teams", columns, teams))
    return parts


def version_lines(changes: JsonMapping) -> list[str]:
    """Say what came after the rejudging began, and how to apply only the version that one has seen."""
    newcomers = changes["newcomers"]
    shown = ", ".join(newcomers[:MOST_NEWCOMERS]) + (", ..." if len(newcomers) > MOST_NEWCOMERS else "")
    came = [plain(f"submitted since: {shown} ({len(newcomers)})")] if newcomers else []
    return [*came, f"version {changes['version']}; apply --version {changes['version']} refuses any other"]


def case_tables(submissions: Sequence[JsonMapping]) -> list[RichTable | str]:
    """Draw a line for every submission, and below it one for each of its cases that changes."""
    rows: list[tuple[str, ...]] = []
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
    columns = ["submission", "problem, case", "verdict", ">raw", ">points"]
    left = len(rows) - MOST_CASES
    more = [f"and {left} more lines: --json has them all"] if left > 0 else []
    return [table("submissions", columns, rows[:MOST_CASES]), *more]


def team_row(team: JsonMapping) -> tuple[str, ...]:
    """Give the cells of a team: whether it rises or falls, and its rank and points before and after."""
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
    """Give an arrow up for a better rank, down for a worse one."""
    if before is None or after is None or before == after:
        return ""
    return f"▲{before - after}" if after < before else f"▼{after - before}"


def arrow(before: object, after: object) -> str:
    """Give one value that stays, or both of one that changes."""
    one, other = ("-" if value is None else str(value) for value in (before, after))
    return one if one == other else f"{one} → {other}"


def points(before: float | None, after: float | None) -> str:
    """Give points before and after, with two digits."""
    return arrow(points_text(before) or None, points_text(after) or None)
