"""The problems that new packages begin as: one for each kind of checker, with test data from easy to hard."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from app.packages.skeletons.choices import OWN, CheckerKind

Params = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Theme:
    """A problem to begin with.

    name      of its folder of templates
    params    parameters of its generator, by difficulty from 0 to 1
    sample    the name of its sample; `sample_params` where the generator makes it too
    """

    name: str
    params: Callable[[float], Params]
    sample: str
    sample_params: Params | None = None


def _between(least: int, most: int, share: float) -> int:
    return round(least + (most - least) * share)


def _stairs(share: float) -> Params:
    highest = _between(10, 200, share)
    return {"lowest": highest - 9, "highest": highest}


def _pairs(share: float) -> Params:
    numbers = _between(10, 200, share)
    return {"numbers": numbers, "kinds": numbers if share < 0.5 else numbers // 2}


TOUR = Theme("tour", lambda share: {"cities": _between(8, 100, share)}, "1-square")
EMPTY = Theme("empty", lambda _share: {}, "")
STANDARD: Mapping[CheckerKind, Theme] = {
    "tokens": Theme(
        "sum", lambda share: {"numbers": _between(5, 200, share), "largest": 10 ** _between(2, 9, share)}, "1-three"
    ),
    "exact": Theme("stairs", _stairs, "1-three"),
    "floats": Theme(
        "mean", lambda share: {"numbers": _between(5, 200, share), "least": 10 ** _between(1, 8, share)}, "1-three"
    ),
    "lines": Theme("words", lambda share: {"lines": _between(1, 50, share)}, "1-two-lines"),
    "unordered": Theme("pairs", _pairs, "1-four"),
    "metric": Theme("houses", lambda share: {"houses": _between(40, 300, share)}, "1-eight", {"houses": 16}),
}


def theme_of(checker: CheckerKind) -> Theme:
    """The problem that a package with this checker begins as."""
    return TOUR if checker in OWN else STANDARD[checker]
