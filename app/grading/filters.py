"""Filters of system calls, by Debian's libseccomp: what a checker or a solver never needs is refused by the kernel.

What is refused fails with EPERM, so that a library that only tries something goes on.
"""

from __future__ import annotations

import errno
import os
from importlib import import_module
from typing import Protocol, cast

FOREIGN = [
    "accept", "accept4", "bind", "connect", "listen", "sendmmsg", "socket", "socketpair", "ptrace",
    "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "pidfd_getfd", "pidfd_open",
    "pidfd_send_signal", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "execve", "execveat", "fork", "vfork",
    "mount", "umount2", "pivot_root", "chroot", "setns", "unshare", "move_mount", "open_tree", "fsopen", "fsmount",
    "mount_setattr", "open_tree_attr", "bpf", "perf_event_open", "userfaultfd", "io_uring_setup", "io_uring_enter",
    "io_uring_register", "keyctl", "add_key", "request_key", "init_module", "finit_module", "delete_module",
    "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "acct", "quotactl", "syslog", "sethostname",
    "setdomainname", "personality", "modify_ldt", "ioperm", "iopl", "settimeofday", "clock_settime", "clock_adjtime",
    "adjtimex", "nfsservctl", "lookup_dcookie", "vhangup", "open_by_handle_at", "name_to_handle_at", "fanotify_init",
    "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "setfsuid", "setfsgid",
    "capset", "shmget", "shmat", "msgget", "semget", "mq_open",
]  # fmt: skip
"""The network, other processes, other programs, the machine, and doors that kernels have had faults behind."""

WRITING = [
    "creat", "truncate", "ftruncate", "fallocate", "unlink", "unlinkat", "rename", "renameat", "renameat2", "link",
    "linkat", "symlink", "symlinkat", "mkdir", "mkdirat", "rmdir", "mknod", "mknodat", "chmod", "fchmod", "fchmodat",
    "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "utimensat", "futimesat", "setxattr",
    "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "setxattrat", "removexattrat",
    "file_setattr",
]  # fmt: skip
"""System calls that change files; opening them to write is refused by its flags."""

CLONE_THREAD = 0x10000
NEWER = {
    "process_madvise": 440,
    "mount_setattr": 442,
    "fchmodat2": 452,
    "setxattrat": 463,
    "removexattrat": 466,
    "open_tree_attr": 467,
    "file_setattr": 469,
}
"""Calls that an older libseccomp has no name for; from 424 on every architecture has the same numbers."""


class Rules(Protocol):
    """A filter that is made up of rules and then loaded."""

    def add_rule(self, action: object, call: int, *arguments: object) -> None:
        """Let a call with such arguments end in this action."""
        ...

    def load(self) -> None:
        """Put the filter into force for this process."""
        ...


class Architectures(Protocol):
    """The architectures whose calls libseccomp knows."""

    NATIVE: int


class Seccomp(Protocol):
    """The part of pyseccomp used here, which brings no types."""

    ALLOW: object
    MASKED_EQ: object
    NE: object
    Arch: Architectures

    def SyscallFilter(self, default: object) -> Rules:
        """Make a filter that does this with all calls it has no rule for."""
        ...

    def ERRNO(self, code: int) -> object:
        """Make the action that fails with this error."""
        ...

    def Arg(self, at: int, operation: object, *values: int) -> object:
        """Make a condition on an argument."""
        ...

    def resolve_syscall(self, architecture: int, name: str) -> int:
        """Look a call's number up; negative: the architecture has no such call."""
        ...


def _library() -> Seccomp:
    """Load libseccomp; raises RuntimeError where it is not installed."""
    return cast(Seccomp, import_module("pyseccomp"))


def refuse_foreign() -> None:
    """Refuse the network, other processes and other programs. Raises OSError or RuntimeError where that cannot be."""
    seccomp = _library()
    rules = _refusing(seccomp, FOREIGN)
    me = os.getpid()
    for call in ("kill", "tgkill"):  # abort() sends its signal to itself
        _add(rules, seccomp, call, errno.EPERM, seccomp.Arg(0, seccomp.NE, me))
    _add(rules, seccomp, "prlimit64", errno.EPERM, seccomp.Arg(0, seccomp.NE, 0))
    _add(rules, seccomp, "clone3", errno.ENOSYS)  # its flags lie in memory; the C library takes clone then
    _add(rules, seccomp, "clone", errno.EPERM, seccomp.Arg(0, seccomp.MASKED_EQ, CLONE_THREAD, 0))
    rules.load()


def refuse_writing() -> None:
    """Refuse whatever changes a file or its name. Raises OSError or RuntimeError where that cannot be."""
    seccomp = _library()
    rules = _refusing(seccomp, WRITING)
    _add(rules, seccomp, "openat2", errno.ENOSYS)  # its flags lie in memory
    for call, at in (("open", 1), ("openat", 2)):
        for mask, value in (
            (os.O_ACCMODE, os.O_WRONLY),
            (os.O_ACCMODE, os.O_RDWR),
            (os.O_CREAT, os.O_CREAT),
            (os.O_TRUNC, os.O_TRUNC),
        ):
            _add(rules, seccomp, call, errno.EPERM, seccomp.Arg(at, seccomp.MASKED_EQ, mask, value))
    rules.load()


def _refusing(seccomp: Seccomp, calls: list[str]) -> Rules:
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    for call in calls:
        _add(rules, seccomp, call, errno.EPERM)
    return rules


def _add(rules: Rules, seccomp: Seccomp, call: str, code: int, *arguments: object) -> None:
    """Add a rule; a call that this architecture does not have (its number is negative) needs none."""
    number = seccomp.resolve_syscall(seccomp.Arch.NATIVE, call)
    if number < 0:
        number = NEWER.get(call, number)
    if number >= 0:
        rules.add_rule(seccomp.ERRNO(code), number, *arguments)
