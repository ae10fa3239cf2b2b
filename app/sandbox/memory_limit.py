"""Run a module as a solver is run: `python -m app.sandbox.memory_limit BYTES FOLDER [--read=FOLDER]... MODULE ...`.

It has so much memory, dies with its parent, has no network, starts nothing, and writes below FOLDER only, and where
kernels of solvers are kept compiled: never where graders read theirs. Folders with inputs are named with --read.
"""

import json
import runpy
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from app.sandbox import confinement

READ = "--read="
# Imported before folders are given up: what they lie in holds the server's home too, as often as not.
PACKAGES = [import_module(name) for name in ("checkers", "games", "solvers")]


def main() -> None:
    """Give up all but this and become the module."""
    memory, folder, words = int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
    inputs = []
    while words[0].startswith(READ):
        inputs.append(Path(words.pop(0).removeprefix(READ)))
    confinement.die_with_parent()
    confinement.keep_what_may_be_kept()
    report = confinement.give_up_others(memory)
    report |= confinement.give_up_folders([folder, *kernel_folders()], inputs)
    (folder / "protections").write_text(json.dumps(report), encoding="utf-8")
    sys.argv = words
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)


def kernel_folders() -> list[Path]:
    """Folders of numba's compiled solvers: beside them, if they lie where the server may write."""
    root = Path(PACKAGES[-1].__path__[0])
    folders = [each / "__pycache__" for each in (root, *root.iterdir()) if each.is_dir() and each.name[0] != "_"]
    for folder in folders:
        with suppress(OSError):
            folder.mkdir(exist_ok=True)
    return folders


if __name__ == "__main__":
    main()
