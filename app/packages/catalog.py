"""The bundled problems, those that are played, and checkers, listed by walking `problems/` and `checkers/`."""

from __future__ import annotations

import ast
import os
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from app.core.faults import PackageError, PackageErrors
from app.packages.opening import BESIDE

VARIABLE = "JURADO_PROBLEMS"
GAMES = "games"
"""The folder of packages that are played, among those of other packages."""
DOORS = frozenset({"read_instance", "read_answer", "write_answer", "score_answer"})
BESIDE_APP = Path(__file__).resolve().parents[2] / "problems"


def problems_folder() -> Path:
    """Find the folder of bundled packages: JURADO_PROBLEMS, else `problems/` beside the package `app` or below `.`.

    Raises PackageErrors naming the places looked at where there is none.
    """
    named = os.environ.get(VARIABLE)
    places = [Path(named)] if named else [BESIDE_APP, Path.cwd() / "problems"]
    for place in places:
        if place.is_dir():
            return place
    looked = ", ".join(map(str, places))
    raise PackageErrors([PackageError("", "", f"expected a folder of problem packages, found none at {looked}")])


def bundled() -> dict[str, Path]:
    """List the bundled packages: slug to folder, sorted by slug."""
    return _packages(problems_folder())


def bundled_games() -> dict[str, Path]:
    """List the bundled packages of problems that are played, which lie a folder deeper: slug to folder, sorted."""
    folder = problems_folder() / GAMES
    return _packages(folder) if folder.is_dir() else {}


def _packages(folder: Path) -> dict[str, Path]:
    return {path.name: path for path in sorted(folder.iterdir()) if (path / "problem.yaml").is_file()}


@cache
def checkers() -> tuple[str, ...]:
    """List the checkers of this installation by name: what of `checkers/` has the four doors, and those beside it."""
    spec = find_spec("checkers")
    folders = [Path(folder) for folder in (spec.submodule_search_locations or () if spec is not None else ())]
    modules = [path for folder in folders for path in (*folder.glob("*.py"), *folder.glob("*/__init__.py"))]
    return tuple(sorted({*BESIDE, *(_name(path) for path in modules if _has_doors(path))}))


def _name(module: Path) -> str:
    return module.parent.name if module.stem == "__init__" else module.stem


def _has_doors(path: Path) -> bool:
    # Read and not imported: what a checker imports takes a second and many megabytes.
    body = ast.parse(path.read_bytes()).body
    doors = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    borrowed = {alias.name for node in body if isinstance(node, ast.ImportFrom) for alias in node.names}
    return doors | borrowed >= DOORS and bool(doors)
