"""Opponents in the duel on an Optimiza board. Moves are texts: a cell `r c`, or `A` or `B` for who begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from checkers.doors import N_
from games.doors import FIRST, SECOND, Opponent, Side
from games.optimiza.duel import solved
from games.optimiza.position import Position

SIDES = ("A", "B")
Step = Callable[[Position, Random], int]


def cell_text(position: Position, cell: int) -> str:
    """Write a cell as a move: row and column, 1-based."""
    row, column = divmod(cell, position.board.size)
    return f"{row + 1} {column + 1}"


def cells(position: Position) -> list[int]:
    """List the cells of the board."""
    return [cell for cell, value in enumerate(position.board.values) if value]


def fresh(cell: int) -> frozenset[int]:
    """Give the visited cells of a layer that the piece has just come to."""
    return frozenset({cell})


def best_starter(position: Position) -> Side:
    """Name who must begin for B to win."""
    return SECOND if solved(position.board).wins(position.cell, fresh(position.cell)) else FIRST


def best_steps(position: Position) -> list[int]:
    """List the steps of the greatest outcome: a win of the greatest prize, or else a loss of the least."""
    duel = solved(position.board)
    outcomes = {end: duel.step_outcome(position.cell, position.visited, end) for end in position.steps}
    return [end for end in outcomes if outcomes[end] == max(outcomes.values())]


def least_prize(position: Position) -> list[int]:
    """List the cells from which B wins least, as far as the outcomes are known."""
    outcomes = solved(position.board).fresh
    least = min(abs(outcome) for outcome in outcomes.values())
    return [cell for cell in cells(position) if abs(outcomes[cell]) == least]


def optimal_step(position: Position, random: Random) -> int:
    """Step for the best outcome."""
    return random.choice(best_steps(position))


def adversarial_step(position: Position, random: Random) -> int:
    """Step for the best outcome where that wins; otherwise to where the greatest share of replies lose."""
    duel = solved(position.board)
    if duel.wins(position.cell, position.visited):
        return random.choice(best_steps(position))
    chances = {end: chances_to_err(Position(position.board, (*position.walk, end), FIRST)) for end in position.steps}
    return random.choice([end for end in chances if chances[end] == max(chances.values())])


def chances_to_err(position: Position) -> float:
    """Give the share of the steps that lose what could be won; 0 where there is none to make."""
    duel, ends = solved(position.board), position.steps
    lost = [end for end in ends if duel.step_outcome(position.cell, position.visited, end) < 0]
    return len(lost) / len(ends) if ends else 0.0


def random_step(position: Position, random: Random) -> int:
    """Step anywhere."""
    return random.choice(position.steps)


def greedy_step(position: Position, random: Random) -> int:
    """Step to the greatest value in reach."""
    values = position.board.values
    most = max(values[end] for end in position.steps)
    return random.choice([end for end in position.steps if values[end] == most])


def player(
    step: Step,
    place: Callable[[Position], Sequence[int]],
    starter: Callable[[Position], Sequence[Side]],
) -> Callable[[Position, Random], str]:
    """Put an opponent together: its steps, the cells and the sides among which it draws before."""

    def choose(position: Position, random: Random) -> str:
        if not position.walk:
            return cell_text(position, random.choice(place(position)))
        if position.starter is None:
            return SIDES[random.choice(starter(position))]
        return cell_text(position, step(position, random))

    return choose


def wise_starter(position: Position) -> Sequence[Side]:
    """Give the side that must begin for B to win."""
    return (best_starter(position),)


def any_starter(_position: Position) -> Sequence[Side]:
    """Give both sides."""
    return FIRST, SECOND


def starter_with_a_step(position: Position) -> Sequence[Side]:
    """Give B where there is a step, otherwise A."""
    return (SECOND if position.steps else FIRST,)


def greatest_cell(position: Position) -> Sequence[int]:
    """Give the cells of the greatest value."""
    values = position.board.values
    most = max(values)
    return [cell for cell in cells(position) if values[cell] == most]


OPPONENTS = {
    N_("optimal"): Opponent(
        N_(
            "wins what can be won, proved by matchings; the prize is exact where at most ten cells of a value are "
            "joined, elsewhere an alpha-beta search looks three steps ahead"
        ),
        player(optimal_step, least_prize, wise_starter),
    ),
    N_("adversarial"): Opponent(
        N_("plays like optimal in won positions; otherwise it maximizes the share of losing replies"),
        player(adversarial_step, cells, wise_starter),
    ),
    N_("random"): Opponent(
        N_("draws the cell, the side that begins, and its steps"), player(random_step, cells, any_starter)
    ),
    N_("greedy"): Opponent(
        N_("goes for the greatest value in reach, and lets itself begin where there is a step"),
        player(greedy_step, greatest_cell, starter_with_a_step),
    ),
}
