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
CONTROLS = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    **dict.fromkeys((*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD),
}
"""Escapes and the like, and what turns the direction of writing round; and what is shown in their place."""


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
    typer.echo(harmless(text), err=True)


def person_at_stdin() -> bool:
    """Does standard input come from somebody's keyboard (or from nowhere), rather than from a file or a program?"""
    return sys.stdin is None or sys.stdin.isatty()


def write_json(data: object, *, err: bool = False) -> None:
    """Print data for a program: one JSON document on one line."""
    text = json.dumps(data, ensure_ascii=False)
    typer.echo("".join(f"\\u{ord(each):04x}" if ord(each) in CONTROLS else each for each in text), err=err)


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
    return "" if value is None else harmless(str(value)).replace("[", "\\[")


def harmless(text: str) -> str:
    """Show control characters as pictures: what others write must not steer the terminal of whoever reads it."""
    return text.translate(CONTROLS)


def show(*things: object) -> None:
    """Print tables or texts on standard output."""
    to = console()
    for thing in things:
        to.print(thing)


def tell(text: str, made: object, *, as_json: bool) -> None:
    """Say what was done: to a person, or with the whole object to a program."""
    if as_json:
        write_json(made)
    else:
        typer.echo(text)


def examples(*lines: str) -> str:
    """Build the end of a command's help: its examples, one a line."""
    return "\n\n".join(("Examples:", *(f"  {line}" for line in lines)))
