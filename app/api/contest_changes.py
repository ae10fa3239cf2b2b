"""What may be changed of a contest, and when: the rules of the CLICS Contest API, and times kept in order."""

from __future__ import annotations

from datetime import datetime, timedelta

from pydantic import ValidationError

from app.api.bodies import found, refuse
from app.api.clics import format_reltime, format_time, format_time_or_none
from app.api.contest_bodies import ContestBody, ContestChange, ContestSettings, milliseconds
from app.api.errors import BadRequest, Conflict, Forbidden, fault
from app.domain.contests import Clock
from app.storage.scored import clock
from app.storage.tables import ContestRow

CLOSE = timedelta(seconds=30)


def make(body: ContestBody, contest_id: str) -> ContestRow:
    """The row of a new contest; raises BadRequest where its times contradict each other."""
    row = ContestRow(
        id=contest_id,
        name=body.name,
        formal_name=body.formal_name,
        start_time=body.start_time,
        duration_ms=milliseconds(body.duration),
        freeze_ms=_freeze_ms(body.scoreboard_freeze_duration),
        thaw_time=body.scoreboard_thaw_time,
        open_to_all=body.open_to_all,
        settings=body.settings.model_dump(),
    )
    check_times(clock(row))
    return row


def change(row: ContestRow, body: ContestChange, now: datetime) -> None:
    """Change what the body names, in an order that lets one request both end a contest's changes and begin them."""
    named = body.model_fields_set - {"id"}
    if row.finalized is not None and named != {"finalized"}:
        raise Forbidden("the contest is final; finalized: false opens it again")
    if named & {"start_time", "countdown_pause_time"}:
        _change_start(row, body, now)
    if body.duration is not None:
        row.duration_ms = milliseconds(body.duration)
    if "scoreboard_freeze_duration" in named:
        row.freeze_ms = _freeze_ms(body.scoreboard_freeze_duration)
    if "scoreboard_thaw_time" in named:
        _change_thaw(row, body.scoreboard_thaw_time, now)
    if body.settings is not None:
        row.settings = _merged(row, body.settings)
    row.name = body.name or row.name
    row.formal_name = body.formal_name if "formal_name" in named else row.formal_name
    row.open_to_all = row.open_to_all if body.open_to_all is None else body.open_to_all
    check_times(clock(row))
    if body.finalized is not None:
        _finalize(row, body.finalized, now)


def check_times(times: Clock) -> None:
    """Raise BadRequest unless the freeze is within the contest and the thaw after it."""
    freeze, duration = times.freeze_before_end, times.duration
    faults = []
    if freeze is not None and freeze > duration:
        at_most = f"at most the duration {format_reltime(duration)}"
        faults.append(found("scoreboard_freeze_duration", at_most, format_reltime(freeze)))
    if times.thaw is not None and freeze is None:
        faults.append(found("scoreboard_thaw_time", "null in a contest that does not freeze", format_time(times.thaw)))
    elif times.thaw is not None and (times.end is None or times.thaw < times.end):
        after = f"a time after the end {format_time_or_none(times.end) or '(which is not known without a start)'}"
        faults.append(found("scoreboard_thaw_time", after, format_time(times.thaw)))
    refuse(faults)


def _freeze_ms(freeze: timedelta | None) -> int | None:
    return milliseconds(freeze) if freeze else None  # none at all is what 0:00:00 means


def _change_start(row: ContestRow, body: ContestChange, now: datetime) -> None:
    if row.start_time is not None and row.start_time <= now + CLOSE:
        raise Forbidden("the contest has started or starts within 30 s: its start stays")
    if body.start_time is not None and body.start_time <= now + CLOSE:
        raise Forbidden(f"start_time: expected more than 30 s from now, found {format_time(body.start_time)}")
    row.start_time = body.start_time


def _change_thaw(row: ContestRow, thaw: datetime | None, now: datetime) -> None:
    times = clock(row)
    if times.freeze_before_end is None:
        raise Forbidden("scoreboard_thaw_time: the contest does not freeze")
    if times.thawed(now):
        raise Forbidden("scoreboard_thaw_time: the scoreboard is thawed already")
    if thaw is not None and (times.end is None or thaw < times.end):
        raise Forbidden("scoreboard_thaw_time: expected a time after the end of the contest")
    row.thaw_time = None if thaw is None else max(thaw, now)


def _finalize(row: ContestRow, final: bool, now: datetime) -> None:
    times = clock(row)
    if not final:
        row.finalized = None
        return
    if not times.ended(now):
        raise Conflict("finalized: the contest has not ended")
    if times.freeze is not None and not times.thawed(now):
        raise Conflict("finalized: the scoreboard is not thawed")
    row.finalized = row.finalized or now


def _merged(row: ContestRow, changes: dict[str, object]) -> dict[str, object]:
    try:
        return ContestSettings.model_validate({**row.settings, **changes}).model_dump()
    except ValidationError as error:
        faults = [fault(each, at="settings") for each in error.errors(include_url=False)]
        refuse(faults)
        raise BadRequest("settings: not understood") from None
