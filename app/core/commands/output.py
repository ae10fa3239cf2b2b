"""Output of every command: results on standard output, messages on standard error, colours only on a terminal."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import typer
from rich.console import Console
from rich.table import Table

# Any: plain JSON of a server, whose schemas are pydantic models that would make each start of a command slower;
# `app.core.commands.client.Reply` names the key that an object lacks.
Json = Any
JsonMapping = Mapping[str, Json]
WIDTH_IN_A_PIPE = 200
CONTROLS = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"},
    0x7F: 0x2421,
    **dict.fromkeys((*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD),
}
"""Control characters and marks that reverse the direction of writing, each with the character shown in its place."""


class Failure(Exception):
    """A command that cannot do what it was asked: one clear text and an exit code, never a traceback."""

    def __init__(self, text: str, code: int = 2) -> None:
        super().__init__(text)
        self.code = code


def console(*, err: bool = False) -> Console:
    """Make a console for tables and bars; wide in a pipe, so that programs need not join lines."""
    stream = sys.stderr if err else sys.stdout
    return Console(stderr=err, width=None if stream.isatty() else WIDTH_IN_A_PIPE, highlight=False)


def say(text: str) -> None:
    """Print a message for a person, on standard error."""
    typer.echo(harmless(text), err=True)


def person_at_stdin() -> bool:
    """Tell whether standard input is a keyboard (or nothing), rather than a file or a program."""
    return sys.stdin is None or sys.stdin.isatty()


def write_json(data: object, *, err: bool = False) -> None:
    """Print data for a program: one JSON document on one line."""
    text = json.dumps(data, ensure_ascii=False)
    typer.echo("".join(f"\\u{ord(each):04x}" if ord(each) in CONTROLS else each for each in text), err=err)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], *, footer: Sequence[str] = ()) -> Table:
    """Build a table; columns whose heading begins with `>` are set to the right. Texts are never read as markup."""
    grid = Table(title=title or None, title_justify="left", title_style="bold", show_footer=bool(footer))
    for at, name in enumerate(columns):
        end = footer[at] if footer else ""
        grid.add_column(name.lstrip(">"), end, justify="right" if name.startswith(">") else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(plain(cell) for cell in row))
    return grid


def plain(value: object) -> str:
    """Show a cell: nothing for None, and no markup."""
    return "" if value is None else harmless(str(value)).replace("[", "\\[")


def harmless(text: str) -> str:
    """Replace control characters by pictures: texts of others must not steer the reader's terminal."""
    return text.translate(CONTROLS)


def show(*parts: object) -> None:
    """Print tables or texts on standard output."""
    to = console()
    for part in parts:
        to.print(part)


def report(text: str, document: object, *, as_json: bool) -> None:
    """Print what was done: a text for a person, or the whole document for a program."""
    if as_json:
        write_json(document)
    else:
        typer.echo(text)


@contextmanager
def new_file(path: Path, *, code: int = 2) -> Iterator[IO[bytes]]:
    """Open a file that a person named, and put it in its place once all of it is written.

    Raises Failure with the exit code where it cannot be written; what was at its place stays then.
    """
    if path.exists() and not path.is_file():  # such as /dev/stdout
        with _failing(path, code), path.open("wb") as file:
            yield file
        return
    with _failing(path, code):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}-")
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
            os.chmod(name, path.stat().st_mode if path.exists() else 0o666 & ~_umask())
            os.replace(name, path)
        except BaseException:
            Path(name).unlink()
            raise


@contextmanager
def _failing(path: Path, code: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Failure(f"{path}: {error.strerror or error}", code) from None


def _umask() -> int:
    """The permissions that new files of this process do not get."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def write_file(path: Path, data: bytes, *, code: int = 2) -> None:
    """Write a file a person named; raises Failure with the exit code where that fails."""
    try:
        path.write_bytes(data)
    except OSError as error:
        raise Failure(f"{path}: {error.strerror or error}", code) from None
