"""Generators: a program's standard output, or the file `testcase.in` that it leaves, is a test case's input."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from app.programs.endings import exit_code, unexpected
from app.programs.model import ProgramFault
from app.programs.tools import Bounds, Tool, ToolDesk

NAME = "testcase"


def generate(desk: ToolDesk, tool: Tool, args: Sequence[str], bounds: Bounds) -> bytes:
    """Run a generator once; raises ProgramFault where it fails, or makes nothing."""
    with tempfile.TemporaryDirectory(prefix="jurado-generator-") as name:
        folder = Path(name)
        result = desk.run(desk.command(tool, args, bounds, leaves=folder))
        if (code := exit_code(result)) != 0:
            raise unexpected(code, "0", result)
        left = folder / f"{NAME}.in"
        data = left.read_bytes() if left.is_file() and not left.is_symlink() else result.stdout
    if not data:
        raise ProgramFault(f"expected an input on standard output, or in {NAME}.in, found neither")
    return data
