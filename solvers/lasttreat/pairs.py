"""From Wythoff's pairs to a winning move: what the two fastest methods share."""

from __future__ import annotations

from checkers.compiled import njit


@njit(cache=True, nogil=True)
def move_to(
    r: int, s: int, partner_of_r: int, partner_of_s: int, straight: int
) -> tuple[int, int]:  # pragma: no cover - compiled
    """Give a winning move from piles with the remainders r and s modulo K + 1, or (0, 0) if there is none.

    `partner_of_r` completes r to a pair, `partner_of_s` completes s, -1 where it is beyond K; `straight` is the lower
    number of the pair with difference |r - s|. No move over a multiple of K + 1 is ever needed: Wythoff's game on the
    remainders has a winning move wherever they are no pair, and it takes at most K.
    """
    small = min(r, s)
    if 0 <= straight < small:
        return small - straight, small - straight
    if 0 <= partner_of_s < r:
        return r - partner_of_s, 0
    if 0 <= partner_of_r < s:
        return 0, s - partner_of_r
    return 0, 0
