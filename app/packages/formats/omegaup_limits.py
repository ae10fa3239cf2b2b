"""Limits of omegaUp's custom validators: durations and sizes of settings.json, as limits of problem.yaml."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from app.packages.formats.draft import Source

MIB = 2**20
NUMBER = r"([0-9]{1,18}(?:\.[0-9]{0,18})?|\.[0-9]{1,18})"
PART = re.compile(rf"{NUMBER}(ns|us|\u00b5s|\u03bcs|ms|s|m|h)")
"""A part of a duration as Go writes it; the two signs for micro are those that Go takes."""
SECONDS = {
    "ns": Fraction(1, 10**9),
    **dict.fromkeys(("us", "\u00b5s", "\u03bcs"), Fraction(1, 10**6)),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
}
SIZE = re.compile(rf"{NUMBER}(TiB|GiB|MiB|KiB|B|)")
BYTES = {"TiB": 2**40, "GiB": 2**30, "MiB": MIB, "KiB": 2**10, "B": 1, "": 1}
MOST_PARTS = 6
LARGEST = 10**6
"""Seconds or MiB; far above what any server takes."""
LIMITS = "Validator.Limits"
LONGEST = 60


def _seconds(value: object) -> Fraction:
    """Seconds: a number of them, or a text such as `1m30s` or `500ms`."""
    if isinstance(value, str):
        parts = PART.findall(value)
        if 0 < len(parts) <= MOST_PARTS and "".join(map("".join, parts)) == value:
            return _within(sum((Fraction(number) * SECONDS[unit] for number, unit in parts), Fraction(0)))
    elif _is_number(value):
        return _within(Fraction(str(value)))
    raise ValueError(f"expected a duration such as 1s or 500ms, found {repr(value)[:LONGEST]}")


def _bytes(value: object) -> Fraction:
    """Bytes: a number of them, or a text such as `256MiB`."""
    if isinstance(value, str) and (match := SIZE.fullmatch(value)):
        return _within(Fraction(match[1]) * BYTES[match[2]], MIB)
    if _is_number(value):
        return _within(Fraction(str(value)), MIB)
    raise ValueError(f"expected a size such as 256MiB, found {repr(value)[:LONGEST]}")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 2**63


def _within(value: Fraction, unit: int = 1) -> Fraction:
    if value <= LARGEST * unit:
        return value
    raise ValueError(f"expected at most {LARGEST} seconds or MiB, found more")


Seconds = Annotated[Fraction, BeforeValidator(_seconds)]
Bytes = Annotated[Fraction, BeforeValidator(_bytes)]


class ValidatorLimits(BaseModel):
    """The limits of a validator; those that settings.json does not have are None: the server's hold."""

    model_config = ConfigDict(extra="ignore", frozen=True, arbitrary_types_allowed=True)

    TimeLimit: Seconds | None = None
    MemoryLimit: Bytes | None = None
    OutputLimit: Bytes | None = None
    OverallWallTimeLimit: Seconds | None = None
    ExtraWallTime: Seconds | None = None


def limits_of_checker(source: Source, limits: ValidatorLimits) -> dict[str, int]:
    """The limits as problem.yaml has them, each rounded up to a whole one; notes what is rounded or left out."""
    given = {
        "validation_time": (limits.TimeLimit, 1, "s"),
        "validation_memory": (limits.MemoryLimit, MIB, "MiB"),
        "validation_output": (limits.OutputLimit, MIB, "MiB"),
    }
    whole, rounded = {}, []
    for name, (value, unit, word) in given.items():
        if value is not None:
            whole[name] = max(1, math.ceil(value / unit))
            if whole[name] * unit != value:
                rounded.append(f"{name} {whole[name]} {word}")
    if rounded:
        source.note("settings.json", f"limits of checkers are whole seconds and MiB here: {', '.join(rounded)}", LIMITS)
    if limits.OverallWallTimeLimit is not None or limits.ExtraWallTime:
        source.note("settings.json", "time on the clock is bounded by twice validation_time here", LIMITS)
    return whole
