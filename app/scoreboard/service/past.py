"""Earlier boards: a snapshot with its board as it was at a minute of the contest, by today's verdicts.

They come from the attempts and the view of the snapshot, so that they show nothing that it hides.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from app.core.clock import utc_now
from app.domain.history import board_at
from app.scoreboard.queries.contest_snapshot import ContestSnapshot, once_a_snapshot

MOST_KEPT = 4


@once_a_snapshot
def _held(_snapshot: ContestSnapshot) -> dict[int, ContestSnapshot]:
    """The last few that were asked for, by minute. One thread at a time writes: see `BoardPages.past_soon`."""
    return {}


def past_at_hand(snapshot: ContestSnapshot, minute: int) -> ContestSnapshot | None:
    """The snapshot at a minute, if it has been computed."""
    return _held(snapshot).get(minute)


def past_board(snapshot: ContestSnapshot, minute: int) -> ContestSnapshot:
    """The snapshot with the board of a minute: takes as long as the first board of a contest."""
    if (past := past_at_hand(snapshot, minute)) is not None:
        return past
    seen = snapshot.view
    board = board_at(
        seen.problems,
        snapshot.contest.official_teams,
        snapshot.official(),
        timedelta(minutes=minute),
        freeze=seen.freeze,
        chosen=seen.chosen,
        phase=seen.phase,
        references=snapshot.contest.references,
    )
    held = _held(snapshot)
    while len(held) >= MOST_KEPT:
        del held[next(iter(held))]
    past = held[minute] = replace(snapshot, board=board, memo={})
    return past


def last_minute(snapshot: ContestSnapshot) -> int:
    """The last whole minute of which the board can be asked for; 0 before the start."""
    clock = snapshot.contest.clock
    ends = [clock.contest_time(utc_now()), clock.duration]
    if snapshot.freeze.until is not None:
        ends.append(snapshot.freeze.until)
    return max(0, min(ends) // timedelta(minutes=1)) if snapshot.state.started is not None else 0
