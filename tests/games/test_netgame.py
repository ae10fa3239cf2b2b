"""The net game: its table of won sets is the checker's, and its optimal player never loses a won net."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from checkers import netgame as checker
from games.doors import draws
from games.netgame import GAME
from games.netgame.opponents import is_won
from games.netgame.table import won_sets

DATA = Path(__file__).parents[2] / "problems/netgame/data"
NETS = sorted(DATA.rglob("*.in"))
NETS = [path for path in NETS if "invalid" not in str(path)]


@pytest.mark.parametrize("path", NETS, ids=lambda path: path.stem)
def test_the_table_in_words_is_the_checkers_table(path: Path) -> None:
    net = checker.read_instance(path.read_bytes())
    cells = checker.whole_cells(net)
    sides = checker.sides_of(cells, len(net.ropes))
    won = np.zeros(1 << len(cells), np.uint8)
    checker.fill_won(won, np.array(sorted(set(sides) - {0}), np.int64), 0, len(won))
    words = won_sets(len(cells), tuple(sides))
    unpacked = np.unpackbits(words.view(np.uint8), bitorder="little")[: len(won)]
    assert np.array_equal(unpacked, won)
    assert is_won(words, len(won) - 1) == bool(won[-1])


@pytest.mark.parametrize("path", NETS, ids=lambda path: path.stem)
def test_optimal_never_loses_a_won_net(path: Path) -> None:
    position = GAME.start(path.read_text())
    won = bool(checker.winning_ropes(checker.read_instance(path.read_bytes())))
    assert GAME.outlook(position).won is won
    best = 0 if won else 1
    for name in GAME.opponents:
        for seed in range(3):
            assert winner_against(name, position, best, seed) == best


def winner_against(name: str, position, best: int, seed: int):
    number = 0
    while not GAME.over(position):
        number += 1
        player = GAME.opponents["optimal" if GAME.to_move(position) == best else name]
        position = GAME.apply(position, player.choose(position, draws(seed, number)))
    return GAME.winner(position)


DAMAGED = ("", "ting 1\n", " ", " \n", " 1", " 0\n", " 11\n", " 2 1\n", " 1 1\n", " 1\n\n", " 1 \n")


@pytest.mark.parametrize("end", DAMAGED)
def test_a_damaged_line_of_cut_ropes_is_rejected_with_its_number(end: str) -> None:
    with pytest.raises(checker.Rejected, match=r"line 12|end of file"):
        GAME.start(f"{GAME.sample}cut{end}")


def test_cutting_a_rope_again_is_told_apart_from_a_rope_of_no_whole_cell() -> None:
    position = GAME.apply(GAME.start(GAME.sample), "2")
    with pytest.raises(checker.Rejected, match="2, which is cut already"):
        GAME.apply(position, "2")
    with pytest.raises(checker.Rejected, match="5, one of no whole cell"):
        GAME.apply(position, "5")
