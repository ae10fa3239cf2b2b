"""One more problem is files in three places, and no line of what is there already: tests/toy laid over the project."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]
TOY = PROJECT / "tests/toy"
COPIED = ("app", "checkers", "games", "solvers", "scripts", "migrations", "tests", "typings")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project with the toy problem's files added, where no file of either stands in the other's way.

    What is compiled comes with its source, so that the programs of this test do not compile all of it again.
    """
    root = tmp_path_factory.mktemp("seventh")
    for name in COPIED:
        shutil.copytree(PROJECT / name, root / name, ignore=shutil.ignore_patterns("toy"))
    shutil.copy(PROJECT / "pyproject.toml", root)
    (root / "problems").mkdir()
    for folder in (PROJECT / "problems").iterdir():
        (root / "problems" / folder.name).symlink_to(folder)
    for path in TOY.rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            target = root / path.relative_to(TOY)
            assert not target.exists(), target
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    return root


def run(tree: Path, *words: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a Python module in the tree, which hides the project that runs this test."""
    names = ("JURADO_", "PYTEST_", "PYTHONPATH")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(names)}
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, input=stdin, cwd=tree, env=kept, capture_output=True, check=False)


def test_the_contract_over_all_problems_holds_for_the_new_one(tree: Path) -> None:
    done = run(tree, "pytest", "-q", "-p", "no:cacheprovider", "tests/test_problems.py", "-k", "divisor")
    assert done.returncode == 0, done.stdout.decode()
    assert b"passed" in done.stdout


def test_its_test_data_are_made_by_the_verb_that_makes_all(tree: Path) -> None:
    folder = tree / "scripts/make_testdata.py"
    made = subprocess.run(
        [sys.executable, str(folder), "--check", "--problem", "divisor"], cwd=tree, capture_output=True, check=False
    )
    assert made.returncode == 0, made.stderr.decode()


def test_the_commands_know_it(tree: Path) -> None:
    made = run(tree, "app.commands", "generate", "divisor", "--seed", "4")
    solved = run(tree, "app.commands", "solve", "divisor", stdin=made.stdout)
    assert (made.stdout, solved.stdout) == (b"247516\n", b"123758\n")
    (tree / "a.in").write_bytes(made.stdout)
    (tree / "a.out").write_bytes(b"4\n")
    checked = run(tree, "app.commands", "check", "divisor", "a.in", "a.out", "--json")
    assert json.loads(checked.stdout)["raw_score"] == 4


def test_its_ladder_can_be_climbed(tree: Path) -> None:
    done = run(tree, "app.commands", "ladder", "divisor", "--json")
    assert done.returncode == 0, done.stderr.decode()
    assert [rung["method"] for rung in json.loads(done.stdout)["rungs"]] == ["one", "trial"]


def test_a_new_service_takes_it_in_by_itself(tree: Path) -> None:
    done = run(tree, "app.commands", "init", "--home", str(tree / "var"), "--json")
    assert done.returncode == 0, done.stderr.decode()
    assert "divisor" in json.loads(done.stdout)["problems"]
