"""Builds small problem packages: a sound one by default, changed file by file to try one rule."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from app.core.faults import PackageError
from app.packages.model import Case, Package
from app.packages.tools import local_workshop
from app.packages.trials import LocalDesk
from app.packages.verify import examine
from app.packages.zips import zip_bytes

PROBLEM = """\
problem_format_version: 2025-09
type: [scoring, submit-answer]
name: {en: Echo, es: Eco}
uuid: 0f8b0a52-7f4e-4c39-9a3c-5a8f5a8f3c11
license: cc by-sa
credits: A Writer <a@writer.example>
"""
JURADO = """\
checker: exact
scoring: {kind: absolute, direction: maximise}
"""
VALIDATOR = """\
import sys

data = sys.stdin.buffer.read()
if not data.strip().isdigit():
    print("line 1: expected a number", file=sys.stderr)
    sys.exit(43)
sys.exit(42)
"""
FILES: Mapping[str, str | bytes] = {
    "problem.yaml": PROBLEM,
    "jurado.yaml": JURADO,
    "statement/problem.en.md": "Say it again.\n",
    "statement/problem.es.md": "Dilo otra vez.\n",
    "solution/solution.en.md": "Copy the input.\n",
    "input_validators/validate.py": VALIDATOR,
    "data/sample/01.in": "1\n",
    "data/sample/01.ans": "1\n",
    "data/secret/02.in": "2\n",
    "data/secret/02.ans": "2\n",
    "data/secret/03.in": "3\n",
    "data/secret/03.ans": "3\n",
    "data/invalid_input/word.in": "five\n",
    "data/invalid_output/six.in": "5\n",
    "data/invalid_output/six.ans": "5\n",
    "data/invalid_output/six.out": "6\n",
    "data/valid_output/five.in": "5\n",
    "data/valid_output/five.ans": "5\n",
    "data/valid_output/five.out": "5\n",
    "submissions/accepted/copy/02.out": "2\n",
    "submissions/accepted/copy/03.out": "3\n",
}


def package_files(changes: Mapping[str, str | bytes | None] | None = None) -> dict[str, bytes]:
    """The files of the sound package with `changes` put over it; None takes a file away."""
    files = {**FILES, **(changes or {})}
    present = {name: data for name, data in files.items() if data is not None}
    return {name: data if isinstance(data, bytes) else data.encode() for name, data in present.items()}


def write_package(folder: Path, changes: Mapping[str, str | bytes | None] | None = None, slug: str = "echo") -> Path:
    """Write the package below `folder` and return its own folder, named by the slug."""
    root = folder / slug
    write_files(root, package_files(changes))
    return root


def write_problems(folder: Path) -> Path:
    """Write two small problems, in place of the bundled ones: one the demo knows, one it does not."""
    for slug in ("comesolo", "echo"):
        write_package(folder, slug=slug)
    return folder


def write_files(root: Path, files: Mapping[str, bytes]) -> None:
    """Write files below a folder."""
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def zip_package(changes: Mapping[str, str | bytes | None] | None = None, top: str = "echo/") -> bytes:
    """The package as a zip, its files below `top` (empty: at the root)."""
    return zip_bytes({f"{top}{name}": data for name, data in package_files(changes).items()})


def verify_package(package: Package) -> list[PackageError]:
    """Run everything of a package that can be run, here; gives every fault, none for a sound package."""
    return list(examine(package, LocalDesk(), workshop=local_workshop()).faults)


def case_of(package: Package, name: str) -> Case:
    """Find a case by its base name."""
    return next(case for case in package.cases if case.name == name)
