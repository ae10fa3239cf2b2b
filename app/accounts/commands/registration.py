"""`jurado admin registration`: people who register for a contest by themselves, with a code and up to a cap."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated
from urllib.parse import urlencode

import typer

from app.core.commands.client import without_none
from app.core.commands.config import current_login
from app.core.commands.options import Contest
from app.core.commands.output import Failure
from app.core.commands.registry import command
from app.core.commands.requests import Request, Table, keys

NONE = "none"
Most = Annotated[int | None, typer.Option("--most", metavar="N", help="accounts that may register in all")]
Until = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="from then on nobody registers, such as 2026-12-01T12:00:00Z; or none"),
]
TeamSize = Annotated[int | None, typer.Option("--team-size", metavar="N", help="accounts a registered team may have")]
Group = Annotated[str | None, typer.Option("--group", metavar="ID", help="the group of registered teams; or none")]


@command("admin registration show")
def show_terms(contest: Contest) -> Request:
    """Show whether people may register, the code, and how many places are taken.

    Examples:
      jurado admin registration show finals
    """
    return Request("GET", f"contests/{contest}/registration", terms_text(contest))


@command("admin registration open")
def open_registration(
    contest: Contest,
    most: Most = None,
    until: Until = None,
    team_size: TeamSize = None,
    group: Group = None,
) -> Request:
    """Let people register, or change the terms while they may. Prints the code to hand out.

    Examples:
      jurado admin registration open finals --most 40
      jurado admin registration open finals --most 40 --until 2026-12-01T12:00:00Z --team-size 3
    """
    change = without_none({"most": most, "until": until and moment(until), "team_size": team_size, "group_id": group})
    return change_terms(
        contest, {"open": True, **{name: None if value == NONE else value for name, value in change.items()}}
    )


@command("admin registration close")
def close_registration(contest: Contest) -> Request:
    """Close registration. The accounts, the code and the terms stay.

    Examples:
      jurado admin registration close finals
    """
    return change_terms(contest, {"open": False})


@command("admin registration new-code")
def renew_code(contest: Contest) -> Request:
    """Replace the code; the old one stops working.

    Examples:
      jurado admin registration new-code finals
    """
    return Request("POST", f"contests/{contest}/registration/code", terms_text(contest))


@command("admin registration list")
def list_registered(contest: Contest) -> Request:
    """List who has registered, the first one first.

    Examples:
      jurado admin registration list finals --json
    """
    return Request(
        "GET",
        f"contests/{contest}/registrations",
        Table(keys("time username name team email"), empty="no one has registered yet"),
    )


def change_terms(contest: str, change: Mapping[str, object]) -> Request:
    """Change the terms of a contest and print them."""
    return Request("PATCH", f"contests/{contest}/registration", terms_text(contest), change)


def moment(text: str) -> str:
    """Check that a text is `none` or a time with its zone; raises Failure."""
    try:
        time = None if text == NONE else datetime.fromisoformat(text)
    except ValueError:
        time = None
    if text != NONE and (time is None or time.tzinfo is None):
        raise Failure(f"--until: expected a time such as 2026-12-01T12:00:00Z, found {text!r}")
    return text


def terms_text(contest: str) -> Callable[[Mapping[str, str]], str]:
    """Give the function that says whether and how one registers for a contest."""

    def text(terms: Mapping[str, str]) -> str:
        taken = f"{terms['registered']} of {terms['most']} places are taken"
        until = f", until {terms['until']}" if terms["until"] else ""
        if not terms["open"]:
            return f"registration for {contest} is not open; {taken}"
        url = current_login().url
        link = f"{url}/c/{contest}/register?{urlencode({'code': terms['code'] or ''})}"
        return (
            f"registration for {contest} is open{until}; {taken}\ncode: {terms['code']}\nlink: {link}"
            f"\njurado register {url} {contest}"
        )

    return text
