"""Write the examples: `data/valid_output`, `data/invalid_output`, `data/invalid_input` and a wrong submission.

Every entry is worked out by hand on one small board; the texts are what a contestant must be told.
`python make_examples.py`, run from anywhere, writes the same bytes every time.
"""

from __future__ import annotations

import json
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
DATA = PACKAGE / "data"

BOARD = b"4\noo..\n.o..\n..o.\no..o\n"
ANCHORS = b"par 1\nbest 5\n"
JUMP = "a landing cell two cells away in a row, a column or a diagonal"
NUMBER = "a decimal number without sign, leading zeros or letters"
BYTES = "digits and white space (space, tab, line feed, carriage return)"
LARGEST = 2**63 - 1

VALID_OUTPUT = {
    "nothing": (b"0\n", "no jump at all is legal"),
    "one-jump": (b"1\n0 1 2 1\n", "a jump down a column"),
    "best": (b"5\n0 0 0 2\n0 2 2 0\n3 0 1 0\n3 3 1 1\n1 0 1 2\n", "one piece is left: nobody can eat more"),
    "any-space": (b"\t 3 0 0 0 2\r\n\r\n0\t2  2 0 3\n0 1 0 \n\n", "any white space may separate the numbers"),
    "no-line-end": (b"1 0 1 2 1", "the last line need not be ended"),
}

INVALID_OUTPUT = {
    "empty": (b"", "end of file: expected the number of jumps, found an empty file"),
    "only-space": (b" \n\t\n", "end of file: expected the number of jumps, found an empty file"),
    "no-jumps": (b"1\n", "end of file: expected 4 numbers for 1 jumps, found 0"),
    "missing-number": (b"2\n0 0 0 2\n0 2 2\n", "end of file: expected 8 numbers for 2 jumps, found 7"),
    "extra-number": (b"1\n0 0 0 2 7\n", "line 2: expected nothing after 1 jumps, found 1 more numbers"),
    "extra-jump": (b"1\n0 0 0 2\n0 2 2 0\n", "line 3: expected nothing after 1 jumps, found 4 more numbers"),
    "extra-word": (b"1\n0 0 0 2\nend\n", f'line 3: expected {NUMBER}, found "end"'),
    "count-too-large": (b"6\n0 0 0 2\n", "line 1: expected at most 5 jumps (pieces minus 1), found 6"),
    "count-huge": (b"1000000000000\n", "line 1: expected at most 5 jumps (pieces minus 1), found 1000000000000"),
    "too-many-numbers": (b"5\n" + b"0 0 0 2\n" * 6, 'line 7: expected at most 21 numbers, found more: "0"'),
    "count-negative": (b"-1\n", f'line 1: expected {NUMBER}, found "-1"'),
    "minus-zero": (b"1\n-0 0 0 2\n", f'line 2: expected {NUMBER}, found "-0"'),
    "plus-sign": (b"+1\n0 0 0 2\n", f'line 1: expected {NUMBER}, found "+1"'),
    "leading-zero": (b"01\n0 0 0 2\n", f'line 1: expected {NUMBER}, found "01"'),
    "double-zero": (b"1\n00 0 0 2\n", f'line 2: expected {NUMBER}, found "00"'),
    "decimal-point": (b"1.0\n0 0 0 2\n", f'line 1: expected {NUMBER}, found "1.0"'),
    "exponent": (b"1e0\n0 0 0 2\n", f'line 1: expected {NUMBER}, found "1e0"'),
    "hexadecimal": (b"1\n0x0 0 0 2\n", f'line 2: expected {NUMBER}, found "0x0"'),
    "underscore": (b"1_0\n0 0 0 2\n", f'line 1: expected {NUMBER}, found "1_0"'),
    "comma": (b"1\n0, 0, 0, 2\n", f'line 2: expected {NUMBER}, found "0,"'),
    "plus-2-to-32": (
        f"1\n0 0 {2**32} 2\n".encode(),
        f"jump 1 (line 2): expected rows and columns below 4, found {2**32}",
    ),
    "count-plus-2-to-32": (
        f"{2**32 + 1}\n0 0 0 2\n".encode(),
        f"line 1: expected at most 5 jumps (pieces minus 1), found {2**32 + 1}",
    ),
    "plus-2-to-64": (f"1\n0 0 {2**64} 2\n".encode(), f'line 2: expected a number up to {LARGEST}, found "{2**64}"'),
    "2-to-63": (f"1\n0 0 {2**63} 2\n".encode(), f'line 2: expected a number up to {LARGEST}, found "{2**63}"'),
    "thousands-of-digits": (
        b"1" + b"0" * 4000 + b"\n",
        f'line 1: expected a number up to {LARGEST}, found "1{"0" * 39}"... (4001 bytes)',
    ),
    "nul": (b"1\n0 0 0 2\0\n", f'line 2: expected {BYTES}, found "2\\x00"'),
    "form-feed": (b"1\f0 0 0 2\n", f'line 1: expected {BYTES}, found "1\\x0c0"'),
    "vertical-tab": (b"1\n0\v0 0 2\n", f'line 2: expected {BYTES}, found "0\\x0b0"'),
    "byte-order-mark": (b"\xef\xbb\xbf0\n", f'line 1: expected {BYTES}, found "\\xef\\xbb\\xbf0"'),
    "no-break-space": ("1\u00a00 0 0 2\n".encode(), f'line 1: expected {BYTES}, found "1\\xc2\\xa00"'),
    "full-width-digit": ("\uff11\n0 0 0 2\n".encode(), f'line 1: expected {BYTES}, found "\\xef\\xbc\\x91"'),
    "arabic-indic-digit": ("1\n\u0660 0 0 2\n".encode(), f'line 2: expected {BYTES}, found "\\xd9\\xa0"'),
    "off-the-board": (b"1\n1 1 1 4\n", "jump 1 (line 2): expected rows and columns below 4, found 4"),
    "not-straight": (b"1\n0 0 1 2\n", f"jump 1 (line 2): expected {JUMP}, found (0, 0) to (1, 2)"),
    "one-cell": (b"1\n0 1 0 2\n", f"jump 1 (line 2): expected {JUMP}, found (0, 1) to (0, 2)"),
    "three-cells": (b"1\n0 0 0 3\n", f"jump 1 (line 2): expected {JUMP}, found (0, 0) to (0, 3)"),
    "no-move": (b"1\n0 0 0 0\n", f"jump 1 (line 2): expected {JUMP}, found (0, 0) to (0, 0)"),
    "from-empty": (b"1\n0 2 2 0\n", "jump 1 (line 2): expected a piece to jump with, found an empty cell at (0, 2)"),
    "over-empty": (b"1\n3 0 3 2\n", "jump 1 (line 2): expected a piece to jump over, found an empty cell at (3, 1)"),
    "onto-piece": (b"1\n0 0 2 2\n", "jump 1 (line 2): expected an empty cell to land on, found a piece at (2, 2)"),
    "eaten-twice": (
        b"2\n0 0 0 2\n0 1 2 1\n",
        "jump 2 (line 3): expected a piece to jump with, found an empty cell at (0, 1)",
    ),
}

