"""Filters of system calls, by Debian's libseccomp: the parts that graders and the sandbox share.

What is refused fails with EPERM, so that a library that only tries something continues.
"""

import errno
import fcntl
import os
import socket
from collections.abc import Iterable
from importlib import import_module
from typing import Any

# Other processes' memory, mounts, namespaces, the machine, and doors that kernels have had faults behind.
MACHINE = [
    "process_vm_readv", "process_vm_writev", "process_madvise", "kcmp", "ptrace", "pidfd_getfd",
    "mount", "umount2", "pivot_root", "chroot", "setns", "unshare", "move_mount", "open_tree", "fsopen", "fsconfig",
    "fspick", "fsmount", "mount_setattr", "open_tree_attr", "bpf", "perf_event_open", "userfaultfd", "io_uring_setup",
    "io_uring_enter", "io_uring_register", "keyctl", "add_key", "request_key", "init_module", "finit_module",
    "delete_module", "kexec_load", "kexec_file_load", "reboot", "swapon", "swapoff", "acct", "quotactl", "quotactl_fd",
    "syslog", "sethostname", "setdomainname", "personality", "modify_ldt", "ioperm", "iopl", "settimeofday",
    "clock_settime", "clock_adjtime", "adjtimex", "nfsservctl", "lookup_dcookie", "vhangup", "open_by_handle_at",
    "name_to_handle_at", "fanotify_init",
]  # fmt: skip

# CLONE_NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET.
CLONE_NAMESPACES = 0x7E020080
# TIOCSTI and TIOCLINUX, which type into a terminal.
TERMINAL_INPUT = (0x5412, 0x541C)
# Commands of fcntl that affect other users of a file; 10 is F_SETSIG, which the module fcntl does not name. A lease
# may be taken on a read-only file, and blocks every open of it for /proc/sys/fs/lease-break-time seconds.
LEASES = (fcntl.F_SETLEASE, fcntl.F_NOTIFY, 10)
# The kernel compares the low 32 bits of a command; a filter sees 64.
WORD = 0xFFFFFFFF
# Calls that an older libseccomp has no name for; from 424 on every architecture has the same numbers.
NEWER = {
    "process_madvise": 440,
    "mount_setattr": 442,
    "quotactl_fd": 443,
    "fchmodat2": 452,
    "setxattrat": 463,
    "removexattrat": 466,
    "open_tree_attr": 467,
    "file_setattr": 469,
}


# Memory and messages that outlive processes: no checker needs them, and kernels have had faults behind them.
LASTING = [
    "shmget", "shmat", "shmctl", "semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd", "msgrcv", "msgctl",
    "mq_open", "mq_unlink", "ioprio_set",
]  # fmt: skip


# Any: pyseccomp has no types
def library() -> Any:
    """Load libseccomp; raises RuntimeError where it is not installed."""
    return import_module("pyseccomp")


def refusing(seccomp: Any, calls: Iterable[str]) -> Any:
    """Make a filter that allows all calls but these and leases on files."""
    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    for call in calls:
        refuse(rules, seccomp, call, errno.EPERM)
    for call in ("fcntl", "fcntl64"):
        for command in LEASES:
            refuse(rules, seccomp, call, errno.EPERM, seccomp.Arg(1, seccomp.MASKED_EQ, WORD, command))
    return rules


def refuse(rules: Any, seccomp: Any, call: str, code: int, *arguments: object) -> None:
    """Add a rule; a call that this architecture does not have (its number is negative) needs none."""
    number = seccomp.resolve_syscall(seccomp.Arch.NATIVE, call)
    if number < 0:
        number = NEWER.get(call, number)
    if number >= 0:
        rules.add_rule(seccomp.ERRNO(code), number, *arguments)


def sandbox_filter() -> bytes:
    """Compile the filter of the sandbox: programs and threads are allowed, sockets but local pairs are not.

    Raises OSError, ImportError or RuntimeError where that cannot be.
    """
    seccomp = library()
    rules = refusing(seccomp, [*MACHINE, *LASTING, "socket"])
    refuse(rules, seccomp, "socketpair", errno.EPERM, seccomp.Arg(0, seccomp.NE, socket.AF_UNIX))
    refuse(rules, seccomp, "clone3", errno.ENOSYS)  # its flags lie in memory; the C library takes clone then
    for bit in (1 << at for at in range(32) if CLONE_NAMESPACES >> at & 1):
        refuse(rules, seccomp, "clone", errno.EPERM, seccomp.Arg(0, seccomp.MASKED_EQ, bit, bit))
    for request in TERMINAL_INPUT:
        refuse(rules, seccomp, "ioctl", errno.EPERM, seccomp.Arg(1, seccomp.MASKED_EQ, WORD, request))
    return _written(rules)


def _written(rules: Any) -> bytes:
    with os.fdopen(os.memfd_create("filter"), "r+b") as file:
        rules.export_bpf(file)
        file.seek(0)
        return file.read()
