"""Validate a board and the judge's player on stdin: exit code 42 if it is valid, else 43 with one line on stderr."""

from __future__ import annotations

import sys
from collections import Counter

VALID, INVALID = 42, 43
SIZES = {b"%d" % size: size for size in range(3, 21)}
OPPONENTS = ("adversarial", "greedy", "optimal", "random")


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
    lines = [*data[:-1].split(b"\n"), b"", b"", b""]
    if lines[0] != b"game optimiza":
        raise Malformed(f"line 1: expected b'game optimiza', found {lines[0][:40]!r}")
    if lines[1] not in [b"opponent " + name.encode() for name in OPPONENTS]:
        raise Malformed(f"line 2: expected opponent and one of {', '.join(OPPONENTS)}, found {lines[1][:40]!r}")
    size = SIZES.get(lines[2], 0)
    if not size:
        raise Malformed(f"line 3: expected a size from 3 to 20, found {lines[2][:40]!r}")
    rows, rest = lines[3:-3][:size], lines[3:-3][size:]
    if len(rows) != size or len(rest) > 1:
        raise Malformed(f"end of file: expected {size} rows and perhaps a walk, found {len(rows) + len(rest)} lines")
    places = [b"walk %d %d" % (row, column) for row in range(1, size + 1) for column in range(1, size + 1)]
    if rest and rest[0] not in places:
        raise Malformed(f"line {size + 4}: expected walk and a cell of the board, found {rest[0][:40]!r}")
    known = {b"%d" % value: value for value in range(1, size + 1)}
    copies: Counter[int] = Counter()
    for number, line in enumerate(rows, start=4):
        words = line.split(b" ")
        if len(words) != size or not all(word in known for word in words):
            expected = f"{size} numbers 1..{size} with single spaces"
            raise Malformed(f"line {number}: expected {expected}, found {line[:40]!r}")
        copies.update(known[word] for word in words)
    for value in range(1, size + 1):
        expected_copies = size + 1 if value < size else 1
        if copies[value] != expected_copies:
            raise Malformed(f"board: expected {expected_copies} times the number {value}, found {copies[value]}")


if __name__ == "__main__":
    sys.exit(main())
