"""A wrong player: the strategy printed with the task, which answers a move over a border in the same direction."""

import sys
from math import isqrt


def lower(n: int) -> int:
    """Wythoff's a_n = floor(n * golden ratio)."""
    return (n + isqrt(5 * n * n)) // 2


def partner(number: int) -> int:
    """The other number of the pair (a_n, a_n + n)."""
    quotient = lower(number) - number
    return number + quotient + 1 if number and lower(quotient + 1) == number else quotient


def from_table(r: int, s: int) -> tuple[int, int] | None:
    """The greatest move that wins within the square of side K + 1."""
    both = min(r, s) - lower(abs(r - s))
    moves = [(r - partner(s), 0), (0, s - partner(r)), (both, both)]
    legal = [move for move in moves if min(move) >= 0 and max(move) > 0]
    return min(legal, key=lambda move: (-sum(move), move), default=None)


def reply(a: int, b: int, k: int, last: tuple[int, int] | None) -> tuple[int, int] | None:
    """Complete a move over a multiple of K + 1 in the same direction; else play by the table. None: no such move."""
    side = k + 1
    if last is not None and (a % side + last[0] >= side or b % side + last[1] >= side):
        rest = side - max(last)
        x, y = rest * (last[0] > 0), rest * (last[1] > 0)
        return (x, y) if x <= a and y <= b else None
    return from_table(a % side, b % side)


input()
cakes, fruit, most = map(int, input().split())
heard = None
for line in sys.stdin:
    word, *numbers = line.split()
    if word == "go":
        move = reply(cakes, fruit, most, heard)
        print("resign" if move is None else f"{move[0]} {move[1]}", flush=True)
        taken = move or (0, 0)
    elif word == "move":
        heard = taken = int(numbers[0]), int(numbers[1])
    else:
        break
    cakes, fruit = cakes - taken[0], fruit - taken[1]
