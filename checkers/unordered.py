"""Compare an answer with the reference file as sets of lines in any order, each as often: for any problem.

Instance
    The input's bytes, unread.
Answer
    The file's bytes: lines that end in LF, each a sequence of tokens between white space; empty lines are left out.
Raw score
    1 for a right answer, with multiplier 1.
Rejected when
    a line stands more often in the answer than in the reference, or lines are missing. Upper and lower case differ.
Source
    Set here; testlib and Polygon have the same for single tokens and lines (`uncmp`).
"""

from __future__ import annotations

from collections import Counter

from checkers.doors import Phrase, Rejected, Score
from checkers.exact import read_answer, read_instance, write_answer
from checkers.lines import lines_of, shown

__all__ = ["read_answer", "read_instance", "score_answer", "write_answer"]


def score_answer(instance: bytes, answer: bytes, reference: bytes | None = None) -> Score:
    """Accept the answer or raise Rejected at its first line too many; `reference` must be given."""
    if reference is None:
        raise ValueError("unordered: expected a reference file, found none")
    if answer != reference:
        _compare(answer, Counter(filter(None, lines_of(reference))))
    return Score(raw=1, max_raw=1, multiplier=1)


def _compare(answer: bytes, left: Counter[tuple[bytes, ...]]) -> None:
    """Take each line of the answer off those that are left; how many are missing is told, which ones is not."""
    for number, line in enumerate(lines_of(answer), start=1):
        if not line:
            continue
        if not left[line]:
            raise Rejected.at(
                Phrase("line %(number)s", number=number), expected=Phrase("another line"), found=shown(line)
            )
        left[line] -= 1
    if (missing := left.total()) > 0:
        raise Rejected.at(
            Phrase("end of file"), expected=Phrase("%(missing)s more lines", missing=missing), found=Phrase("none")
        )
