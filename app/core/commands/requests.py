"""Commands as data: a function names a request and what is printed of its reply, and one executor does the rest.

A command that returns a `Request` or a `Shown` gets the option --json here, which prints the reply as it is.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import get_args

import rich.table
import typer

from app.core.commands.client import OTHER_SERVER, Client, Param
from app.core.commands.options import AsJson
from app.core.commands.output import Failure, Json, harmless, show, table, write_json

Cell = str | Callable[[Json], object]
"""A cell of a row: the value of a key, or a function of the row."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a reply's list: headings (`>` aligns right) with their cells; `empty` is printed for an empty list."""

    columns: Mapping[str, Cell]
    title: str = ""
    empty: str = ""

    def drawn(self, rows: Sequence[Mapping[str, object]]) -> rich.table.Table:
        """Draw the rows."""
        cells = [
            [row.get(cell) if isinstance(cell, str) else cell(row) for cell in self.columns.values()] for row in rows
        ]
        return table(self.title, list(self.columns), cells)


Prints = str | Table | Callable[[Json], str | Sequence[object]]
"""What a person sees of a reply: a sentence, a table, or a function that makes a sentence or tables of it."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request below /api, and what is printed of its reply."""

    method: str
    path: str
    prints: Prints
    body: object = None
    params: Mapping[str, Param] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Shown:
    """A document that a command made of several replies, and what is printed of it."""

    document: Json
    prints: Prints

    def show(self, *, as_json: bool) -> None:
        """Print it for a person or a program; raises Failure where it is another document than expected."""
        if as_json:
            write_json(self.document)
            return
        prints = self.prints
        try:
            if isinstance(prints, Table):
                is_empty = not self.document and prints.empty
                shown: str | Sequence[object] = prints.empty if is_empty else [prints.drawn(self.document)]
            else:
                shown = prints if isinstance(prints, str) else prints(self.document)
        except (AttributeError, TypeError, ValueError) as error:
            raise Failure(f"{OTHER_SERVER}: {error}", 1) from None
        if isinstance(shown, str):
            typer.echo(harmless(shown))
        else:
            show(*shown)


def executed(function: Callable[..., object]) -> Callable[..., object]:
    """Give the function that the command line calls: with --json, where `function` returns a request or a document."""
    signature = inspect.signature(function, eval_str=True)
    if not {signature.return_annotation, *get_args(signature.return_annotation)} & {Request, Shown}:
        return function

    def execute(*, as_json: bool, **given: object) -> None:
        answer = function(**given)
        if answer is None:
            return
        if isinstance(answer, Request):
            with Client.open() as client:
                reply = client.request(answer.method, f"/api/{answer.path}", json=answer.body, params=answer.params)
                answer = Shown(client.body(reply), answer.prints)
        assert isinstance(answer, Shown)
        answer.show(as_json=as_json)

    json_option = inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=AsJson)
    execute.__signature__ = signature.replace(  # type: ignore[attr-defined] # read by typer
        parameters=[*signature.parameters.values(), json_option], return_annotation=None
    )
    return execute


def keys(names: str) -> dict[str, Cell]:
    """Give columns whose headings are their keys."""
    return {name: name for name in names.split()}


def collection(path: str, columns: Mapping[str, Cell]) -> Request:
    """List a collection as a table."""
    return Request("GET", path, Table(columns, empty=f"no {path.rpartition('/')[2]} yet"))


def deletion(path: str) -> Request:
    """Delete a resource and say so, or that the deletion waits as a rejudging."""
    return Request("DELETE", path, unless_waiting(f"{path} has been deleted"))


def unless_waiting(text: str) -> Callable[[Json], str]:
    """Give the function that says of a change that it is made, or that it waits as a rejudging."""
    return lambda reply: waiting_text(reply) if is_waiting(reply) else text


def is_waiting(reply: object) -> bool:
    """Tell whether the reply to a change is the rejudging as which it waits, as it would change verdicts or points."""
    return isinstance(reply, dict) and "selection" in reply


def waiting_text(rejudging: Mapping[str, str]) -> str:
    """Say that a change waits as a rejudging, and what to do next."""
    place = f"{rejudging['contest_id']} {rejudging['id']}"
    return (
        f"there are submissions: the change waits as rejudging {rejudging['id']} of {rejudging['contest_id']}\n"
        f"next: jurado admin rejudging difference {place}, then jurado admin rejudging apply {place} (or cancel)"
    )
