"""What killed servers left behind is removed at the next start, and nothing else is."""

from __future__ import annotations

import os
from pathlib import Path

from app.grading.leftovers import OLD_SECONDS, remove_leftovers, solver_folder


def aged(path: Path) -> Path:
    """Make a path look old."""
    past = path.stat().st_mtime - 2 * OLD_SECONDS
    os.utime(path, (past, past))
    return path


def test_old_leftovers_go_and_the_rest_stays(tmp_path: Path) -> None:
    dead, recent = tmp_path / "jurado-solver-dead", tmp_path / "jurado-solver-recent"
    for folder in (dead, recent):
        folder.mkdir()
        (folder / "input").touch()
    aged(dead)
    assert remove_leftovers(tmp_path) == 1
    assert recent.exists()
    assert not dead.exists()


def test_the_folder_of_a_long_run_stays() -> None:
    """A run may take hours: its folder is locked for as long as its server lives."""
    with solver_folder() as folder:
        aged(folder)
        remove_leftovers(folder.parent)
        assert folder.exists()
