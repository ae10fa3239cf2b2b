"""The rules for a package that is played: its game, the cases of that game, and points for winning them."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from app.core.faults import PackageError
from app.core.parsing import place
from app.packages.model import Package
from app.packages.settings import GAME
from games.catalog import names

FILE = "jurado.yaml"


def check_played(package: Package) -> Iterator[PackageError]:
    """Yield where `game:` and the checker, the cases and the groups do not fit each other.

    What the rules of the game say of a case is for the checker to say, when it is asked about each of them.
    """
    game, checker = package.settings.game, package.settings.checker
    if game is None:
        if checker == GAME:
            where = place(package.files, FILE, ("checker",))
            yield PackageError(FILE, where, "expected `game: {name: ...}` beside the checker game, found none")
        return
    if checker != GAME:
        text = f"expected the checker game beside `game`, found {checker!r}"
        yield PackageError(FILE, place(package.files, FILE, ("checker",)), text)
    if game.name not in names():
        near = get_close_matches(game.name, names(), 1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        text = f"expected a game of this installation, one of {', '.join(names())}, found {game.name!r}{hint}"
        yield PackageError(FILE, place(package.files, FILE, ("game", "name")), text)
    yield from _check_cases(package, f"game {game.name}")
    yield from _check_groups(package)


def _check_cases(package: Package, expected: str) -> Iterator[PackageError]:
    for case in package.cases:
        first = case.input.read().split(b"\n", 1)[0].decode("utf-8", "backslashreplace")
        if first != expected:
            text = f"expected `{expected}`, the game that jurado.yaml names, found {first[:60]!r}"
            yield PackageError(case.input.path, "line 1", text)


def _check_groups(package: Package) -> Iterator[PackageError]:
    for group in package.groups:
        if group.max_score == 0:
            file = f"data/{group.name}/test_group.yaml"
            text = "expected points for the games of this group, found 0"
            yield PackageError(file, place(package.files, file, ("max_score",)), text)
