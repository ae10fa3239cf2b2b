"""One more game is files in one folder, and no line of what is there already: tests/toy_game laid beside the others."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
TOY = PROJECT / "tests/toy_game/games/countdown"
COPIED = ("app", "checkers", "games", "problems", "tests")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with the toy game's folder added; all but the games are links."""
    root = tmp_path_factory.mktemp("fourth")
    for name in (*COPIED, "pyproject.toml"):
        if name != "games":
            (root / name).symlink_to(PROJECT / name)
    shutil.copytree(PROJECT / "games", root / "games")
    shutil.copytree(TOY, root / "games/countdown")
    return root


def run(tree: Path, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a Python module in the tree, which hides the project that runs this test."""
    dropped = ("JURADO_", "PYTEST_", "PYTHONPATH")
    env = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, input=stdin, cwd=tree, env=env, capture_output=True, text=True, check=False)


def test_the_contract_over_all_games_holds_for_the_new_one(tree: Path) -> None:
    done = run(
        tree, "pytest", "-q", "-p", "no:cacheprovider", "tests/games/test_games.py", "-k", "countdown and not text"
    )
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout


def test_it_is_played_in_the_terminal_and_its_transcript_is_checked(tree: Path) -> None:
    played = run(tree, "app.commands", "play", "countdown", "--save", "one.game", stdin="1\n2\n2\n2\n")
    assert "Countdown: first against optimal (second)" in played.stdout
    assert "first won after" in played.stdout, played.stdout
    checked = run(tree, "app.commands", "check", "one.game")
    assert checked.stdout.startswith("accepted: countdown: the game of first against optimal is won (over)")
