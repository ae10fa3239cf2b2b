"""`jurado` by a system's clock that a test sets: python -m ops.chaos.clocked FILE serve ...

FILE holds the seconds by which that clock is ahead of the machine's, negative ones for behind; it may change in the
meantime.
"""

from __future__ import annotations

import os
import sys
from datetime import datetime, timedelta
from pathlib import Path

from app.commands.main import main
from app.core.clock import ServiceClock, system_time
from tests.builders.clocks import use


def set_clock(path: Path, seconds: float) -> None:
    """Let those who go by this file have another time at once."""
    beside = path.with_name(f".{path.name}")
    beside.write_text(str(seconds))
    os.replace(beside, path)


if __name__ == "__main__":
    offset = Path(sys.argv.pop(1))

    def wall() -> datetime:
        """The machine's clock and the offset of the moment."""
        return system_time() + timedelta(seconds=float(offset.read_text()))

    with use(ServiceClock(wall)):
        main()
