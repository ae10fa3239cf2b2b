"""A program for `jurado play lasttreat --with`: plays perfectly, by the closed form of the lost positions."""

import sys
from math import isqrt


def lower(n: int) -> int:
    """Wythoff's a_n = floor(n * golden ratio)."""
    return (n + isqrt(5 * n * n)) // 2


def partner(number: int) -> int:
    """The other number of the pair (a_n, a_n + n)."""
    quotient = lower(number) - number
    return number + quotient + 1 if number and lower(quotient + 1) == number else quotient


def move(a: int, b: int, k: int) -> tuple[int, int]:
    """A winning move, or one treat where there is none."""
    side = k + 1
    r, s = a % side, b % side
    small = min(r, s)
    straight = lower(abs(r - s))
    if straight < small:
        return small - straight, small - straight
    if partner(s) < r:
        return r - partner(s), 0
    if partner(r) < s:
        return 0, s - partner(r)
    return (1, 0) if a else (0, 1)


game, player, lines = input().split()
cakes, fruit, most = map(int, input().split())
for _ in range(int(lines) - 1):
    input()
for line in sys.stdin:
    word, *numbers = line.split()
    if word == "go":
        x, y = move(cakes, fruit, most)
        print(x, y, flush=True)
    elif word == "move":
        x, y = map(int, numbers)
    else:
        break  # end won, end lost
    cakes, fruit = cakes - x, fruit - y
