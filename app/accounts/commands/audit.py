"""`jurado admin audit`: who changed what, as a table or written out for other programs."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

import typer
from pydantic import JsonValue

from app.core.commands.client import Client
from app.core.commands.options import AsJson
from app.core.commands.output import Failure, JsonMapping, say, show, table, write_json
from app.core.commands.registry import command

AT_ONCE = 1000
COLUMNS = ("id", "time", "username", "role", "address", "credential", "operation", "contest_id", "problem_id", "path")
FORMULA = ("=", "+", "-", "@", "\t", "\r")


@command("admin audit")
def show_audit(
    contest: Annotated[str | None, typer.Option(metavar="ID", help="only this contest (owners name theirs)")] = None,
    actor: Annotated[str | None, typer.Option(metavar="ACCOUNT", help="only this account, by id or username")] = None,
    operation: Annotated[str | None, typer.Option(metavar="NAME", help="only this operation of the API")] = None,
    since: Annotated[str | None, typer.Option(metavar="TIME", help="only from this time on, with its zone")] = None,
    limit: Annotated[int, typer.Option(min=0, help="the newest so many; 0: all")] = 100,
    form: Annotated[
        Literal["table", "json", "csv", "ndjson"], typer.Option("--format", help="all but tables hold every change")
    ] = "table",
    as_json: AsJson = False,
) -> None:
    """Show who changed what, when and from where, the newest first.

    Examples:
      jurado admin audit --contest finals --since 2026-11-22T09:00:00+01:00
      jurado admin audit --actor ana --operation apply_rejudging
      jurado admin audit --limit 0 --format ndjson > audit.ndjson
    """
    if as_json and form not in {"table", "json"}:
        raise Failure(f"expected --json or --format {form}, found both")
    path = "audit" if contest is None else f"contests/{contest}/audit"
    with Client.open() as client:
        entries = _entries(client, path, limit, {"actor": actor, "operation": operation, "since": since})
        if as_json or form == "json":
            write_json(list(entries))
        elif form == "ndjson":
            for entry in entries:
                write_json(entry)
        elif form == "csv":
            _write_csv(entries)
        else:
            _show_table(entries)


def _entries(client: Client, path: str, limit: int, wanted: Mapping[str, str | None]) -> Iterator[JsonMapping]:
    """The entries page by page; `limit` 0: all."""
    before, left = None, limit
    while True:
        most = min(AT_ONCE, left) if limit else AT_ONCE
        entries = client.rows(path, limit=most, before=before, **wanted)
        yield from entries
        left -= len(entries)
        if len(entries) < most or (limit and left <= 0):
            return
        before = entries[-1]["id"]


def _write_csv(entries: Iterator[JsonMapping]) -> None:
    """Write a table with the changes as JSON in the last column; no cell begins as a formula does."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([*COLUMNS, "changes"])
    for entry in entries:
        cells = [entry.get(name) for name in COLUMNS]
        writer.writerow([*map(_cell, cells), json.dumps(entry["changes"], ensure_ascii=False)])


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return f"'{text}" if text.startswith(FORMULA) else text


def _show_table(entries: Iterator[JsonMapping]) -> None:
    rows = [
        [
            entry["time"],
            f"{entry['username']} ({entry['role']})",
            entry["address"],
            entry["operation"],
            entry["contest_id"] or entry["problem_id"] or "",
            changes_text(entry["changes"]),
        ]
        for entry in entries
    ]
    if rows:
        show(table("", ("time", "who", "from", "operation", "where", "what"), rows))
    else:
        say("no entries")


def changes_text(changes: JsonMapping) -> str:
    """Say what became different: the values of one changed row, or how many rows of which tables."""
    if len(changes["objects"]) == 1 and (only := changes["objects"][0])["what"] == "changed":
        before, after = only["before"], only["after"]
        return "; ".join(f"{name}: {_short(before.get(name))} → {_short(after.get(name))}" for name in after)
    return "; ".join(
        f"{table_name} {', '.join(f'{count} {what}' for what, count in each.items())}"
        for table_name, each in changes["counts"].items()
    )


def _short(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:60]}…"
