"""Validate a netgame input on stdin: exit code 42 if it is valid, otherwise 43 with one line on stderr."""

from __future__ import annotations

import sys

VALID, INVALID = 42, 43
MOST_ROPES = 50
NUMBERS = {b"%d" % number: number for number in range(51)}


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
    count = NUMBERS.get(first, 0)
    if not 1 <= count <= MOST_ROPES:
        raise Malformed(f"line 1: expected a number of ropes from 1 to {MOST_ROPES}, found {first[:40]!r}")
    if len(lines) != count:
        raise Malformed(f"end of file: expected {count} ropes, found {len(lines)} lines")
    seen: dict[frozenset[tuple[int, int]], int] = {}
    for number, line in enumerate(lines, start=2):
        rope = ends_of(line, number)
        if rope in seen:
            raise Malformed(f"line {number}: expected a new rope, found the rope of line {seen[rope]} again")
        seen[rope] = number


def ends_of(line: bytes, number: int) -> frozenset[tuple[int, int]]:
    """Read the two ends of a rope, which have no order; raises Malformed."""
    tokens = line.split(b" ")
    if len(tokens) != 4 or not all(token in NUMBERS for token in tokens):
        expected = "four numbers from 0 to 50 with single spaces"
        raise Malformed(f"line {number}: expected {expected}, found {line[:40]!r}")
    x1, y1, x2, y2 = (NUMBERS[token] for token in tokens)
    if abs(x1 - x2) + abs(y1 - y2) != 1:
        raise Malformed(f"line {number}: expected a rope of length 1 along a grid line, found {line[:40]!r}")
    return frozenset({(x1, y1), (x2, y2)})


if __name__ == "__main__":
    sys.exit(main())
