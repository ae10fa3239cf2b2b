"""Validate a lasttreat input on stdin: exit code 42 if it is valid, otherwise 43 with one line on stderr."""

from __future__ import annotations

import re
import sys

VALID, INVALID = 42, 43
MOST_POSITIONS, LARGEST = 10**5, 10**18
NUMBER = re.compile(rb"0|[1-9][0-9]{0,18}")


class Malformed(Exception):
    """The input breaks a rule; the text says where, what was expected and what was found."""


def main() -> int:
    """Validate stdin."""
    try:
        validate(sys.stdin.buffer.read())
    except Malformed as error:
        print(error, file=sys.stderr)
        return INVALID
    return VALID


def validate(data: bytes) -> None:
    """Check everything the statement promises about an input; raises Malformed."""
    if not data.endswith(b"\n"):
        raise Malformed(f"end of file: expected a line feed, found {data[-1:]!r}")
    first, *lines = data[:-1].split(b"\n")
    count = number(first, "line 1", "T", 1, MOST_POSITIONS)
    if len(lines) != count:
        raise Malformed(f"end of file: expected {count} positions, found {len(lines)} lines")
    for at, line in enumerate(lines, start=2):
        validate_position(line, f"line {at}")


def validate_position(line: bytes, where: str) -> None:
    """Check one line `A B K`."""
    words = line.split(b" ")
    if len(words) != 3:
        raise Malformed(f"{where}: expected three numbers with single spaces between them, found {line[:40]!r}")
    cakes = number(words[0], where, "A", 0, LARGEST)
    fruit = number(words[1], where, "B", 0, LARGEST)
    number(words[2], where, "K", 1, LARGEST)
    if cakes + fruit == 0:
        raise Malformed(f"{where}: expected at least one treat, found two empty piles")


def number(word: bytes, where: str, name: str, least: int, most: int) -> int:
    """Read one canonical decimal within its bounds."""
    if not NUMBER.fullmatch(word) or not least <= int(word) <= most:
        raise Malformed(f"{where}: expected {name} from {least} to {most}, found {word[:40]!r}")
    return int(word)


if __name__ == "__main__":
    sys.exit(main())
