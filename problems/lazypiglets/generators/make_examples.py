"""Write the examples: `data/valid_output`, `data/invalid_output`, `data/invalid_input` and the wrong submissions.

The small files are worked out by hand on one map; the texts are what a contestant must be told. The wrong submissions
are answers of a small breadth-first search by wrong rules, and the reference's answers spoilt in one way.
`python make_examples.py`, run from anywhere after the reference's answers were made, writes the same bytes every time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import takewhile
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent
DATA = PACKAGE / "data"
SUBMISSIONS = PACKAGE / "submissions"

# Two haystacks are empty at first, and a step fills one at most, so fewer than two steps are not enough.
MAP = b"4\n....\n.#..\n...#\n#...\n3\n1 1\n1 2\n1 3\n1 4\n1 3\n2 1\n"
LEAST = b"2\n"
PLAN = b"2\n1 2 1 4\n1 1 2 1\n"

NUMBER = "a decimal number without plus sign, leading zeros or letters"
BYTES = "digits and white space (space, tab, line feed, carriage return)"
STEPS = "a number of steps up to 2000, or -1"
SHIFT = "one cell, or two over a piglet, in a row or a column"
SIDES = "rows and columns from 1 to 4"
LARGEST = 2**63 - 1

VALID_OUTPUT = {
    "number-alone": (b"2\n", "a plan is not asked for"),
    "plan": (PLAN, "a jump over a piglet and a walk"),
    "other-plan": (b"2\n1 1 2 1\n1 2 1 4\n", "the order of the steps does not matter here"),
    "any-space": (b"\t 2\r\n\r\n1\t2  1 4\n1 1 \n\n2 1", "any white space may separate the numbers"),
    "no-line-end": (b"2", "the last line need not be ended"),
}

INVALID_OUTPUT = {
    "empty": (b"", "end of file: expected the number of steps, found an empty file"),
    "only-space": (b" \n\t\n", "end of file: expected the number of steps, found an empty file"),
    "one-less": (b"1\n", "line 1: expected the least number of steps, found 1"),
    "one-more": (b"3\n", "line 1: expected the least number of steps, found 3"),
    "longer-plan": (
        b"3\n1 3 1 4\n1 2 1 3\n1 1 2 1\n",
        "line 1: expected the least number of steps, found 3, whose plan is legal but not the shortest",
    ),
    "given-up": (b"-1\n", "line 1: expected the least number of steps, found -1"),
    "zero": (b"0\n", "line 1: expected a piglet on every haystack after 0 steps, found none at (1, 4)"),
    "minus-two": (b"-2\n", f"line 1: expected {STEPS}, found -2"),
    "too-large": (b"2001\n", f"line 1: expected {STEPS}, found 2001"),
    "huge": (b"1000000000000\n", f"line 1: expected {STEPS}, found 1000000000000"),
    "plan-short": (b"2\n1 2 1 4\n", "end of file: expected no plan, or 8 numbers for 2 steps, found 4"),
    "plan-cut": (b"2\n1 2 1 4\n1 1 2\n", "end of file: expected no plan, or 8 numbers for 2 steps, found 7"),
    "plan-long": (PLAN + b"2 1 3 1\n", "line 4: expected nothing after 2 steps, found 4 more numbers"),
    "extra-number": (PLAN + b"7\n", "line 4: expected nothing after 2 steps, found 1 more numbers"),
    "plan-of-nothing": (b"0\n1 2 1 4\n", "line 2: expected nothing after 0 steps, found 4 more numbers"),
    "plan-after-minus-one": (b"-1\n1 2 1 4\n", "line 2: expected nothing after -1, found 4 more numbers"),
    "too-many-numbers": (b"2\n" + b"1 2 1 4\n" * 2001, 'line 2002: expected at most 8001 numbers, found more: "1"'),
    "extra-word": (b"2\nend\n", f'line 2: expected {NUMBER}, found "end"'),
    "minus-zero": (b"-0\n", f'line 1: expected {NUMBER}, found "-0"'),
    "minus-alone": (b"-\n", f'line 1: expected {NUMBER}, found "-"'),
    "plus-sign": (b"+2\n", f'line 1: expected {NUMBER}, found "+2"'),
    "leading-zero": (b"02\n", f'line 1: expected {NUMBER}, found "02"'),
    "minus-leading-zero": (b"-01\n", f'line 1: expected {NUMBER}, found "-01"'),
    "decimal-point": (b"2.0\n", f'line 1: expected {NUMBER}, found "2.0"'),
    "exponent": (b"2e0\n", f'line 1: expected {NUMBER}, found "2e0"'),
    "hexadecimal": (b"0x2\n", f'line 1: expected {NUMBER}, found "0x2"'),
    "underscore": (b"2_0\n", f'line 1: expected {NUMBER}, found "2_0"'),
    "comma": (b"2\n1, 2, 1, 4\n1 1 2 1\n", f'line 2: expected {NUMBER}, found "1,"'),
    "plus-2-to-32": (f"{2**32 + 2}\n".encode(), f"line 1: expected {STEPS}, found {2**32 + 2}"),
    "plus-2-to-64": (f"{2**64 + 2}\n".encode(), f'line 1: expected a number up to {LARGEST}, found "{2**64 + 2}"'),
    "column-plus-2-to-32": (
        f"2\n1 2 1 {2**32 + 4}\n1 1 2 1\n".encode(),
        f"step 1 (line 2): expected {SIDES}, found (1, {2**32 + 4})",
    ),
    "thousands-of-digits": (
        b"2" + b"0" * 4000 + b"\n",
        f'line 1: expected a number up to {LARGEST}, found "2{"0" * 39}"... (4001 bytes)',
    ),
    "nul": (b"2\0\n", f'line 1: expected {BYTES}, found "2\\x00"'),
    "form-feed": (b"2\f1 2 1 4\n1 1 2 1\n", f'line 1: expected {BYTES}, found "2\\x0c1"'),
    "vertical-tab": (b"2\n1\v2 1 4\n1 1 2 1\n", f'line 2: expected {BYTES}, found "1\\x0b2"'),
    "byte-order-mark": (b"\xef\xbb\xbf2\n", f'line 1: expected {BYTES}, found "\\xef\\xbb\\xbf2"'),
    "no-break-space": ("2\u00a01 2 1 4\n".encode(), f'line 1: expected {BYTES}, found "2\\xc2\\xa01"'),
    "full-width-digit": ("\uff12\n".encode(), f'line 1: expected {BYTES}, found "\\xef\\xbc\\x92"'),
    "arabic-indic-digit": ("\u0662\n".encode(), f'line 1: expected {BYTES}, found "\\xd9\\xa2"'),
    "off-the-map-above": (b"2\n1 3 0 3\n1 1 2 1\n", f"step 1 (line 2): expected {SIDES}, found (0, 3)"),
    "off-the-map-right": (b"2\n1 2 1 4\n1 4 1 5\n", f"step 2 (line 3): expected {SIDES}, found (1, 5)"),
    "negative-row": (b"2\n1 3 -1 3\n1 1 2 1\n", f"step 1 (line 2): expected {SIDES}, found (-1, 3)"),
    "no-piglet": (b"2\n2 1 3 1\n1 2 1 4\n", "step 1 (line 2): expected a piglet to move, found none at (2, 1)"),
    "from-a-tree": (b"2\n2 2 3 2\n1 2 1 4\n", "step 1 (line 2): expected a piglet to move, found none at (2, 2)"),
    "moved-away": (
        b"2\n1 2 1 4\n1 2 2 2\n",
        "step 2 (line 3): expected a piglet to move, found none at (1, 2)",
    ),
    "no-move": (b"2\n1 1 1 1\n1 2 1 4\n", f"step 1 (line 2): expected {SHIFT}, found (1, 1) to (1, 1)"),
    "diagonal": (b"2\n1 2 2 3\n1 1 2 1\n", f"step 1 (line 2): expected {SHIFT}, found (1, 2) to (2, 3)"),
    "diagonal-jump": (b"2\n1 1 3 3\n1 2 1 4\n", f"step 1 (line 2): expected {SHIFT}, found (1, 1) to (3, 3)"),
    "over-two-piglets": (b"2\n1 1 1 4\n1 2 1 1\n", f"step 1 (line 2): expected {SHIFT}, found (1, 1) to (1, 4)"),
    "onto-a-tree": (
        b"2\n1 2 2 2\n1 1 2 1\n",
        "step 1 (line 2): expected a free cell to land on, found a tree at (2, 2)",
    ),
    "onto-a-piglet": (
        b"2\n1 1 1 2\n1 2 1 4\n",
        "step 1 (line 2): expected a cell without a piglet to land on, found a piglet at (1, 2)",
    ),
    "jump-onto-a-piglet": (
        b"2\n1 1 1 3\n1 2 1 4\n",
        "step 1 (line 2): expected a cell without a piglet to land on, found a piglet at (1, 3)",
    ),
    "over-a-tree": (
        b"2\n1 2 3 2\n1 1 2 1\n",
        "step 1 (line 2): expected a piglet to jump over, found a tree at (2, 2)",
    ),
    "over-nothing": (
        b"2\n1 1 3 1\n1 2 1 4\n",
        "step 1 (line 2): expected a piglet to jump over, found none at (2, 1)",
    ),
    "not-on-haystacks": (
        b"2\n1 2 1 4\n1 4 1 2\n",
        "end of the plan: expected a piglet on every haystack after 2 steps, found none at (1, 4)",
    ),
    "file-too-large": (b"2\n" + b" " * 65535, "expected at most 65536 bytes, found 65537"),
}

INVALID_INPUT = {
    "empty": (b"", "an empty file"),
    "size-missing": (b"...\n...\n...\n1\n1 1\n2 2\n", "no size"),
    "size-zero": (b"0\n1\n1 1\n1 1\n", "a size of 0"),
    "size-23": (b"23\n" + (b"." * 23 + b"\n") * 23 + b"1\n1 1\n2 2\n", "a size above 22"),
    "size-leading-zero": (b"02\n..\n..\n1\n1 1\n2 2\n", "a leading zero"),
    "size-plus": (b"+2\n..\n..\n1\n1 1\n2 2\n", "a plus sign"),
    "size-space": (b"2 \n..\n..\n1\n1 1\n2 2\n", "a space behind the size"),
    "row-missing": (b"2\n..\n1\n1 1\n2 2\n", "one row of two"),
    "row-extra": (b"2\n..\n..\n..\n1\n1 1\n2 2\n", "three rows of two"),
    "row-short": (b"2\n..\n.\n1\n1 1\n1 2\n", "a row of one"),
    "row-long": (b"2\n..\n...\n1\n1 1\n2 2\n", "a row of three"),
    "other-tree": (b"2\n.X\n..\n1\n1 1\n2 2\n", "a letter that is no tree"),
    "nul": (b"2\n.\0\n..\n1\n1 1\n2 2\n", "a NUL in a row"),
    "count-zero": (b"2\n..\n..\n0\n", "no piglet"),
    "count-five": (b"3\n...\n...\n...\n5\n" + b"1 1\n1 2\n1 3\n2 1\n2 2\n" * 2, "five piglets"),
    "count-missing": (b"2\n..\n..\n1 1\n2 2\n", "no number of piglets"),
    "cells-missing": (b"2\n..\n..\n2\n1 1\n1 2\n2 1\n", "one haystack for two piglets"),
    "cells-extra": (b"2\n..\n..\n1\n1 1\n2 2\n2 1\n", "two haystacks for one piglet"),
    "row-zero": (b"2\n..\n..\n1\n0 1\n2 2\n", "rows counted from 0"),
    "column-outside": (b"2\n..\n..\n1\n1 3\n2 2\n", "a column behind the last one"),
    "column-missing": (b"2\n..\n..\n1\n1\n2 2\n", "a piglet without a column"),
    "column-leading-zero": (b"2\n..\n..\n1\n1 01\n2 2\n", "a leading zero in a column"),
    "column-minus": (b"2\n..\n..\n1\n1 -1\n2 2\n", "a negative column"),
    "two-spaces": (b"2\n..\n..\n1\n1  1\n2 2\n", "two spaces between row and column"),
    "tab": (b"2\n..\n..\n1\n1\t1\n2 2\n", "a tab between row and column"),
    "piglet-in-a-tree": (b"2\n#.\n..\n1\n1 1\n2 2\n", "a piglet where a tree stands"),
    "haystack-in-a-tree": (b"2\n..\n.#\n1\n1 1\n2 2\n", "a haystack where a tree stands"),
    "piglet-twice": (b"2\n..\n..\n2\n1 1\n1 1\n2 2\n2 1\n", "two piglets on one cell"),
    "haystack-twice": (b"2\n..\n..\n2\n1 1\n1 2\n2 2\n2 2\n", "two haystacks on one cell"),
    "carriage-return": (b"2\r\n..\r\n..\r\n1\r\n1 1\r\n2 2\r\n", "line ends of another system"),
    "no-line-end": (b"2\n..\n..\n1\n1 1\n2 2", "the last line is not ended"),
    "blank-line": (b"2\n..\n..\n1\n1 1\n2 2\n\n", "a line behind the last one"),
    "byte-order-mark": (b"\xef\xbb\xbf2\n..\n..\n1\n1 1\n2 2\n", "a mark before the size"),
    "arabic-indic-digit": ("\u0662\n..\n..\n1\n1 1\n2 2\n".encode(), "a size in digits of another script"),
}

Cell = tuple[int, int]
State = frozenset[Cell]
Rule = Callable[[Cell, Cell, State, set[Cell]], Iterator[Cell]]

SEARCHED = ("1-alone", "2-n8")
MOST_STATES = 4000


def main() -> None:
    """Write all of them."""
    for number, (name, (output, text)) in enumerate(VALID_OUTPUT.items(), start=1):
        write_output("valid_output", f"valid-{number:02}-{name}", output, text)
    for number, (name, (output, text)) in enumerate(INVALID_OUTPUT.items(), start=1):
        write_output("invalid_output", f"invalid-{number:02}-{name}", output, text)
    for number, (name, (data, text)) in enumerate(INVALID_INPUT.items(), start=1):
        write("invalid_input", f"malformed-{number:02}-{name}", {"in": data}, text)
    for name, rule in (("jump_over_tree", over_trees), ("jump_over_two", over_two), ("no_jump", walking)):
        search_all(f"wrong_answer/{name}", rule)
    spoil("wrong_answer/longer_plan", detour)
    spoil("wrong_answer/no_minus_one", never_give_up)


def write_output(folder: str, name: str, output: bytes, text: str) -> None:
    """Write one answer file with its map and expected answer."""
    write(folder, name, {"in": MAP, "ans": LEAST, "out": output}, text)


def write(folder: str, name: str, files: dict[str, bytes], text: str) -> None:
    """Write the files of one example, and the text as its description (a JSON string is a YAML string)."""
    (DATA / folder).mkdir(parents=True, exist_ok=True)
    for extension, data in files.items():
        (DATA / folder / f"{name}.{extension}").write_bytes(data)
    (DATA / folder / f"{name}.yaml").write_text(f"description: {json.dumps(text)}\n", encoding="utf-8")


def over_trees(cell: Cell, shift: Cell, pigs: State, free: set[Cell]) -> Iterator[Cell]:
    """Jump over a piglet, and wrongly over a tree."""
    one, two = (add(cell, shift, 1), add(cell, shift, 2))
    if one in free - pigs:
        yield one
    elif two in free - pigs:
        yield two


def over_two(cell: Cell, shift: Cell, pigs: State, free: set[Cell]) -> Iterator[Cell]:
    """Jump over a piglet, and wrongly over as many as there are in a row."""
    row = list(takewhile(pigs.__contains__, (add(cell, shift, far) for far in range(1, 5))))
    if (landing := add(cell, shift, len(row) + 1)) in free:
        yield landing


def walking(cell: Cell, shift: Cell, pigs: State, free: set[Cell]) -> Iterator[Cell]:
    """Walk, and wrongly never jump."""
    if (landing := add(cell, shift, 1)) in free - pigs:
        yield landing


def add(cell: Cell, shift: Cell, times: int) -> Cell:
    return cell[0] + times * shift[0], cell[1] + times * shift[1]


def search_all(name: str, rule: Rule) -> None:
    """Answer the cases of the first two groups by a wrong rule; a case with too many states gets no file."""
    for group in SEARCHED:
        for path in sorted((DATA / "secret" / group).glob("*.in")):
            steps = search(path.read_text(encoding="ascii").split(), rule)
            if steps is not None:
                keep(name, path.stem, f"{steps}\n")


def search(words: list[str], rule: Rule) -> int | None:
    """Count steps by breadth-first search; -1 if the haystacks are never reached, None after too many states."""
    size = int(words[0])
    free = {(r, c) for r, row in enumerate(words[1 : 1 + size], 1) for c, cell in enumerate(row, 1) if cell == "."}
    numbers = [int(word) for word in words[size + 2 :]]
    cells = list(zip(numbers[::2], numbers[1::2], strict=True))
    start, goal = frozenset(cells[: len(cells) // 2]), frozenset(cells[len(cells) // 2 :])
    steps, queue = {start: 0}, [start]
    for pigs in queue:
        if pigs == goal:
            return steps[pigs]
        if len(queue) > MOST_STATES:
            return None
        for pig in sorted(pigs):
            for shift in ((-1, 0), (0, 1), (1, 0), (0, -1)):
                for landing in rule(pig, shift, pigs, free):
                    after = pigs - {pig} | {landing}
                    if after not in steps:
                        steps[after] = steps[pigs] + 1
                        queue.append(after)
    return -1


def detour(answer: list[str]) -> list[str]:
    """Lead the first piglet to and fro before a plan begins: legal, and two steps too many."""
    if int(answer[0]) < 1:
        return answer
    r1, c1, r2, c2 = answer[1].split()
    return [str(int(answer[0]) + 2), answer[1], f"{r2} {c2} {r1} {c1}", *answer[1:]]


def never_give_up(answer: list[str]) -> list[str]:
    """Say 0 where nothing is enough."""
    return ["0"] if answer == ["-1"] else answer


def spoil(name: str, change: Callable[[list[str]], list[str]]) -> None:
    """Write the reference's answers with a change."""
    for path in sorted((SUBMISSIONS / "accepted/reference").glob("*.out")):
        answer = change(path.read_text(encoding="ascii").splitlines())
        keep(name, path.stem, "".join(f"{line}\n" for line in answer))


def keep(name: str, case: str, text: str) -> None:
    """Write one file of a wrong submission."""
    (SUBMISSIONS / name).mkdir(parents=True, exist_ok=True)
    (SUBMISSIONS / name / f"{case}.out").write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
