"""Modules of this Python that packages' checkers may import: distributions by name, seen read-only in the sandbox."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath

from app.sandbox.model import Mount

FOLDER = "/jurado/modules"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
OPTIONAL = re.compile(r"\bextra\s*==")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""Libraries of numbers start a thread for each core: threads do not live on in the parts of a process that divides."""


@dataclass(frozen=True, slots=True)
class Modules:
    """Distributions that checkers in Python get beside the standard library, and what shows them in the sandbox."""

    names: tuple[str, ...] = ()
    mounts: tuple[Mount, ...] = ()

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which a Python in the sandbox finds them."""
        return {"PYTHONPATH": FOLDER, **ONE_THREAD} if self.mounts else {}


NO_MODULES = Modules()


def names_of(text: str) -> list[str]:
    """Names of distributions with commas between them."""
    return [each for each in map(str.strip, text.split(",")) if each]


def modules_of(names: Iterable[str]) -> Modules:
    """The modules of distributions and of those that they require; what is not installed is left out."""
    wanted = tuple(names)
    known, waiting = dict[str, Distribution](), list(wanted)
    while waiting:
        name = waiting.pop()
        installed = _installed(name)
        if installed is not None and name.lower() not in known:
            known[name.lower()] = installed
            waiting += _required(installed)
    mounts = {path.name: Mount(path, f"{FOLDER}/{path.name}") for each in known.values() for path in _tops(each)}
    return Modules(wanted, tuple(mounts[name] for name in sorted(mounts)))


def _installed(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def _required(installed: Distribution) -> Iterator[str]:
    """Requirements without their versions; those of other systems are not installed, and so lead nowhere."""
    for line in installed.requires or ():
        if not OPTIONAL.search(line) and (match := NAME.match(line)):
            yield match[0]


def _tops(installed: Distribution) -> list[Path]:
    """The files and folders of a distribution that lie directly beside those of others."""
    names = {PurePosixPath(str(each)).parts[0] for each in installed.files or ()} - {"..", "__pycache__", "/"}
    paths = [Path(str(installed.locate_file(name))).resolve() for name in sorted(names)]
    return [path for path in paths if path.exists()]
