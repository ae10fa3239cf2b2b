"""Compare an answer with the reference file token by token, numbers by value: a right-or-wrong checker for any problem.

Instance
    The input's bytes, unread.
Answer
    The file's bytes: tokens between white space, as `checkers.tokens` has them.
Raw score
    1 for a right answer, with multiplier 1.
Rejected when
    a token differs from the reference's, or tokens are missing or left over. A reference token that is a decimal number
    is compared by value, within 10^-6, absolute or relative, or the tolerance that the arguments give.
Source
    The checker `tokens` with `float_tolerance 1e-6`, as most judges offer it by a name of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from checkers.doors import Score
from checkers.tokens import TokenChecker, options, read_answer, read_instance, write_answer
from checkers.tokens import score_answer as score_tokens
from checkers.tokens.arguments import TOLERANCES

__all__ = ["configure", "read_answer", "read_instance", "score_answer", "write_answer"]

USUAL = ("float_tolerance", "1e-6")


def score_answer(instance: bytes, answer: bytes, reference: bytes | None = None) -> Score:
    """Accept the answer or raise Rejected at its first difference from `reference`, which must be given."""
    return score_tokens(instance, answer, reference, options(USUAL))


def configure(args: Sequence[str]) -> TokenChecker:
    """Bind arguments of the checker `tokens`; without a tolerance among them it is 10^-6. Raises ValueError."""
    given = tuple(args)
    return TokenChecker(options(given if set(given) & set(TOLERANCES) else (*given, *USUAL)))
