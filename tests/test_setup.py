"""What scripts/setup.sh takes from a machine. Python and uv are played by small scripts on a PATH of the test's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]

REAL_PYTHON = sys._base_executable  # the one this environment was made from

UV = """#!/bin/sh
[ "$1" = --version ] && echo "uv {version}" && exit
echo "{name} $* downloads=$UV_PYTHON_DOWNLOADS" >>uv.log
mkdir -p .venv/bin && cp /bin/true .venv/bin/python && cp /bin/true .venv/bin/jurado
exit {status}
"""


class Machine:
    """A folder with a clone's set-up files, and a folder of programs that comes first on the PATH."""

    def __init__(self, folder: Path) -> None:
        self.clone, self.bin = folder / "clone", folder / "bin"
        (self.clone / "scripts").mkdir(parents=True)
        for name in ("uv.lock", "pyproject.toml", "scripts/setup.sh"):
            shutil.copy(PROJECT / name, self.clone / name)
        self.has("python3", f'#!/bin/sh\nexec {sys.executable} "$@"\n')

    def has(self, name: str, program: str) -> None:
        path = self.bin / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(program)
        path.chmod(0o755)

    def has_uv(self, *, version: str = "0.13.8", path: str = "uv", status: int = 0) -> None:
        self.has(path, UV.format(version=version, name=path, status=status))

    def setup(self, *groups: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": f"{self.bin}:{os.environ['PATH']}", "HOME": str(self.clone)}
        command = ["sh", str(self.clone / "scripts" / "setup.sh"), *groups]
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    def calls(self) -> list[str]:
        log = self.clone / "uv.log"
        return log.read_text().splitlines() if log.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_environment_is_what_the_lock_file_says_and_no_python_is_downloaded(machine: Machine) -> None:
    machine.has_uv()
    assert machine.setup().returncode == 0
    sync = f"uv sync --frozen --quiet --compile-bytecode --python {REAL_PYTHON}"
    assert machine.calls() == [f"{sync} --extra kernels downloads=never"]


def test_groups_are_added_once_and_stay(machine: Machine) -> None:
    machine.has_uv()
    for groups in ([], ["test"], ["test"], ["lint"], []):
        assert machine.setup(*groups).returncode == 0
    added = [call.partition("--extra kernels")[2].removesuffix(" downloads=never") for call in machine.calls()]
    assert added == ["", " --group test", " --group test --group lint"]


def test_a_second_call_does_nothing(machine: Machine) -> None:
    machine.has_uv()
    machine.setup()
    again = machine.setup()
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")
    assert len(machine.calls()) == 1


@pytest.mark.parametrize("changed", ["uv.lock", "pyproject.toml"])
def test_a_change_of_the_dependencies_sets_up_again(machine: Machine, changed: str) -> None:
    machine.has_uv()
    machine.setup()
    with (machine.clone / changed).open("a") as file:
        file.write("# changed\n")
    machine.setup()
    assert len(machine.calls()) == 2


def test_a_clone_that_was_moved_sets_up_again(machine: Machine) -> None:
    machine.has_uv()
    machine.setup()
    machine.clone = machine.clone.rename(machine.clone.parent / "elsewhere")
    machine.setup()
    assert len(machine.calls()) == 2


def test_a_python_that_does_not_run_or_is_too_old_is_passed_over(machine: Machine) -> None:
    machine.has_uv()
    machine.has("python3", "#!/bin/sh\necho 'python3: command not found' >&2; exit 127\n")
    machine.has("python3.11", f'#!/bin/sh\nexec {sys.executable} "$@"\n')
    assert machine.setup().returncode == 0
    assert f"--python {REAL_PYTHON} " in machine.calls()[0]


def test_a_uv_too_old_for_the_lock_file_is_passed_over(machine: Machine) -> None:
    machine.has_uv(version="0.4.30")
    machine.has_uv(path="../clone/.tools/uv/bin/uv")
    assert machine.setup().returncode == 0
    assert [call.split()[0] for call in machine.calls()] == ["../clone/.tools/uv/bin/uv"]


def test_a_failure_is_told_in_a_line_and_tried_again_next_time(machine: Machine) -> None:
    machine.has_uv(status=2)
    failed = machine.setup()
    assert failed.returncode == 1
    assert failed.stderr.splitlines()[-1] == "setup: uv could not make .venv; the lines above say why"
    machine.has_uv()
    assert machine.setup().returncode == 0
