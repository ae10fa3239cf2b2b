"""Every command explains itself with an example that names it, and ends in one clear line where it cannot go on."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import pytest
import typer

from app.commands.main import app
from tests.app.conftest import Jurado


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name), command


ALL = list(commands(typer.main.get_command(app)))


@pytest.mark.parametrize(("path", "command"), ALL, ids=[" ".join(path) for path, _ in ALL])
def test_the_help_of_every_command_has_an_example(jurado: Jurado, path: tuple[str, ...], command: Any) -> None:
    done = jurado(*path, "--help")
    assert done.exit_code == 0
    assert f"jurado {' '.join(path)}" in (command.epilog or "")
    assert command.help


def test_no_command_at_all_prints_the_help(jurado: Jurado) -> None:
    done = jurado()
    assert "COMMAND" in done.output


def test_the_version_is_told(jurado: Jurado) -> None:
    assert jurado("--version").stdout == f"jurado {version('jurado')}\n"


def test_an_unknown_command_is_exit_code_2(jurado: Jurado) -> None:
    assert jurado("solv").exit_code == 2
