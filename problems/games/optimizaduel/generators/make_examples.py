"""Write the examples: `data/valid_output`, `data/invalid_output` and `data/invalid_input`.

Every entry is worked out by hand on one small game; the texts are what a contestant must be told.
`python make_examples.py`, run from anywhere, writes the same bytes every time.
"""

from __future__ import annotations

import json
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"

START = b"game optimiza\nopponent optimal\n3\n1 1 2\n2 3 1\n1 2 2\nwalk 3 2\n"
RIGHT = b"""transcript of a game, version 1
game: optimiza
contestant: B
opponent: optimal
seed: 17
position:
    3
    1 1 2
    2 3 1
    1 2 2
    walk 3 2
moves:
    1 B 0.532 s: B
    2 B 1.250 s: 2 2
end: over, B won
"""


def with_line(old: bytes, new: bytes) -> bytes:
    """Give the right answer with a piece of it replaced."""
    assert RIGHT.count(old) == 1, old
    return RIGHT.replace(old, new)


VALID_OUTPUT = {
    "to-the-three": (RIGHT, "B begins, and steps onto the only 3, from which nothing leads on"),
    "other-times": (with_line(b"1.250 s", b"0.000 s"), "the seconds of moves are not judged"),
}

INVALID_OUTPUT = {
    "empty": (b"", 'line 1: expected "transcript of a game, version 1", found the end of the file'),
    "a-move": (b"1\n", 'line 1: expected "transcript of a game, version 1", found "1"'),
    "other-game": (
        with_line(b"game: optimiza", b"game: lasttreat"),
        'line 3: expected "contestant: " and one of first, second, found "contestant: B"',
    ),
    "other-opponent": (
        with_line(b"opponent: optimal", b"opponent: random"),
        'opponent: expected "optimal", found "random"',
    ),
    "other-side": (with_line(b"contestant: B", b"contestant: A"), 'side: expected "B", found "A"'),
    "other-start": (
        with_line(b"    walk 3 2\n", b"    walk 3 3\n"),
        'position, line 5: expected "walk 3 2", found "walk 3 3"',
    ),
    "seed-negative": (
        with_line(b"seed: 17", b"seed: -1"),
        'line 5: expected "seed: " and a number from 0 to 9223372036854775807, found "seed: -1"',
    ),
    "off-the-board": (
        with_line(b"s: 2 2", b"s: 4 2"),
        'move 2: expected a cell r c of the board, 1 to 3 each, found "4 2"',
    ),
    "too-far": (with_line(b"s: 2 2", b"s: 1 1"), "move 2: expected a value of at least 2, found 1 at (1, 1)"),
    "there-again": (
        with_line(b"s: 2 2", b"s: 3 2"),
        "move 2: expected a cell 2 away from (3, 2) in a straight line, found (3, 2)",
    ),
    "nobody-begins": (with_line(b"s: B", b"s: C"), 'move 1: expected who begins, A or B, found "C"'),
    "b-steps-out-of-turn": (with_line(b"s: B", b"s: A"), "move 2: expected a move of A, found one of B"),
    "resigned": (with_line(b"end: over, B won", b"end: resigned, A won"), "end: expected over, found resigned"),
    "no-end": (with_line(b"end: over, B won\n", b""), "end: expected over, found a game that goes on"),
    "end-untrue": (with_line(b"over, B won", b"over, A won"), "end: expected B won, found A won"),
    "no-line-end": (RIGHT[:-1], 'line 15: expected a line feed at the end of the file, found "end: over, B won"'),
}

INVALID_INPUT = {
    "empty": (b"", "an empty file"),
    "unknown-opponent": (START.replace(b"optimal", b"one"), "an opponent that this game does not have"),
    "row-missing": (START.replace(b"1 2 2\n", b""), "two rows of three"),
    "copies": (START.replace(b"1 2 2\n", b"1 2 1\n"), "five times the number 1"),
    "two-spaces": (START.replace(b"1 2 2\n", b"1  2 2\n"), "two spaces"),
    "off-the-board": (START.replace(b"walk 3 2", b"walk 4 2"), "a cell outside the board"),
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
