"""All commands by their words: `@command("admin contest pause")` adds one, `build` makes the command line of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import typer

from app.core.commands.requests import executed

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
