"""Our own modules as processes: their command lines and their environment."""

import os
import sys
from pathlib import Path

import app

# Before the words of `python -m app.commands`: the process is killed when the thread that started it ends.
WITH_PARENT = "--with-parent"
ROOT = Path(app.__file__).resolve().parents[1]


def module_command(module: str, *arguments: str) -> list[str]:
    """Give the command line of one of our own modules."""
    return [sys.executable, "-m", module, *arguments]


def environment() -> dict[str, str]:
    """Let the process find our modules, wherever it was started."""
    return os.environ | {"PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": "1"}


def last_line(text: str) -> str:
    """Take the last line that says something."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"
