"""Personal clocks: `virtual` after the end of a contest, `personal` where each team chooses its start."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from app.domain.contests import Clock


class ParticipationKind(StrEnum):
    """Which clock is a team's own."""

    OFFICIAL = "official"
    VIRTUAL = "virtual"
    PERSONAL = "personal"


@dataclass(frozen=True, slots=True)
class Participation:
    """A team's own clock, begun at `start`."""

    kind: ParticipationKind
    start: datetime


def own_clock(clock: Clock, personal: timedelta | None, participation: Participation | None) -> Clock:
    """Return the clock of a team's submissions.

    A personal clock runs for its own duration, at most until the contest's end, and stands still in the contest's
    pauses. A virtual clock is as long as the contest was.
    """
    if participation is None:
        return clock
    if participation.kind is ParticipationKind.VIRTUAL:
        return Clock(participation.start, clock.duration)
    begun = clock.contest_time(participation.start)
    window = min(personal if personal is not None else clock.duration, clock.duration - begun)
    pauses = tuple(pause for pause in clock.pauses if pause.end is None or pause.end > participation.start)
    return Clock(participation.start, window, pauses=pauses)