INVALID_INPUT = {
    "empty": (b"", "an empty file"),
    "size-missing": (b"oo.\n...\n...\n", "no size"),
    "size-zero": (b"0\n", "a size of 0"),
    "size-31": (b"31\n" + (b"o" * 30 + b".\n") * 31, "a size above 30"),
    "size-leading-zero": (b"03\noo.\n...\n...\n", "a leading zero"),
    "size-plus": (b"+3\noo.\n...\n...\n", "a plus sign"),
    "size-space": (b"3 \noo.\n...\n...\n", "a space behind the size"),
    "row-missing": (b"3\noo.\n...\n", "two rows of three"),
    "row-extra": (b"3\noo.\n...\n...\n...\n", "four rows of three"),
    "row-short": (b"3\noo.\n..\n...\n", "a row of two"),
    "row-long": (b"3\noo.\n....\n...\n", "a row of four"),
    "capital": (b"3\noO.\n...\n...\n", "a letter that is no piece"),
    "carriage-return": (b"3\r\noo.\r\n...\r\n...\r\n", "line ends of another system"),
    "no-line-end": (b"3\noo.\n...\n...", "the last row is not ended"),
    "blank-line": (b"3\noo.\n...\n...\n\n", "a line behind the board"),
    "nul": (b"3\noo.\n.\0.\n...\n", "a NUL in a row"),
    "no-piece": (b"3\n...\n...\n...\n", "nothing to jump with"),
    "one-piece": (b"3\no..\n...\n...\n", "nothing to eat"),
    "no-jump": (b"3\no.o\n...\no.o\n", "four pieces, none beside another"),
    "full": (b"3\nooo\nooo\nooo\n", "no cell to land on"),
    "size-1": (b"1\no\n", "too small for a jump"),
}


def main() -> None:
    """Write all of them."""
    for number, (name, (output, text)) in enumerate(VALID_OUTPUT.items(), start=1):
        write_output("valid_output", f"valid-{number:02}-{name}", output, text)
    for number, (name, (output, text)) in enumerate(INVALID_OUTPUT.items(), start=1):
        write_output("invalid_output", f"invalid-{number:02}-{name}", output, text)
    for number, (name, (data, text)) in enumerate(INVALID_INPUT.items(), start=1):
        write("invalid_input", f"malformed-{number:02}-{name}", {"in": data}, text)
    write_one_based()


def write_output(folder: str, name: str, output: bytes, text: str) -> None:
    """Write one answer file with its board and anchors."""
    write(folder, name, {"in": BOARD, "ans": ANCHORS, "out": output}, text)


def write(folder: str, name: str, files: dict[str, bytes], text: str) -> None:
    """Write the files of one example, and the text as its description (a JSON string is a YAML string)."""
    (DATA / folder).mkdir(parents=True, exist_ok=True)
    for extension, data in files.items():
        (DATA / folder / f"{name}.{extension}").write_bytes(data)
    (DATA / folder / f"{name}.yaml").write_text(f"description: {json.dumps(text)}\n", encoding="utf-8")


def write_one_based() -> None:
    """Write the reference's answers as someone who counts rows and columns from 1 would."""
    folder = PACKAGE / "submissions/wrong_answer/one_based"
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted((PACKAGE / "submissions/accepted/reference").glob("*.out")):
        count, *jumps = path.read_text(encoding="ascii").splitlines()
        lines = [count, *(" ".join(str(int(number) + 1) for number in jump.split()) for jump in jumps)]
        (folder / path.name).write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
