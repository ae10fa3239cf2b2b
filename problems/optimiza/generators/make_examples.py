"""Write the examples: `data/valid_output`, `data/invalid_output`, `data/invalid_input` and the wrong submissions.

Every entry is worked out by hand on a few small boards; the texts are what a contestant must be told.
`python make_examples.py`, run from anywhere, writes the same bytes every time.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

Walk = list[tuple[int, int]]
Rows = list[list[int]]
Spoil = Callable[[int, Walk, Rows], tuple[int, Walk]]

PACKAGE = Path(__file__).resolve().parent.parent
DATA = PACKAGE / "data"

BOARD = b"4\n1 1 2 2\n1 3 3 2\n1 3 2 2\n1 3 3 4\n"
STEPS = b"3 edge8\n1 2 1\n2 3 1\n1 2 2\n"
KLEIN = b"4 klein8\n1 1 2 2\n1 3 3 2\n1 3 2 2\n1 3 3 4\n"
STRAIGHT = b"4 torus4\n1 1 2 2\n1 3 3 2\n1 3 2 2\n1 3 3 4\n"
TRIANGLE = b"3 hex\n1\n2 1\n3 1 2\n"
NUMBER = "a decimal number without sign, leading zeros or letters"
BYTES = "digits and white space (space, tab, line feed, carriage return)"
LARGEST = 2**63 - 1
EMPTY = "end of file: expected the sum, found nothing"

VALID_OUTPUT = {
    "one-cell": (BOARD, b"4\n1\n4 4\n", "the only 4 alone"),
    "over-the-border": (BOARD, b"6\n4\n4 1\n1 1\n1 4\n3 4\n", "from row 4 to row 1, from column 1 to column 4"),
    "best": (
        BOARD,
        b"26\n12\n1 1\n1 2\n4 1\n3 1\n2 1\n2 4\n2 2\n2 3\n3 2\n4 2\n4 3\n4 4\n",
        "all 1, one 2, all 3 and the 4: nobody can collect more",
    ),
    "any-space": (BOARD, b"\t 2 2\r\n\r\n4\t1  1 1 \n\n", "any white space may separate the numbers"),
    "no-line-end": (BOARD, b"3 1 2 2", "the last line need not be ended"),
    "cell-again": (STEPS, b"3\n3\n1 1\n1 3\n1 1\n", "there and back are two steps"),
    "mirrored": (KLEIN, b"5\n2\n1 1\n4 4\n", "straight up from column 1 is column 4"),
    "triangle": (TRIANGLE, b"2\n2\n1 1\n2 2\n", "down with one to the right"),
}

INVALID_OUTPUT = {
    "empty": (BOARD, b"", EMPTY),
    "only-space": (BOARD, b" \n\t\n", EMPTY),
    "sum-alone": (BOARD, b"6\n", "end of file: expected the number of cells, found nothing"),
    "no-cells": (BOARD, b"6\n4\n", "end of file: expected 8 numbers for 4 cells, found 0"),
    "missing-number": (BOARD, b"2\n2\n4 1\n1\n", "end of file: expected 4 numbers for 2 cells, found 3"),
    "extra-number": (BOARD, b"2\n2\n4 1\n1 1 7\n", "line 4: expected nothing after 2 cells, found 1 more numbers"),
    "extra-cell": (BOARD, b"2\n2\n4 1\n1 1\n1 2\n", "line 5: expected nothing after 2 cells, found 2 more numbers"),
    "extra-word": (BOARD, b"1\n1\n1 1\nend\n", f'line 4: expected {NUMBER}, found "end"'),
    "count-zero": (BOARD, b"0\n0\n", "line 2: expected 1 to 16 cells, found 0"),
    "count-too-large": (BOARD, b"1\n17\n1 1\n", "line 2: expected 1 to 16 cells, found 17"),
    "count-huge": (BOARD, b"1\n1000000000000\n", "line 2: expected 1 to 16 cells, found 1000000000000"),
    "too-many-numbers": (BOARD, b"1\n1\n" + b"1 1\n" * 17, 'line 19: expected at most 34 numbers, found more: "1"'),
    "sum-negative": (BOARD, b"-1\n1\n1 1\n", f'line 1: expected {NUMBER}, found "-1"'),
    "minus-zero": (BOARD, b"-0\n1\n1 1\n", f'line 1: expected {NUMBER}, found "-0"'),
    "plus-sign": (BOARD, b"+1\n1\n1 1\n", f'line 1: expected {NUMBER}, found "+1"'),
    "leading-zero": (BOARD, b"1\n01\n1 1\n", f'line 2: expected {NUMBER}, found "01"'),
    "double-zero": (BOARD, b"00\n1\n1 1\n", f'line 1: expected {NUMBER}, found "00"'),
    "decimal-point": (BOARD, b"1.0\n1\n1 1\n", f'line 1: expected {NUMBER}, found "1.0"'),
    "exponent": (BOARD, b"1e0\n1\n1 1\n", f'line 1: expected {NUMBER}, found "1e0"'),
    "hexadecimal": (BOARD, b"0x1\n1\n1 1\n", f'line 1: expected {NUMBER}, found "0x1"'),
    "underscore": (BOARD, b"1_0\n1\n1 1\n", f'line 1: expected {NUMBER}, found "1_0"'),
    "comma": (BOARD, b"1\n1\n1,1\n", f'line 3: expected {NUMBER}, found "1,1"'),
    "plus-2-to-32": (
        BOARD,
        f"1\n1\n1 {2**32 + 1}\n".encode(),
        f"cell 1 (line 3): expected a cell of the board, found (1, {2**32 + 1})",
    ),
    "sum-plus-2-to-32": (
        BOARD,
        f"{2**32 + 1}\n1\n1 1\n".encode(),
        f"line 1: expected 1, the sum of the 1 cells, found {2**32 + 1}",
    ),
    "count-plus-2-to-32": (
        BOARD,
        f"1\n{2**32 + 1}\n1 1\n".encode(),
        f"line 2: expected 1 to 16 cells, found {2**32 + 1}",
    ),
    "plus-2-to-64": (
        BOARD,
        f"1\n1\n1 {2**64 + 1}\n".encode(),
        f'line 3: expected a number up to {LARGEST}, found "{2**64 + 1}"',
    ),
    "2-to-63": (BOARD, f"1\n1\n1 {2**63}\n".encode(), f'line 3: expected a number up to {LARGEST}, found "{2**63}"'),
    "largest": (
        BOARD,
        f"1\n1\n{LARGEST} {LARGEST}\n".encode(),
        f"cell 1 (line 3): expected a cell of the board, found ({LARGEST}, {LARGEST})",
    ),
    "thousands-of-digits": (
        BOARD,
        b"1" + b"0" * 4000 + b"\n",
        f'line 1: expected a number up to {LARGEST}, found "1{"0" * 39}"... (4001 bytes)',
    ),
    "nul": (BOARD, b"1\n1\n1 1\0\n", f'line 3: expected {BYTES}, found "1\\x00"'),
    "form-feed": (BOARD, b"1\f1\n1 1\n", f'line 1: expected {BYTES}, found "1\\x0c1"'),
    "vertical-tab": (BOARD, b"1\n1\n1\v1\n", f'line 3: expected {BYTES}, found "1\\x0b1"'),
    "byte-order-mark": (BOARD, b"\xef\xbb\xbf1\n1\n1 1\n", f'line 1: expected {BYTES}, found "\\xef\\xbb\\xbf1"'),
    "no-break-space": (BOARD, "1\n1\n1\u00a01\n".encode(), f'line 3: expected {BYTES}, found "1\\xc2\\xa01"'),
    "full-width-digit": (BOARD, "\uff11\n1\n1 1\n".encode(), f'line 1: expected {BYTES}, found "\\xef\\xbc\\x91"'),
    "arabic-indic-digit": (BOARD, "1\n1\n\u0661 1\n".encode(), f'line 3: expected {BYTES}, found "\\xd9\\xa1"'),
    "row-zero": (BOARD, b"1\n1\n0 1\n", "cell 1 (line 3): expected a cell of the board, found (0, 1)"),
    "column-five": (BOARD, b"1\n1\n1 5\n", "cell 1 (line 3): expected a cell of the board, found (1, 5)"),
    "outside-triangle": (TRIANGLE, b"1\n1\n1 2\n", "cell 1 (line 3): expected a cell of the board, found (1, 2)"),
    "wrong-distance": (
        BOARD,
        b"3\n2\n1 1\n1 3\n",
        "cell 2 (line 4): expected a cell 1 away from (1, 1) in a straight line, found (1, 3)",
    ),
    "knights-move": (
        BOARD,
        b"5\n2\n1 4\n2 2\n",
        "cell 2 (line 4): expected a cell 2 away from (1, 4) in a straight line, found (2, 2)",
    ),
    "no-move": (
        BOARD,
        b"2\n2\n1 1\n1 1\n",
        "cell 2 (line 4): expected a cell 1 away from (1, 1) in a straight line, found (1, 1)",
    ),
    "diagonal-on-torus4": (
        STRAIGHT,
        b"2\n2\n1 2\n2 1\n",
        "cell 2 (line 4): expected a cell 1 away from (1, 2) in a straight line, found (2, 1)",
    ),
    "not-mirrored": (
        KLEIN,
        b"2\n2\n1 2\n4 1\n",
        "cell 2 (line 4): expected a cell 1 away from (1, 2) in a straight line, found (4, 1)",
    ),
    "other-diagonal-on-hex": (
        TRIANGLE,
        b"3\n2\n2 2\n3 1\n",
        "cell 2 (line 4): expected a cell 1 away from (2, 2) in a straight line, found (3, 1)",
    ),
    "downhill": (BOARD, b"3\n2\n1 4\n1 2\n", "cell 2 (line 4): expected a value of at least 2, found 1 at (1, 2)"),
    "visited": (
        BOARD,
        b"3\n3\n1 1\n1 2\n1 1\n",
        "cell 3 (line 5): expected a cell not visited before, found that of cell 1, (1, 1)",
    ),
    "step-again": (
        STEPS,
        b"4\n4\n1 1\n1 3\n1 1\n1 3\n",
        "cell 4 (line 6): expected a step not made before, found that of cell 2, (1, 3)",
    ),
    "sum-too-large": (BOARD, b"3\n2\n1 1\n1 2\n", "line 1: expected 2, the sum of the 2 cells, found 3"),
    "sum-without-the-start": (BOARD, b"3\n3\n4 1\n1 1\n1 4\n", "line 1: expected 4, the sum of the 3 cells, found 3"),
}

INVALID_INPUT = {
    "empty": (b"", "an empty file"),
    "size-missing": (b"1 1\n1 2\n", "no size, and too few rows for it"),
    "size-one": (b"1\n1\n", "a size of 1"),
    "size-41": (b"41\n" + b" ".join([b"1"] * 41) + b"\n", "a size above 40"),
    "size-leading-zero": (b"02\n1 1\n1 2\n", "a leading zero"),
    "size-plus": (b"+2\n1 1\n1 2\n", "a plus sign"),
    "size-space": (b"2 \n1 1\n1 2\n", "a space behind the size and no variant"),
    "variant-unknown": (b"2 moebius\n1 1\n1 2\n", "a variant that there is not"),
    "variant-capital": (b"2 HEX\n1\n1 2\n", "a variant in capitals"),
    "variant-twice": (b"2 hex hex\n1\n1 2\n", "two variants"),
    "variant-two-spaces": (b"2  hex\n1\n1 2\n", "two spaces before the variant"),
    "duel": (b"2 duel\n1 1\n1 2\n", "a game for two, not a board for one"),
    "row-missing": (b"2\n1 1\n", "one row of two"),
    "row-extra": (b"2\n1 1\n1 2\n1 1\n", "three rows of two"),
    "row-short": (b"2\n1\n1 2\n", "a row of one"),
    "row-long": (b"2\n1 1 1\n1 2\n", "a row of three"),
    "row-space": (b"2\n1 1 \n1 2\n", "a space at the end of a row"),
    "row-two-spaces": (b"2\n1  1\n1 2\n", "two spaces between numbers"),
    "row-tab": (b"2\n1\t1\n1 2\n", "a tab between numbers"),
    "triangle-square": (b"2 hex\n1 1\n1 2\n", "a triangle with a square's first row"),
    "number-zero": (b"2\n1 0\n1 2\n", "a number below 1"),
    "number-three": (b"2\n1 1\n3 2\n", "a number above N"),
    "number-leading-zero": (b"2\n1 01\n1 2\n", "a leading zero in a row"),
    "number-letter": (b"2\n1 a\n1 2\n", "a letter in a row"),
    "carriage-return": (b"2\r\n1 1\r\n1 2\r\n", "line ends of another system"),
    "no-line-end": (b"2\n1 1\n1 2", "the last row is not ended"),
    "blank-line": (b"2\n1 1\n1 2\n\n", "a line behind the board"),
    "nul": (b"2\n1 \0\n1 2\n", "a NUL in a row"),
    "two-greatest": (b"2\n1 1\n2 2\n", "two copies of N"),
    "no-greatest": (b"2\n1 1\n1 1\n", "no copy of N"),
    "copies": (b"3\n1 1 1\n1 1 2\n2 2 3\n", "five 1 and three 2 instead of four each"),
    "triangle-copies": (b"2 hex\n1\n2 2\n", "one 1 and two 2 instead of two and one"),
}


def main() -> None:
    """Write all of them."""
    for number, (name, (board, output, text)) in enumerate(VALID_OUTPUT.items(), start=1):
        write_output("valid_output", f"valid-{number:02}-{name}", board, output, text)
    for number, (name, (board, output, text)) in enumerate(INVALID_OUTPUT.items(), start=1):
        write_output("invalid_output", f"invalid-{number:02}-{name}", board, output, text)
    for number, (name, (data, text)) in enumerate(INVALID_INPUT.items(), start=1):
        write("invalid_input", f"malformed-{number:02}-{name}", {"in": data}, text)
    for folder, spoil in WRONG.items():
        write_wrong(folder, spoil)


def write_output(folder: str, name: str, board: bytes, output: bytes, text: str) -> None:
    """Write one answer file with its board and anchors."""
    write(folder, name, {"in": board, "ans": ANCHORS_OF[board], "out": output}, text)


def write(folder: str, name: str, files: dict[str, bytes], text: str) -> None:
    """Write the files of one example, and the text as its description (a JSON string is a YAML string)."""
    (DATA / folder).mkdir(parents=True, exist_ok=True)
    for extension, data in files.items():
        (DATA / folder / f"{name}.{extension}").write_bytes(data)
    (DATA / folder / f"{name}.yaml").write_text(f"description: {json.dumps(text)}\n", encoding="utf-8")


def write_wrong(folder: str, spoil: Spoil) -> None:
    """Write the reference's answers as a program with one fault would."""
    target = PACKAGE / "submissions/wrong_answer" / folder
    target.mkdir(parents=True, exist_ok=True)
    for path in sorted((PACKAGE / "submissions/accepted/reference").glob("*.out")):
        (board,) = DATA.glob(f"s*/{path.stem}.in")
        _, *rows = board.read_text(encoding="ascii").splitlines()
        values = [[int(word) for word in row.split(" ")] for row in rows]
        total, _, *lines = path.read_text(encoding="ascii").splitlines()
        cells = [(int(row), int(column)) for row, column in (line.split(" ") for line in lines)]
        total, cells = spoil(int(total), cells, values)
        text = [str(total), str(len(cells)), *(f"{row} {column}" for row, column in cells)]
        (target / path.name).write_text("\n".join(text) + "\n", encoding="ascii")


