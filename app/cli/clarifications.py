"""`jurado clarify` and `jurado clarifications`: questions and answers; and what the jury answers and announces."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Annotated, Any

import typer

from app.cli.admin.commands import known
from app.cli.board_tables import short_time
from app.cli.client import Client
from app.cli.contestant.commands import Contest, find_problem, team_names
from app.cli.output import Failure, plain, show, table, tell, write_json
from app.cli.solve import AsJson

SECONDS_BETWEEN_LOOKS = 2.0

Text = Annotated[str, typer.Argument(metavar="TEXT", help="what to say; - reads it from standard input")]
About = Annotated[str | None, typer.Option("--problem", metavar="PROBLEM", help="the problem it is about: id or label")]


def clarify(
    contest: Contest,
    text: Text,
    problem: About = None,
    reply_to: Annotated[str | None, typer.Option(metavar="ID", help="the clarification it follows on")] = None,
    as_json: AsJson = False,
) -> None:
    """Ask the jury of a contest; `jurado clarifications` shows its answer."""
    with Client.open() as client:
        made = send(client, contest, text, problem=problem, reply_to_id=reply_to)
    tell(f"clarification {made['id']} has been sent to the jury", made, as_json=as_json)


def clarifications(
    contest: Contest,
    live: Annotated[bool, typer.Option("--live", help="go on with new ones as they come, until Ctrl-C")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the questions, answers and announcements of a contest that you may read.

    With --live and --json each is a line of its own.
    """
    with Client.open() as client:
        names = team_names(client, contest)
        if live:
            with suppress(KeyboardInterrupt):
                for each in as_they_come(client, contest):
                    write_json(each) if as_json else show(plain(line(each, names)))
            return
        found = client.get(f"contests/{contest}/clarifications")
    if as_json:
        write_json(found)
    elif found:
        columns = ["id", "at", "from", "to", "problem", "on", "text"]
        show(table(contest, columns, [cells(each, names) for each in found]))
    else:
        show("no clarifications yet")


def answer(
    contest: Contest,
    question: Annotated[str, typer.Argument(metavar="ID", help="the clarification that is answered")],
    text: Text,
    to_all: Annotated[bool, typer.Option("--to-all", help="to everybody, not only to the team that asked")] = False,
    as_json: AsJson = False,
) -> None:
    """Answer a team's question as the jury: to that team, or to everybody."""
    with Client.open() as client:
        asked = client.get(f"contests/{contest}/clarifications/{question}")
        to = None if to_all or asked["from_team_id"] is None else [asked["from_team_id"]]
        made = send(client, contest, text, problem=asked["problem_id"], reply_to_id=question, to_team_ids=to)
    tell(sent("answer", made, "everybody" if to is None else to[0]), made, as_json=as_json)


def announce(
    contest: Contest,
    text: Text,
    teams: Annotated[list[str] | None, typer.Option("--team", metavar="ID", help="only to this team")] = None,
    groups: Annotated[list[str] | None, typer.Option("--group", metavar="ID", help="only to this group")] = None,
    problem: About = None,
    as_json: AsJson = False,
) -> None:
    """Announce something as the jury: to everybody, or to the teams and groups named."""
    with Client.open() as client:
        made = send(client, contest, text, problem=problem, to_team_ids=teams or None, to_group_ids=groups or None)
    to = ", ".join([*(teams or []), *(groups or [])]) or "everybody"
    tell(sent("announcement", made, to), made, as_json=as_json)


def sent(kind: str, made: dict[str, Any], to: str) -> str:
    """Say who got it: what a team writes goes to the jury, whoever it was meant for."""
    if made["from_team_id"] is not None:
        return f"clarification {made['id']} has been sent to the jury only: you are logged in as a team"
    return f"{kind} {made['id']} has been sent to {to}"


def send(client: Client, contest: str, text: str, *, problem: str | None = None, **given: Any) -> dict[str, Any]:
    """Post a clarification; the problem may be given by its label."""
    said = typer.get_text_stream("stdin").read() if text == "-" else text
    if not said.strip():
        raise Failure("TEXT: expected something to say, found nothing")
    problem_id = None if problem is None else find_problem(client, contest, problem)
    made: dict[str, Any] = client.post(
        f"contests/{contest}/clarifications", known({"text": said, "problem_id": problem_id, **given})
    )
    return made


def as_they_come(client: Client, contest: str) -> Iterator[dict[str, Any]]:
    """Every clarification once, without end."""
    seen: set[str] = set()
    while True:
        for each in client.get(f"contests/{contest}/clarifications"):
            if each["id"] not in seen:
                seen.add(each["id"])
                yield each
        time.sleep(SECONDS_BETWEEN_LOOKS)


def cells(said: Mapping[str, Any], names: Mapping[str, str]) -> Sequence[Any]:
    """One clarification as a line of the table."""
    return (
        said["id"],
        short_time(said["contest_time"]),
        *sender_and_recipients(said, names),
        said["problem_id"],
        said["reply_to_id"],
        said["text"],
    )


def sender_and_recipients(said: Mapping[str, Any], names: Mapping[str, str]) -> tuple[str, str]:
    """Who says it to whom, in words."""
    if said["from_team_id"] is not None:
        return names.get(said["from_team_id"], said["from_team_id"]), "jury"
    teams = [names.get(team, team) for team in said.get("to_team_ids") or []]
    to = [*teams, *(said.get("to_group_ids") or [])]
    everybody = said.get("to_team_ids") is None and said.get("to_group_ids") is None
    return "jury", "all" if everybody else ", ".join(to)


def line(said: Mapping[str, Any], names: Mapping[str, str]) -> str:
    """One clarification as a line of text."""
    sender, to = sender_and_recipients(said, names)
    about = f" on {said['problem_id']}" if said["problem_id"] else ""
    on = f", answer to {said['reply_to_id']}" if said["reply_to_id"] else ""
    return f"{short_time(said['contest_time'])} {sender} to {to}{about}{on} [{said['id']}]: {said['text']}"
