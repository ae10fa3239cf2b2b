"""Opaque ids: the numbers of judgements and runs, encrypted with the secret of their contest.

Consecutive numbers reveal hidden objects between two of them: silent rejudgings by judgements, final cases by runs. The
ids are stable while the secret is, and need no column.

- Per-team state of a live board at one problem: the folded answers, and the team's rows in the columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from hashlib import blake2b
from typing import Protocol

import numpy as np

from app.domain.counting import Attempt, Fold
from app.domain.score_columns import Floats, Whole

ROUNDS = 6
HALF = 32
LOWER = (1 << HALF) - 1
MOST = 2**63 - 1
JUDGEMENT = re.compile("j[0-9a-f]{16}")


class _Hasher(Protocol):
    def copy(self) -> _Hasher: ...
    def update(self, data: bytes, /) -> None: ...
    def digest(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class VeiledIds:
    """The ids of one contest's judgements and runs, random to anyone without the secret.

    A judgement's id is `j` and 16 hex digits; a run's id is its judgement's, a hyphen and 16 more digits.
    """

    secret: str

    def judgement(self, number: int) -> str:
        """The id of the judgement with this number, of 64 bits at most."""
        return _judgement(self.secret, number)

    def number(self, judgement_id: str) -> int | None:
        """The number behind a judgement's id; None for an invalid id."""
        if not JUDGEMENT.fullmatch(judgement_id):
            return None
        value = int(judgement_id[1:], 16)
        left, right = value >> HALF, value & LOWER
        for hasher in reversed(_hashers(self.secret)[:ROUNDS]):
            left, right = right ^ _mixed(hasher, left), left
        number = left << HALF | right
        return number if 0 < number <= MOST else None

    def run(self, judgement: int, case: int) -> str:
        """The id of a judgement's run on the case of this number."""
        hasher = _hashers(self.secret)[ROUNDS].copy()
        hasher.update(judgement.to_bytes(8) + case.to_bytes(8))
        return f"{self.judgement(judgement)}-{hasher.digest().hex()}"

    def judgement_of(self, run_id: str) -> int | None:
        """The number of the judgement in a run's id; None for an invalid id."""
        return self.number(run_id.partition("-")[0])


@lru_cache(maxsize=4096)
def _judgement(secret: str, number: int) -> str:
    """A Feistel network: a permutation of 64-bit numbers, inverted by its rounds in reverse."""
    left, right = number >> HALF, number & LOWER
    for hasher in _hashers(secret)[:ROUNDS]:
        left, right = right, left ^ _mixed(hasher, right)
    return f"j{left << HALF | right:016x}"


@lru_cache(maxsize=256)
def _hashers(secret: str) -> tuple[_Hasher, ...]:
    """A keyed hash for each round, and one for runs; copy before use, because a hasher takes its data once."""
    key = secret.encode()[:64]
    rounds = [blake2b(key=key, digest_size=HALF // 8, person=b"round %d" % at) for at in range(ROUNDS)]
    return (*rounds, blake2b(key=key, digest_size=8, person=b"run"))


def _mixed(hasher: _Hasher, half: int) -> int:
    taken = hasher.copy()
    taken.update(half.to_bytes(4))
    return int.from_bytes(taken.digest())


@dataclass
class TeamCell:
    """One team at one problem: folded attempts, and rows in the columns.

    row   the team's row where answers count one by one; the row that only sets BEST where whole submissions count
    sent  rows of submissions by id, where whole submissions count
    """

    row: int
    tries: Sequence[Attempt] = ()
    fold: Fold | None = None
    all_best: Fold | None = None
    sent: dict[int, int] = field(default_factory=dict)
    choice: int | None = None

    @property
    def fixed(self) -> int:
        """The row of the chosen submission, where whole submissions count; -1: none is chosen."""
        return -1 if self.choice is None else self.sent[self.choice]

    def copy(self) -> TeamCell:
        """An independent copy; `tries` are replaced as a whole and may be shared."""
        fold = None if self.fold is None else self.fold.copy()
        all_best = None if self.all_best is None else self.all_best.copy()
        return replace(self, fold=fold, all_best=all_best, sent=dict(self.sent))


@dataclass
class TeamRows:
    """The rows of all teams, team after team; `fixed` is the row that counts where it is given, else -1."""

    fixed: Whole
    rows: Whole
    counts: Whole

    @staticmethod
    def of(cells: Sequence[TeamCell], *, whole: bool) -> TeamRows:
        """The rows of these teams; unless `whole` submissions count, each team has the one row of its cell."""
        if not whole:
            fixed = np.array([cell.row for cell in cells], dtype=np.int64)
            return TeamRows(fixed, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        return TeamRows(
            np.array([cell.fixed for cell in cells], dtype=np.int64),
            np.array([row for cell in cells for row in cell.sent.values()], dtype=np.int64),
            np.array([len(cell.sent) for cell in cells], dtype=np.int64),
        )

    def append(self, place: int, rows: Sequence[int], fixed: int) -> None:
        """Add rows of a team, or change its chosen one."""
        end = int(self.counts[: place + 1].sum())
        self.rows = np.insert(self.rows, end, np.array(rows, dtype=np.int64))
        self.counts[place] += len(rows)
        self.fixed[place] = fixed

    def counted(self, points: Floats) -> Whole:
        """The fixed row of each team, or the first of its rows with most points."""
        if not len(self.rows):
            return self.fixed.copy()
        some = np.flatnonzero(self.counts)
        starts = np.cumsum(self.counts)[some] - self.counts[some]
        mine = points[self.rows]
        most = np.repeat(np.maximum.reduceat(mine, starts), self.counts[some])
        first = np.minimum.reduceat(np.where(mine == most, np.arange(len(mine)), len(mine)), starts)
        rows = self.fixed.copy()
        rows[some] = np.where(rows[some] >= 0, rows[some], self.rows[first])
        return rows
