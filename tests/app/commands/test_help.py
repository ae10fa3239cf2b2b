"""Every command explains itself with an example that names it, and ends in one clear line where it cannot continue."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

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


WORDS = {
    "bash": {"COMP_WORDS": "jurado admin con", "COMP_CWORD": "2"},
    "zsh": {"_TYPER_COMPLETE_ARGS": "jurado admin con"},
    "fish": {"_TYPER_COMPLETE_ARGS": "jurado admin con", "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
}


@pytest.mark.parametrize("shell", WORDS)
def test_shells_complete_words_of_commands(shell: str) -> None:
    env = {"_JURADO_COMPLETE": f"complete_{shell}", **WORDS[shell]}
    done = CliRunner().invoke(app, [], env=env, prog_name="jurado")
    assert done.exit_code == 0
    assert "contest" in done.stdout
    assert "team" not in done.stdout


def test_bash_completes_a_command_with_the_script_that_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The script runs `jurado` in a process, as the shell of a reader does."""
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")  # the shell of the tests may be any
    with pytest.raises(SystemExit, match="0"):
        typer.main.get_command(app)(["--show-completion", "bash"], prog_name="jurado")
    word = 'COMP_WORDS=(jurado admin con) COMP_CWORD=2; _jurado_completion jurado; echo "${COMPREPLY[*]}"'
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", f"{capsys.readouterr().out}\n{word}"],
        env={"PATH": path},
        capture_output=True,
        check=True,
        text=True,
    )
    assert done.stdout == "contest\n"


FILES = {"bash": ".bash_completions/jurado.sh", "zsh": ".zfunc/_jurado", "fish": ".config/fish/completions/jurado.fish"}


@pytest.mark.parametrize("shell", FILES)
def test_completion_is_shown_and_installed_for_each_shell(
    shell: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")  # the shell of the tests may be any
    command = typer.main.get_command(app)
    with pytest.raises(SystemExit, match="0"):
        command(["--show-completion", shell], prog_name="jurado")
    script = capsys.readouterr().out
    assert "_JURADO_COMPLETE=complete_" in script
    with pytest.raises(SystemExit, match="0"):
        command(["--install-completion", shell], prog_name="jurado")
    assert f"{shell} completion installed in" in capsys.readouterr().out
    assert (tmp_path / FILES[shell]).read_text().strip() == script.strip()
