"""Validate a start of the last treat on stdin: exit code 42 if it is valid, otherwise 43 with one line on stderr."""

from __future__ import annotations

import re
import sys

VALID, INVALID = 42, 43
LARGEST = 10**18
OPPONENTS = ("adversarial", "greedy", "one", "optimal", "random")
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
    lines = data.split(b"\n")
    if len(lines) != 4 or lines[3]:
        raise Malformed(f"end of file: expected 3 lines, each ended by a line feed, found {data[-20:]!r}")
    if lines[0] != b"game lasttreat":
        raise Malformed(f"line 1: expected b'game lasttreat', found {lines[0][:40]!r}")
    if lines[1] not in [b"opponent " + name.encode() for name in OPPONENTS]:
        raise Malformed(f"line 2: expected opponent and one of {', '.join(OPPONENTS)}, found {lines[1][:40]!r}")
    words = lines[2].split(b" ")
    numbers = [int(word) for word in words if NUMBER.fullmatch(word) and int(word) <= LARGEST]
    if len(words) != 3 or len(numbers) != 3 or numbers[2] == 0 or sum(numbers[:2]) == 0:
        raise Malformed(f"line 3: expected A B K, K and A + B at least 1, up to 10^18, found {lines[2][:40]!r}")


if __name__ == "__main__":
    sys.exit(main())
