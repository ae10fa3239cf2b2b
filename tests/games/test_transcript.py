"""A transcript is read by eye, written and read again, and replayed; what was changed in it is named by its move."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkers.doors import Rejected
from games.catalog import games
from games.doors import AnyGame, draws
from games.transcript import End, Move, Outcome, Transcript, loser_end, read, replay, won_by_contestant, write

GAMES = list(games().values())
every_game = pytest.mark.parametrize("game", GAMES, ids=[game.slug for game in GAMES])


def played(game: AnyGame, opponent: str, seed: int, contestant: str = "random") -> Transcript:
    """A whole game of the asker's side against an opponent."""
    position, moves = game.start(game.sample), []
    while not game.over(position):
        turn, number = game.to_move(position), len(moves) + 1
        name = contestant if turn == game.asker else opponent
        move = game.opponents[name].choose(position, draws(seed, number))
        position = game.apply(position, move)
        moves.append(Move(turn, move, number / 8))
    end = End("over", game.winner(position))
    return Transcript(game.slug, game.sample, game.asker, opponent, seed, tuple(moves), end)


TEXT = """transcript of a game, version 1
game: lasttreat
contestant: first
opponent: none
seed: 17
position:
    2 5 2
moves:
    1 first 0.532 s: 0 1
    2 second 0.001 s: 2 2
    3 first 4.210 s: 0 2
end: over, first won
"""


def test_the_documented_example_is_read_and_sound() -> None:
    transcript = read(TEXT)
    assert transcript.moves[0] == Move(0, "0 1", 0.532)
    assert write(transcript) == TEXT
    assert won_by_contestant(transcript, replay(transcript))


@every_game
@given(seed=st.integers(0, 2**63 - 1), data=st.data())
def test_what_was_played_is_written_read_and_replayed(game: AnyGame, seed: int, data: st.DataObject) -> None:
    transcript = played(game, data.draw(st.sampled_from(sorted(game.opponents))), seed)
    assert read(write(transcript)) == transcript
    positions = []
    outcome = replay(transcript, lambda number, move, position: positions.append(position))
    assert outcome == Outcome(positions[-1], game.winner(positions[-1]))
    assert len(positions) == len(transcript.moves)


@every_game
@given(seed=st.integers(0, 2**32))
def test_one_move_changed_is_a_fault_at_that_move_or_a_later_one(game: AnyGame, seed: int) -> None:
    transcript = played(game, "adversarial", seed)
    random = Random(seed)
    at = random.randrange(len(transcript.moves))
    texts = {*TEXTS, *(move.text for move in transcript.moves)} - {transcript.moves[at].text}
    changed = replace(transcript.moves[at], text=random.choice(sorted(texts)))
    moves = (*transcript.moves[:at], changed, *transcript.moves[at + 1 :])
    outcome = replay(replace(transcript, moves=moves))
    if transcript.moves[at].side != transcript.contestant:
        assert outcome.fault is not None
        assert outcome.fault.number == at + 1
    elif outcome.fault is not None:
        assert outcome.fault.number is None or outcome.fault.number > at
        assert ": expected " in outcome.fault.message.text


TEXTS = ("0 1", "1 1", "1 0", "2", "9", "A", "B", "", "18446744073709551616", "-1 0")


def test_a_move_of_the_opponent_that_is_legal_but_not_its_own_is_named_with_both_moves() -> None:
    game = games()["lasttreat"]
    transcript = played(game, "greedy", 1)
    at = next(at for at, move in enumerate(transcript.moves) if move.side != transcript.contestant)
    moves = list(transcript.moves)
    moves[at] = replace(moves[at], text="0 1")
    fault = replay(replace(transcript, moves=tuple(moves))).fault
    assert fault is not None
    assert fault.number == at + 1
    assert "the move of greedy with seed 1" in fault.message.text


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("version 1", "version 2", 1),
        ("game: lasttreat", "game: chess", 2),
        ("contestant: first", "contestant: third", 3),
        ("opponent: none", "opponent: nobody", 4),
        ("seed: 17", "seed: -17", 5),
        ("seed: 17", "seed: 9223372036854775808", 5),
        ("position:", "", 6),
        ("moves:", "move:", 8),
        ("1 first", "2 first", 9),
        ("1 first", "1 third", 9),
        ("0.532 s", "0.53 s", 9),
        ("0.532 s", "-0.532 s", 9),
        ("end: over, first won", "end: over, third won", 12),
        ("end: over, first won", "end: tired, first won", 12),
        ("end: over, first won\n", "end: over, first won\n\n", 13),
        ("won\n", "won", 12),
    ],
)
def test_a_damaged_file_is_rejected_at_its_line(old: str, new: str, line: int) -> None:
    with pytest.raises(Rejected, match=rf"\Aline {line}: expected "):
        read(TEXT.replace(old, new, 1))


@given(text=st.text())
def test_any_text_is_a_transcript_or_rejected(text: str) -> None:
    with pytest.raises(Rejected):
        read(text)
    at = len(text) % len(TEXT)
    try:
        transcript = read(TEXT[:at] + text + TEXT[at:])
    except Rejected:
        return
    replay(transcript)


@pytest.mark.parametrize(
    ("end", "fault"),
    [
        (None, "end: expected over, found a game that goes on"),
        (End("over", 1), "end: expected first won, found second won"),
        (End("over", None), "end: expected first won, found draw"),
        (loser_end("resigned", 1), "end: expected over, found resigned"),
    ],
)
def test_a_wrong_end_is_told(end: End | None, fault: str) -> None:
    outcome = replay(replace(read(TEXT), end=end))
    assert outcome.fault is not None
    assert (outcome.fault.number, outcome.fault.message.text) == (None, fault)


def test_a_game_that_goes_on_is_sound_without_a_winner_and_may_end_by_resigning() -> None:
    transcript = replace(read(TEXT), moves=read(TEXT).moves[:1], end=None)
    assert replay(transcript).winner is None
    assert replay(transcript).fault is None
    assert not won_by_contestant(transcript, replay(transcript))
    resigned = replace(transcript, end=loser_end("illegal", 1, "move: expected\nanother"))
    assert read(write(resigned)) == resigned
    assert won_by_contestant(resigned, replay(resigned))
    early = replace(transcript, end=End("over", 0))
    assert replay(early).fault is not None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"1 first 0.532 s: 0 1": "1 first 0.532 s: 9 9"}, 'move 1: expected at most 2 cakes, found "9 9"'),
        ({"2 second": "2 first"}, "move 2: expected a move of second, found one of first"),
        ({"first won": "second won"}, "end: expected first won, found second won"),
        ({"    2 5 2\n": "    2 5\n"}, 'line 1: expected "a b k"'),
    ],
)
def test_a_fault_says_where_it_is_once(changes: dict[str, str], message: str) -> None:
    text = TEXT
    for old, new in changes.items():
        text = text.replace(old, new)
    fault = replay(read(text)).fault
    assert fault is not None
    where, _, rest = fault.message.text.partition(": ")
    assert where == message.partition(": ")[0], fault.message.text
    assert rest.startswith("expected "), fault.message.text
    assert fault.message.args["where"] == where
