"""Compare an answer with the reference file line by line, white space within lines aside: for any problem.

Instance
    The input's bytes, unread.
Answer
    The file's bytes: lines that end in LF, each a sequence of tokens between white space (space, tab, VT, FF, CR).
Raw score
    1 for a right answer, with multiplier 1.
Rejected when
    a line has other tokens than the reference's line, or lines are missing or left over; empty lines at the end of
    either file are left out. Upper and lower case differ.
Source
    CMS's white-diff, the comparison of its output-only tasks.
"""

from __future__ import annotations

from checkers.doors import Phrase, Rejected, Score, quote
from checkers.exact import read_answer, read_instance, write_answer

__all__ = ["lines_of", "read_answer", "read_instance", "score_answer", "shown", "write_answer"]

Line = tuple[bytes, ...]


def score_answer(instance: bytes, answer: bytes, reference: bytes | None = None) -> Score:
    """Accept the answer or raise Rejected at its first wrong line; `reference` must be given."""
    if reference is None:
        raise ValueError("lines: expected a reference file, found none")
    if answer != reference:
        _compare(lines_of(answer), lines_of(reference))
    return Score(raw=1, max_raw=1, multiplier=1)


def lines_of(data: bytes) -> list[Line]:
    """Split a file into lines of tokens, without the empty lines at its end."""
    lines = [tuple(line.split()) for line in data.split(b"\n")]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _compare(actual: list[Line], expected: list[Line]) -> None:
    for number, (line, wanted) in enumerate(zip(actual, expected, strict=False), start=1):
        if line != wanted:
            raise Rejected.at(
                Phrase("line %(number)s", number=number), expected=Phrase("another line"), found=shown(line)
            )
    if len(actual) < len(expected):
        raise Rejected.at(
            Phrase("line %(number)s", number=len(actual) + 1),
            expected=Phrase("another line"),
            found=Phrase("the end of the file"),
        )
    if len(actual) > len(expected):
        extra = actual[len(expected)]
        raise Rejected.at(
            Phrase("line %(number)s", number=len(expected) + 1),
            expected=Phrase("the end of the file"),
            found=shown(extra),
        )


def shown(line: Line) -> str:
    """Show a line in a message."""
    return quote(b" ".join(line)) if line else Phrase("an empty line")
