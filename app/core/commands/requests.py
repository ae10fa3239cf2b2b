"""Requests that many commands of admins make: list a collection, delete a resource, make a change that may wait."""

from __future__ import annotations

from collections.abc import Sequence

import typer
from pydantic import JsonValue

from app.core.commands.client import Client, checked
from app.core.commands.output import say, show, table, write_json
from app.core.commands.resources.rejudgings import Rejudging


def listing(path: str, columns: Sequence[str], *, as_json: bool, title: str = "") -> None:
    """List a collection: as a table of some of its properties, or as it is."""
    with Client.open() as client:
        objects = client.get(path, list[dict[str, JsonValue]])
    if as_json:
        write_json(objects)
    elif not objects:
        say(f"no {path.rpartition('/')[2]} yet")
    else:
        show(table(title, columns, [[each.get(column) for column in columns] for each in objects]))


def delete(path: str) -> None:
    """Delete a resource and say so, or that the deletion waits as a rejudging."""
    with Client.open() as client:
        rejudging = waiting(client.delete(path))
    typer.echo(f"{path} has been deleted" if rejudging is None else waiting_text(rejudging))


def waiting(reply: JsonValue) -> Rejudging | None:
    """Give the rejudging as which a change waits, where somebody would be judged otherwise by it; else None."""
    if isinstance(reply, dict) and "selection" in reply:
        return checked(reply, Rejudging)
    return None


def waiting_text(rejudging: Rejudging) -> str:
    """Say that a change waits as a rejudging, and how to go on."""
    place = f"{rejudging['contest_id']} {rejudging['id']}"
    return (
        f"there are submissions: the change waits as rejudging {rejudging['id']} of {rejudging['contest_id']}\n"
        f"next: jurado admin rejudging difference {place}, then jurado admin rejudging apply {place} (or cancel)"
    )
