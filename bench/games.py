"""Games: the time of opponents for a move, and 2,000 games at once over WebSockets beside a bare route.

Opponents play at 10^18, on 20 cells, and on boards of N = 40; `bench.live_games` has the games of the service.
Processor time of this thread, so that a busy machine shows less. The first move of a net fills the table of its sets of
cells, the first one of a board solves it; later ones look things up, as do all further games on it.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from time import thread_time
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from bench.live_games import play_live
from checkers.rules.netgame import Instance as Net
from checkers.rules.netgame import write_net
from checkers.rules.optimiza import Instance as Board
from checkers.rules.optimiza import write_board
from games.catalog import games
from games.doors import draws, other
from games.netgame.opponents import solved as solved_net
from games.optimiza.duel import solved as solved_board

GOAL = 0.005
MOVES = 200
LARGEST = 10**18


def main() -> int:
    """Print tables; 1 if `optimal` misses its goal at 10^18 or on 20 cells, or a move over a WebSocket does."""
    columns = ("game", "position", "opponent", "first move, ms", "median, ms", "p99, ms", "greatest, ms")
    table = Table(*columns, title=f"{MOVES} moves each")
    worst = 0.0
    for slug, name, texts, forget in positions():
        game = games()[slug]
        for opponent in game.opponents:
            forget()
            times = measure(game, opponent, texts)
            rest = sorted(times[1:])
            shown = (times[0], rest[len(rest) // 2], rest[len(rest) * 99 // 100], rest[-1])
            table.add_row(slug, name, opponent, *(f"{1000 * seconds:.3f}" for seconds in shown))
            if opponent == "optimal" and slug != "optimiza":
                worst = max(worst, *shown)
    console = Console(width=120)
    console.print(table)
    console.print(
        f"the slowest move of optimal at 10^18 and on 20 cells: {1000 * worst:.2f} ms, goal {1000 * GOAL:g} ms"
    )
    return max(int(worst > GOAL), play_live())


def measure(game: Any, opponent: str, texts: Callable[[int], str]) -> list[float]:
    """Let an opponent move again and again, `random` playing the other side; gives the seconds of each of its moves."""
    times: list[float] = []
    start = 0
    position, own, number = game.start(texts(start)), 0, 0
    while len(times) < MOVES:
        if game.over(position):
            start += 1
            position, own, number = game.start(texts(start)), other(own), 0
        number += 1
        if game.to_move(position) == own:
            begun = thread_time()
            move = game.opponents[opponent].choose(position, draws(start, number))
            times.append(thread_time() - begun)
        else:
            move = game.opponents["random"].choose(position, draws(start, number))
        position = game.apply(position, move)
    return times


def positions() -> list[tuple[str, str, Callable[[int], str], Callable[[], None]]]:
    """List what is played: game, words, the text of each start by its number, and how to forget what was solved."""
    net, board = block(5, 4), dense(40)
    solved_net(games()["netgame"].start(net).net)  # loads the compiled kernel
    return [
        ("lasttreat", "10^18", huge, lambda: None),
        ("netgame", "5 x 4 cells", lambda _: net, solved_net.cache_clear),
        ("optimiza", "torus8, N = 10, random", lambda _: drawn(10), solved_board.cache_clear),
        ("optimiza", "torus8, N = 40, values sorted", lambda _: board, solved_board.cache_clear),
    ]


def huge(start: int) -> str:
    """Draw piles and K up to 10^18."""
    random = Random(start)
    return " ".join(str(random.randint(1, LARGEST)) for _ in range(3))


def block(width: int, height: int) -> str:
    """Write the net of a block of cells."""
    across = [(x, y, x + 1, y) for y in range(height + 1) for x in range(width)]
    upright = [(x, y, x, y + 1) for y in range(height) for x in range(width + 1)]
    return write_net(Net((*across, *upright)))


def dense(size: int) -> str:
    """Write a board whose values stand in rising order, so that each value's cells lie together."""
    return write_board(Board(size, "torus8", bytes(sorted(values(size)))))


def drawn(size: int) -> str:
    """Write a board whose values stand in drawn places."""
    return write_board(Board(size, "torus8", bytes(np.random.default_rng(1).permutation(values(size)).tolist())))


def values(size: int) -> list[int]:
    """List the values of a board: N + 1 copies of each below N, and one N."""
    return [value for value in range(1, size) for _ in range(size + 1)] + [size]
