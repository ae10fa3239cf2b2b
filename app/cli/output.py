"""How every command speaks: results on standard output, talk on standard error, colours only on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

WIDTH_IN_A_PIPE = 200


class Failure(Exception):
    """A command that cannot do what it was asked: one clear text and an exit code, never a traceback."""

    def __init__(self, text: str, code: int = 2) -> None:
        super().__init__(text)
        self.code = code


def console(*, err: bool = False) -> Console:
    """Make a console for tables and bars; wide where nobody looks, so that programs need not join lines."""
    stream = sys.stderr if err else sys.stdout
    return Console(stderr=err, width=None if stream.isatty() else WIDTH_IN_A_PIPE, highlight=False)


def say(text: str) -> None:
    """Tell a person something, on standard error."""
    typer.echo(text, err=True)


def person_at_stdin() -> bool:
    """Does standard input come from somebody's keyboard (or from nowhere), rather than from a file or a program?"""
    return sys.stdin is None or sys.stdin.isatty()


def write_json(data: object, *, err: bool = False) -> None:
    """Print data for a program: one JSON document on one line."""
    typer.echo(json.dumps(data, ensure_ascii=False), err=err)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], *, footer: Sequence[str] = ()) -> Table:
    """Build a table; columns whose heading begins with `>` are set to the right. Texts are never read as markup."""
    made = Table(title=title or None, title_justify="left", title_style="bold", show_footer=bool(footer))
    for at, name in enumerate(columns):
        end = footer[at] if footer else ""
        made.add_column(name.lstrip(">"), end, justify="right" if name.startswith(">") else "left", overflow="fold")
    for row in rows:
        made.add_row(*(plain(cell) for cell in row))
    return made


def plain(value: object) -> str:
    """Show a cell: nothing for None, and no markup."""
    return "" if value is None else str(value).replace("[", "\\[")


def show(*things: object) -> None:
    """Print tables or texts on standard output."""
    to = console()
    for thing in things:
        to.print(thing)


def examples(*lines: str) -> str:
    """Build the end of a command's help: its examples, one a line."""
    return "\n\n".join(("Examples:", *(f"  {line}" for line in lines)))
