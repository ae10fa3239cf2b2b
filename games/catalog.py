"""The games of this installation, found by their folders: a game more is files in `games/<slug>/` and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import cast

from games.doors import AnyGame


@cache
def names() -> tuple[str, ...]:
    """List the slugs of all games, sorted, without importing them."""
    spec = find_spec("games")
    folders = [Path(folder) for folder in (spec.submodule_search_locations or () if spec is not None else ())]
    return tuple(sorted(path.parent.name for folder in folders for path in folder.glob("*/__init__.py")))


@cache
def open_game(slug: str) -> AnyGame:
    """Open a game; raises KeyError where there is none of that name."""
    if slug not in names():
        raise KeyError(slug)
    return cast(AnyGame, import_module(f"games.{slug}").GAME)


@cache
def games() -> Mapping[str, AnyGame]:
    """Open all games: slug to game."""
    return MappingProxyType({slug: open_game(slug) for slug in names()})
