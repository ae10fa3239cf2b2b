"""The end of games: what a counted one becomes, and the end by the clock, also of games that nobody plays any more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

import structlog

from app.core.db.commits import CommitInDoubt
from app.core.service import Service
from app.games.queries import games as stored
from app.games.queries.games import Stored, Turn
from app.games.service.binding import Binding, clock_of_game, read_bound
from app.games.service.referee import MS, Ending, Table, due, end, seat
from app.games.service.showing import transcript
from app.submissions.queries.submissions import Accepted, NewSubmission
from app.submissions.service.answer_files import Answer, OpenCase
from app.submissions.service.storing import StoredFiles
from app.tables import GameMoveRow, GameRow
from checkers.doors import Rejected

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.games")

AT_ONCE = 200
"""Games that are ended with one look at the rows."""


@dataclass(frozen=True, slots=True)
class Became:
    """The submission that a counted game becomes, and its stored files; None: it becomes none."""

    new: NewSubmission | None
    files: StoredFiles | None = None

    @contextmanager
    def written(self) -> Iterator[None]:
        """Give the counted bytes back if the write within fails; one in doubt is settled once it is known."""
        try:
            yield
        except CommitInDoubt as doubt:
            if self.files is not None:
                doubt.outcome.add_done_callback(self.files.settle)
            raise
        except BaseException:
            self.give_back()
            raise

    def give_back(self) -> None:
        """Give the counted bytes back: nothing was stored."""
        if self.files is not None:
            self.files.give_back()


NOTHING = Became(None)


def became(service: Service, table: Table, binding: Binding | None) -> Became:
    """The submission of a game that has ended; may read and write files.

    It counts as made when the game ended; one that the contest's end cut, in the last millisecond before.
    """
    game = table.game
    case = None if binding is None else binding.case(game)
    if binding is None or case is None or game.ended is None or game.account_id is None or game.team_id is None:
        return NOTHING
    entry, clock = binding.entry, binding.clock
    when = game.ended - MS if game.ending == "contest" else game.ended
    time = clock.contest_time(when)
    is_late = entry.final and time < clock.duration and not binding.entrant.is_virtual
    if game.team_id not in entry.teams or is_late:
        return NOTHING
    data = transcript(table).encode()
    files = StoredFiles(service, game.contest_id, game.team_id)
    files.reserve(len(data), entry.settings, is_own=False)
    name = f"{case[1]}.out"
    with files:
        answer = files.answer(Answer(OpenCase(*case, entry.limit), name, data, len(data)))
    return Became(
        NewSubmission(
            game.contest_id,
            game.problem_id,
            game.team_id,
            game.account_id,
            when,
            time // timedelta(milliseconds=1),
            [answer],
            [{"name": name, "case": case[1], "ignored": None}],
            comment=f"game {game.id}",
        ),
        files,
    )


def tell(service: Service, game: GameRow, accepted: Accepted | None) -> None:
    """Tell the engine and the boards of the submission that a game has become."""
    if accepted is None or accepted.judgement_id is None:
        return
    service.engine.wake(accepted.judgement_id, game.team_id or "")
    service.engine.wake_again(accepted.again)
    service.boards.changed(game.contest_id, accepted.submission_id)


def end_due(service: Service, games: Sequence[GameRow], now: datetime) -> list[GameRow]:
    """End those of the games in play that are over by the clock now; returns them as they ended. For a thread.

    Those that are not get the deadline that they have now.
    """
    ended: list[GameRow] = []
    with service.database.read() as session:
        moves = stored.moves_of(session, [game.id for game in games])
    waiting: list[tuple[Became, Turn]] = []
    for game in games:
        happens = _turn(service, game, moves[game.id], read_bound(service, game), now)
        if happens is not None:
            waiting.append(happens)
    replies = [(result, turn, service.writer.submit(stored.store, turn)) for result, turn in waiting]
    for result, turn, reply in replies:
        with result.written():
            outcome = reply.result()
        if not isinstance(outcome, Stored):
            result.give_back()
        elif turn.game.ended is not None:
            ended.append(outcome.game)
            tell(service, outcome.game, outcome.submission)
    return ended


def _turn(
    service: Service, game: GameRow, moves: Sequence[GameMoveRow], binding: Binding | None, now: datetime
) -> tuple[Became, Turn] | None:
    """What happens to a game by the clock: its end, another deadline, or nothing."""
    clock = clock_of_game(binding, game)
    moment, ending = due(game, clock) if game.guest is None else _due_of_two(game, moves)
    if clock is not None and clock.paused(now):
        moment = max(moment, now + LATER)
    if moment > now:
        return (NOTHING, Turn(game.moves, replace(game, deadline=moment))) if moment != game.deadline else None
    try:
        table = end(seat(game, moves), moment, ending)
    except Rejected as broken:
        # The rules are others than those it was played by: it ends, and nothing becomes of it.
        log.warning("a game does not fit its rules any more", game=game.id, error=str(broken))
        lost = replace(game, ended=moment, ending=ending, winner=1 - game.side)
        return NOTHING, Turn(game.moves, lost)
    result = became(service, table, binding)
    return result, Turn(game.moves, table.game, submission=result.new)


def _due_of_two(game: GameRow, moves: Sequence[GameMoveRow]) -> tuple[datetime, Ending]:
    """When a game between two people ends: whose time runs, its position tells."""
    try:
        return due(game, None, seat(game, moves).used_ms)
    except Rejected:
        return due(game, None)  # the rules are others than those it was played by


LATER = timedelta(seconds=30)
"""The time between two looks at a game whose contest is paused."""
