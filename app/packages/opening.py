"""Checkers opened by the name that packages give them: modules of `checkers/`, and the one of `games/` beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, cast

from app.packages.settings import GAME
from checkers import doors
from checkers.doors import Checker
from games import checker as of_games

BESIDE: Mapping[str, ModuleType] = {GAME: of_games}
"""Checkers that know more than the room `checkers` may: their arguments are none."""


# Any: a checker's instances and answers are its own.
def open_checker(name: str, args: Sequence[str] = ()) -> Checker[Any, Any]:
    """Open a checker; raises ValueError where its arguments are not understood."""
    if name not in BESIDE:
        return doors.open_checker(name, args)
    if args:
        raise ValueError(f"checker {name}: expected no arguments, found {list(args)}")
    return cast(Checker[Any, Any], BESIDE[name])