def sum_off_by_start(total: int, cells: Walk, values: Rows) -> tuple[int, Walk]:
    """Collect on landing only."""
    row, column = cells[0]
    return total - values[row - 1][column - 1], cells


def there_and_back(total: int, cells: Walk, values: Rows) -> tuple[int, Walk]:
    """Go once to and fro between the first two cells of equal value (else the first two): they are visited twice."""
    numbers = [values[row - 1][column - 1] for row, column in cells]
    at = next((at for at in range(len(cells) - 1) if numbers[at] == numbers[at + 1]), 0)
    return total + numbers[at] + numbers[at + 1], [*cells[: at + 2], *cells[at:]]


def downhill(total: int, cells: Walk, values: Rows) -> tuple[int, Walk]:
    """Walk from the end to the start."""
    return total, cells[::-1]


def border_as_zero(total: int, cells: Walk, values: Rows) -> tuple[int, Walk]:
    """Wrap with a remainder and forget that cells are counted from 1: N becomes 0."""
    size = len(values)
    return total, [(row % size, column % size) for row, column in cells]


WRONG = {
    "sum_off_by_start": sum_off_by_start,
    "there_and_back": there_and_back,
    "downhill": downhill,
    "border_as_zero": border_as_zero,
}
ANCHORS_OF = {
    BOARD: b"x 21\ny 20\nbest 26\n",
    STEPS: b"x 24\ny 33\nbest 42\n",
    KLEIN: b"x 18\ny 22\nbest 26\n",
    STRAIGHT: b"x 19\ny 15\nbest 23\n",
    TRIANGLE: b"x 7\ny 5\nbest 8\n",
}

if __name__ == "__main__":
    main()
