"""Check a RollingBalls input on standard input: exit 42 if it is valid, 43 with one line on stderr if it is not."""

from __future__ import annotations

import re
import sys
from collections import Counter
from itertools import chain

VALID, INVALID = 42, 43
SHORTEST_SIDE, LONGEST_SIDE = 10, 60


class Invalid(Exception):
    """Where the input is wrong, what was expected and what was found."""

    def __init__(self, where: str, expected: str, found: str) -> None:
        super().__init__(f"{where}: expected {expected}, found {found}")


def check(text: str) -> None:
    """Raise Invalid at the first thing that is not as the statement says."""
    lines = text.split("\n")
    if lines.pop() != "":
        raise Invalid("end of file", "a line feed", "none")
    height = read_height(lines, 0)
    start = read_maze(lines, 1, height)
    if read_height(lines, height + 1) != height:
        raise Invalid(f"line {height + 2}", f"{height} again", lines[height + 1])
    target = read_maze(lines, height + 2, height)
    if len(lines) != 2 * height + 2:
        raise Invalid(f"line {2 * height + 3}", "end of file", repr(lines[2 * height + 2]))
    compare(start, target)


def read_height(lines: list[str], at: int) -> int:
    """Read a number of rows."""
    found = lines[at] if at < len(lines) else "nothing"
    if not re.fullmatch("[1-9][0-9]", found, re.ASCII) or not SHORTEST_SIDE <= int(found) <= LONGEST_SIDE:
        raise Invalid(f"line {at + 1}", f"a number of rows {SHORTEST_SIDE}..{LONGEST_SIDE}", repr(found))
    return int(found)


def read_maze(lines: list[str], first: int, height: int) -> list[str]:
    """Read rows that are all as long as the first of the file."""
    width = len(lines[1]) if len(lines) > 1 else 0
    for at in range(first, first + height):
        found = lines[at] if at < len(lines) else ""
        if len(found) != width or not SHORTEST_SIDE <= width <= LONGEST_SIDE:
            expected = width if SHORTEST_SIDE <= width <= LONGEST_SIDE else f"{SHORTEST_SIDE}..{LONGEST_SIDE}"
            raise Invalid(f"line {at + 1}", f"{expected} cells", str(len(found)))
        if strange := re.search("[^#.0-9]", found, re.ASCII):
            raise Invalid(f"line {at + 1}", "cells #, . or 0..9", repr(strange.group()))
    return lines[first : first + height]


def compare(start: list[str], target: list[str]) -> None:
    """Hold the two mazes against each other: same walls, same balls, at least one."""
    for row, (here, there) in enumerate(zip(start, target, strict=True)):
        for column, (had, has) in enumerate(zip(here, there, strict=True)):
            if (had == "#") != (has == "#"):
                where = f"line {len(start) + 3 + row}, column {column + 1}"
                raise Invalid(where, "walls as in the start", repr(has))
    had_balls, has_balls = (Counter(chain(*maze)) for maze in (start, target))
    for colour in "0123456789":
        if had_balls[colour] != has_balls[colour]:
            raise Invalid("target", f"{had_balls[colour]} balls of colour {colour}", str(has_balls[colour]))
    if not any(had_balls[colour] for colour in "0123456789"):
        raise Invalid("start", "at least one ball", "none")


def main() -> int:
    """Read standard input and return the exit code."""
    try:
        check(sys.stdin.buffer.read().decode("ascii"))
    except UnicodeDecodeError as error:
        print(f"byte {error.start}: expected ASCII, found {error.object[error.start]}", file=sys.stderr)
        return INVALID
    except Invalid as error:
        print(error, file=sys.stderr)
        return INVALID
    return VALID


if __name__ == "__main__":
    sys.exit(main())
