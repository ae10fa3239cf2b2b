"""Limits on a team's submissions to a problem."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from app.domain.documents import GameDocument, LimitsDocument, PerWindowDocument


@dataclass(frozen=True, slots=True)
class Limits:
    """At most `most` submissions, `interval` between two, and `count` within each `window`; None: no such limit.

    Of games: at most `open_games` at once, and the contestant's time for a move and for all moves of a game.
    """

    most: int | None = None
    interval: timedelta | None = None
    count: int | None = None
    window: timedelta | None = None
    open_games: int | None = None
    move_time: timedelta | None = None
    game_time: timedelta | None = None

    @property
    def times_needed(self) -> int | None:
        """How many of a team's latest submissions decide about the next one; None: all of them."""
        return None if self.most is not None else max(1, self.count or 1)

    def __bool__(self) -> bool:
        """Is the number of submissions limited?"""
        return self.most is not None or self.interval is not None or self.count is not None


NO_LIMITS = Limits()
TEAM_BYTES = 2**30
"""Default of the bytes of answers and sources that a team may send to a contest."""
CONTEST_BYTES = 64 * TEAM_BYTES
"""Default of the bytes that all teams together may send to a contest."""


def read_limits(document: LimitsDocument, inherited: Limits = NO_LIMITS) -> Limits:
    """Parse a document of limits; an omitted key is `inherited`, null lifts that limit."""
    merged: LimitsDocument = {**write_limits(inherited), **document}
    interval, per_window = merged.get("interval_seconds"), merged.get("per_window")
    return Limits(
        merged.get("max_submissions"),
        None if interval is None else timedelta(seconds=interval),
        None if per_window is None else per_window["count"],
        None if per_window is None else timedelta(seconds=per_window["seconds"]),
        merged.get("open_games"),
        _time(merged.get("move_seconds")),
        _time(merged.get("game_seconds")),
    )


def game_limits(limits: Limits, game: GameDocument | None) -> Limits:
    """The limits of a problem that is played: the times of a game are its own where the contest sets none."""
    if game is None:
        return limits
    move_time, game_time = _time(game["move_seconds"]), _time(game["game_seconds"])
    return replace(limits, move_time=limits.move_time or move_time, game_time=limits.game_time or game_time)


def _time(seconds: float | None) -> timedelta | None:
    return None if seconds is None else timedelta(seconds=seconds)


def write_limits(limits: Limits) -> LimitsDocument:
    """The document of limits, every key written out; of games only what is limited."""
    per_window: PerWindowDocument | None = None
    if limits.count is not None and limits.window is not None:
        per_window = {"count": limits.count, "seconds": limits.window.total_seconds()}
    interval = None if limits.interval is None else limits.interval.total_seconds()
    document: LimitsDocument = {
        "max_submissions": limits.most,
        "interval_seconds": interval,
        "per_window": per_window,
    }
    if limits.open_games is not None:
        document["open_games"] = limits.open_games
    if limits.move_time is not None:
        document["move_seconds"] = limits.move_time.total_seconds()
    if limits.game_time is not None:
        document["game_seconds"] = limits.game_time.total_seconds()
    return document


@dataclass(frozen=True, slots=True)
class Quota:
    """A team's submissions under limits: the number `used`, the number `left`, and the time of the `next`.

    `left` None: no limit; `next` None: at once, unless none is left.
    """

    used: int
    left: int | None = None
    next: datetime | None = None

    @property
    def exhausted(self) -> bool:
        """Is no submission left, regardless of waiting?"""
        return self.left is not None and self.left <= 0

    def allows(self, now: datetime) -> bool:
        """May the team submit now?"""
        return not self.exhausted and (self.next is None or now >= self.next)


def quota(limits: Limits, times: Sequence[datetime], now: datetime) -> Quota:
    """Compute the quota after counted submissions at these `times`."""
    earlier = sorted(times)
    left = None if limits.most is None else max(0, limits.most - len(earlier))
    waits = []
    if limits.interval is not None and earlier:
        waits.append(earlier[-1] + limits.interval)
    if limits.count is not None and limits.window is not None and len(earlier) >= limits.count:
        waits.append(earlier[-limits.count] + limits.window)
    until = max(waits, default=None)
    return Quota(len(earlier), left, until if until is not None and until > now else None)


def why_not(limits: Limits, used: Quota, now: datetime) -> str:
    """Say which limit refuses another submission, in a sentence."""
    if used.exhausted:
        return f"expected at most {limits.most} submissions to this problem, found {used.used} already"
    assert used.next is not None, "else it would have been allowed"
    seconds = (used.next - now).total_seconds()
    rules = []
    if limits.interval is not None:
        rules.append(f"at least {limits.interval.total_seconds():g} s between two submissions")
    if limits.count is not None and limits.window is not None:
        rules.append(f"at most {limits.count} submissions in any {limits.window.total_seconds():g} s")
    expected = f"expected {' and '.join(rules)} to this problem"
    return f"{expected}: your team may submit again in {max(1, -int(-seconds // 1))} s"
