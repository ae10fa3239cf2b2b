"""Commands for the sandbox with small limits: what a test is about, it says."""

from __future__ import annotations

from app.sandbox import model
from app.sandbox.model import Command, Limits, Mount

MIB = 2**20


def limits(
    cpu: float = 20, wall: float = 60, memory: int = 128 * MIB, processes: int = 16, output: int = MIB, files: int = 64
) -> Limits:
    """Limits that a small program on a busy machine does not reach."""
    return Limits(cpu, wall, memory, processes, output, files)


def shell(line: str, *mounts: Mount, stdin: bytes | None = None, within: Limits | None = None) -> Command:
    """A line of the shell."""
    return Command(("/bin/sh", "-c", line), mounts, stdin, limits=within or limits())


def python(code: str, *mounts: Mount, stdin: bytes | None = None, within: Limits | None = None) -> Command:
    """A program in Python."""
    return Command((model.python(), "-IS", "-c", code), mounts, stdin, limits=within or limits())
