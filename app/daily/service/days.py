"""The days of the puzzles: a day begins at 00:00 UTC, and nobody sees the puzzles of one that has not begun."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, timedelta
from types import MappingProxyType

from app.core.clock import utc_now
from app.core.errors import NotFound
from app.core.messages import N_, Message, did_you_mean

# The day on which Optimiza was published; back numbers go back to it.
FIRST_DAY = date(2010, 2, 26)
# The kinds of puzzles by their titles, in the order of a sheet.
KINDS: Mapping[str, str] = MappingProxyType({"optimiza": "Optimiza", "comesolo": "Comesolo", "netgame": "The Net Game"})
SIZES = ("small", "medium", "large")
FORM = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def today() -> date:
    """The day that it is by the service's clock, in UTC."""
    return utc_now().date()


def day_called(text: str) -> date:
    """A day by its name, YYYY-MM-DD; raises NotFound for other text."""
    try:
        day = date.fromisoformat(text) if FORM.fullmatch(text) else None
    except ValueError:
        day = None
    if day is None:
        raise NotFound(N_("expected a day such as %(day)s, found %(found)r"), day=today(), found=text[:40])
    return day


def open_day(text: str) -> date:
    """A day whose puzzles may be seen; raises NotFound for other text, days to come, and days before the first."""
    day = day_called(text)
    if day > today():
        raise NotFound(N_("the puzzles of %(day)s come on that day, at 00:00 UTC"), day=day)
    if day < FIRST_DAY:
        raise NotFound(N_("the first puzzles are those of %(first)s, found %(day)s"), first=FIRST_DAY, day=day)
    return day


def kind_called(name: str) -> str:
    """A kind of puzzle; raises NotFound with the nearest name where there is none."""
    if name not in KINDS:
        raise NotFound(did_you_mean(Message(N_("no kind of puzzle %(name)r"), name=name[:40]), name, KINDS))
    return name


def size_called(name: str) -> str:
    """A size of puzzle; raises NotFound with the nearest name where there is none."""
    if name not in SIZES:
        raise NotFound(did_you_mean(Message(N_("no size %(size)r"), size=name[:40]), name, SIZES))
    return name


def latest_days(count: int) -> list[date]:
    """The last `count` days, today first."""
    last = today()
    return [day for ago in range(count) if (day := last - timedelta(days=ago)) >= FIRST_DAY]
