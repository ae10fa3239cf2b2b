"""Compare an answer with the reference file token by token: a right-or-wrong checker for any problem.

Instance
    The input's bytes, unread.
Answer
    The file's bytes: tokens between white space (space, tab, line feed, vertical tab, form feed, carriage return).
Raw score
    1 for a right answer, with multiplier 1.
Rejected when
    a token differs from the reference's, or tokens are missing or left over. Letters A-Z equal a-z unless
    `case_sensitive`; with a float tolerance, a reference token that is a decimal number is compared by value; with
    `space_change_sensitive` every white space byte must be the same too.
Source
    The default output validator of the Kattis problem package format 2025-09, with its options.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checkers.doors import Score
from checkers.tokens.arguments import DEFAULT, Options, options
from checkers.tokens.comparison import compare

__all__ = ["DEFAULT", "Options", "TokenChecker", "configure", "options"]


def read_instance(data: bytes) -> bytes:
    """Take any input: tokens are compared with the reference file alone."""
    return data


def read_answer(data: bytes, instance: bytes) -> bytes:
    """Take any answer: what is wrong with it shows beside the reference file."""
    return data


def write_answer(answer: bytes) -> str:
    """Give the answer as text; bytes that are not UTF-8 become surrogate escapes."""
    return answer.decode("utf-8", "surrogateescape")


def score_answer(instance: bytes, answer: bytes, reference: bytes | None = None, options: Options = DEFAULT) -> Score:
    """Accept the answer or raise Rejected at its first difference from `reference`, which must be given."""
    if reference is None:
        raise ValueError("tokens: expected a reference file, found none")
    if answer != reference:
        compare(answer, reference, options)
    return Score(raw=1, max_raw=1, multiplier=1)


@dataclass(frozen=True, slots=True)
class TokenChecker:
    """Bind the doors to options."""

    options: Options

    def read_instance(self, data: bytes) -> bytes:
        """Take any input."""
        return read_instance(data)

    def read_answer(self, data: bytes, instance: bytes) -> bytes:
        """Take any answer."""
        return read_answer(data, instance)

    def write_answer(self, answer: bytes) -> str:
        """Give the answer as text."""
        return write_answer(answer)

    def score_answer(self, instance: bytes, answer: bytes, reference: bytes | None = None) -> Score:
        """Accept the answer or raise Rejected at its first difference."""
        return score_answer(instance, answer, reference, self.options)


def configure(args: Sequence[str]) -> TokenChecker:
    """Open the checker with a case's `output_validator_args`; raises ValueError where they are not understood."""
    return TokenChecker(options(args))
