"""Write the examples: `data/valid_output`, `data/invalid_output` and `data/invalid_input`.

Every entry is worked out by hand on one small game; the texts are what a contestant must be told.
`python make_examples.py`, run from anywhere, writes the same bytes every time.
"""

from __future__ import annotations

import json
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"

START = b"""game netgame
opponent optimal
7
0 0 1 0
1 0 2 0
0 1 1 1
1 1 2 1
0 0 0 1
1 0 1 1
2 0 2 1
"""
RIGHT = b"""transcript of a game, version 1
game: netgame
contestant: first
opponent: optimal
seed: 17
position:
    7
    0 0 1 0
    1 0 2 0
    0 1 1 1
    1 1 2 1
    0 0 0 1
    1 0 1 1
    2 0 2 1
moves:
    1 first 0.532 s: 6
end: over, first won
"""


def with_line(old: bytes, new: bytes) -> bytes:
    """Give the right answer with a piece of it replaced."""
    assert RIGHT.count(old) == 1, old
    return RIGHT.replace(old, new)


VALID_OUTPUT = {
    "both-cells": (RIGHT, "the rope between the cells opens both"),
    "other-seed": (
        with_line(b"seed: 17", b"seed: 9223372036854775807"),
        "a seed of 63 bits, which nothing depends on here",
    ),
}

INVALID_OUTPUT = {
    "empty": (b"", 'line 1: expected "transcript of a game, version 1", found the end of the file'),
    "a-move": (b"1\n", 'line 1: expected "transcript of a game, version 1", found "1"'),
    "other-game": (with_line(b"game: netgame", b"game: lasttreat"), 'game: expected "netgame", found "lasttreat"'),
    "other-opponent": (
        with_line(b"opponent: optimal", b"opponent: random"),
        'opponent: expected "optimal", found "random"',
    ),
    "other-side": (with_line(b"contestant: first", b"contestant: second"), 'side: expected "first", found "second"'),
    "other-start": (
        with_line(b"    2 0 2 1\n", b"    2 1 2 2\n"),
        'position, line 8: expected "2 0 2 1", found "2 1 2 2"',
    ),
    "seed-negative": (
        with_line(b"seed: 17", b"seed: -1"),
        'line 5: expected "seed: " and a number from 0 to 9223372036854775807, found "seed: -1"',
    ),
    "no-side": (with_line(b"s: 6", b"s: 8"), 'move 1: expected the number of a rope, 1 to 7, found "8"'),
    "letters": (with_line(b"s: 6", b"s: six"), 'move 1: expected the number of a rope, 1 to 7, found "six"'),
    "two-ropes": (with_line(b"s: 6", b"s: 6 1"), 'move 1: expected the number of a rope, 1 to 7, found "6 1"'),
    "out-of-turn": (with_line(b"1 first", b"1 second"), "move 1: expected a move of first, found one of second"),
    "resigned": (
        with_line(b"end: over, first won", b"end: resigned, second won"),
        "end: expected over, found resigned",
    ),
    "no-end": (with_line(b"end: over, first won\n", b""), "end: expected over, found a game that goes on"),
    "end-untrue": (
        with_line(b"over, first won", b"over, second won"),
        "end: expected first won, found second won",
    ),
    "no-line-end": (RIGHT[:-1], 'line 17: expected a line feed at the end of the file, found "end: over, first won"'),
}

INVALID_INPUT = {
    "empty": (b"", "an empty file"),
    "unknown-opponent": (START.replace(b"optimal", b"nobody"), "an opponent that there is not"),
    "rope-missing": (START.replace(b"2 0 2 1\n", b""), "six ropes of seven"),
    "rope-again": (START.replace(b"2 0 2 1\n", b"0 1 0 0\n"), "a rope twice, its ends the other way round"),
    "long-rope": (START.replace(b"2 0 2 1\n", b"2 0 2 2\n"), "a rope of length 2"),
    "outside": (START.replace(b"2 0 2 1\n", b"50 0 51 0\n"), "a rope that leaves the grid"),
    "leading-zero": (START.replace(b"7\n", b"07\n", 1), "a leading zero"),
    "no-line-end": (START[:-1], "the last line is not ended"),
}


def main() -> None:
    """Write all of them."""
    for number, (name, (output, text)) in enumerate(VALID_OUTPUT.items(), start=1):
        write_output("valid_output", f"valid-{number:02}-{name}", output, text)
    for number, (name, (output, text)) in enumerate(INVALID_OUTPUT.items(), start=1):
        write_output("invalid_output", f"invalid-{number:02}-{name}", output, text)
    for number, (name, (data, text)) in enumerate(INVALID_INPUT.items(), start=1):
        write("invalid_input", f"malformed-{number:02}-{name}", {"in": data}, text)


def write_output(folder: str, name: str, output: bytes, text: str) -> None:
    """Write one answer file with its start and the right answer."""
    write(folder, name, {"in": START, "ans": RIGHT, "out": output}, text)


def write(folder: str, name: str, files: dict[str, bytes], text: str) -> None:
    """Write the files of one example, and the text as its description (a JSON string is a YAML string)."""
    (DATA / folder).mkdir(parents=True, exist_ok=True)
    for extension, data in files.items():
        (DATA / folder / f"{name}.{extension}").write_bytes(data)
    (DATA / folder / f"{name}.yaml").write_text(f"description: {json.dumps(text)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
