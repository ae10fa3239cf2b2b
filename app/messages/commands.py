"""`jurado clarify` and `jurado clarifications`: questions to the jury, its answers and announcements.

- `jurado admin answer` and `announce`: messages of the jury.
- Sending a clarification, as a team or as the jury.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Annotated

import typer

from app.core.commands.client import Client, without_none
from app.core.commands.lookup import find_problem, short_time, team_names
from app.core.commands.output import Failure, Json, JsonMapping, plain, show, table, write_json
from app.core.commands.registry import About, AsJson, Contest, Shown, Text, command


def send(
    client: Client,
    contest: str,
    text: str,
    *,
    problem: str | None = None,
    reply_to: str | None = None,
    teams: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> Json:
    """Post a clarification: `-` reads the text from standard input, and the problem may be given by its label."""
    words = typer.get_text_stream("stdin").read() if text == "-" else text
    if not words.strip():
        raise Failure("TEXT: expected something to say, found nothing")
    document = {
        "text": words,
        "problem_id": None if problem is None else find_problem(client, contest, problem),
        "reply_to_id": reply_to,
        "to_team_ids": teams or None,
        "to_group_ids": groups or None,
    }
    return client.post(f"contests/{contest}/clarifications", without_none(document))


SECONDS_BETWEEN_LOOKS = 2.0


@command("clarify")
def clarify(
    contest: Contest,
    text: Text,
    problem: About = None,
    reply_to: Annotated[str | None, typer.Option(metavar="ID", help="the clarification it follows on")] = None,
) -> Shown:
    """Ask the jury of a contest; `jurado clarifications` shows its answer.

    Examples:
      jurado clarify practice 'May balls stay where they are?' --problem rollingballs
      jurado clarify practice 'And in the first row?' --reply-to 7
      jurado clarify practice - < question.txt
    """
    with Client.open() as client:
        sent = send(client, contest, text, problem=problem, reply_to=reply_to)
    return Shown(sent, f"clarification {sent['id']} has been sent to the jury")


@command("clarifications")
def clarifications(
    contest: Contest,
    live: Annotated[bool, typer.Option("--live", help="go on with new ones as they come, until Ctrl-C")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the questions, answers and announcements of a contest that you may read.

    With --live and --json each is a line of its own.

    Examples:
      jurado clarifications practice
      jurado clarifications practice --live
    """
    with Client.open() as client:
        names = team_names(client, contest)
        if live:
            with suppress(KeyboardInterrupt):
                for each in as_they_come(client, contest):
                    write_json(each) if as_json else show(plain(line(each, names)))
            return
        listed = client.rows(f"contests/{contest}/clarifications")
    if as_json:
        write_json(listed)
    elif listed:
        columns = ["id", "at", "from", "to", "problem", "on", "text"]
        show(table(contest, columns, [cells(each, names) for each in listed]))
    else:
        show("no clarifications yet")


def as_they_come(client: Client, contest: str) -> Iterator[JsonMapping]:
    """Yield every clarification once, without end."""
    seen: set[str] = set()
    while True:
        for each in client.rows(f"contests/{contest}/clarifications"):
            if each["id"] not in seen:
                seen.add(each["id"])
                yield each
        time.sleep(SECONDS_BETWEEN_LOOKS)


def cells(message: JsonMapping, names: Mapping[str, str]) -> tuple[str | None, ...]:
    """Give the cells of one clarification."""
    return (
        message["id"],
        short_time(message["contest_time"]),
        *sender_and_recipients(message, names),
        message["problem_id"],
        message["reply_to_id"],
        message["text"],
    )


def sender_and_recipients(message: JsonMapping, names: Mapping[str, str]) -> tuple[str, str]:
    """Name who sends a clarification to whom."""
    if message["from_team_id"] is not None:
        return names.get(message["from_team_id"], message["from_team_id"]), "jury"
    team_ids, group_ids = message.get("to_team_ids"), message.get("to_group_ids")
    if team_ids is None and group_ids is None:
        return "jury", "all"
    return "jury", ", ".join([*(names.get(team, team) for team in team_ids or []), *(group_ids or [])])


def line(message: JsonMapping, names: Mapping[str, str]) -> str:
    """Give one clarification as a line of text."""
    sender, to = sender_and_recipients(message, names)
    about = f" on {message['problem_id']}" if message["problem_id"] else ""
    on = f", answer to {message['reply_to_id']}" if message["reply_to_id"] else ""
    return f"{short_time(message['contest_time'])} {sender} to {to}{about}{on} [{message['id']}]: {message['text']}"


@command("admin answer")
def answer(
    contest: Contest,
    question: Annotated[str, typer.Argument(metavar="ID", help="the clarification that is answered")],
    text: Text,
    to_all: Annotated[bool, typer.Option("--to-all", help="to all teams, not only to the one that asked")] = False,
) -> Shown:
    """Answer a team's question as the jury: to that team, or to all teams.

    Examples:
      jurado admin answer finals 7 'Yes'
      jurado admin answer finals 7 'No, never' --to-all
    """
    with Client.open() as client:
        asked = client.get(f"contests/{contest}/clarifications/{question}")
        to = None if to_all else asked["from_team_id"]
        teams = None if to is None else [to]
        sent = send(client, contest, text, problem=asked["problem_id"], reply_to=question, teams=teams)
    return Shown(sent, sent_text("answer", sent, to or "all teams"))


@command("admin announce")
def announce(
    contest: Contest,
    text: Text,
    teams: Annotated[list[str] | None, typer.Option("--team", metavar="ID", help="only to this team")] = None,
    groups: Annotated[list[str] | None, typer.Option("--group", metavar="ID", help="only to this group")] = None,
    problem: About = None,
) -> Shown:
    """Announce something as the jury: to all teams, or to the teams and groups named.

    Examples:
      jurado admin announce finals 'Lunch is served'
      jurado admin announce finals 'Please call the jury' --team ants --team bees
      jurado admin announce finals 'The third line is n, not m' --problem B
    """
    with Client.open() as client:
        sent = send(client, contest, text, problem=problem, teams=teams, groups=groups)
    to = ", ".join([*(teams or []), *(groups or [])]) or "all teams"
    return Shown(sent, sent_text("announcement", sent, to))


def sent_text(kind: str, sent: JsonMapping, to: str) -> str:
    """Say who received it: a team's message goes only to the jury."""
    if sent["from_team_id"] is not None:
        return f"clarification {sent['id']} has been sent to the jury only: you are logged in as a team"
    return f"{kind} {sent['id']} has been sent to {to}"
