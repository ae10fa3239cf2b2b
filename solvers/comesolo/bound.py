"""An upper bound of the pieces eaten: pieces minus the groups of cells that jumps could ever tie together."""

from __future__ import annotations

from checkers.comesolo import Instance
from solvers.comesolo.moves import DOWN, RIGHT

Cell = tuple[int, int]


def most_eaten(instance: Instance) -> int:
    """Bound the number of jumps from above.

    Take every jump whose start and middle could ever hold a piece, no matter what else; where these jumps tie cells
    into groups, a group with a piece keeps one to the end: a jump stays in its group and leaves its landing piece.
    """
    size = instance.size
    reachable = _reachable(instance)
    parent = {cell: cell for cell in reachable}
    for cells in _jumps_among(reachable, size):
        first, *others = (_root(parent, cell) for cell in cells)
        for other in others:
            parent[other] = first
    groups = {_root(parent, cell) for cell in _pieces(instance)}
    return instance.pieces - len(groups)


def _pieces(instance: Instance) -> set[Cell]:
    return {divmod(at, instance.size) for at, piece in enumerate(instance.board) if piece}


def _reachable(instance: Instance) -> set[Cell]:
    """Cells that could hold a piece at some time, if empty cells never ran out."""
    reachable = _pieces(instance)
    while True:
        landings = {cells[2] for cells in _jumps_among(reachable, instance.size, landing_open=True)}
        if landings <= reachable:
            return reachable
        reachable |= landings


def _jumps_among(reachable: set[Cell], size: int, *, landing_open: bool = False) -> list[tuple[Cell, Cell, Cell]]:
    jumps = []
    for row, column in reachable:
        for down, right in zip(DOWN.tolist(), RIGHT.tolist(), strict=True):
            landing = (row + 2 * down, column + 2 * right)
            middle = (row + down, column + right)
            on_board = 0 <= landing[0] < size and 0 <= landing[1] < size
            if on_board and middle in reachable and (landing_open or landing in reachable):
                jumps.append(((row, column), middle, landing))
    return jumps


def _root(parent: dict[Cell, Cell], cell: Cell) -> Cell:
    while parent[cell] != cell:
        parent[cell] = parent[parent[cell]]
        cell = parent[cell]
    return cell
