"""The view of a program in the sandbox: programs and libraries of the host, and no packages installed beside them."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import pytest

from app.sandbox import model
from app.sandbox.model import Command
from app.sandbox.sandbox import Sandbox
from tests.builders.sandboxes import limits, python, shell

pytestmark = pytest.mark.machine("sandbox")
PACKAGES = """\
import glob, os, sys
for library in sorted({"/usr/lib", sys.base_prefix + "/lib"}):
    for folder in glob.glob(library + "/python3*/*-packages"):
        print(folder, *os.listdir(folder))
"""


def test_of_each_python_the_standard_library_is_seen_and_no_package(sandbox: Sandbox) -> None:
    """A folder of packages may hold what was installed for the service, or the service itself."""
    result = sandbox.run(python(PACKAGES))
    assert sorted(result.stdout.decode().splitlines()) == list(model.foreign_folders())
    base = sysconfig.get_path("purelib", vars={"base": sys.base_prefix})
    assert not Path(base).is_dir() or base in model.foreign_folders()
    usual = sandbox.run(python("import json, sqlite3, ssl, zoneinfo\nzoneinfo.ZoneInfo('America/Mexico_City')"))
    assert (usual.exit_code, usual.stderr) == (0, b"")
    assert b"No module named 'pip'" in sandbox.run(python_with_packages("import pip")).stderr


def python_with_packages(code: str) -> Command:
    """A program in Python that looks for packages where Python usually does."""
    return Command((model.python(), "-c", code), limits=limits())


def test_what_lies_beside_programs_and_libraries_is_not_seen(sandbox: Sandbox) -> None:
    result = sandbox.run(shell("for place in / /usr /usr/share; do echo $place $(ls $place); done"))
    top, usr, share = (set(line.split()[1:]) for line in result.stdout.decode().splitlines())
    own = Path(sys.base_prefix).parts[1]
    assert not top & {"home", "root", "var", "run", "opt", "srv", "mnt", "boot"} - {own}
    assert {"bin", "lib", "share"} <= usr <= {*model.SYSTEM, "share", "local"}
    assert share == {"zoneinfo"}


def test_an_emptied_folder_takes_no_file(sandbox: Sandbox) -> None:
    for folder in model.foreign_folders():
        assert b"Read-only file system" in sandbox.run(shell(f"echo x >{folder}/made")).stderr


def test_a_python_beside_the_system_is_seen_by_its_programs_and_libraries_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in the image, whose Python lies in /usr/local, and where one is made by pyenv or uv."""
    packages = tmp_path / "lib/python3.99/site-packages"
    packages.mkdir(parents=True)
    (tmp_path / "bin").mkdir()
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path))
    assert model.python_folders() == (str(tmp_path / "bin"), str(tmp_path / "lib"))
    assert str(packages) in model.foreign_folders()
