"""The memory that a search takes above that of the interpreter and its kernels before it."""

from __future__ import annotations

import resource
from contextlib import suppress
from pathlib import Path

PROCESS = Path("/proc/self")
FORGET_THE_PEAK = "5"  # proc(5): set the peak to what is resident now


class PeakMemory:
    """Watches this process from its making on: resident memory, as the kernel counts it."""

    def __init__(self, process: Path = PROCESS) -> None:
        self._status = process / "status"
        with suppress(OSError):  # no Linux, or a container that forbids it: the peak of the whole process stands
            (process / "clear_refs").write_text(FORGET_THE_PEAK, encoding="ascii")
        self._before = self._kibibytes("VmRSS")

    def grown(self) -> float:
        """MiB between what was resident at the start and the peak since, with one decimal."""
        return round(max(0, self._kibibytes("VmHWM") - self._before) / 1024, 1)

    def _kibibytes(self, name: str) -> int:
        """Read one line of the process's status; the peak of its whole life where there is no such file or line."""
        with suppress(OSError):
            for line in self._status.read_bytes().splitlines():  # bytes: a program's name there has any encoding
                if line.startswith(f"{name}:".encode()):
                    return int(line.split()[1])
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
