"""Run a program with bounded memory that dies with its parent: `python -m app.grading.bounded BYTES PROGRAM ...`."""

from __future__ import annotations

import os
import sys

from app.grading.grader import die_with_parent, limit_memory


def main() -> None:
    """Set the bounds and become the program."""
    size, program = int(sys.argv[1]), sys.argv[2:]
    die_with_parent()
    limit_memory(size)
    os.execv(program[0], program)


if __name__ == "__main__":
    main()
