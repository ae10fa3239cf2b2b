"""The frame around every page of a contest: its name, the places in it, the clock, unread messages, and who reads.

Open pages keep it up to date by `app.core.pages.live_header`.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.core.clock import utc_now
from app.core.pages.names import Names, names_of
from app.core.pages.wording import is_endless, length, seconds
from app.domain.contests import Clock
from app.messages.service.clarifications import readable
from app.scoreboard.queries.contest_snapshot import ContestSnapshot


class Phase(StrEnum):
    """The state of a contest for one reader; `final`: its results are."""

    BEFORE = "before"
    RUNNING = "running"
    PAUSED = "paused"
    OVER = "over"
    FINAL = "final"


@dataclass(frozen=True, slots=True)
class TimeShown:
    """The contest's clock: `left` of `whole`, the share that has gone and where the freeze begins, in per cent.

    Before the start, `left` is the time until then; None while no start is set.

    left_seconds  for the page's own clock while it runs; None: it stands still
    whole_seconds length of the contest, for the same
    is_endless    there is no end to count to
    paused        the start of the pause, while the contest is paused
    """

    phase: Phase
    left: str | None
    whole: str
    gone: int
    freeze_at: int | None
    left_seconds: int | None
    whole_seconds: int = 0
    is_endless: bool = False
    paused: datetime | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """What all pages of a contest show.

    messages  messages of the jury that its reader may read; for judges, questions without an answer
    version   differs once the state or the times of the contest, or the number of messages, have changed
    """

    id: str
    name: str
    tab: str
    time: TimeShown
    is_frozen: bool
    reader: str | None
    has_team: bool
    is_judge: bool
    messages: int
    version: str

    def unread(self, read: str) -> int:
        """The messages that wait for the reader, who has seen so many of the jury's."""
        if self.is_judge:
            return self.messages
        return max(0, self.messages - int(read))

    @property
    def is_paused(self) -> bool:
        """Does the clock stand still?"""
        return self.time.phase is Phase.PAUSED


def frame(session: Session, viewer: Viewer, snapshot: ContestSnapshot, tab: str) -> Frame:
    """The frame of a contest's page; `tab` names the place that the page belongs to."""
    return frame_of(names_of(session, viewer, snapshot), viewer, snapshot, tab)


def frame_of(names: Names, viewer: Viewer, snapshot: ContestSnapshot, tab: str) -> Frame:
    """The frame by names that have been read."""
    clock = snapshot.contest.own_clock(viewer.team_id)
    frozen = snapshot.public and snapshot.state.frozen is not None and snapshot.state.thawed is None
    time = time_shown(clock, is_final=snapshot.state.finalized is not None)
    messages = _messages(names, viewer, snapshot)
    facts = (time.phase, clock, frozen, messages, names.contest)
    return Frame(
        snapshot.contest.id,
        names.contest,
        tab,
        time,
        frozen,
        names.reader(viewer),
        viewer.team_id is not None,
        viewer.sees_all,
        messages,
        hashlib.sha256(repr(facts).encode()).hexdigest()[:16],
    )


def time_shown(clock: Clock, *, is_final: bool = False) -> TimeShown:
    """The clock as the bar on top shows it."""
    now = utc_now()
    whole = clock.duration
    phase = Phase.FINAL if is_final else _phase(clock, now)
    passed = min(max(clock.contest_time(now), timedelta(0)), whole)
    freeze_at = None if clock.freeze_time is None else _share(clock.freeze_time, whole)
    endless = is_endless(clock)
    left: timedelta | None = whole - passed
    if phase is Phase.BEFORE:
        left = None if clock.start is None else clock.start - now
    counts = left is not None and (phase is Phase.BEFORE or (phase is Phase.RUNNING and not endless))
    return TimeShown(
        phase,
        None if left is None else seconds(left),
        length(whole),
        _share(passed, whole),
        freeze_at,
        int(left.total_seconds()) if left is not None and counts else None,
        int(whole.total_seconds()),
        endless,
        clock.pauses[-1].start if phase is Phase.PAUSED else None,
    )


def _phase(clock: Clock, now: datetime) -> Phase:
    if not clock.started(now):
        return Phase.BEFORE
    if clock.ended(now):
        return Phase.OVER
    return Phase.PAUSED if clock.paused(now) else Phase.RUNNING


def _messages(names: Names, viewer: Viewer, snapshot: ContestSnapshot) -> int:
    if not viewer.logged_in:
        return 0
    seen = readable(viewer, snapshot, names.messages)
    if viewer.sees_all:
        answered = {message.reply_to_id for message in seen}
        return sum(message.from_team_id is not None and message.id not in answered for message in seen)
    return sum(message.from_team_id is None for message in seen)


def _share(part: timedelta, whole: timedelta) -> int:
    return min(100, max(0, round(100 * part / whole))) if whole else 0
