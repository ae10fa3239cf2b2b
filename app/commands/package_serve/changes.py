"""The changes of a package's files as they come."""

from __future__ import annotations

from collections.abc import Iterator, Set
from pathlib import Path

from watchfiles import Change, DefaultFilter, watch

from app.core.commands.output import Failure

Changes = Set[tuple[Change, str]]
SETTLED = 150
"""Milliseconds without a change after which a change is taken for whole: editors write a file in several steps."""
LONGEST_WAIT = 2000
LOOKS = 250
"""Milliseconds between two looks at whether the server still lives, and before the first one."""


def changed_files(folder: Path) -> Iterator[list[str] | None]:
    """Yield the names of files that have changed, below the folder; None where nothing has for a while.

    The watch has begun once the first of them comes: each later change is in one. Raises Failure where the folder goes.
    """
    root = folder.resolve()
    try:
        for changes in watch(
            root,
            watch_filter=DefaultFilter(),
            debounce=LONGEST_WAIT,
            step=SETTLED,
            rust_timeout=LOOKS,
            yield_on_timeout=True,
        ):
            if not root.is_dir():
                raise Failure(f"{folder}: the folder is gone", 1)
            yield names_of(root, changes) if changes else None
    except OSError as error:
        raise Failure(f"{folder}: its files cannot be watched: {error}", 1) from None


def names_of(root: Path, changes: Changes) -> list[str]:
    """The files that changed by their paths below the folder, without folders and what an editor made for a moment.

    A new folder stands for its files: those made before the folder was watched are in no change of their own.
    """
    gone = {path for change, path in changes if change is Change.added and not Path(path).exists()}
    files = [file for change, path in changes if path not in gone for file in _files_of(change, Path(path))]
    return sorted({file.relative_to(root).as_posix() for file in files})


def _files_of(change: Change, path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return [each for each in path.rglob("*") if each.is_file()] if change is Change.added else []
