"""The duel on an Optimiza board: A places a piece, B says who begins, then they move it in turn as in the walk.

Instance
    A board as for `checkers/optimiza.py`, of any variant whose cells may not repeat. In a position later in a game a
    line `walk` follows with the cells the piece has stood on, `r c` each, and then a line `begins A` or `begins B`.
Move
    First `r c`, 1-based: where A places the piece. Then `A` or `B`: who begins. Then `r c`: a cell exactly as far away
    as the value says on which the piece stands, in a straight line, of no lower value, not visited before.
Won by
    whoever moves last takes the points, the sum of all cells of the walk: a player without a step loses.
Opponents
    `optimal` wins what can be won, proved on every board; the prize is exact on small and random boards. `adversarial`
    sets traps where it is lost; `random`; `greedy` (the greatest value in reach).
Source
    Optimiza, by Chuso (Carlos Luna), 2010, a variant for two named in its post.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from checkers.doors import N_, Phrase, Rejected
from checkers.rules.optimiza import Instance, cell_name, read_board, step_fault, write_board
from games.doors import (
    FIRST,
    MOVE,
    SECOND,
    Game,
    Legal,
    Opponent,
    Outlook,
    Picture,
    Side,
    check_length,
    other,
    read_numbers,
    shown,
)
from games.optimiza.drawing import drawn_board
from games.optimiza.duel import solved
from games.optimiza.opponents import OPPONENTS, SIDES, cell_text, cells
from games.optimiza.position import Position, ways_of

WALK, BEGINS = "walk ", "begins "
MOST_LISTED = 64
SAMPLE = "4\n1 1 2 3\n2 4 1 3\n3 2 1 2\n1 3 3 2\n"


@dataclass(frozen=True)
class DuelOnABoard:
    """The rules; the player B asks for a game, unless A is asked for, since B can always win."""

    slug: str = "optimiza"
    title: str = N_("The duel of Optimiza")
    sides: tuple[str, str] = SIDES
    asker: Side = SECOND
    sample: str = SAMPLE
    opponents: Mapping[str, Opponent[Position]] = field(default_factory=lambda: MappingProxyType(OPPONENTS))

    def start(self, instance: str) -> Position:
        """Read a board, with the walk so far or without; raises Rejected."""
        text, walk, rest = instance.partition("\n" + WALK)
        board = read_board((text + "\n" if walk else text).encode("utf-8", "backslashreplace"))
        if board.rules.by_step:
            raise Rejected.at(
                Phrase("line %(number)s", number=1),
                expected=Phrase("a variant whose cells may not repeat"),
                found=board.variant,
            )
        return _read_walk(board, rest) if walk else Position(board)

    def to_text(self, position: Position) -> str:
        """Write the board, the walk, and who began."""
        text = write_board(position.board)
        if position.walk:
            text += WALK + " ".join(cell_text(position, cell) for cell in position.walk) + "\n"
        return text if position.starter is None else f"{text}{BEGINS}{SIDES[position.starter]}\n"

    def to_move(self, position: Position) -> Side:
        """Tell whose move it is."""
        return position.turn

    def legal(self, position: Position) -> Legal:
        """List the moves, but for the first one on a large board."""
        if not position.walk:
            rule = N_("place the piece on any cell of the board, as r c")
            places = cells(position)
            moves = tuple(cell_text(position, cell) for cell in places) if len(places) <= MOST_LISTED else None
            return Legal(moves, rule)
        if position.starter is None:
            return Legal(SIDES, N_("say who begins, A or B"))
        value = position.board.values[position.cell]
        rule = Phrase(
            "step %(value)s cells in a straight line, to a value of at least %(same)s, not visited before",
            value=value,
            same=value,
        )
        return Legal(tuple(cell_text(position, cell) for cell in position.steps), rule)

    def apply(self, position: Position, move: str) -> Position:
        """Place the piece, say who begins, or step; raises Rejected where the move is malformed or illegal."""
        if self.over(position):
            raise Rejected.at(MOVE, expected=Phrase("no move, as the game is over"), found=shown(move))
        check_length(move)
        if position.walk and position.starter is None:
            if move not in SIDES:
                raise Rejected.at(MOVE, expected=Phrase("who begins, A or B"), found=shown(move))
            return Position(position.board, position.walk, SECOND if move == SIDES[SECOND] else FIRST)
        cell = _read_cell(position.board, move, MOVE)
        _check_step(position, cell, MOVE)
        return Position(position.board, (*position.walk, cell), position.starter)

    def over(self, position: Position) -> bool:
        """Tell whether someone has begun and there is no step."""
        return position.starter is not None and not position.steps

    def winner(self, position: Position) -> Side | None:
        """Name who moved last: whoever is not to move."""
        return other(position.turn) if self.over(position) else None

    def outlook(self, position: Position) -> Outlook:
        """Tell whether the player to move wins: A never does, B always does, and the steps are settled by matchings."""
        if not position.walk:
            return Outlook(False, N_("proved: B lets that side begin for which the cell is lost"))
        if position.starter is None:
            return Outlook(True, N_("proved: B lets that side begin for which the cell is lost"))
        duel = solved(position.board)
        note = (
            N_("proved: matchings of the layers; the prize is exact")
            if duel.exact
            else N_("proved: matchings of the layers; the prize is looked at three steps ahead")
        )
        won = duel.wins(position.cell, position.visited)
        return Outlook(won, note)

    def render(self, position: Position) -> dict[str, Any]:
        """Give the rows of the board (null where a triangle has no cell), the walk, who began, and the prize."""
        size, values = position.board.size, position.board.values
        rows = [[value or None for value in values[at * size : at * size + size]] for at in range(size)]
        walk = [[cell // size + 1, cell % size + 1] for cell in position.walk]
        begins = None if position.starter is None else SIDES[position.starter]
        variant = position.board.variant
        return {"size": size, "variant": variant, "rows": rows, "walk": walk, "begins": begins, "prize": position.prize}

    def picture(self, position: Position) -> Picture:
        """Draw the board: the piece in brackets, the cells it may step to in parentheses, a dot where it has been."""
        return drawn_board(position)


def _read_walk(board: Instance, text: str) -> Position:
    """Follow a walk; raises Rejected at its first illegal step."""
    where = Phrase("line %(number)s", number=board.size + 2)
    line, feed, last = text.partition("\n")
    words = line.split(" ")
    if not feed or len(words) % 2:
        raise Rejected.at(
            where, expected=Phrase("cells r c with single spaces between and a line feed"), found=shown(line)
        )
    position = Position(board)
    for number, pair in enumerate(zip(words[::2], words[1::2], strict=True), start=1):
        cell_name = Phrase("%(line)s, cell %(number)s", line=where, number=number)
        cell = _read_cell(board, " ".join(pair), cell_name)
        _check_step(position, cell, cell_name)
        position = Position(board, (*position.walk, cell))
    starters = {"": None, f"{BEGINS}A\n": FIRST, f"{BEGINS}B\n": SECOND}
    if last not in starters or (last == "" and len(position.walk) > 1):
        expected = Phrase('"%(begins)sA" or "%(begins)sB", and a line feed', begins=BEGINS)
        raise Rejected.at(Phrase("line %(number)s", number=board.size + 3), expected=expected, found=shown(last))
    return Position(board, position.walk, starters[last])


def _read_cell(board: Instance, text: str, where: str) -> int:
    what = Phrase("a cell r c of the board, 1 to %(size)s each", size=board.size)
    row, column = read_numbers(text, 2, where=where, what=what, largest=board.size)
    cell = (row - 1) * board.size + column - 1
    if not row or not column or not board.values[cell]:
        raise Rejected.at(where, expected=what, found=shown(text))
    return cell


def _check_step(position: Position, cell: int, where: str) -> None:
    """Raise Rejected unless the piece may be placed on the cell, or step to it."""
    if not position.walk:
        return
    board = position.board
    if fault := step_fault(board, ways_of(board)[position.cell], position.cell, cell):
        expected, actual = fault
        raise Rejected.at(where, expected=expected, found=actual)
    if cell in position.walk:
        raise Rejected.at(where, expected=Phrase("a cell not visited before"), found=cell_name(cell, board.size))


GAME: Game[Position] = DuelOnABoard()
