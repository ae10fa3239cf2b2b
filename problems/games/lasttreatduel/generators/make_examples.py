"""Write the examples: `data/valid_output`, `data/invalid_output` and `data/invalid_input`.

Every entry is worked out by hand on one small game; the texts are what a contestant must be told.
`python make_examples.py`, run from anywhere, writes the same bytes every time.
"""

from __future__ import annotations

import json
from pathlib import Path

DATA = Path(__file__).resolve().parent.parent / "data"

START = b"game lasttreat\nopponent adversarial\n2 5 2\n"
RIGHT = b"""transcript of a game, version 1
game: lasttreat
contestant: first
opponent: adversarial
seed: 17
position:
    2 5 2
moves:
    1 first 0.532 s: 0 1
    2 second 0.001 s: 2 2
    3 first 4.210 s: 0 2
end: over, first won
"""
LOST = RIGHT.replace(b"3 first 4.210 s: 0 2\n", b"3 first 4.210 s: 0 1\n    4 second 0.001 s: 0 1\n")


def with_line(old: bytes, new: bytes) -> bytes:
    """Give the right answer with a piece of it replaced."""
    assert RIGHT.count(old) == 1, old
    return RIGHT.replace(old, new)


def ended(moves: int, end: bytes) -> bytes:
    """Give the game broken off after so many moves, with another end."""
    lines = RIGHT.split(b"\n")
    return b"\n".join([*lines[: 8 + moves], end]) + b"\n"


VALID_OUTPUT = {
    "trapped-in-vain": (RIGHT, "the answer to the trap is the two pieces of fruit that are left"),
    "other-first-move": (
        with_line(b"0 1\n    2 second 0.001 s: 2 2\n", b"2 2\n    2 second 0.001 s: 0 1\n").replace(
            b"seed: 17", b"seed: 1"
        ),
        "another way to win, against another seed",
    ),
    "other-times": (with_line(b"4.210 s", b"86399.999 s"), "the seconds of moves are not judged"),
}

INVALID_OUTPUT = {
    "empty": (b"", 'line 1: expected "transcript of a game, version 1", found the end of the file'),
    "a-move": (b"0 1\n", 'line 1: expected "transcript of a game, version 1", found "0 1"'),
    "other-game": (with_line(b"game: lasttreat", b"game: netgame"), 'game: expected "lasttreat", found "netgame"'),
    "unknown-game": (
        with_line(b"game: lasttreat", b"game: chess"),
        'line 2: expected "game: " and one of lasttreat, netgame, optimiza, found "game: chess"',
    ),
    "other-opponent": (
        with_line(b"opponent: adversarial", b"opponent: one"),
        'opponent: expected "adversarial", found "one"',
    ),
    "no-opponent": (
        with_line(b"opponent: adversarial", b"opponent: none"),
        'opponent: expected "adversarial", found "none"',
    ),
    "other-side": (with_line(b"contestant: first", b"contestant: second"), 'side: expected "first", found "second"'),
    "other-start": (with_line(b"    2 5 2\n", b"    1 0 2\n"), 'position, line 1: expected "2 5 2", found "1 0 2"'),
    "seed-beyond-64-bits": (
        with_line(b"seed: 17", b"seed: 18446744073709551616"),
        'line 5: expected "seed: " and a number from 0 to 9223372036854775807, found "seed: 18446744073709551616"',
    ),
    "illegal-move": (with_line(b"s: 0 1", b"s: 0 3"), "move 1: expected at most 2 from a pile, found 3"),
    "exponent": (
        with_line(b"s: 0 1", b"s: 0 1e0"),
        'move 1: expected two numbers x y: take x cakes and y pieces of fruit, found "0 1e0"',
    ),
    "out-of-turn": (with_line(b"2 second", b"2 first"), "move 2: expected a move of second, found one of first"),
    "opponent-changed": (
        with_line(b"s: 2 2", b"s: 1 0"),
        'move 2: expected "2 2", the move of adversarial with seed 17, found "1 0"',
    ),
    "wrong-number": (
        with_line(b"    2 second", b"    3 second"),
        'line 10: expected move 2 as "2 PLAYER SECONDS s: MOVE", by first or second, found "    3 second 0.001 s: 2 2"',
    ),
    "resigned": (
        ended(2, b"end: resigned, second won"),
        "move 2: expected a game that is won, found one that was resigned",
    ),
    "late": (
        ended(2, b"end: late, second won: the time ran out"),
        "move 2: expected a game that is won, found one that was lost on time (the time ran out)",
    ),
    "goes-on": (
        ended(2, b""),
        'line 11: expected "end: REASON, PLAYER won" with a reason of over, resigned, late, illegal, broken, '
        'or "end: over, draw", found ""',
    ),
    "end-untrue": (with_line(b"first won", b"second won"), "end: expected first won, found second won"),
    "end-too-early": (
        ended(2, b"end: over, first won"),
        "end: expected another reason, as the game is not over, found over",
    ),
    "moves-behind-the-end": (
        with_line(b"end:", b"    4 second 0.001 s: 1 0\nend:"),
        'move 4: expected no move, as the game is over, found "1 0"',
    ),
    "lost": (LOST.replace(b"first won", b"second won"), "move 4: expected a game that is won, found one that is lost"),
    "no-line-end": (RIGHT[:-1], 'line 12: expected a line feed at the end of the file, found "end: over, first won"'),
}

INVALID_INPUT = {
    "empty": (b"", "an empty file"),
    "no-opponent": (b"game lasttreat\n2 5 2\n", "no line with the opponent"),
    "other-game": (b"game netgame\nopponent optimal\n2 5 2\n", "a game whose rules do not know such a start"),
    "unknown-opponent": (b"game lasttreat\nopponent nobody\n2 5 2\n", "an opponent that there is not"),
    "number-missing": (b"game lasttreat\nopponent one\n2 5\n", "no K"),
    "k-zero": (b"game lasttreat\nopponent one\n2 5 0\n", "K of 0"),
    "no-treats": (b"game lasttreat\nopponent one\n0 0 2\n", "two empty piles"),
    "leading-zero": (b"game lasttreat\nopponent one\n02 5 2\n", "a leading zero"),
    "beyond-10-18": (b"game lasttreat\nopponent one\n1000000000000000001 5 2\n", "more than 10^18 cakes"),
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
