"""Symbolic links of packages: one that stays in its package stands for what it leads to, in folders and in archives."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from app.core.faults import Faults

OUTSIDE = "expected a symbolic link that stays in the package, found one to {}"
NOWHERE = "expected a symbolic link to a file or folder, found one to {}, which does not exist"
AROUND = "expected no symbolic link to a folder that it lies in, found one to {}"
MOST_HOPS = 40
"""Links on the way to one file, as in Linux."""


def link_fault(link: Path, opened: tuple[Path, ...]) -> str | None:
    """Return why a link is not followed, or None; `opened` are the real folders above it, the package first."""
    shown = str(link.readlink())[:200]
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):  # Python before 3.13 raises RuntimeError for a loop
        return NOWHERE.format(shown)
    if not target.is_relative_to(opened[0]):
        return OUTSIDE.format(shown)
    return AROUND.format(shown) if target in opened else None


class ArchiveLinks:
    """The links of an archive: their texts by their paths, and the paths of its files."""

    def __init__(self, links: Mapping[str, str], files: Collection[str]) -> None:
        self._links = links
        self._files = frozenset(files)
        self._below: dict[str, set[str]] = {"": set()}
        for path in (*files, *links):
            parts = path.split("/")
            for at, name in enumerate(parts):
                self._below.setdefault("/".join(parts[:at]), set()).add(name)

    def paths(self, faults: Faults, most: int, deepest: int) -> dict[str, str]:
        """Return the file that each path leads to, links followed; notes links that lead nowhere, outside or around.

        Ends with a fault at more than `most` files and folders, since links to folders of links multiply them.
        """
        targets: dict[str, str] = {}
        pending: list[tuple[str, tuple[str, ...]]] = [("", ("",))]
        visits = 0
        while pending:
            shown, opened = pending.pop()
            for name in sorted(self._below[opened[-1]]):
                visits += 1
                path, real = _joined(shown, name), _joined(opened[-1], name)
                target = self._target(real)
                if visits > most:
                    faults.expect(
                        "", "", expected=f"at most {most} files and folders with links followed", found="more"
                    )
                    return targets
                if target in self._files:
                    targets[path] = target
                elif (fault := self._fault(target, opened)) is not None:
                    faults.add(path[:300], fault.format(self._links.get(real, "")[:200]))
                elif len(opened) < deepest:
                    pending.append((path, (*opened, target)))
                else:
                    faults.expect(path[:300], "", expected=f"at most {deepest} folders", found="more")
        return targets

    def _fault(self, target: str, opened: tuple[str, ...]) -> str | None:
        if target == _OUT:
            return OUTSIDE
        if target not in self._below:
            return NOWHERE
        return AROUND if target in opened else None

    def _target(self, path: str) -> str:
        """Return the path of a file or folder without links on it, or `_OUT`."""
        left, real, hops = path.split("/")[::-1], list[str](), 0
        while left:
            part = left.pop()
            if part == ".." and not real:
                return _OUT
            if part == "..":
                real.pop()
            elif part not in {"", "."}:
                text = self._links.get("/".join((*real, part)))
                if text is None:
                    real.append(part)
                    continue
                hops += 1
                if text.startswith("/") or hops > MOST_HOPS:
                    return _OUT if text.startswith("/") else _LOOP
                left += text.split("/")[::-1]
        return "/".join(real)


_OUT, _LOOP = "..", "."
"""Neither is the path of a file or folder of an archive."""


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name
