"""Say who wins a game of cutting ropes in a net, and by which first cut.

Instance
    `N` (1..50), then N lines `x1 y1 x2 y2`: different ropes of length 1 between grid points 0..50. The player to move
    cuts a rope that is a side of a whole cell, a unit square with all four ropes; who has none to cut loses.
Answer
    `1` and the number (from 1) of a rope with which the first player wins, or `2` if the second player wins.
Raw score
    1 for a right answer; there is nothing between right and wrong. The reference file has the winner and, if that is
    the first player, a second line with all winning ropes in rising order.
Rejected when
    a number is not canonical, missing or left over, the winner is neither 1 nor 2, the rope is not of this net, or
    the answer is wrong. What is wrong with a wrong answer is not told: that would tell half of the right one.
Source
    'Setevaya igra', All-Russian olympiad 2005, problem 5; the reference file's second line is set here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from checkers.doors import Message, Phrase, Rejected, Score, quote
from checkers.numbers import place, read_integers
from checkers.rules.netgame import Instance, read_net, sides_of, whole_cells

FIRST, SECOND = 1, 2

Sets = NDArray[np.int64]
Table = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Answer:
    """The winner, 1 or 2, and the rope cut first, 1..N, where the winner is 1 (0 otherwise)."""

    winner: int
    rope: int = 0


def read_instance(data: bytes) -> Instance:
    """Parse an input file; raises Rejected at the first line that is not as it must be."""
    return read_net(data)


def read_answer(data: bytes, instance: Instance) -> Answer:
    """Parse an answer file; raises Rejected at the first thing wrong with it."""
    values, offsets = read_integers(data, most=2)
    if len(values) == 0:
        raise Rejected.at(Phrase("end of file"), expected=Phrase("the winner, 1 or 2"), found=Phrase("an empty file"))
    winner = int(values[0])
    if winner not in (FIRST, SECOND):
        raise Rejected.at(place(data, int(offsets[0])), expected=Phrase("the winner, 1 or 2"), found=str(winner))
    if winner == SECOND:
        if len(values) > 1:
            raise Rejected.at(place(data, int(offsets[1])), expected=Phrase("nothing after 2"), found=str(values[1]))
        return Answer(SECOND)
    most = len(instance.ropes)
    if len(values) == 1:
        raise Rejected.at(
            Phrase("end of file"),
            expected=Phrase("the rope to cut, 1 to %(most)s", most=most),
            found=Phrase("nothing after 1"),
        )
    rope = int(values[1])
    if not 1 <= rope <= most:
        raise Rejected.at(
            place(data, int(offsets[1])), expected=Phrase("the rope to cut, 1 to %(most)s", most=most), found=str(rope)
        )
    return Answer(FIRST, rope)


def write_answer(answer: Answer) -> str:
    """Render an answer: the winner on the first line, the rope of the first player on a second one."""
    return f"{FIRST}\n{answer.rope}\n" if answer.winner == FIRST else f"{SECOND}\n"


def score_answer(instance: Instance, answer: Answer, reference: bytes | None = None) -> Score:
    """Hold an answer against the reference, or against the rules where there is none; raises Rejected if it is wrong.

    Raises ValueError if the reference file is malformed: that is the judge's fault.
    """
    winning = winning_ropes(instance) if reference is None else _read_reference(reference, len(instance.ropes))
    right = answer.rope in winning if answer.winner == FIRST else not winning
    if not right:
        expected = Phrase("the winner and, if that is the first player, a winning cut")
        raise Rejected.at(Phrase("answer"), expected=expected, found=Phrase("a wrong answer"))
    return Score(1, 1, 1, Message("netgame-right", "right"))


def check_reference(data: bytes, instance: Instance) -> Score:
    """Hold a reference file against its case; raises Rejected if it is not one, or not true. Its answer scores 1."""
    try:
        reference = _read_reference(data, len(instance.ropes))
    except ValueError as error:
        raise Rejected(str(error)) from None
    winning = winning_ropes(instance)
    if reference != winning:
        raise Rejected.at(Phrase("reference"), expected=_shown(winning), found=_shown(reference))
    return Score(1, 1, 1)


def winning_ropes(instance: Instance) -> frozenset[int]:
    """Play all games on the net to their end; gives the numbers (from 1) of the ropes with which the first player wins.

    A table says of every set of whole cells who wins, so it has 2^20 entries at most: 21 cells have 52 sides.
    """
    sides = sides_of(whole_cells(instance), len(instance.ropes))
    cuts = np.array(sorted(set(sides) - {0}), np.int64)
    everything = int(np.bitwise_or.reduce(cuts, initial=0))
    won = np.zeros(everything + 1, np.uint8)
    fill_won(won, cuts, 0, len(won))
    return frozenset(at for at, cells in enumerate(sides, start=1) if cells and not won[everything & ~cells])


def _shown(winning: frozenset[int]) -> str:
    return Phrase("1 with the ropes %(ropes)s", ropes=" ".join(map(str, sorted(winning)))) if winning else "2"


def _read_reference(reference: bytes, ropes: int) -> frozenset[int]:
    """Give the winning ropes, none where the second player wins; raises ValueError if the file is malformed."""
    words = reference.split()
    numbers = [int(word) for word in words if word.isdigit() and len(word) <= 2]
    winning = numbers[1:]
    fine = len(numbers) == len(words) > 0 and numbers[0] == (FIRST if winning else SECOND)
    if not fine or winning != sorted(set(winning)) or not all(1 <= rope <= ropes for rope in winning):
        raise ValueError(f"reference: expected 2, or 1 and winning ropes of 1..{ropes}, found {quote(reference)}")
    return frozenset(winning)


@njit(cache=True, nogil=True)
def fill_won(won: Table, cuts: Sets, first: int, last: int) -> None:  # pragma: no cover - compiled
    """Mark the sets from `first` to below `last` from which some cut leads to a lost one; those below are done."""
    for cells in range(first, last):
        for cut in cuts:
            if cells & cut and not won[cells & ~cut]:
                won[cells] = 1
                break
