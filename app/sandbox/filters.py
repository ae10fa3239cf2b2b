"""Filters of system calls, by Debian's libseccomp: what a checker or a solver never needs is refused by the kernel.

What is refused fails with EPERM, so that a library that only tries something goes on.
"""

from __future__ import annotations

import errno
import os

from app.sandbox.seccomp import MACHINE, library, refuse, refusing

FOREIGN = [
    *MACHINE,
    "accept", "accept4", "bind", "connect", "listen", "sendmmsg", "socket", "socketpair", "pidfd_open",
    "pidfd_send_signal", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "execve", "execveat", "fork", "vfork",
    "setuid", "setgid", "setreuid", "setregid", "setresuid", "setresgid", "setgroups", "setfsuid", "setfsgid", "capset",
    "shmget", "shmat", "msgget", "semget", "mq_open",
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


def refuse_foreign() -> None:
    """Refuse the network, other processes and other programs. Raises OSError or RuntimeError where that cannot be."""
    seccomp = library()
    rules = refusing(seccomp, FOREIGN)
    me = os.getpid()
    for call in ("kill", "tgkill"):  # abort() sends its signal to itself
        refuse(rules, seccomp, call, errno.EPERM, seccomp.Arg(0, seccomp.NE, me))
    refuse(rules, seccomp, "prlimit64", errno.EPERM, seccomp.Arg(0, seccomp.NE, 0))
    refuse(rules, seccomp, "clone3", errno.ENOSYS)  # its flags lie in memory; the C library takes clone then
    refuse(rules, seccomp, "clone", errno.EPERM, seccomp.Arg(0, seccomp.MASKED_EQ, CLONE_THREAD, 0))
    rules.load()


def refuse_writing() -> None:
    """Refuse whatever changes a file or its name. Raises OSError or RuntimeError where that cannot be."""
    seccomp = library()
    rules = refusing(seccomp, WRITING)
    refuse(rules, seccomp, "openat2", errno.ENOSYS)  # its flags lie in memory
    for call, at in (("open", 1), ("openat", 2)):
        for mask, value in (
            (os.O_ACCMODE, os.O_WRONLY),
            (os.O_ACCMODE, os.O_RDWR),
            (os.O_CREAT, os.O_CREAT),
            (os.O_TRUNC, os.O_TRUNC),
        ):
            refuse(rules, seccomp, call, errno.EPERM, seccomp.Arg(at, seccomp.MASKED_EQ, mask, value))
    rules.load()
