"""Options of comparing tokens: the format's `output_validator_args`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

FLOAT = re.compile(rb"[+-]?([0-9]*\.[0-9]+|[0-9]+\.|[0-9]+)([Ee][+-]?[0-9]+)?")
TOLERANCES = ("float_tolerance", "float_absolute_tolerance", "float_relative_tolerance")
FLAGS = ("case_sensitive", "space_change_sensitive")


@dataclass(frozen=True, slots=True)
class Options:
    """Options of comparing tokens; a tolerance of None is not set. Tolerances are finite and not negative."""

    case_sensitive: bool = False
    space_change_sensitive: bool = False
    absolute: float | None = None
    relative: float | None = None

    @property
    def floats(self) -> bool:
        """True where numbers are compared by value."""
        return self.absolute is not None or self.relative is not None

    def close(self, expected: float, actual: float) -> bool:
        """Tell whether a number is within one of the tolerances of `expected`."""
        apart = abs(actual - expected)
        within = self.absolute is not None and apart <= self.absolute
        return within or (self.relative is not None and apart <= self.relative * abs(expected))


DEFAULT = Options()


def options(args: Sequence[str]) -> Options:
    """Read the format's `output_validator_args`; raises ValueError for unknown, repeated or conflicting ones."""
    given: dict[str, float] = {}
    words = iter(args)
    for word in words:
        if word not in FLAGS + TOLERANCES:
            raise ValueError(f"tokens: expected one of {', '.join(FLAGS + TOLERANCES)}, found {word!r}")
        if word in given:
            raise ValueError(f"tokens: expected {word} once, found it twice")
        given[word] = 1.0 if word in FLAGS else _tolerance(word, next(words, None))
    if "float_tolerance" in given and len(given.keys() & set(TOLERANCES)) > 1:
        raise ValueError("tokens: float_tolerance cannot be combined with another float tolerance")
    both = given.get("float_tolerance")
    return Options(
        case_sensitive="case_sensitive" in given,
        space_change_sensitive="space_change_sensitive" in given,
        absolute=given.get("float_absolute_tolerance", both),
        relative=given.get("float_relative_tolerance", both),
    )


def _tolerance(name: str, word: str | None) -> float:
    if word is None or not FLOAT.fullmatch(word.encode()):
        raise ValueError(f"tokens: expected a decimal number after {name}, found {word!r}")
    value = float(word)
    if not 0 <= value < float("inf"):
        raise ValueError(f"tokens: expected a finite tolerance of 0 or more after {name}, found {word!r}")
    return value
