"""`jurado admin answer` and `announce`: messages of the jury."""

from __future__ import annotations

from typing import Annotated

import typer

from app.core.commands.client import Client
from app.core.commands.options import About, AsJson, Contest, Text
from app.core.commands.output import report
from app.core.commands.resources.messages import Clarification
from app.messages.commands.sending import send


def answer(
    contest: Contest,
    question: Annotated[str, typer.Argument(metavar="ID", help="the clarification that is answered")],
    text: Text,
    to_all: Annotated[bool, typer.Option("--to-all", help="to everybody, not only to the team that asked")] = False,
    as_json: AsJson = False,
) -> None:
    """Answer a team's question as the jury: to that team, or to everybody."""
    with Client.open() as client:
        asked = client.get(f"contests/{contest}/clarifications/{question}", Clarification)
        to = None if to_all else asked["from_team_id"]
        teams = None if to is None else [to]
        sent = send(client, contest, text, problem=asked["problem_id"], reply_to=question, teams=teams)
    report(sent_text("answer", sent, to or "everybody"), sent, as_json=as_json)


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
        sent = send(client, contest, text, problem=problem, teams=teams, groups=groups)
    to = ", ".join([*(teams or []), *(groups or [])]) or "everybody"
    report(sent_text("announcement", sent, to), sent, as_json=as_json)


def sent_text(kind: str, sent: Clarification, to: str) -> str:
    """Say who got it: a team's message goes to the jury alone, whoever it was meant for."""
    if sent["from_team_id"] is not None:
        return f"clarification {sent['id']} has been sent to the jury only: you are logged in as a team"
    return f"{kind} {sent['id']} has been sent to {to}"
