"""Divisor: name a divisor of a number that is smaller than the number, as large as you can.

Instance
    one line: n, 2 to 1000000
Answer
    one divisor of n, 1 to n - 1
Raw score
    the divisor
Rejected when
    it is no canonical number, not below n, or does not divide n
Source
    made up, to show what a problem needs: nothing but its own files
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from checkers.doors import Message, Rejected, Score

MOST = 1_000_000


@dataclass(frozen=True, slots=True)
class Instance:
    """The number."""

    n: int


@dataclass(frozen=True, slots=True)
class Answer:
    """One of its divisors."""

    divisor: int


def read_instance(data: bytes) -> Instance:
    """Read n; raises Rejected."""
    return Instance(read_number(data, 2, MOST))


def read_answer(data: bytes, instance: Instance) -> Answer:
    """Read a divisor; raises Rejected for anything else."""
    divisor = read_number(data, 1, instance.n - 1)
    if instance.n % divisor:
        raise Rejected(f"line 1: expected a divisor of {instance.n}, found {divisor}")
    return Answer(divisor)


def write_answer(answer: Answer) -> str:
    """Render an answer."""
    return f"{answer.divisor}\n"


def score_answer(instance: Instance, answer: Answer, reference: bytes | None = None) -> Score:
    """Score a divisor by the largest there is, which is the reference."""
    best = int(reference) if reference else None
    share = Fraction(answer.divisor, best) if best else None
    return Score(answer.divisor, best, share, Message("divisor.found", f"divisor {answer.divisor}"))


def read_number(data: bytes, least: int, most: int) -> int:
    """Read the only number of a file; raises Rejected."""
    words = data.split(b"\n")
    if len(words) != 2 or words[1] or not words[0].isdigit() or words[0].startswith(b"0") or len(words[0]) > 7:
        raise Rejected(f"line 1: expected one number and the end of the line, found {data[:20]!r}")
    number = int(words[0])
    if not least <= number <= most:
        raise Rejected(f"line 1: expected a number from {least} to {most}, found {number}")
    return number
