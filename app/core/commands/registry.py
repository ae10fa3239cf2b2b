"""All commands by their words: `@command("admin contest pause")` adds one, `build` makes the command line of them.

- Commands as data: a function names a request and what is printed of its reply, and one executor does the rest.
- Arguments and options that several commands share.
- Changes of problems as commands make them: their options, and what is said of a preview or of a change that waits.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, TypeVar, get_args

import rich.table
import typer
from jurado_client.connection import Param

from app.core.commands.client import OTHER_SERVER, Client
from app.core.commands.output import Failure, Json, JsonMapping, harmless, plain, show, table, write_json

AsJson = Annotated[bool, typer.Option("--json", help="print JSON for a program")]
BundledProblem = Annotated[str, typer.Argument(metavar="PROBLEM", help="a bundled problem, such as comesolo")]
Contest = Annotated[str, typer.Argument(metavar="CONTEST", help="the contest's id, such as practice")]
Problem = Annotated[str, typer.Argument(metavar="PROBLEM", help="the problem's id or label")]


# A cell of a row: the value of a key, or a function of the row.
Cell = str | Callable[[Json], object]


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


# What a person sees of a reply: a sentence, a table, or a function that makes a sentence or tables of it.
Prints = str | Table | Callable[[Json], str | Sequence[object]]


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


Function = TypeVar("Function", bound=Callable[..., object])
COMMANDS: dict[str, Callable[..., object]] = {}
EXAMPLES = "Examples:"


def command(words: str) -> Callable[[Function], Function]:
    """Add a function as the command `jurado WORDS`; its docstring is the help, with examples at its end."""

    def add(function: Function) -> Function:
        COMMANDS[words] = function
        return function

    return add


def build(root: typer.Typer, groups: Mapping[str, str], panels: Mapping[str, Sequence[str]]) -> None:
    """Add the groups, each with its help, and all commands to `root`; `panels` lists the words of the first level."""
    panel_of = {name: panel for panel, names in panels.items() for name in names}
    order = list(panel_of)
    members = {"": root}
    for words, text in groups.items():
        parent, _, name = words.rpartition(" ")
        members[words] = typer.Typer(no_args_is_help=True, help=text)
        members[parent].add_typer(members[words], name=name, rich_help_panel=panel_of.get(words))
    for words in sorted(COMMANDS, key=lambda words: order.index(words.partition(" ")[0])):
        parent, _, name = words.rpartition(" ")
        text, examples = explained(COMMANDS[words])
        add = members[parent].command(name, help=text, epilog=examples, rich_help_panel=panel_of.get(words))
        add(executed(COMMANDS[words]))


def explained(function: Callable[..., object]) -> tuple[str, str]:
    """Divide a docstring into the help and its examples, one a line."""
    text, _, lines = (inspect.getdoc(function) or "").partition(f"\n\n{EXAMPLES}\n")
    return text, "\n\n".join((EXAMPLES, *lines.splitlines()))


Keep = Annotated[bool, typer.Option("--keep", help="contests with submissions keep the version that they have")]
PreviewOnly = Annotated[bool, typer.Option("--preview", help="only say what the change would do")]
MOST_CASES = 200


def parameters(*, keep: bool = False, preview: bool = False) -> dict[str, Param]:
    """Give the query parameters of a change; those that are None are left out."""
    return {
        "contests": "keep" if keep else None,
        "preview": "true" if preview else None,
    }


def change(method: str, path: str, text: str, params: Mapping[str, Param], body: object = None) -> Request:
    """Give the request that changes a problem; `text` says that the change is made."""
    return Request(method, path, changed(text), body, params)


def changed(text: str) -> Callable[[Json], str | Sequence[object]]:
    """Give the function that says that a change is made, that it waits as a rejudging, or what it would do."""
    return lambda reply: preview_parts(reply) if is_preview(reply) else unless_waiting(text)(reply)


def is_preview(reply: object) -> bool:
    """Tell whether a reply is the preview of a change."""
    return isinstance(reply, dict) and "outcome" in reply


def preview_parts(preview: JsonMapping) -> Sequence[object]:
    """Draw what a change would do: the outcome, the test cases, and the contests."""
    parts: list[object] = [plain(OUTCOMES[preview["outcome"]].format(**preview))]
    cases = preview["testcases"]
    if cases:
        parts.append(CASES.drawn(cases[:MOST_CASES]))
    if len(cases) > MOST_CASES:
        parts.append(f"and {len(cases) - MOST_CASES} more: --json has them all")
    parts += [plain(line) for line in preview["changes"] if not line.startswith("test case ")]
    if preview["contests"]:
        parts.append(CONTESTS.drawn(preview["contests"]))
    return parts


CASES = Table(
    {
        "test case": lambda case: f"{case['group']}/{case['name']}",
        "change": "change",
        "parts": lambda case: ", ".join(case["parts"]),
    },
    "test cases",
)
CONTESTS = Table(
    {
        "contest": "id",
        ">version": "version",
        ">submissions": "submissions",
        ">teams": "teams",
        "goes along": lambda contest: "yes" if contest["goes_along"] else contest["why"],
    },
    "contests",
)
OUTCOMES = {
    "nothing": "nothing would change",
    "at_once": "the change would be made at once, as the next version after {version}",
    "rejudging": "the change would wait as a rejudging of {submissions} submissions of {teams} teams",
}
ContestId = Annotated[str, typer.Argument(metavar="CONTEST", help="the contest's id")]
