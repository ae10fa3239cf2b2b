"""Compile the plain C++ programs that a measurement stands beside."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from hashlib import sha256
from pathlib import Path

SOURCES = Path(__file__).parent / "cpp"
NONE_HERE = "no g++ here: the ratio to plain C++ is left out (Debian: apt-get install g++)"


def build(name: str) -> Path | None:
    """Compile bench/cpp/NAME.cpp with `g++ -O2`, once for each state of the source; None where there is no g++.

    Raises RuntimeError with the compiler's words where the source does not compile.
    """
    compiler = shutil.which("g++")
    if compiler is None:
        return None
    source = SOURCES / f"{name}.cpp"
    state = sha256(source.read_bytes()).hexdigest()[:16]
    program = Path(tempfile.gettempdir()) / f"jurado-bench-{name}-{state}"
    if not program.exists():
        fresh = program.with_suffix(".new")
        done = subprocess.run(
            [compiler, "-O2", "-std=c++17", "-o", fresh, source], capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise RuntimeError(f"{source.name} does not compile: {done.stderr}")
        fresh.replace(program)
    return program
