"""The memory that a search takes above that of the interpreter and its kernels before it."""

from __future__ import annotations

import resource
from contextlib import suppress
from pathlib import Path

STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")
FORGET_THE_PEAK = "5"  # proc(5): set the peak to what is resident now


class PeakMemory:
    """Watches this process from its making on: resident memory, as the kernel counts it."""

    def __init__(self) -> None:
        with suppress(OSError):  # no Linux, or a container that forbids it: the peak of the whole process stands
            CLEAR.write_text(FORGET_THE_PEAK, encoding="ascii")
        self._before = _kibibytes("VmRSS")

    def grown(self) -> float:
        """MiB between what was resident at the start and the peak since, with one decimal."""
        return round(max(0, _kibibytes("VmHWM") - self._before) / 1024, 1)


def _kibibytes(name: str) -> int:
    """Read one line of the process's status; the peak of its whole life where there is no such file or line."""
    with suppress(OSError):
        for line in STATUS.read_bytes().splitlines():  # bytes: the program's name stands there too, in any encoding
            if line.startswith(f"{name}:".encode()):
                return int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
