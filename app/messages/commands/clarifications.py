"""`jurado clarify` and `jurado clarifications`: questions to the jury, its answers and announcements."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Annotated

import typer

from app.core.commands.client import Client
from app.core.commands.lookup import team_names
from app.core.commands.options import About, AsJson, Contest, Text
from app.core.commands.output import JsonMapping, plain, show, table, write_json
from app.core.commands.registry import command
from app.core.commands.requests import Shown
from app.core.commands.times import short_time
from app.messages.commands.sending import send

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
