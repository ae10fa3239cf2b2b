"""Relative times as the API writes them: h:mm:ss.uuu, with a minus before the start."""

from __future__ import annotations

from datetime import timedelta


def short_time(text: str | None) -> str:
    """Give a relative time without its milliseconds."""
    return (text or "").partition(".")[0]


def span(reltime: str) -> timedelta:
    """Read a relative time; before the start it is below 0."""
    hours, minutes, seconds = reltime.lstrip("-").split(":")
    duration = timedelta(hours=int(hours), minutes=int(minutes), seconds=float(seconds))
    return -duration if reltime.startswith("-") else duration


def reltime(duration: timedelta) -> str:
    """Write a duration of at least 0 as the API takes it."""
    milliseconds = duration // timedelta(milliseconds=1)
    seconds, milliseconds = divmod(milliseconds, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}.{milliseconds:03d}"
