"""One contract over every game of the catalogue, also those not written yet."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from checkers.doors import Rejected
from games.catalog import games, names, open_game
from games.doors import AnyGame, Position, begin, draws, other

GAMES = list(games().values())
every_game = pytest.mark.parametrize("game", GAMES, ids=[game.slug for game in GAMES])
every_opponent = pytest.mark.parametrize(
    ("game", "name"),
    [pytest.param(game, name, id=f"{game.slug}-{name}") for game in GAMES for name in game.opponents],
)
MOST_MOVES = 400
FULL_WIDTH, ARABIC, RAISED = "\uff11 \uff10", "\u0661 \u0660", "\u00b9 0"
NO_MOVES = (
    "",
    " ",
    "0",
    "-1",
    "+1",
    "01",
    "1e3",
    "1_0",
    "1.0",
    "0x1",
    FULL_WIDTH,
    ARABIC,
    RAISED,
    str(2**64),
    "1 " * 60,
)


def positions(game: AnyGame, seed: int) -> Iterator[Any]:
    """The positions of a game that two opponents `random` play from the sample."""
    position = game.start(game.sample)
    for number in range(1, MOST_MOVES):
        yield position
        if game.over(position):
            return
        position = game.apply(position, game.opponents["random"].choose(position, draws(seed, number)))


def test_the_catalogue_lists_folders_and_opens_their_games() -> None:
    assert set(names()) >= {"lasttreat"}
    for slug in names():
        assert open_game(slug).slug == slug
    with pytest.raises(KeyError):
        open_game("doors")


@every_game
def test_a_game_has_its_headings_and_names(game: AnyGame) -> None:
    document = __import__(f"games.{game.slug}", fromlist=["GAME"]).__doc__
    for heading in ("Instance", "Move", "Won by", "Opponents", "Source"):
        assert f"\n{heading}\n" in document
    assert game.slug.isalnum()
    assert game.slug.islower()
    assert len(set(game.sides)) == 2
    assert {"optimal", "random"} <= set(game.opponents)
    assert all(opponent.summary for opponent in game.opponents.values())


@every_game
def test_the_sample_is_won_for_whoever_asks_for_a_game(game: AnyGame) -> None:
    position = begin(game, game.sample)
    assert game.outlook(position).won is (game.to_move(position) == game.asker)


@every_game
@given(seed=st.integers(0, 2**32))
def test_a_position_is_read_again_from_its_text(game: AnyGame, seed: int) -> None:
    for position in positions(game, seed):
        assert game.start(game.to_text(position)) == position
        json.dumps(game.render(position), allow_nan=False)


@every_game
@given(seed=st.integers(0, 2**32))
def test_legal_moves_are_those_that_apply_accepts(game: AnyGame, seed: int) -> None:
    for position in positions(game, seed):
        legal = game.legal(position)
        assert legal.rule
        if legal.moves is None:
            continue
        assert game.over(position) is (not legal.moves)
        assert len(set(legal.moves)) == len(legal.moves)
        for move in legal.moves:
            assert game.apply(position, move) != position
        for move in strangers(game, seed):
            if move not in legal.moves:
                with pytest.raises(Rejected):
                    game.apply(position, move)


def strangers(game: AnyGame, seed: int) -> list[str]:
    """Texts that look like moves: small numbers, one or two, and those of other positions."""
    random = Random(seed)
    pairs = [f"{random.randrange(9)} {random.randrange(9)}" for _ in range(20)]
    return [*NO_MOVES, *pairs, *(str(random.randrange(60)) for _ in range(10)), *game.sides]


def accepted(read: Callable[..., object], *arguments: object) -> bool:
    """Whether a text is taken; nothing else may be raised than a rejection that says what was expected."""
    try:
        read(*arguments)
    except Rejected as error:
        if error.message.key != "expected-found":
            raise
        return False
    return True


@every_game
@given(move=st.text(max_size=120) | st.from_regex(r"\A[0-9AB+\-_ .e]{0,40}\Z"), seed=st.integers(0, 99))
@example(move="18446744073709551616 0", seed=0)
@example(move="-1 0", seed=0)
@example(move="1e3 0", seed=0)
@example(move=FULL_WIDTH, seed=0)
@example(move=ARABIC, seed=0)
@example(move=RAISED, seed=0)
@example(move="1\n0", seed=0)
@example(move="1 0\n", seed=0)
@example(move="9" * 10_000, seed=0)
@example(move="\ud800", seed=0)
def test_any_text_is_a_move_or_rejected(game: AnyGame, move: str, seed: int) -> None:
    for position in positions(game, seed):
        legal = game.legal(position).moves
        taken = accepted(game.apply, position, move)
        assert legal is None or taken is (move in legal)


@every_game
@given(text=st.text(max_size=200))
@example(text="\ud800")
@example(text="9" * 5000)
def test_any_text_is_a_position_or_rejected(game: AnyGame, text: str) -> None:
    for instance in (text, game.sample + text, text + game.sample, game.sample.replace(" ", text, 1)):
        if accepted(game.start, instance):
            position = game.start(instance)
            assert game.start(game.to_text(position)) == position


@every_game
def test_no_move_is_taken_when_the_game_is_over(game: AnyGame) -> None:
    *_, last = positions(game, 1)
    assert game.over(last)
    assert game.legal(last).moves == ()
    assert game.winner(last) is not None
    for move in strangers(game, 1):
        with pytest.raises(Rejected):
            game.apply(last, move)
    with pytest.raises(Rejected, match="finished"):
        begin(game, game.to_text(last))


@every_game
@given(seed=st.integers(0, 2**32))
def test_only_an_ended_game_has_a_winner(game: AnyGame, seed: int) -> None:
    for position in positions(game, seed):
        assert (game.winner(position) is None) is (not game.over(position))


@every_opponent
def test_an_opponent_makes_legal_moves_and_the_same_ones_for_the_same_seed(game: AnyGame, name: str) -> None:
    opponent = game.opponents[name]
    for seed in range(20):
        for number, position in enumerate(positions(game, seed), start=1):
            if not game.over(position):
                move = opponent.choose(position, draws(seed, number))
                game.apply(position, move)
                assert opponent.choose(position, draws(seed, number)) == move


@every_opponent
def test_the_optimal_opponent_wins_what_is_won_against_every_other(game: AnyGame, name: str) -> None:
    """Also from positions in the middle of random games, with either side to move."""
    for seed in range(30):
        for position in positions(game, seed):
            outlook = game.outlook(position)
            if game.over(position) or outlook.won is None:
                continue
            best = game.to_move(position) if outlook.won else other(game.to_move(position))
            assert winner_of(game, position, {best: "optimal", other(best): name}, seed) == best


def winner_of(game: AnyGame, position: Position, players: dict[Any, str], seed: int) -> Position:
    number = 0
    while not game.over(position):
        number += 1
        opponent = game.opponents[players[game.to_move(position)]]
        position = game.apply(position, opponent.choose(position, draws(seed, number)))
    return game.winner(position)
