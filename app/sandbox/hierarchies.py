"""The hierarchies of control groups that are mounted, and the groups of this process in them."""

import os
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

NEEDED = ("memory", "pids", "cpuacct")
ESCAPED = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """One mounted hierarchy.

    top          its mount point
    folder       the group of this process
    controllers  those of NEEDED that it has; version 2 counts processor time without a controller
    unified      it is of version 2
    """

    top: Path
    folder: Path
    controllers: frozenset[str]
    unified: bool


def own_hierarchies() -> list[Hierarchy]:
    """The hierarchies with the groups of this process; none where /proc tells none."""
    try:
        return hierarchies(Path("/proc/self/mountinfo").read_text(), Path("/proc/self/cgroup").read_text())
    except OSError:
        return []


def hierarchies(mountinfo: str, memberships: str) -> list[Hierarchy]:
    """Read hierarchies from the texts of /proc/self/mountinfo and /proc/self/cgroup; see proc(5) and cgroups(7)."""
    paths = _memberships(memberships)
    rows = []
    for line in mountinfo.splitlines():
        left, _, right = line.partition(" - ")
        fields, (kind, _, options) = left.split(), right.split(maxsplit=2)
        if kind not in {"cgroup", "cgroup2"}:
            continue
        top, root = Path(_unescaped(fields[4])), _unescaped(fields[3])
        if kind == "cgroup2":
            folder = _below(top, root, paths.get("", "/"))
            rows.append(Hierarchy(top, folder, _controllers(folder) | {"cpuacct"}, True))
        elif controllers := {*NEEDED} & set(options.split(",")):
            path = next((paths[each] for each in sorted(controllers) if each in paths), "/")
            rows.append(Hierarchy(top, _below(top, root, path), frozenset(controllers), False))
    return rows


def _memberships(text: str) -> dict[str, str]:
    """The path of this process by controller; that of version 2 by an empty name."""
    paths: dict[str, str] = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        paths |= dict.fromkeys(controllers.split(","), path)
    return paths


def _below(top: Path, root: str, path: str) -> Path:
    """The folder of a group: a mount shows the hierarchy from `root` on. Groups out of sight become the top."""
    try:
        inner = PurePosixPath(path).relative_to(root)
    except ValueError:
        return top
    folder = top / inner
    return folder if ".." not in inner.parts and folder.is_dir() else top


def _controllers(folder: Path) -> frozenset[str]:
    try:
        return frozenset({*NEEDED} & set((folder / "cgroup.controllers").read_text().split()))
    except OSError:
        return frozenset()


def _unescaped(text: str) -> str:
    return os.fsdecode(ESCAPED.sub(lambda match: chr(int(match[1], 8)), text))
