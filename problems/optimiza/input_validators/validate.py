"""Validate an optimiza input on stdin: exit code 42 if it is valid, otherwise 43 with one line on stderr."""

from __future__ import annotations

import sys

VALID, INVALID = 42, 43
SIZES = {b"%d" % size: size for size in range(2, 41)}
VARIANTS = [b"torus8", b"torus4", b"edge8", b"klein8", b"hex"]


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
    first, *rows = data[:-1].split(b"\n")
    size, triangle = read_head(first)
    if len(rows) != size:
        raise Malformed(f"end of file: expected {size} rows, found {len(rows)}")
    counts = dict.fromkeys(range(1, size + 1), 0)
    for number, row in enumerate(rows, start=2):
        width = number - 1 if triangle else size
        for value in read_row(number, row, width, size):
            counts[value] += 1
    for value, found in counts.items():
        expected = size + 1 - value if triangle else (1 if value == size else size + 1)
        if found != expected:
            raise Malformed(f"board: expected {expected} times the number {value}, found {found}")


def read_head(line: bytes) -> tuple[int, bool]:
    """Read the size and the variant; returns the size and whether the board is a triangle."""
    words = line.split(b" ")
    if words[0] not in SIZES:
        raise Malformed(f"line 1: expected a size from 2 to 40, found {words[0][:40]!r}")
    if len(words) > 2 or any(word not in VARIANTS for word in words[1:]):
        raise Malformed(f"line 1: expected nothing or a variant behind the size, found {line[:40]!r}")
    return SIZES[words[0]], words[1:] == [b"hex"]


def read_row(number: int, row: bytes, width: int, size: int) -> list[int]:
    """Read a row's numbers."""
    allowed = {b"%d" % value: value for value in range(1, size + 1)}
    words = row.split(b" ")
    if len(words) != width:
        raise Malformed(f"line {number}: expected {width} numbers with single spaces between, found {row[:40]!r}")
    for word in words:
        if word not in allowed:
            raise Malformed(f"line {number}: expected a number from 1 to {size}, found {word[:40]!r}")
    return [allowed[word] for word in words]


if __name__ == "__main__":
    sys.exit(main())
