"""Validate a comesolo input on stdin: exit code 42 if it is valid, otherwise 43 with one line on stderr."""

from __future__ import annotations

import sys

VALID, INVALID = 42, 43
DIRECTIONS = [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]


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
    if first not in [b"%d" % size for size in range(1, 31)]:
        raise Malformed(f"line 1: expected a size from 1 to 30, found {first[:40]!r}")
    size = int(first)
    if len(rows) != size:
        raise Malformed(f"end of file: expected {size} rows, found {len(rows)}")
    for number, row in enumerate(rows, start=2):
        if len(row) != size or row.strip(b"o."):
            raise Malformed(f"line {number}: expected {size} characters o or ., found {row[:40]!r}")
        if set(row) - set(b"o."):
            raise Malformed(f"line {number}: expected only o and ., found {row[:40]!r}")
    validate_board(rows)


def validate_board(rows: list[bytes]) -> None:
    """Check that there is something to eat."""
    pieces = sum(row.count(b"o") for row in rows)
    if pieces < 2:
        raise Malformed(f"board: expected at least 2 pieces, found {pieces}")
    if not has_jump([row.decode("ascii") for row in rows]):
        raise Malformed("board: expected at least one legal jump, found none")


def has_jump(rows: list[str]) -> bool:
    """Say whether any piece can jump."""
    size = len(rows)
    return any(
        rows[r][c] == rows[r + down][c + right] == "o" and rows[r + 2 * down][c + 2 * right] == "."
        for r in range(size)
        for c in range(size)
        for down, right in DIRECTIONS
        if 0 <= r + 2 * down < size and 0 <= c + 2 * right < size
    )


if __name__ == "__main__":
    sys.exit(main())
