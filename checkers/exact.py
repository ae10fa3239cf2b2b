"""Compare an answer with the reference file byte for byte: a right-or-wrong checker for any problem.

Instance
    The input's bytes, unread.
Answer
    The file's bytes.
Raw score
    1 for a right answer, with multiplier 1.
Rejected when
    any byte differs from the reference's, white space and the end of the last line included.
Source
    Set here; the strictest of the usual standard checkers.
"""

from __future__ import annotations

from checkers.doors import Phrase, Rejected, Score, quote

CHUNK = 1 << 16
SHOWN = 24


def read_instance(data: bytes) -> bytes:
    """Take any input: files are compared with the reference alone."""
    return data


def read_answer(data: bytes, instance: bytes) -> bytes:
    """Take any answer: what is wrong with it shows beside the reference file."""
    return data


def write_answer(answer: bytes) -> str:
    """Give the answer as text; bytes that are not UTF-8 become surrogate escapes."""
    return answer.decode("utf-8", "surrogateescape")


def score_answer(instance: bytes, answer: bytes, reference: bytes | None = None) -> Score:
    """Accept the answer or raise Rejected at its first difference from `reference`, which must be given."""
    if reference is None:
        raise ValueError("exact: expected a reference file, found none")
    if answer != reference:
        raise _difference(answer, reference, first_difference(answer, reference))
    return Score(raw=1, max_raw=1, multiplier=1)


def first_difference(answer: bytes, expected: bytes) -> int:
    """Find the offset of the first byte that differs, or the shorter file's length if it is the other's beginning."""
    most = min(len(answer), len(expected))
    start = 0
    while start < most and answer[start : start + CHUNK] == expected[start : start + CHUNK]:
        start += CHUNK
    return next((at for at in range(start, min(start + CHUNK, most)) if answer[at] != expected[at]), most)


def _difference(answer: bytes, expected: bytes, at: int) -> Rejected:
    """Say in which line (1-based) the files part, and what that line begins with in `answer`.

    What the reference has there is not said, nor which byte of the line it is: contestants read this, and whoever is
    told the byte reads a whole file with 256 tries for each.
    """
    line = answer.count(b"\n", 0, at) + 1
    begin = answer.rfind(b"\n", 0, at) + 1
    wanted = Phrase("the end of the file") if at == begin == len(expected) else Phrase("another line")
    return Rejected.at(Phrase("line %(number)s", number=line), expected=wanted, found=_shown(answer, begin))


def _shown(data: bytes, begin: int) -> str:
    if begin == len(data):
        return Phrase("the end of the file")
    end = data.find(b"\n", begin)
    return quote(data[begin : end if end >= 0 else len(data)][:SHOWN])
