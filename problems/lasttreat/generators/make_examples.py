"""Write the examples: `data/valid_output`, `data/invalid_output`, `data/invalid_input` and two false submissions.

Every entry is worked out by hand on five small positions; the texts are what a contestant must be told.
`python make_examples.py`, run from anywhere, writes the same bytes every time.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from math import isqrt
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
DATA = PACKAGE / "data"

POSITIONS = b"5\n1 0 1\n0 2 2\n2 4 2\n3 5 4\n5 5 10\n"
RIGHT = b"1 0\n0 2\n0 0\n3 0\n5 5\n"
NUMBER = "a decimal number without sign, leading zeros or letters"
BYTES = "digits and white space (space, tab, line feed, carriage return)"
WINNING = "a winning move, or 0 0 where there is none"
MOVE = "a number from one pile or the same number from both"
MISSING = "end of file: expected 10 numbers for 5 positions"
LARGEST = 2**63 - 1

VALID_OUTPUT = {
    "right": (RIGHT, "every line is right"),
    "any-space": (b"\t1 0 0 2\r\n\r\n0\t0 3 0\n5 5 \n\n", "any white space may separate the numbers"),
    "no-line-end": (RIGHT[:-1], "the last line need not be ended"),
}


def with_line(number: int, line: bytes) -> bytes:
    """Give the right answer with one line (counted from 1) replaced."""
    lines = RIGHT.splitlines()
    lines[number - 1] = line
    return b"\n".join(lines) + b"\n"


INVALID_OUTPUT = {
    "empty": (b"", f"{MISSING}, found an empty file"),
    "only-space": (b" \n\t\n", f"{MISSING}, found an empty file"),
    "missing-number": (RIGHT[:-3] + b"\n", f"{MISSING}, found 9"),
    "extra-number": (RIGHT + b"7\n", 'line 6: expected at most 10 numbers, found more: "7"'),
    "extra-word": (RIGHT + b"end\n", f'line 6: expected {NUMBER}, found "end"'),
    "lost-though-won": (with_line(1, b"0 0"), f"position 1: expected {WINNING}, found 0 0"),
    "won-though-lost": (with_line(3, b"1 0"), f"position 3: expected {WINNING}, found 1 0"),
    "move-that-loses": (with_line(4, b"1 1"), f"position 4: expected {WINNING}, found 1 1"),
    "first-of-two": (b"1 0\n0 1\n0 0\n1 1\n5 5\n", f"position 2: expected {WINNING}, found 0 1"),
    "unequal": (with_line(5, b"4 5"), f"position 5 (line 5): expected {MOVE}, found 4 5"),
    "more-than-k": (with_line(3, b"0 3"), "position 3 (line 3): expected at most 2 from a pile, found 3"),
    "more-than-cakes": (with_line(2, b"1 0"), "position 2 (line 2): expected at most 0 cakes, found 1"),
    "more-than-fruit": (with_line(1, b"0 1"), "position 1 (line 1): expected at most 0 pieces of fruit, found 1"),
    "printed-reply": (with_line(2, b"1 1"), "position 2 (line 2): expected at most 0 cakes, found 1"),
    "negative": (with_line(1, b"-1 0"), f'line 1: expected {NUMBER}, found "-1"'),
    "minus-zero": (with_line(1, b"1 -0"), f'line 1: expected {NUMBER}, found "-0"'),
    "plus-sign": (with_line(1, b"+1 0"), f'line 1: expected {NUMBER}, found "+1"'),
    "leading-zero": (with_line(1, b"01 0"), f'line 1: expected {NUMBER}, found "01"'),
    "double-zero": (with_line(1, b"1 00"), f'line 1: expected {NUMBER}, found "00"'),
    "decimal-point": (with_line(1, b"1.0 0"), f'line 1: expected {NUMBER}, found "1.0"'),
    "exponent": (with_line(1, b"1e0 0"), f'line 1: expected {NUMBER}, found "1e0"'),
    "hexadecimal": (with_line(1, b"0x1 0"), f'line 1: expected {NUMBER}, found "0x1"'),
    "underscore": (with_line(5, b"5 0_5"), f'line 5: expected {NUMBER}, found "0_5"'),
    "plus-2-to-32": (
        with_line(1, b"%d 0" % (2**32 + 1)),
        f"position 1 (line 1): expected at most 1 from a pile, found {2**32 + 1}",
    ),
    "plus-2-to-64": (
        with_line(1, b"%d 0" % (2**64 + 1)),
        f'line 1: expected a number up to {LARGEST}, found "{2**64 + 1}"',
    ),
    "thousands-of-digits": (
        with_line(1, b"1" + b"0" * 4000 + b" 0"),
        f'line 1: expected a number up to {LARGEST}, found "1{"0" * 39}"... (4001 bytes)',
    ),
    "nul": (with_line(1, b"1 0\0"), f'line 1: expected {BYTES}, found "0\\x00"'),
    "form-feed": (with_line(1, b"1\f0"), f'line 1: expected {BYTES}, found "1\\x0c0"'),
    "byte-order-mark": (b"\xef\xbb\xbf" + RIGHT, f'line 1: expected {BYTES}, found "\\xef\\xbb\\xbf1"'),
    "no-break-space": (with_line(1, "1\u00a00".encode()), f'line 1: expected {BYTES}, found "1\\xc2\\xa00"'),
    "full-width-digit": (with_line(1, "\uff11 0".encode()), f'line 1: expected {BYTES}, found "\\xef\\xbc\\x91"'),
    "arabic-indic-digit": (with_line(1, "1 \u0660".encode()), f'line 1: expected {BYTES}, found "\\xd9\\xa0"'),
}

INVALID_INPUT = {
    "empty": (b"", "an empty file"),
    "count-zero": (b"0\n", "no positions"),
    "count-large": (b"100001\n1 1 1\n", "more than 100000 positions"),
    "count-leading-zero": (b"01\n1 1 1\n", "a leading zero"),
    "count-plus": (b"+1\n1 1 1\n", "a plus sign"),
    "line-missing": (b"2\n1 1 1\n", "one position of two"),
    "line-extra": (b"1\n1 1 1\n1 1 1\n", "two positions of one"),
    "number-missing": (b"1\n1 1\n", "no K"),
    "number-extra": (b"1\n1 1 1 1\n", "four numbers"),
    "two-spaces": (b"1\n1  1 1\n", "two spaces"),
    "space-behind": (b"1\n1 1 1 \n", "a space behind the last number"),
    "carriage-return": (b"1\r\n1 1 1\r\n", "line ends of another system"),
    "no-line-end": (b"1\n1 1 1", "the last line is not ended"),
    "blank-line": (b"1\n1 1 1\n\n", "a line behind the positions"),
    "negative": (b"1\n-1 1 1\n", "a pile below 0"),
    "letters": (b"1\n1 x 1\n", "a letter"),
    "no-treats": (b"1\n0 0 1\n", "two empty piles"),
    "k-zero": (b"1\n1 1 0\n", "K of 0"),
    "k-large": (b"1\n1 1 1000000000000000001\n", "K above 10^18"),
    "cakes-large": (b"1\n1000000000000000001 1 1\n", "cakes above 10^18"),
    "fruit-large": (b"1\n1 1000000000000000001 1\n", "fruit above 10^18"),
    "beyond-64-bits": (b"1\n18446744073709551617 1 1\n", "2^64 plus a valid number"),
}


def main() -> None:
    """Write all of them."""
    for number, (name, (output, text)) in enumerate(VALID_OUTPUT.items(), start=1):
        write_output("valid_output", f"valid-{number:02}-{name}", output, text)
    for number, (name, (output, text)) in enumerate(INVALID_OUTPUT.items(), start=1):
        write_output("invalid_output", f"invalid-{number:02}-{name}", output, text)
    for number, (name, (data, text)) in enumerate(INVALID_INPUT.items(), start=1):
        write("invalid_input", f"malformed-{number:02}-{name}", {"in": data}, text)
    for path in sorted(DATA.glob("s*/**/*.in")):
        answer("wrong_answer/printed_strategy", path, printed_strategy)
        answer("partial/doubles", path, doubles)


def write_output(folder: str, name: str, output: bytes, text: str) -> None:
    """Write one answer file with its positions and the right answer."""
    write(folder, name, {"in": POSITIONS, "ans": RIGHT, "out": output}, text)


def write(folder: str, name: str, files: dict[str, bytes], text: str) -> None:
    """Write the files of one example, and the text as its description (a JSON string is a YAML string)."""
    (DATA / folder).mkdir(parents=True, exist_ok=True)
    for extension, data in files.items():
        (DATA / folder / f"{name}.{extension}").write_bytes(data)
    (DATA / folder / f"{name}.yaml").write_text(f"description: {json.dumps(text)}\n", encoding="utf-8")


def answer(submission: str, path: Path, move: Callable[[int, int, int], tuple[int, int]]) -> None:
    """Answer every position of an input."""
    folder = PACKAGE / "submissions" / submission
    folder.mkdir(parents=True, exist_ok=True)
    rows = [map(int, line.split()) for line in path.read_text(encoding="ascii").splitlines()[1:]]
    lines = ["{} {}".format(*move(*row)) for row in rows]
    (folder / f"{path.stem}.out").write_text("\n".join(lines) + "\n", encoding="ascii")


def exact(n: int) -> int:
    """Wythoff's lower number."""
    return (n + isqrt(5 * n * n)) // 2


