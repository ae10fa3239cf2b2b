"""A player that knows piles up to 200: a table of all positions by the definition. It resigns larger ones."""

import sys

LARGEST = 200

input()
cakes, fruit, most = map(int, input().split())
lost = [[False] * (fruit + 1) for _ in range(cakes + 1)] if max(cakes, fruit) <= LARGEST else []
WAYS = ((1, 0), (0, 1), (1, 1))


def winning(a: int, b: int) -> tuple[int, int] | None:
    """The first move that leaves a lost position."""
    for x, y in WAYS:
        for i in range(1, most + 1):
            if i * x > a or i * y > b:
                break
            if lost[a - i * x][b - i * y]:
                return i * x, i * y
    return None


for a in range(len(lost)):
    for b in range(fruit + 1):
        lost[a][b] = winning(a, b) is None
for line in sys.stdin:
    word, *numbers = line.split()
    if word == "go":
        move = winning(cakes, fruit) if lost else None
        print("resign" if move is None else f"{move[0]} {move[1]}", flush=True)
        taken = move or (0, 0)
    elif word == "move":
        taken = int(numbers[0]), int(numbers[1])
    else:
        break
    cakes, fruit = cakes - taken[0], fruit - taken[1]
