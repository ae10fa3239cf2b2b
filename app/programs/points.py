"""Numbers that programs print, and the scores they mean."""

from __future__ import annotations

import re
from fractions import Fraction

from app.programs.model import ACCEPTED, Meaning, ProgramFault
from checkers.doors import Message, Score

NUMBER = re.compile(r"[0-9]{1,400}(\.[0-9]{0,400})?([eE][+-]?[0-9]{1,3})?|\.[0-9]{1,400}([eE][+-]?[0-9]{1,3})?")
LARGEST = 2**63 - 1
"""The most that a numerator or denominator of a stored score may be."""
MOST_DECIMALS = 18


def number(text: str, what: str) -> Fraction:
    """The number that a program wrote, never negative; raises ProgramFault for anything else."""
    written = text.strip().removeprefix("+")
    if not NUMBER.fullmatch(written):
        raise ProgramFault(f"{what}: expected a number of at least 0, found {written[:60]!r}")
    return storable(Fraction(written), what)


def storable(value: Fraction, what: str) -> Fraction:
    """The value, rounded to as many decimals as a stored score can have where it has more; raises ProgramFault."""
    if value < 0:
        raise ProgramFault(f"{what}: expected a number of at least 0, found {float(value):g}")
    for decimals in range(MOST_DECIMALS, -1, -1):
        if value.numerator <= LARGEST and value.denominator <= LARGEST:
            return value
        value = Fraction(round(value * 10**decimals), 10**decimals)
    if value > LARGEST:
        raise ProgramFault(f"{what}: expected a number below 2^63, found a larger one")
    return value


def scored(value: Fraction, meaning: Meaning, most: Fraction | None, message: Message = ACCEPTED) -> Score:
    """The score that a program's number means; raises ProgramFault where it is more than there is to have.

    `most` are the points of the case; a case without points, such as a sample, gives its full share to all accepted.
    """
    match meaning:
        case "raw":
            return Score(_exact(value), message=message)
        case "fraction":
            return _share(value, Fraction(1), message)
        case "percent":
            return _share(value, Fraction(100), message)
        case "absolute":
            if not most:
                return Score(_exact(value), None, None if most is None else 1, message)
            return _share(value, most, message)


def full(meaning: Meaning, most: Fraction | None, message: Message = ACCEPTED) -> Score:
    """The score of an answer that is right and got no number; raises ProgramFault where only raw scores count."""
    if meaning == "raw":
        raise ProgramFault("expected a score beside each accepted answer, as points are raw scores; found none")
    whole = {"fraction": Fraction(1), "percent": Fraction(100), "absolute": most or Fraction(1)}[meaning]
    return Score(_exact(whole), _exact(whole), 1, message)


def _share(value: Fraction, most: Fraction, message: Message) -> Score:
    if value > most:
        raise ProgramFault(f"expected a score of at most {float(most):g}, found {float(value):g}")
    return Score(_exact(value), _exact(most), _exact(storable(value / most, "score")), message)


def _exact(value: Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value