def rounded(n: int) -> int:
    """Wythoff's lower number by a golden ratio in double precision."""
    return int(n * (1 + 5**0.5) / 2)


def doubles(cakes: int, fruit: int, most: int) -> tuple[int, int]:
    """Play inside the square of side K + 1, with doubles."""
    return within(cakes % (most + 1), fruit % (most + 1), rounded)


def within(a: int, b: int, lower: Callable[[int], int]) -> tuple[int, int]:
    """Play Wythoff's game: there is a winning move unless (a, b) is a pair."""
    low, high = min(a, b), max(a, b)
    straight = lower(high - low)
    if straight == low:
        return 0, 0
    if straight < low:
        return low - straight, low - straight
    n = lower(low) - low + 1
    target = low + n if low and lower(n) == low else lower(low) - low if low else 0
    return (a - target, 0) if a > b else (0, b - target)


def printed_strategy(cakes: int, fruit: int, most: int) -> tuple[int, int]:
    """Answer a move over a multiple of K + 1 with what is missing to K + 1 in the same direction, possible or not.

    The move that led here is guessed: some i from both piles of a lost position, over a multiple of K + 1 in one.
    """
    modulus = most + 1
    a, b = cakes % modulus, fruit % modulus
    move = within(a, b, exact)
    if move == (0, 0):
        return move
    before = modulus - abs(a - b)
    low, high = exact(before), exact(before) + before
    i = high - min(a, b)
    if a != b and high <= most and 0 < i <= most and (max(a, b) + i) % modulus == low:
        return modulus - i, modulus - i
    return move


if __name__ == "__main__":
    main()
