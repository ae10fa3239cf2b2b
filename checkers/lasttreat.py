"""Say for each position of a game with two piles whether it is lost, and give a winning move where it is not.

Instance
    `T` (1..10^5), then T lines `A B K`: piles of A cakes and B fruit (0..10^18, not both 0), and K (1..10^18). A move
    takes i treats, 1 <= i <= K, from one pile, or i from both. Whoever takes the last treat wins.
Answer
    T lines `x y`: `0 0` where the position is lost for whoever is to move, otherwise a winning move, x from the cakes
    and y from the fruit. A file has at most 4 MiB.
Raw score
    1 if every line is right. An answer with one wrong line is rejected as a whole.
Rejected when
    a number is not canonical, numbers are missing or left over, a line is no move (x and y differ though neither is 0,
    more than K, more than there is), or a line is wrong: `0 0` where there is a winning move, or a move that does not
    win. Of a wrong line no more is told than that it is the first one.
Source
    Posledná dobrota, Slovak Olympiad in Informatics, A-III-5; the form with answer files is set here.
    Judging rests on a theorem (proved in the package's solution text): with M = K + 1, (A, B) is lost if and only if
    (A mod M, B mod M) is, and within that square the lost positions are Wythoff's pairs (a, a + n) with
    a = floor(n * golden ratio), in either order. Legal moves: `checkers/rules/lasttreat.py`, shared with the game.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from checkers.compiled import njit
from checkers.doors import N_, Message, Phrase, Rejected, Score, quote
from checkers.numbers import Integers, place, read_integers
from checkers.rules.lasttreat import LARGEST, illegality

MOST_POSITIONS = 10**5
GOLDEN = np.uint64(11400714819323198485)  # floor(2**64 * (golden ratio - 1))
HALF, LOW, ONE = np.uint64(32), np.uint64(2**32 - 1), np.uint64(1)


@dataclass(frozen=True, slots=True)
class Instance:
    """The positions: `rows` has a line `A B K` for each, int64."""

    rows: Integers

    @property
    def count(self) -> int:
        """The number of positions."""
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class Answer:
    """The amounts to take from each position: `moves` has a line `x y` for each, int64; `0 0` says that it is lost."""

    moves: Integers


def read_instance(data: bytes) -> Instance:
    """Parse an input file; raises Rejected unless it is written exactly as the statement says."""
    values, _ = read_integers(data, most=1 + 3 * MOST_POSITIONS)
    if len(values) == 0 or not 1 <= values[0] <= MOST_POSITIONS:
        actual = str(values[0]) if len(values) else Phrase("an empty file")
        raise Rejected.at(
            Phrase("line %(number)s", number=1),
            expected=Phrase("a number of positions from 1 to %(most)s", most=MOST_POSITIONS),
            found=actual,
        )
    count = int(values[0])
    if len(values) != 1 + 3 * count:
        expected = Phrase("%(numbers)s numbers for %(count)s positions", numbers=3 * count, count=count)
        raise Rejected.at(Phrase("end of file"), expected=expected, found=str(len(values) - 1))
    rows = values[1:].reshape(-1, 3)
    _check_layout(data, rows)
    _check_ranges(rows)
    return Instance(rows)


def read_answer(data: bytes, instance: Instance) -> Answer:
    """Parse an answer file; raises Rejected unless each position has a legal move or `0 0`."""
    count = instance.count
    values, offsets = read_integers(data, most=2 * count)
    if len(values) == 0:
        raise Rejected.at(
            Phrase("end of file"),
            expected=Phrase("%(numbers)s numbers for %(count)s positions", numbers=2 * count, count=count),
            found=Phrase("an empty file"),
        )
    if len(values) < 2 * count:
        raise Rejected.at(
            Phrase("end of file"),
            expected=Phrase("%(numbers)s numbers for %(count)s positions", numbers=2 * count, count=count),
            found=str(len(values)),
        )
    moves = values.reshape(-1, 2)
    at = int(_first_illegal(instance.rows, moves))
    if at < count:
        a, b, k, x, y = (int(value) for value in (*instance.rows[at], *moves[at]))
        expected, actual = illegality(a, b, k, x, y) or ("", "")
        raise Rejected.at(_where(at, data, offsets), expected=expected, found=actual)
    return Answer(moves)


def write_answer(answer: Answer) -> str:
    """Render the moves, a line for each position."""
    return _lines(answer.moves)


def score_answer(instance: Instance, answer: Answer, reference: bytes | None = None) -> Score:
    """Judge every line by the closed form; raises Rejected at the first one that is wrong.

    `reference` is not needed: there may be several winning moves, and the rules alone tell which they are.
    """
    at = int(_first_wrong(instance.rows, answer.moves))
    if at < instance.count:
        x, y = (int(value) for value in answer.moves[at])
        expected = Phrase("a winning move, or 0 0 without one")
        raise Rejected.at(Phrase("position %(number)s", number=at + 1), expected=expected, found=f"{x} {y}")
    text = f"{instance.count} positions right"
    return Score(1, 1, 1, Message("lasttreat-right", text, {"positions": instance.count}))


def _where(at: int, data: bytes, offsets: Integers) -> str:
    return Phrase("position %(number)s (%(line)s)", number=at + 1, line=place(data, int(offsets[2 * at])))


def _lines(rows: Integers) -> str:
    return "".join(" ".join(map(str, row)) + "\n" for row in rows.tolist())


def _check_layout(data: bytes, rows: Integers) -> None:
    """Hold the file against its numbers written again: one space, one line feed, nothing else."""
    written = f"{len(rows)}\n{_lines(rows)}".encode()
    if written == data:
        return
    # Both have the same numbers, so they differ in white space; a tail missing or left over is at the end of the file.
    lines = zip_longest(data.split(b"\n"), written.split(b"\n"))
    number, (line, right) = next((n, pair) for n, pair in enumerate(lines, start=1) if pair[0] != pair[1])
    if line is None:
        raise Rejected.at(Phrase("end of file"), expected=Phrase("a line feed"), found=quote(data[-1:]))
    if right is None:
        raise Rejected.at(
            Phrase("line %(number)s", number=number - 1),
            expected=Phrase("the end of the file"),
            found=Phrase("an empty line"),
        )
    expected = Phrase("single spaces between numbers and a line feed behind them")
    raise Rejected.at(Phrase("line %(number)s", number=number), expected=expected, found=quote(line))


def _check_ranges(rows: Integers) -> None:
    a, b, k = rows.T
    for column, low, between in (
        (a, 0, N_("cakes from %(least)s to %(most)s")),
        (b, 0, N_("fruit from %(least)s to %(most)s")),
        (k, 1, N_("K from %(least)s to %(most)s")),
    ):
        bad = (column < low) | (column > LARGEST)
        if bad.any():
            at = int(bad.argmax())
            raise Rejected.at(
                Phrase("line %(number)s", number=at + 2),
                expected=Phrase(between, least=low, most=LARGEST),
                found=str(column[at]),
            )
    empty = (a == 0) & (b == 0)
    if empty.any():
        raise Rejected.at(
            Phrase("line %(number)s", number=int(empty.argmax()) + 2),
            expected=Phrase("at least one treat"),
            found="0 0",
        )


@njit(cache=True, nogil=True)
def lower(n: int) -> int:  # pragma: no cover - compiled
    """Wythoff's a_n = floor(n * golden ratio), exactly, for n up to 10^18 + 1.

    The product with the ratio's first 64 binary places is at most 1 too small. The correction needs the sign of
    m*m - m*n - n*n for m near n * golden ratio: the difference is below 2**63 though its terms are not, so that
    arithmetic modulo 2**64 gives it exactly; it is unsigned, as compiled code may do anything where signed numbers
    overflow. Doubles would be wrong from n = 102334155 on.
    """
    u = np.uint64(n)
    high, low = u >> HALF, u & LOW
    g_high, g_low = GOLDEN >> HALF, GOLDEN & LOW
    middle = high * g_low + ((low * g_low) >> HALF)
    other = low * g_high + (middle & LOW)
    m = u + high * g_high + (middle >> HALF) + (other >> HALF) + ONE
    return int(np.int64(m if np.int64(m * (m - u) - u * u) < 0 else m - ONE))


@njit(cache=True, nogil=True)
def lost(a: int, b: int, k: int) -> bool:  # pragma: no cover - compiled
    """Tell by the rule itself whether (a, b) is lost where at most k may be taken."""
    a %= k + 1
    b %= k + 1
    return lower(abs(a - b)) == min(a, b)


@njit(cache=True, nogil=True)
def _first_illegal(rows: Integers, moves: Integers) -> int:  # pragma: no cover - compiled
    """Find the first line that is neither `0 0` nor a legal move; the number of lines if there is none."""
    for at in range(len(rows)):
        x, y = moves[at, 0], moves[at, 1]
        several = x != y and x != 0 and y != 0
        if several or max(x, y) > rows[at, 2] or x > rows[at, 0] or y > rows[at, 1]:
            return at
    return len(rows)


@njit(cache=True, nogil=True)
def _first_wrong(rows: Integers, moves: Integers) -> int:  # pragma: no cover - compiled
    """Find the first line that is wrong; every line is `0 0` or legal. The number of lines if all are right.

    A move wins if and only if it leads to a lost position, and `0 0` is right if and only if one is there already.
    """
    for at in range(len(rows)):
        if not lost(rows[at, 0] - moves[at, 0], rows[at, 1] - moves[at, 1], rows[at, 2]):
            return at
    return len(rows)
