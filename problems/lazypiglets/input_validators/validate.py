"""Validate a lazypiglets input on stdin: exit code 42 if it is valid, otherwise 43 with one line on stderr."""

from __future__ import annotations

import sys

VALID, INVALID = 42, 43
LARGEST_SIZE, MOST_PIGS = 22, 4


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
    lines = data[:-1].split(b"\n")
    size = read_number(lines, 1, LARGEST_SIZE)
    rows = lines[1 : 1 + size]
    for number, row in enumerate(rows, start=2):
        if len(row) != size or set(row) - set(b".#"):
            raise Malformed(f"line {number}: expected {size} characters . or #, found {row[:40]!r}")
    pigs = read_number(lines, size + 2, MOST_PIGS)
    last = size + 2 + 2 * pigs
    if len(lines) != last:
        raise Malformed(f"end of file: expected {last} lines, found {len(lines)}")
    for first in (size + 3, size + 3 + pigs):
        cells = [read_cell(lines, number, rows) for number in range(first, first + pigs)]
        if len(set(cells)) < pigs:
            raise Malformed(f"line {first}: expected {pigs} different cells from here on, found {cells}")


def read_number(lines: list[bytes], number: int, most: int) -> int:
    """Read the line with this number, counted from 1, as a number from 1 to `most`."""
    line = lines[number - 1] if number <= len(lines) else b""
    if line not in [b"%d" % value for value in range(1, most + 1)]:
        raise Malformed(f"line {number}: expected a number from 1 to {most}, found {line[:40]!r}")
    return int(line)


def read_cell(lines: list[bytes], number: int, rows: list[bytes]) -> tuple[int, int]:
    """Read a free cell as `r c`."""
    line = lines[number - 1]
    fits = {b"%d %d" % (r, c): (r, c) for r in range(1, len(rows) + 1) for c in range(1, len(rows) + 1)}
    if line not in fits:
        raise Malformed(f"line {number}: expected a row and a column from 1 to {len(rows)}, found {line[:40]!r}")
    row, column = fits[line]
    if rows[row - 1][column - 1] == ord("#"):
        raise Malformed(f"line {number}: expected a free cell, found a tree at {row} {column}")
    return row, column


if __name__ == "__main__":
    sys.exit(main())
