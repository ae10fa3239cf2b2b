"""Sending a clarification, as a team or as the jury."""

from __future__ import annotations

from collections.abc import Sequence

import typer

from app.core.commands.client import Client, without_none
from app.core.commands.lookup import find_problem
from app.core.commands.output import Failure, Json


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
