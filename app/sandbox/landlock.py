"""Landlock: a process gives up all files but those below some folders, where the kernel can do so (Linux 5.13).

The C library has no functions for it, so these are the system calls themselves; their numbers are the same on every
architecture. See landlock(7).
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION = 1
PATH_BENEATH = 1
READ = 1 << 2 | 1 << 3  # files, folders
WRITE = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 7 | 1 << 8  # write, remove folders and files, make folders and files
TRUNCATE = 1 << 14
OF_FILES = 1 << 1 | 1 << 2 | TRUNCATE  # a rule for a file that gives more is refused
RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
"""File rights that each version of Landlock handles; a right that is handled and given by no rule is gone."""
TCP = 3  # from version 4: bind and connect
SCOPES = 3  # from version 6: abstract sockets and signals to processes outside


class _Ruleset(ctypes.Structure):
    _fields_ = [("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = [("rights", ctypes.c_uint64), ("folder", ctypes.c_int32)]


_libc = ctypes.CDLL(None, use_errno=True)


def restrict(readable: Iterable[Path], writable: Iterable[Path] = ()) -> None:
    """Give up everything but to read below some folders, and to write below others; raises OSError.

    Folders that do not exist give nothing. The process must have set no-new-privileges.
    """
    version = _call(CREATE_RULESET, None, 0, VERSION)
    handled = RIGHTS[min(version, max(RIGHTS))]
    ruleset = _Ruleset(handled, TCP if version >= 4 else 0, SCOPES if version >= 6 else 0)
    size = 8 if version < 4 else 16 if version < 6 else 24
    descriptor = _call(CREATE_RULESET, ctypes.byref(ruleset), size, 0)
    try:
        for folder in readable:
            _allow(descriptor, folder, READ)
        for folder in writable:
            _allow(descriptor, folder, (READ | WRITE | TRUNCATE) & handled)
        _call(RESTRICT_SELF, descriptor, 0)
    finally:
        os.close(descriptor)


def _allow(ruleset: int, folder: Path, rights: int) -> None:
    try:
        handle = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    if not folder.is_dir():
        rights &= OF_FILES
    try:
        _call(ADD_RULE, ruleset, PATH_BENEATH, ctypes.byref(_Beneath(rights, handle)), 0)
    finally:
        os.close(handle)


def _call(number: int, *arguments: object) -> int:
    made = int(_libc.syscall(number, *arguments))
    if made < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return made
