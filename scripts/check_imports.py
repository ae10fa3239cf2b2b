"""Check the imports of bench, ops and scripts, also those within functions: only a run of each would show a broken one.

`python scripts/check_imports.py` resolves every module of this repository that they import, and every name taken from
one. It prints what is missing; its exit code is 1 then. Types are only checked in the packages that are served.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECKED = ("bench", "ops", "scripts")
OWN = {"app", "checkers", "games", "solvers", "tests", *CHECKED}


def main(folders: tuple[Path, ...] = tuple(ROOT / name for name in CHECKED)) -> int:
    """Print each broken import; returns the exit code."""
    sys.path.insert(0, str(ROOT))
    paths = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
    broken = [fault for path in paths for fault in _broken(path)]
    for fault in broken:
        print(fault, file=sys.stderr)
    return 1 if broken else 0


def _broken(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_bytes(), str(path))):
        if isinstance(node, ast.Import):
            wanted = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module is not None and not node.level:
            wanted = [(node.module, alias.name) for alias in node.names]
        else:
            continue
        for module, name in wanted:
            if _is_own(module) and not _exists(module, name):
                yield f"{path}:{node.lineno}: {module} has no {name}" if name else f"{path}:{node.lineno}: no {module}"


def _is_own(module: str) -> bool:
    return module.partition(".")[0] in OWN


def _exists(module: str, name: str) -> bool:
    try:
        return hasattr(import_module(module), name or "__name__") or find_spec(f"{module}.{name}") is not None
    except ModuleNotFoundError as error:
        return error.name is not None and not _is_own(error.name)  # of an extra that is not installed here


if __name__ == "__main__":
    sys.exit(main())
