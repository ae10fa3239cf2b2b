"""The first difference between an answer and the reference file, as a rejection."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided

from checkers.doors import Phrase, Rejected, quote
from checkers.numbers import place
from checkers.tokens.arguments import Options
from checkers.tokens.decimals import POWERS
from checkers.tokens.kernels import count_tokens, last_common_token, scan
from checkers.tokens.outcomes import NOT_A_NUMBER, SAME, SPACE, TOO_FAR, UNDECIDED, Words

SPACES = b" \t\n\v\f\r"


def compare(answer: bytes, expected: bytes, options: Options) -> None:
    """Compare token by token; raises Rejected at the first difference, naming the token and its line."""
    ours, theirs = np.frombuffer(answer, np.uint8), np.frombuffer(expected, np.uint8)
    words, other_words = _words(answer), _words(expected)
    absolute = options.absolute if options.absolute is not None else -1.0
    relative = options.relative if options.relative is not None else -1.0
    fold, strict = not options.case_sensitive, options.space_change_sensitive
    i = j = last_common_token(ours, theirs, words, other_words)
    while True:
        status, i, j = scan(ours, theirs, words, other_words, i, j, fold, strict, absolute, relative, POWERS)
        if status == SAME:
            return
        if status != UNDECIDED:
            raise _difference(status, answer, expected, i, j, options)
        token, wanted = _token(answer, i), _token(expected, j)
        if not options.close(float(wanted), float(token)):
            raise _difference(TOO_FAR, answer, expected, i, j, options)
        i, j = i + len(token), j + len(wanted)


def _words(data: bytes) -> Words:
    """Read every 8 bytes of the data as one number, from every offset: element i lies at byte i, so neighbours overlap.

    Data of fewer than 9 bytes gets a stand-in which no kernel reads, as a view that short has another type for numba.
    """
    whole = data if len(data) > 8 else bytes(9)
    return as_strided(np.frombuffer(whole, "<u8", 1), (len(whole) - 7,), (1,), writeable=False)


def _token(data: bytes, at: int) -> bytes:
    end = at
    while end < len(data) and data[end] not in SPACES:
        end += 1
    return data[at:end]


def _spaces_around(data: bytes, at: int) -> bytes:
    start = end = at
    while start > 0 and data[start - 1] in SPACES:
        start -= 1
    while end < len(data) and data[end] in SPACES:
        end += 1
    return data[start:end]


def _difference(
    status: int, answer: bytes, expected: bytes, at_answer: int, at_expected: int, options: Options
) -> Rejected:
    """Say where the files part: `token 17 (line 3): expected another token, found "y"`.

    What the reference has there is not said: contestants read this, and could read the whole file token by token.
    """
    number = count_tokens(np.frombuffer(expected, np.uint8), at_expected) + 1
    line = place(answer, at_answer)
    if status == SPACE:
        ours = _spaces_around(answer, at_answer)
        where = Phrase("white space after token %(number)s (%(line)s)", number=number - 1, line=line)
        return Rejected.at(where, expected=Phrase("other white space"), found=_shown(ours, Phrase("none")))
    ours = _token(answer, at_answer)
    wanted = Phrase("another token") if _token(expected, at_expected) else Phrase("the end of the file")
    if status == NOT_A_NUMBER:
        wanted = Phrase("a decimal number")
    elif status == TOO_FAR:
        wanted = Phrase("a number within %(tolerance)s of the right one", tolerance=_tolerances(options))
    return Rejected.at(
        Phrase("token %(number)s (%(line)s)", number=number, line=line),
        expected=wanted,
        found=_shown(ours, Phrase("nothing")),
    )


def _shown(token: bytes, nothing: str) -> str:
    return quote(token) if token else nothing


def _tolerances(options: Options) -> str:
    limits = [(options.absolute, "absolute"), (options.relative, "relative")]
    return " or ".join(f"{value:g} ({name})" for value, name in limits if value is not None)
