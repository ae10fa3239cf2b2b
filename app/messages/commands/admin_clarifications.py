"""`jurado admin answer` and `announce`: messages of the jury."""

from __future__ import annotations

from typing import Annotated

import typer

from app.core.commands.client import Client
from app.core.commands.options import About, Contest, Text
from app.core.commands.output import JsonMapping
from app.core.commands.registry import command
from app.core.commands.requests import Shown
from app.messages.commands.sending import send


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
