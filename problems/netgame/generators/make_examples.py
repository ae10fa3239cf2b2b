"""Write the examples: `data/valid_output`, `data/invalid_output`, `data/invalid_input` and the wrong submissions.

Every entry of the first three is worked out by hand on one small net; the texts are what a contestant must be told. The
wrong submissions are what programs with a slip answer: they are played here, rope by rope or cell by cell.
`python make_examples.py`, run from anywhere, writes the same bytes every time.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
DATA = PACKAGE / "data"

# Two cells side by side; the rope between them is the sixth one, and the eighth bounds nothing.
#   +-+-+
#   | | |
#   +-+-+-
NET = b"8\n0 0 1 0\n2 0 1 0\n0 0 0 1\n0 1 1 1\n1 1 2 1\n1 1 1 0\n2 0 2 1\n3 0 2 0\n"
REFERENCE = b"1\n6\n"
SQUARE = (
    b"12\n0 0 1 0\n1 0 2 0\n0 1 1 1\n1 1 2 1\n0 2 1 2\n1 2 2 2\n0 0 0 1\n0 1 0 2\n1 0 1 1\n1 1 1 2\n2 0 2 1\n2 1 2 2\n"
)
CELL = b"4\n0 0 1 0\n0 1 1 1\n0 0 0 1\n1 0 1 1\n"

NUMBER = "a decimal number without sign, leading zeros or letters"
BYTES = "digits and white space (space, tab, line feed, carriage return)"
WINNER = "the winner, 1 or 2"
CUT = "the rope to cut, 1 to 8"
WRONG = "answer: expected the winner and, if that is the first player, a winning cut, found a wrong answer"
LARGEST = 2**63 - 1

VALID_OUTPUT = {
    "first": (NET, REFERENCE, b"1\n6\n", "the rope between the cells leaves nothing to cut"),
    "one-line": (NET, REFERENCE, b"1 6\n", "the two numbers on one line"),
    "any-space": (NET, REFERENCE, b"\t1\r\n\r\n 6 \n\n", "any white space may separate the numbers"),
    "no-line-end": (NET, REFERENCE, b"1\n6", "the last line need not be ended"),
    "second": (SQUARE, b"2\n", b"2\n", "a square of four cells: whatever is cut, the second player wins"),
    "second-no-line-end": (SQUARE, b"2\n", b"2", "a 2 alone"),
    "any-winning-rope": (CELL, b"1\n1 2 3 4\n", b"1\n3\n", "all four ropes of a single cell win"),
    "last-rope": (CELL, b"1\n1 2 3 4\n", b"1\n4\n", "the last rope of the net"),
}

INVALID_OUTPUT = {
    "empty": (b"", f"end of file: expected {WINNER}, found an empty file"),
    "only-space": (b" \n\t\n", f"end of file: expected {WINNER}, found an empty file"),
    "wrong-winner": (b"2\n", WRONG),
    "wrong-rope": (b"1\n1\n", WRONG),
    "loose-rope": (b"1\n8\n", WRONG),
    "rope-missing": (b"1\n", "end of file: expected the rope to cut, 1 to 8, found nothing after 1"),
    "rope-0": (b"1\n0\n", f"line 2: expected {CUT}, found 0"),
    "rope-9": (b"1\n9\n", f"line 2: expected {CUT}, found 9"),
    "winner-0": (b"0\n", f"line 1: expected {WINNER}, found 0"),
    "winner-3": (b"3\n6\n", f"line 1: expected {WINNER}, found 3"),
    "rope-first": (b"6\n1\n", f"line 1: expected {WINNER}, found 6"),
    "second-with-a-rope": (b"2\n6\n", "line 2: expected nothing after 2, found 6"),
    "two-ropes": (b"1\n6 6\n", 'line 2: expected at most 2 numbers, found more: "6"'),
    "extra-line": (b"1\n6\n\n2\n", 'line 4: expected at most 2 numbers, found more: "2"'),
    "extra-word": (b"1\n6\nend\n", f'line 3: expected {NUMBER}, found "end"'),
    "word": (b"first\n6\n", f'line 1: expected {NUMBER}, found "first"'),
    "negative": (b"-1\n6\n", f'line 1: expected {NUMBER}, found "-1"'),
    "minus-zero": (b"1\n-0\n", f'line 2: expected {NUMBER}, found "-0"'),
    "plus-sign": (b"+1\n6\n", f'line 1: expected {NUMBER}, found "+1"'),
    "leading-zero": (b"01\n6\n", f'line 1: expected {NUMBER}, found "01"'),
    "leading-zero-rope": (b"1\n06\n", f'line 2: expected {NUMBER}, found "06"'),
    "decimal-point": (b"1.0\n6\n", f'line 1: expected {NUMBER}, found "1.0"'),
    "exponent": (b"1e0\n6\n", f'line 1: expected {NUMBER}, found "1e0"'),
    "hexadecimal": (b"1\n0x6\n", f'line 2: expected {NUMBER}, found "0x6"'),
    "underscore": (b"1\n0_6\n", f'line 2: expected {NUMBER}, found "0_6"'),
    "underscore-inside": (b"1_0\n6\n", f'line 1: expected {NUMBER}, found "1_0"'),
    "comma": (b"1,6\n", f'line 1: expected {NUMBER}, found "1,6"'),
    "plus-2-to-32": (f"1\n{2**32 + 6}\n".encode(), f"line 2: expected {CUT}, found {2**32 + 6}"),
    "winner-plus-2-to-32": (f"{2**32 + 1}\n6\n".encode(), f"line 1: expected {WINNER}, found {2**32 + 1}"),
    "plus-2-to-64": (f"1\n{2**64 + 6}\n".encode(), f'line 2: expected a number up to {LARGEST}, found "{2**64 + 6}"'),
    "winner-plus-2-to-64": (
        f"{2**64 + 1}\n6\n".encode(),
        f'line 1: expected a number up to {LARGEST}, found "{2**64 + 1}"',
    ),
    "2-to-63": (f"1\n{2**63}\n".encode(), f'line 2: expected a number up to {LARGEST}, found "{2**63}"'),
    "thousands-of-digits": (
        b"1" + b"0" * 4000 + b"\n",
        f'line 1: expected a number up to {LARGEST}, found "1{"0" * 39}"... (4001 bytes)',
    ),
    "thousands-of-numbers": (b"1 " * 4000 + b"\n", 'line 1: expected at most 2 numbers, found more: "1"'),
    "too-large": (b"1\n6\n" + b" " * 16381, "expected at most 16384 bytes, found 16385"),
    "nul": (b"1\n6\0\n", f'line 2: expected {BYTES}, found "6\\x00"'),
    "form-feed": (b"1\f6\n", f'line 1: expected {BYTES}, found "1\\x0c6"'),
    "vertical-tab": (b"1\n6\v\n", f'line 2: expected {BYTES}, found "6\\x0b"'),
    "byte-order-mark": (b"\xef\xbb\xbf1\n6\n", f'line 1: expected {BYTES}, found "\\xef\\xbb\\xbf1"'),
    "no-break-space": ("1\u00a06\n".encode(), f'line 1: expected {BYTES}, found "1\\xc2\\xa06"'),
    "full-width-digit": ("\uff11\n6\n".encode(), f'line 1: expected {BYTES}, found "\\xef\\xbc\\x91"'),
    "arabic-indic-digit": ("1\n\u0666\n".encode(), f'line 2: expected {BYTES}, found "\\xd9\\xa6"'),
    "latin-1": (b"1\n6\xe9\n", f'line 2: expected {BYTES}, found "6\\xe9"'),
}

FEED = "end of file: expected a line feed, found"
COUNT = "line 1: expected a number of ropes from 1 to 50, found"
FOUR = "line 2: expected four numbers from 0 to 50 with single spaces, found"
LENGTH = "line 2: expected a rope of length 1 along a grid line, found"
INVALID_INPUT = {
    "empty": (b"", f'{FEED} ""'),
    "count-missing": (b"0 0 0 1\n", f'{COUNT} "0 0 0 1"'),
    "count-0": (b"0\n", f'{COUNT} "0"'),
    "count-51": (b"51\n" + b"".join(b"%d 0 %d 1\n" % (x, x) for x in range(51)), f'{COUNT} "51"'),
    "count-negative": (b"-1\n0 0 0 1\n", f'{COUNT} "-1"'),
    "count-plus": (b"+1\n0 0 0 1\n", f'{COUNT} "+1"'),
    "count-leading-zero": (b"01\n0 0 0 1\n", f'{COUNT} "01"'),
    "count-decimal-point": (b"1.0\n0 0 0 1\n", f'{COUNT} "1.0"'),
    "count-exponent": (b"1e0\n0 0 0 1\n", f'{COUNT} "1e0"'),
    "count-hexadecimal": (b"0x1\n0 0 0 1\n", f'{COUNT} "0x1"'),
    "count-underscore": (b"1_0\n0 0 0 1\n", f'{COUNT} "1_0"'),
    "count-space": (b"1 \n0 0 0 1\n", f'{COUNT} "1 "'),
    "count-plus-2-to-32": (b"%d\n0 0 0 1\n" % (2**32 + 1), f'{COUNT} "{2**32 + 1}"'),
    "count-plus-2-to-64": (b"%d\n0 0 0 1\n" % (2**64 + 1), f'{COUNT} "{2**64 + 1}"'),
    "count-thousand-digits": (b"1" + b"0" * 900 + b"\n", f'{COUNT} "1{"0" * 39}"... (901 bytes)'),
    "count-full-width": ("\uff11\n0 0 0 1\n".encode(), f'{COUNT} "\\xef\\xbc\\x91"'),
    "byte-order-mark": (b"\xef\xbb\xbf1\n0 0 0 1\n", f'{COUNT} "\\xef\\xbb\\xbf1"'),
    "carriage-return": (b"1\r\n0 0 0 1\r\n", f'{COUNT} "1\\r"'),
    "rope-missing": (b"2\n0 0 0 1\n", "end of file: expected 2 ropes, found 1 lines"),
    "rope-extra": (b"1\n0 0 0 1\n0 0 1 0\n", "end of file: expected 1 ropes, found 2 lines"),
    "blank-line": (b"1\n0 0 0 1\n\n", "end of file: expected 1 ropes, found 2 lines"),
    "no-line-end": (b"1\n0 0 0 1", f'{FEED} "1"'),
    "number-missing": (b"1\n0 0 0\n", f'{FOUR} "0 0 0"'),
    "number-extra": (b"1\n0 0 0 1 1\n", f'{FOUR} "0 0 0 1 1"'),
    "nothing-in-the-line": (b"1\n\n", f'{FOUR} ""'),
    "coordinate-51": (b"1\n50 50 50 51\n", f'{FOUR} "50 50 50 51"'),
    "coordinate-negative": (b"1\n0 -1 0 0\n", f'{FOUR} "0 -1 0 0"'),
    "minus-zero": (b"1\n-0 0 0 1\n", f'{FOUR} "-0 0 0 1"'),
    "plus-sign": (b"1\n0 0 0 +1\n", f'{FOUR} "0 0 0 +1"'),
    "leading-zero": (b"1\n0 0 0 01\n", f'{FOUR} "0 0 0 01"'),
    "double-zero": (b"1\n00 0 0 1\n", f'{FOUR} "00 0 0 1"'),
    "decimal-point": (b"1\n0 0 0 1.0\n", f'{FOUR} "0 0 0 1.0"'),
    "exponent": (b"1\n0 0 0 1e0\n", f'{FOUR} "0 0 0 1e0"'),
    "hexadecimal": (b"1\n0 0 0 0x1\n", f'{FOUR} "0 0 0 0x1"'),
    "underscore": (b"1\n1_0 0 11 0\n", f'{FOUR} "1_0 0 11 0"'),
    "plus-2-to-32": (b"1\n0 0 0 %d\n" % (2**32 + 1), f'{FOUR} "0 0 0 {2**32 + 1}"'),
    "plus-2-to-64": (b"1\n0 0 0 %d\n" % (2**64 + 1), f'{FOUR} "0 0 0 {2**64 + 1}"'),
    "thousand-digits": (b"1\n0 0 0 1" + b"0" * 900 + b"\n", f'{FOUR} "0 0 0 1{"0" * 33}"... (907 bytes)'),
    "two-spaces": (b"1\n0 0  0 1\n", f'{FOUR} "0 0  0 1"'),
    "space-before": (b"1\n 0 0 0 1\n", f'{FOUR} " 0 0 0 1"'),
    "space-behind": (b"1\n0 0 0 1 \n", f'{FOUR} "0 0 0 1 "'),
    "tab": (b"1\n0 0\t0 1\n", f'{FOUR} "0 0\\t0 1"'),
    "form-feed": (b"1\n0 0\f0 1\n", f'{FOUR} "0 0\\x0c0 1"'),
    "carriage-return-behind": (b"1\n0 0 0 1\r\n", f'{FOUR} "0 0 0 1\\r"'),
    "nul": (b"1\n0 0 0 1\0\n", f'{FOUR} "0 0 0 1\\x00"'),
    "no-break-space": ("1\n0 0\u00a00 1\n".encode(), f'{FOUR} "0 0\\xc2\\xa00 1"'),
    "full-width-digit": ("1\n0 0 0 \uff11\n".encode(), f'{FOUR} "0 0 0 \\xef\\xbc\\x91"'),
    "arabic-indic-digit": ("1\n\u0660 0 0 1\n".encode(), f'{FOUR} "\\xd9\\xa0 0 0 1"'),
    "length-0": (b"1\n3 3 3 3\n", f'{LENGTH} "3 3 3 3"'),
    "length-2": (b"1\n3 3 3 5\n", f'{LENGTH} "3 3 3 5"'),
    "diagonal": (b"1\n3 3 4 4\n", f'{LENGTH} "3 3 4 4"'),
    "knight": (b"1\n3 3 4 5\n", f'{LENGTH} "3 3 4 5"'),
    "twice": (b"3\n0 0 0 1\n0 0 1 0\n0 0 0 1\n", "line 4: expected a new rope, found the rope of line 2 again"),
    "twice-reversed": (
        b"3\n0 0 0 1\n0 0 1 0\n0 1 0 0\n",
        "line 4: expected a new rope, found the rope of line 2 again",
    ),
}

Cells = frozenset[tuple[int, int]]
Cut = tuple[Cells, int]
"""The cells a rope is a side of, and its number."""


def main() -> None:
    """Write all of them."""
    for number, (name, (net, reference, output, text)) in enumerate(VALID_OUTPUT.items(), start=1):
        write("valid_output", f"valid-{number:02}-{name}", {"in": net, "ans": reference, "out": output}, text)
    for number, (name, (output, text)) in enumerate(INVALID_OUTPUT.items(), start=1):
        write("invalid_output", f"invalid-{number:02}-{name}", {"in": NET, "ans": REFERENCE, "out": output}, text)
    for number, (name, (data, text)) in enumerate(INVALID_INPUT.items(), start=1):
        write("invalid_input", f"malformed-{number:02}-{name}", {"in": data}, text)
    for name, program in WRONG_PROGRAMS.items():
        folder = PACKAGE / "submissions/wrong_answer" / name
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted([*DATA.glob("sample/*.in"), *DATA.glob("secret/*/*.in")]):
            rope = program(path)
            answer = f"1\n{rope}\n" if rope is not None else "2\n"
            (folder / f"{path.stem}.out").write_text(answer, encoding="ascii")


def write(folder: str, name: str, files: dict[str, bytes], text: str) -> None:
    """Write the files of one example, and the text as its description (a JSON string is a YAML string)."""
    (DATA / folder).mkdir(parents=True, exist_ok=True)
    for extension, data in files.items():
        (DATA / folder / f"{name}.{extension}").write_bytes(data)
    (DATA / folder / f"{name}.yaml").write_text(f"description: {json.dumps(text)}\n", encoding="utf-8")


def one_winner(_path: Path) -> int | None:
    """Say 2 whatever the net is."""
    return None


def first_legal_cut(path: Path) -> int | None:
    """Know the winner, but cut just any rope that is a side of a whole cell: the first one."""
    winning = winning_ropes(path)
    return min(number for cells, number in cuts_of(path) if cells) if winning else None


def counted_from_0(path: Path) -> int | None:
    """Count the ropes from 0."""
    winning = winning_ropes(path)
    return winning[0] - 1 if winning else None


def even_cells(path: Path) -> int | None:
    """Believe that every cut opens one cell, so that an odd number of cells wins: right for cells that lie apart."""
    cuts = cuts_of(path)
    odd = len(whole_cells(cuts)) % 2
    return next(number for cells, number in cuts if cells) if odd else None


def neighbours_at_start(path: Path) -> int | None:
    """Open a cell alone only if it has a free side in the net as it was given, not in what is left of it.

    A cell with four neighbours can be opened alone as soon as one of them is open; this program never does. From the
    empty set upwards, every lost set marks those that a cut believed in leads from.
    """
    cuts = cuts_of(path)
    numbers = {cell: bit for bit, cell in enumerate(sorted(whole_cells(cuts)))}
    sets = {number: sum(1 << numbers[cell] for cell in cells) for cells, number in cuts}
    believed = sorted(set(sets.values()) - {0})
    whole = (1 << len(numbers)) - 1
    won = bytearray(whole + 1)
    for cells in range(whole + 1):
        if not won[cells]:
            for cut in believed:
                if not cells & cut:
                    won[cells | cut] = 1
    return next((number for number, cut in sets.items() if cut and not won[whole & ~cut]), None)


def winning_ropes(path: Path) -> list[int]:
    """Read the winning ropes in the reference file."""
    return [int(word) for word in path.with_suffix(".ans").read_text(encoding="ascii").split()[1:]]


def cuts_of(path: Path) -> list[Cut]:
    """Find for every rope the whole cells it is a side of, by their lower left corners."""
    lines = path.read_text(encoding="ascii").splitlines()[1:]
    ends = [[int(word) for word in line.split()] for line in lines]
    ropes = [frozenset({(a, b), (c, d)}) for a, b, c, d in ends]
    known = set(ropes)
    whole = {corner for rope in ropes for corner in rope if all(side in known for side in sides_of(*corner))}
    beside = [frozenset(corner for corner in whole if rope in sides_of(*corner)) for rope in ropes]
    return [(cells, number) for number, cells in enumerate(beside, start=1)]


def whole_cells(cuts: list[Cut]) -> Cells:
    """All cells that some rope is a side of."""
    return frozenset(cell for cells, _ in cuts for cell in cells)


def sides_of(x: int, y: int) -> list[Cells]:
    """The four sides of a cell, by their ends."""
    corners = [(x, y), (x + 1, y), (x + 1, y + 1), (x, y + 1)]
    return [frozenset({corners[at], corners[at - 1]}) for at in range(4)]


WRONG_PROGRAMS: dict[str, Callable[[Path], int | None]] = {
    "one_winner": one_winner,
    "first_legal_cut": first_legal_cut,
    "counted_from_0": counted_from_0,
    "even_cells": even_cells,
    "neighbours_at_start": neighbours_at_start,
}

if __name__ == "__main__":
    main()
