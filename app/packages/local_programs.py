"""Packages' own programs on this machine, without a server: for `jurado check` and `jurado package verify`."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from app.packages.tools import Workshop
from app.programs.desk import Opinion, ProgramDesk
from app.programs.languages import forget_unused
from app.programs.model import CaseFiles, Program
from app.programs.modules import modules_of, names_of
from app.sandbox.model import ALLOWED, AS_ROOT, SandboxMissing
from app.sandbox.sandbox import Sandbox

SECONDS = 10.0
MODULES = "numpy"
MEMORY = 2 * 2**30
DAYS_UNUSED = 30


def local_lack() -> str:
    """What keeps programs from running here; empty where nothing does."""
    desk = _desk()
    return "" if isinstance(desk, ProgramDesk) else str(desk)


def ask_here(program: Program, cases: Sequence[CaseFiles]) -> list[Opinion]:
    """Ask a program about every case, in order; never raises for what it does."""
    desk = _desk()
    if isinstance(desk, ProgramDesk):
        return desk.ask_all(program, cases, SECONDS)
    return [Opinion(fault=str(desk))] * len(cases)


def local_workshop() -> Workshop:
    """The place for packages' other programs on this machine."""
    desk = _desk()
    return Workshop(desk.tools()) if isinstance(desk, ProgramDesk) else Workshop(None, str(desk))


def _cache() -> Path:
    """The user's own folder of programs that are ready to run, so that each is compiled once.

    What nobody has run for a month goes. Where there is no such folder, a temporary one goes with the process.
    """
    home = os.environ.get("XDG_CACHE_HOME", "")
    folder = Path(home if home.startswith("/") else Path.home() / ".cache") / "jurado" / "programs"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
        if status.st_uid != os.getuid() or status.st_mode & 0o022:
            raise PermissionError(f"others may write into {folder}")
        forget_unused(folder, DAYS_UNUSED)
    except (OSError, RuntimeError):
        temporary = tempfile.mkdtemp(prefix="jurado-programs-")
        atexit.register(shutil.rmtree, temporary, ignore_errors=True)
        return Path(temporary)
    return folder


@cache
def _desk() -> ProgramDesk | SandboxMissing:
    """The sandbox of this process, opened at the first question."""
    try:
        sandbox = Sandbox.open(as_root=os.environ.get(AS_ROOT) == ALLOWED)
    except SandboxMissing as missing:
        return missing
    atexit.register(sandbox.close)
    names = os.environ.get("JURADO_CHECKER_MODULES", MODULES)
    desk = ProgramDesk(sandbox, _cache(), MEMORY, modules=modules_of(names_of(names)))
    atexit.register(desk.close)
    return desk
