"""Opaque ids: the numbers of judgements and runs, encrypted with the secret of their contest.

Consecutive numbers reveal hidden objects between two of them: silent rejudgings by judgements, final cases by runs. The
ids are stable while the secret is, and need no column.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

ROUNDS = 6
HALF = 32
LOWER = (1 << HALF) - 1
MOST = 2**63 - 1
JUDGEMENT = re.compile("j[0-9a-f]{16}")


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
def _hashers(secret: str) -> tuple[blake2b, ...]:
    """A keyed hash for each round, and one for runs; copy before use, because a hasher takes its data once."""
    key = secret.encode()[:64]
    rounds = [blake2b(key=key, digest_size=HALF // 8, person=b"round %d" % at) for at in range(ROUNDS)]
    return (*rounds, blake2b(key=key, digest_size=8, person=b"run"))


def _mixed(hasher: blake2b, half: int) -> int:
    taken = hasher.copy()
    taken.update(half.to_bytes(4))
    return int.from_bytes(taken.digest())
