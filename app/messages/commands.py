"""`jurado clarify` and `jurado clarifications`: questions to the jury, its answers and announcements.

- `jurado admin answer` and `announce`: messages of the jury.
- Sending a clarification, as a team or as the jury.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from app.core.commands import lookup, output
from app.core.commands.client import Client, without_none
from app.core.commands.registry import About, Cell, Contest, Shown, Table, Text, command


def send(
    client: Client,
    contest: str,
    text: str,
    *,
    problem: str | None = None,
    reply_to: str | None = None,
    teams: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
) -> output.Json:
    """Post a clarification: `-` reads the text from standard input, and the problem may be given by its label."""
    words = typer.get_text_stream("stdin").read() if text == "-" else text
    if not words.strip():
        raise output.Failure("TEXT: expected something to say, found nothing")
    document = {
        "text": words,
        "problem_id": None if problem is None else lookup.find_problem(client, contest, problem),
        "reply_to_id": reply_to,
        "to_team_ids": teams or None,
        "to_group_ids": groups or None,
    }
    return client.post(f"contests/{contest}/clarifications", without_none(document))


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
def clarifications(contest: Contest) -> Shown:
    """Show the questions, answers and announcements of a contest that you may read.

    Examples:
      jurado clarifications practice
      jurado clarifications practice --json
    """
    with Client.open() as client:
        names = lookup.team_names(client, contest)
        listed = client.rows(f"contests/{contest}/clarifications")
    columns: dict[str, Cell] = {
        "id": "id",
        "at": lambda message: lookup.short_time(message["contest_time"]),
        "from": lambda message: sender_and_recipients(message, names)[0],
        "to": lambda message: sender_and_recipients(message, names)[1],
        "problem": "problem_id",
        "on": "reply_to_id",
        "text": "text",
    }
    return Shown(listed, Table(columns, contest, "no clarifications yet"))


def sender_and_recipients(message: output.JsonMapping, names: Mapping[str, str]) -> tuple[str, str]:
    """Name who sends a clarification to whom."""
    if message["from_team_id"] is not None:
        return names.get(message["from_team_id"], message["from_team_id"]), "jury"
    team_ids, group_ids = message.get("to_team_ids"), message.get("to_group_ids")
    if team_ids is None and group_ids is None:
        return "jury", "all"
    return "jury", ", ".join([*(names.get(team, team) for team in team_ids or []), *(group_ids or [])])


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


def sent_text(kind: str, sent: output.JsonMapping, to: str) -> str:
    """Say who received it: a team's message goes only to the jury."""
    if sent["from_team_id"] is not None:
        return f"clarification {sent['id']} has been sent to the jury only: you are logged in as a team"
    return f"{kind} {sent['id']} has been sent to {to}"
