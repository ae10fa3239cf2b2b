"""The contestant's commands: problems, submit, watch, scoreboard."""

from __future__ import annotations

import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from app.cli.board_tables import board_table, report_tables, short_time
from app.cli.client import Client
from app.cli.contest_facts import contest_time, facts_of, why_nothing
from app.cli.contestant.live_board import follow_board, frozen_banner, verdicts
from app.cli.contestant.upload import pack, unpack, upload_shown
from app.cli.output import Failure, say, show, table, write_json
from app.cli.solve import AsJson

SECONDS_BETWEEN_LOOKS = 0.2
FINE = {"AC", "PC"}
Contest = Annotated[str, typer.Argument(metavar="CONTEST", help="the contest's id, such as practice")]


def problems(
    contest: Contest,
    inputs: Annotated[
        Path | None, typer.Option(metavar="DIR", help="fetch the inputs too, as DIR/PROBLEM/NAME.in")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the problems of a contest, and fetch their inputs if a folder is given."""
    with Client.open() as client:
        found = client.get(f"contests/{contest}/problems")
        for one in found if inputs else ():
            reply = client.request("GET", f"/api/contests/{contest}/problems/{one['id']}/inputs.zip")
            unpack(reply.content, inputs / one["id"])
        reason = None if found else why_nothing(client, contest)
    if inputs is not None and reason is not None:
        raise Failure(reason, 1)
    if as_json:
        write_json(found)
        return
    if reason is not None:
        typer.echo(reason)
        return
    rows = [(p["label"], p["id"], p["name"], p["test_data_count"], points_text(p.get("max_score"))) for p in found]
    show(table(contest, ["label", "id", "name", ">test cases", ">points"], rows))


def submit(
    contest: Contest,
    problem: Annotated[str, typer.Argument(help="the problem's id or label")],
    files: Annotated[list[Path], typer.Argument(metavar="FILES...", help="answer files, a zip, or folders of them")],
    wait: Annotated[bool, typer.Option("--wait", help="wait for the verdict and show the report")] = False,
    comment: Annotated[str | None, typer.Option(help="a note to yourself, kept with it")] = None,
    testcase: Annotated[str | None, typer.Option(help="the test case a single file of another name is for")] = None,
    as_json: AsJson = False,
) -> None:
    """Submit answer files: NAME.out for the test case NAME; several files go as one zip.

    A connection that fails is tried again with the same key, so that nothing is submitted twice. With --wait the exit
    code is 1 if nothing was accepted.
    """
    name, data = pack(files)
    with Client.open() as client:
        problem_id = find_problem(client, contest, problem)
        made = send(client, contest, problem_id, name, data, comment=comment, testcase=testcase)
        if wait:
            say(f"submission {made['id']} has been stored; waiting for its verdict")
            finish(client, contest, made["id"], as_json=as_json)
        elif as_json:
            write_json(made)
        else:
            typer.echo(f"submission {made['id']} has been stored; jurado watch {made['id']} shows its verdict")


def watch(
    submission: Annotated[str | None, typer.Argument(help="the submission's id")] = None,
    contest: Annotated[str | None, typer.Option(help="its contest, if you know it")] = None,
    live: Annotated[
        bool, typer.Option("--live", help="tell every verdict of --contest as it comes, until Ctrl-C")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Wait for the verdict of a submission and show its report; exit code 1 if nothing was accepted.

    With --live, those of all your submissions in a contest, from now on (judges: of everybody's); as JSON, a line each.
    """
    if live != (submission is None) or (live and contest is None):
        raise Failure("expected SUBMISSION, or --live and --contest")
    with Client.open() as client:
        if submission is not None:
            finish(client, contest or find_contest(client, submission), submission, as_json=as_json)
        with suppress(KeyboardInterrupt):
            tell_verdicts(client, str(contest), as_json=as_json)


def tell_verdicts(client: Client, contest: str, *, as_json: bool) -> None:
    """A line for each submission and each judgement that has ended."""
    problems: dict[str, str] = {}
    names = team_names(client, contest)
    for change in verdicts(client, contest):
        if as_json:
            write_json(change)
        elif change["data"] is not None:
            said = verdict_line(change["type"], change["data"], problems, names)
            if said:
                typer.echo(said)


def verdict_line(kind: str, data: dict[str, Any], problems: dict[str, str], names: dict[str, str]) -> str:
    """One change in words, nothing for a judgement that has only begun or counts no more; fills `problems`."""
    if kind == "submissions":
        problems[data["id"]] = data["problem_id"]
        team = names.get(data["team_id"], data["team_id"])
        return f"{short_time(data['contest_time'])} {team}, {data['problem_id']}: submission {data['id']} has come in"
    if data.get("judgement_type_id") is None or data.get("current") is False:
        return ""
    of = problems.get(data["submission_id"])
    worth = f", {data['score']:.2f} points" if data.get("score") is not None else ""
    about = f" ({of})" if of else ""
    time = short_time(data.get("end_contest_time"))
    return f"{time} submission {data['submission_id']}{about}: {data['judgement_type_id']}{worth}"


def scoreboard(
    contest: Contest,
    live: Annotated[bool, typer.Option("--live", help="draw it again whenever it changes, until Ctrl-C")] = False,
    cases: Annotated[bool, typer.Option("--cases", help="with the raw score of every test case")] = False,
    sheet: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="write it for spreadsheets; - is standard output")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the scoreboard of a contest."""
    with Client.open() as client:
        if sheet is not None:
            write_file(sheet, client.request("GET", f"/api/contests/{contest}/scoreboard.csv").content)
            return
        if live:
            follow_board(client, contest, team_names(client, contest), cases=cases, as_json=as_json)
            return
        board = client.get(f"contests/{contest}/scoreboard", cases=cases or None)
        if as_json:
            write_json(board)
        elif not board["state"].get("started"):
            typer.echo(why_nothing(client, contest) or "the contest has begun just now")
        else:
            show_board(client, contest, board, cases=cases)


def show_board(client: Client, contest: str, board: dict[str, Any], *, cases: bool) -> None:
    """The board with what the freeze makes of it, at the time by the server's clock."""
    facts = facts_of(client, contest)
    if banner := frozen_banner(board["state"], facts):
        typer.echo(banner.strip())
    names, now = team_names(client, contest), contest_time(facts, client.now())
    show(*board_table(contest, board, names, cases=cases, now=now))


def write_file(path: Path, data: bytes) -> None:
    """Write a file a person named; `-` is standard output."""
    if str(path) == "-":
        typer.get_binary_stream("stdout").write(data)
        return
    try:
        path.write_bytes(data)
    except OSError as error:
        raise Failure(f"{path}: {error.strerror or error}") from None
    say(f"{path} has been written")


def send(
    client: Client,
    contest: str,
    problem_id: str,
    name: str,
    data: bytes,
    *,
    comment: str | None = None,
    testcase: str | None = None,
) -> dict[str, Any]:
    """Upload once: the key made here lets a repeated request find the first one's submission."""
    fields = {"problem_id": problem_id, "comment": comment, "testcase": testcase}
    with upload_shown(data) as reader:
        reply: dict[str, Any] = client.post(
            f"contests/{contest}/submissions",
            files={"files": (name, reader)},
            data={key: value for key, value in fields.items() if value is not None},
            headers={"Idempotency-Key": str(uuid.uuid4())},
            again=lambda: void(reader.seek(0)),
        )
    return reply


def void(_value: object) -> None:
    """Drop what a call returns."""


def finish(client: Client, contest: str, submission: str, *, as_json: bool) -> None:
    """Wait for the verdict, show the report, and end with the exit code."""
    report = wait_for_report(client, contest, submission)
    if as_json:
        write_json(report)
    else:
        show(*report_tables(report))
    raise typer.Exit(0 if report["judgement"]["judgement_type_id"] in FINE else 1)


def wait_for_report(client: Client, contest: str, submission: str) -> dict[str, Any]:
    """Look at the report until it is judged."""
    path = f"contests/{contest}/submissions/{submission}/report"
    while True:
        report: dict[str, Any] = client.get(path)
        if report["judgement"]["judgement_type_id"] is not None:
            # The verdict may have come while the report was being put together; the next one has its points too.
            return report if report["points"] is not None else dict(client.get(path))
        time.sleep(SECONDS_BETWEEN_LOOKS)


def find_problem(client: Client, contest: str, problem: str) -> str:
    """Find a problem of a contest by its id or label; raises Failure with the nearest one."""
    from app.cli.names import nearest

    found = client.get(f"contests/{contest}/problems")
    if not found and (reason := why_nothing(client, contest)) is not None:
        raise Failure(reason, 1)
    for each in found:
        if problem == each["id"] or problem.upper() == each["label"].upper():
            return str(each["id"])
    raise nearest(f"problem of the contest {contest}", problem, [each["id"] for each in found])


def find_contest(client: Client, submission: str) -> str:
    """Find the contest of a submission among those that may be seen."""
    for contest in client.get("contests"):
        path = f"/api/contests/{contest['id']}/submissions/{submission}"
        if client.request("GET", path, accept=(404,)).is_success:
            return str(contest["id"])
    raise Failure(f"no submission {submission!r} that you may see", 1)


def team_names(client: Client, contest: str) -> dict[str, str]:
    """Names of the teams by their ids."""
    return {team["id"]: team["name"] for team in client.get(f"contests/{contest}/teams")}


def points_text(points: float | None) -> str:
    """Points with two digits, or nothing."""
    return "" if points is None else f"{points:.2f}"
