"""A hierarchy of control groups of version 2 in plain files, by the kernel's rules for what is written there."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.sandbox import groups

FILES = {
    "memory": {
        "memory.current": "4096\n",
        "memory.events": "low 0\nhigh 0\nmax 0\noom 0\noom_kill 0\noom_group_kill 0\n",
        "memory.max": "max\n",
        "memory.oom.group": "0\n",
        "memory.swap.max": "max\n",
    },
    "pids": {"pids.current": "0\n", "pids.events": "max 0\n", "pids.max": "max\n"},
}
CPU = "usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\n"


@dataclass
class Kernel:
    """The rules below `top`: a group has the files of the controllers that its parent hands down.

    No group but the top has both processes and controllers that it hands down. `read_only`: as in containers.
    """

    top: Path
    read_only: bool = False

    def rule(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Hold folders that are made, removed and written to from now on to these rules."""
        make, remove = Path.mkdir, Path.rmdir

        def mkdir(folder: Path, mode: int = 0o777, parents: bool = False, exist_ok: bool = False) -> None:
            is_new = not folder.exists()
            if self.read_only and folder.is_relative_to(self.top):
                raise OSError(errno.EROFS, os.strerror(errno.EROFS))
            make(folder, mode, parents, exist_ok)
            if is_new and folder.is_relative_to(self.top):
                self.fill(folder, (folder.parent / "cgroup.subtree_control").read_text())

        def rmdir(folder: Path) -> None:
            if folder.is_relative_to(self.top):
                if (folder / "cgroup.procs").read_text():
                    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
                for file in folder.iterdir():
                    if file.is_file():
                        file.unlink()
            remove(folder)

        monkeypatch.setattr(Path, "mkdir", mkdir)
        monkeypatch.setattr(Path, "rmdir", rmdir)
        monkeypatch.setattr(groups, "_write", self.write)

    def fill(self, folder: Path, controllers: str, processes: str = "") -> None:
        """Write the files of a group with these controllers."""
        texts = {"cgroup.controllers": controllers, "cgroup.subtree_control": "", "cgroup.procs": processes}
        for controller in controllers.split():
            texts |= FILES.get(controller, {})
        for name, text in {**texts, "cpu.stat": CPU}.items():
            (folder / name).write_text(text)

    def write(self, path: Path, value: object) -> None:
        """Take a value as the kernel does, or refuse it."""
        if not path.exists():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        folder, text = path.parent, str(value)
        if path.name == "cgroup.subtree_control":
            self._hand_down(folder, text)
        elif path.name == "cgroup.procs":
            self._move(folder, text)
        else:
            path.write_text(f"{text}\n")

    def _hand_down(self, folder: Path, text: str) -> None:
        words = set((folder / "cgroup.subtree_control").read_text().split())
        for word in text.split():
            assert word[0] == "+", f"expected a controller to be handed down, found {word}"
            if word[1:] not in (folder / "cgroup.controllers").read_text().split():
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            if folder != self.top and (folder / "cgroup.procs").read_text():
                raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
            words.add(word[1:])
        (folder / "cgroup.subtree_control").write_text(" ".join(sorted(words)) + "\n")

    def _move(self, folder: Path, pid: str) -> None:
        if folder != self.top and (folder / "cgroup.subtree_control").read_text():
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))
        for other in self.top.rglob("cgroup.procs"):
            other.write_text("".join(f"{line}\n" for line in other.read_text().split() if line != pid))
        with (folder / "cgroup.procs").open("a") as file:
            file.write(f"{pid}\n")
