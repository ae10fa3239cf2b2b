"""Compiles the plain C++ programs that measurements compare with."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).parent / "cpp"
NONE_HERE = "no g++ here: the ratio to plain C++ is left out (Debian: apt-get install g++)"


@cache
def folder() -> tempfile.TemporaryDirectory[str]:
    """Make the folder of the programs, which is deleted with this process."""
    return tempfile.TemporaryDirectory(prefix="jurado-bench-")


def build(name: str) -> Path | None:
    """Compile bench/cpp/NAME.cpp with `g++ -O2`; None where there is no g++.

    Raises RuntimeError with the compiler's words where the source does not compile.
    """
    compiler = shutil.which("g++")
    if compiler is None:
        return None
    program = Path(folder().name, name)
    command = [compiler, "-O2", "-std=c++17", "-o", program, SOURCES / f"{name}.cpp"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{name}.cpp does not compile: {done.stderr}")
    return program
