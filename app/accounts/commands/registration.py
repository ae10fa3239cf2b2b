"""`jurado admin registration`: people who register for a contest by themselves, with a code and up to a cap."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from urllib.parse import urlencode

import typer
from pydantic import JsonValue

from app.core.commands.client import Client, without_none
from app.core.commands.options import AsJson, Contest
from app.core.commands.output import Failure, examples, report, say, show, table, write_json
from app.core.commands.resources.registration import Registered, Terms

registration = typer.Typer(no_args_is_help=True, help="Self-registration for a contest, with a code and a cap.")
NONE = "none"
Most = Annotated[int | None, typer.Option("--most", metavar="N", help="accounts that may register in all")]
Until = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="from then on nobody registers, such as 2026-12-01T12:00:00Z; or none"),
]
TeamSize = Annotated[int | None, typer.Option("--team-size", metavar="N", help="accounts a registered team may have")]
Group = Annotated[str | None, typer.Option("--group", metavar="ID", help="the group of registered teams; or none")]


@registration.command("show", epilog=examples("jurado admin registration show finals"))
def show_terms(contest: Contest, as_json: AsJson = False) -> None:
    """Show whether people may register, the code, and how many places are taken."""
    with Client.open() as client:
        terms = client.get(f"contests/{contest}/registration", Terms)
        report(terms_text(contest, terms, client.url), terms, as_json=as_json)


@registration.command(
    "open",
    epilog=examples(
        "jurado admin registration open finals --most 40",
        "jurado admin registration open finals --most 40 --until 2026-12-01T12:00:00Z --team-size 3",
    ),
)
def open_registration(
    contest: Contest,
    most: Most = None,
    until: Until = None,
    team_size: TeamSize = None,
    group: Group = None,
    as_json: AsJson = False,
) -> None:
    """Let people register, or change the terms while they may. Prints the code to hand out."""
    given: dict[str, JsonValue] = {"open": True, "most": most, "team_size": team_size}
    change = without_none(given) | without_none({"until": until, "group_id": group})
    change_terms(contest, {name: None if value == NONE else value for name, value in change.items()}, as_json=as_json)


@registration.command("close", epilog=examples("jurado admin registration close finals"))
def close_registration(contest: Contest, as_json: AsJson = False) -> None:
    """Let nobody register any more. The accounts, the code and the terms stay."""
    change_terms(contest, {"open": False}, as_json=as_json)


@registration.command("new-code", epilog=examples("jurado admin registration new-code finals"))
def renew_code(contest: Contest, as_json: AsJson = False) -> None:
    """Put a new code in place of the old one, by which nobody registers any more."""
    with Client.open() as client:
        terms = client.post(f"contests/{contest}/registration/code", None, Terms)
        report(terms_text(contest, terms, client.url), terms, as_json=as_json)


@registration.command("list", epilog=examples("jurado admin registration list finals --json"))
def list_registered(contest: Contest, as_json: AsJson = False) -> None:
    """List who has registered, the first one first."""
    with Client.open() as client:
        rows = client.get(f"contests/{contest}/registrations", list[Registered])
    if as_json:
        write_json(rows)
    elif not rows:
        say("nobody has registered yet")
    else:
        columns = ["time", "username", "name", "team", "email"]
        show(
            table("", columns, [[row["time"], row["username"], row["name"], row["team"], row["email"]] for row in rows])
        )


def change_terms(contest: str, change: dict[str, object], *, as_json: bool) -> None:
    """Change the terms of a contest and print them."""
    if isinstance(until := change.get("until"), str):
        change["until"] = moment(until)
    with Client.open() as client:
        terms = Terms(**client.patch(f"contests/{contest}/registration", change, Terms))
        report(terms_text(contest, terms, client.url), terms, as_json=as_json)


def moment(text: str) -> str:
    """Check that a text is a time with its zone; raises Failure."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        time = None
    if time is None or time.tzinfo is None:
        raise Failure(f"--until: expected a time such as 2026-12-01T12:00:00Z, found {text!r}")
    return text


def terms_text(contest: str, terms: Terms, url: str) -> str:
    """Say whether and how people register."""
    taken = f"{terms['registered']} of {terms['most']} places are taken"
    until = f", until {terms['until']}" if terms["until"] else ""
    if not terms["open"]:
        return f"registration for {contest} is not open; {taken}"
    link = f"{url}/c/{contest}/register?{urlencode({'code': terms['code'] or ''})}"
    return (
        f"registration for {contest} is open{until}; {taken}\ncode: {terms['code']}\nlink: {link}"
        f"\njurado register {url} {contest}"
    )
