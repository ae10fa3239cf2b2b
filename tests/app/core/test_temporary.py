"""What killed servers left behind is removed at the next start, and nothing else is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from app.core.files.temporary import PREFIXES, UPLOAD_PREFIX, YOUNG_SECONDS, locked_folder, remove_leftovers


def aged(path: Path) -> Path:
    """Make a path look old."""
    past = path.stat().st_mtime - 2 * YOUNG_SECONDS
    os.utime(path, (past, past))
    return path


def test_old_leftovers_go_and_the_rest_stays(tmp_path: Path) -> None:
    recent, others = tmp_path / "jurado-solver-recent", tmp_path / "jurado-others"
    dead = [tmp_path / f"{prefix}dead" for prefix in PREFIXES]
    for folder in (recent, others, *dead):
        folder.mkdir()
        (folder / "body").touch()
    for folder in (others, *dead):
        aged(folder)
    assert remove_leftovers(tmp_path) == len(dead)
    assert sorted(tmp_path.iterdir()) == [others, recent]


def test_the_folder_of_a_long_run_stays() -> None:
    """A run may take hours: its folder is locked for as long as its server lives."""
    with locked_folder(UPLOAD_PREFIX) as folder:
        aged(folder)
        remove_leftovers(folder.parent)
        assert folder.exists()


def test_the_folder_of_a_process_that_is_killed_in_the_middle_of_an_upload_goes(tmp_path: Path) -> None:
    """While it lives the folder stays, however old; killed with -9 it is no one's."""
    program = (
        "import os, sys; from app.core.files.temporary import UPLOAD_PREFIX, locked_folder\n"
        "with locked_folder(UPLOAD_PREFIX) as folder:\n"
        "    (folder / 'body').write_bytes(b'half of a package')\n"
        "    print(folder, flush=True); sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    with process:
        assert process.stdout is not None
        folder = aged(Path(process.stdout.readline().strip()))
        assert remove_leftovers(tmp_path) == 0
        process.kill()
    assert (folder / "body").exists()
    assert remove_leftovers(tmp_path) == 1
    assert list(tmp_path.iterdir()) == []
