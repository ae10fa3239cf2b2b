"""Packages that are played: what does not fit is an error, with its file and its line."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from app.packages.read import assemble
from app.packages.trials import LocalDesk
from app.packages.verify import examine
from tests.builders.games import PACKAGE, case
from tests.builders.packages import package_files

GROUP = "data/secret/test_group.yaml"


def errors(changes: Mapping[str, str | bytes | None]) -> list[str]:
    """The errors of the small package that is played, with changes put over it."""
    package = assemble("treat", package_files({**PACKAGE, **changes}))
    return [str(fault) for fault in examine(package, LocalDesk()).faults if fault.severity == "error"]


def test_the_package_without_changes_has_none() -> None:
    assert errors({}) == []


SETTINGS = "checker: {checker}\n{game}scoring: {{kind: absolute, direction: maximise}}\n"
FAULTS: Mapping[str, tuple[Mapping[str, str | bytes | None], str]] = {
    "a start that is lost": (
        {"data/secret/02.in": case("2 0 1")},
        "data/secret/02.in: the checker refuses this input: line 3: expected a position that can be won by first, "
        "found a lost game (proved: closed form of the lost positions)",
    ),
    "a start that is over": (
        {"data/secret/02.in": case("0 0 1")},
        "data/secret/02.in: the checker refuses this input: line 3: expected a position that can be won by first, "
        "found a finished game",
    ),
    "a start that the rules refuse, below the line of a side": (
        {"data/secret/02.in": case("side 1\n2 0")},
        "data/secret/02.in: the checker refuses this input: line 4: expected three numbers A B K",
    ),
    "an opponent that there is not": (
        {"data/secret/02.in": case("3 0 1", "nobody")},
        "data/secret/02.in: the checker refuses this input: line 2: expected opponent and one of optimal, adversarial",
    ),
    "a case of another game": (
        {"data/secret/02.in": "game netgame\nopponent one\n3 0 1\n"},
        "data/secret/02.in, line 1: expected `game lasttreat`, the game that jurado.yaml names, found 'game netgame'",
    ),
    "a game that there is not": (
        {"jurado.yaml": SETTINGS.format(checker="game", game="game: {name: lasttreet}\n")},
        "jurado.yaml, line 2, game.name: expected a game of this installation, one of lasttreat, netgame, optimiza, "
        "found 'lasttreet' (did you mean lasttreat?)",
    ),
    "the checker without a game": (
        {"jurado.yaml": SETTINGS.format(checker="game", game="")},
        "jurado.yaml, line 1, checker: expected `game: {name: ...}` with the checker game, found none",
    ),
    "a game with another checker": (
        {"jurado.yaml": SETTINGS.format(checker="exact", game="game: {name: lasttreat}\n")},
        "jurado.yaml, line 1, checker: expected the checker game with `game`, found 'exact'",
    ),
    "a group without points": (
        {GROUP: "score_aggregation: pass-fail\nmax_score: 0\n"},
        "data/secret/test_group.yaml, line 2, max_score: expected points for the games of this group, found 0",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_does_not_fit_is_an_error_with_file_and_line(name: str) -> None:
    changes, expected = FAULTS[name]
    assert any(error.startswith(expected) for error in errors(changes)), errors(changes)
