"""Marks of states for a search from both ends: two bits for each rank, in pages that are made when they are first met.

Two bits for every rank would be 540 MiB for an empty map. The states that are met lie in clusters, since ranks that
follow each other differ in the lowest cell only: a page of 256 ranks is one line of the processor's cache, and a layer
that is expanded in the order of ranks comes back to the same few pages.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checkers.compiled import njit
from solvers.lazypiglets.bits import Ranks

Words = NDArray[np.uint64]

UNMET, FROM_START, FROM_GOAL, DEAD = (np.uint64(mark) for mark in range(4))
"""A state that no end has met, that one end has met, or that lies on no plan as short as wanted."""

PAGE, WORD = np.uint64(8), np.uint64(5)
"""A page holds 2 ** PAGE ranks, a word of it 2 ** WORD."""
WORDS = 1 << int(PAGE - WORD)
IN_PAGE, IN_WORD = np.uint64(WORDS - 1), np.uint64((1 << int(WORD)) - 1)
MARK, ONE = np.uint64(3), np.uint64(1)
FIRST_PAGES = 1 << 12


@dataclass
class Marks:
    """The marks of all ranks. `places` holds the page of each stretch of ranks, 0 where there is none yet."""

    places: Ranks
    words: Words
    pages: int = 0

    @property
    def held(self) -> int:
        """Bytes held."""
        return self.places.nbytes + self.words.nbytes

    def make_room(self, more: int) -> None:
        """Grow until `more` pages can be made."""
        wanted = (self.pages + more + 1) * WORDS
        if wanted > len(self.words):
            self.words.resize(wanted + wanted // 4, refcheck=False)  # in place, unlike numpy.resize

    def put(self, rank: int, mark: np.uint64) -> None:
        """Mark a rank that no one has met."""
        self.make_room(1)
        place = rank >> int(PAGE)
        if self.places[place] == 0:
            self.pages += 1
            self.places[place] = self.pages
        key = np.uint64(rank)
        self.words[word_of(key, self.places)] |= mark << shift_of(key)


def marks_of(states: int) -> Marks:
    """Make the marks of so many ranks: all are unmet."""
    return Marks(np.zeros((states >> int(PAGE)) + 1, np.uint32), np.zeros(FIRST_PAGES * WORDS, np.uint64))


@njit(cache=True, nogil=True)
def word_of(rank: np.uint64, places: Ranks) -> np.uint64:  # pragma: no cover - compiled
    """Find the word of a rank, on a page that is there."""
    return (np.uint64(places[rank >> PAGE]) << (PAGE - WORD)) | (rank >> WORD & IN_PAGE)


@njit(cache=True, nogil=True)
def shift_of(rank: np.uint64) -> np.uint64:  # pragma: no cover - compiled
    """Find the place of a rank's mark in its word."""
    return (rank & IN_WORD) << ONE
