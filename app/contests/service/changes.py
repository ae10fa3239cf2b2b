"""Rules for changes of a contest: those of the CLICS Contest API, and the order of its times."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from pydantic import ValidationError

from app.contests.queries import clock, refuse_final, written_pauses
from app.contests.schemas import ContestBody, ContestChange, ContestSettings
from app.core.bodies import mismatch, refuse
from app.core.clics import format_reltime, format_time, format_time_or_none
from app.core.messages import N_, BadRequest, Conflict, Fault, Forbidden, Message, fault
from app.domain.contests import Clock, Pause
from app.domain.participation import moves_freeze, opens_board, with_duration, with_thaw_after_end
from app.tables import ContestRow

CLOSE = timedelta(seconds=30)
# Properties that a change may set only beside the contest's id.
VERIFIED = frozenset({"start_time", "countdown_pause_time", "scoreboard_thaw_time"})


def make(body: ContestBody, contest_id: str, pauses: Sequence[Pause] = ()) -> ContestRow:
    """The row of a new contest, or of an old one with its pauses; raises BadRequest where its times contradict."""
    row = ContestRow(
        id=contest_id,
        name=body.name,
        formal_name=body.formal_name,
        start_time=body.start_time,
        countdown_pause_ms=_milliseconds_or_none(body.countdown_pause_time),
        pauses=written_pauses(pauses),
        revealed=[],
        duration_ms=milliseconds(body.duration),
        freeze_ms=_freeze_ms(body.scoreboard_freeze_duration),
        thaw_time=body.scoreboard_thaw_time,
        open_to_all=body.open_to_all,
        settings=body.settings,
    )
    check_times(row)
    return row


def change(row: ContestRow, body: ContestChange, now: datetime) -> None:
    """Change what the body names, in an order that lets one request both end a contest's changes and begin them."""
    named, before = body.model_fields_set - {"id"}, clock(row)
    if body.id is None and (verified := sorted(named & VERIFIED)):
        raise BadRequest(
            N_("expected %(id)r, to verify which contest's %(verified)s is meant, found nothing"),
            where="id",
            id=row.id,
            verified=verified[0],
        )
    if named != {"finalized"}:
        refuse_final(row)
    _change_times(row, body, now)
    if body.settings is not None:
        row.settings = _merged(row, body.settings)
    row.name = body.name or row.name
    row.formal_name = body.formal_name if "formal_name" in named else row.formal_name
    row.open_to_all = row.open_to_all if body.open_to_all is None else body.open_to_all
    check_times(row)
    _refuse_moved_freeze(before, clock(row), body, now)
    if body.finalized is not None:
        _finalize(row, body.finalized, now)


def _change_times(row: ContestRow, body: ContestChange, now: datetime) -> None:
    """Change start, duration, freeze and thaw, a named freeze after the one that comes of the duration."""
    named, before = body.model_fields_set, clock(row)
    if named & {"start_time", "countdown_pause_time"}:
        _change_start(row, body, now)
    if body.duration is not None:
        _change_duration(row, body.duration, now)
    if "scoreboard_freeze_duration" in named:
        row.freeze_ms = _freeze_ms(body.scoreboard_freeze_duration)
    if "scoreboard_thaw_time" in named:
        _change_thaw(row, body.scoreboard_thaw_time, now)
    else:
        row.thaw_time = with_thaw_after_end(before, clock(row)).thaw


def _refuse_moved_freeze(before: Clock, after: Clock, body: ContestChange, now: datetime) -> None:
    """Raise where a freeze that has begun would move, or its board open, and the request does not confirm it.

    It compares the clocks, not the properties sent: this holds for every way in which times change.
    """
    if body.move_freeze and "scoreboard_freeze_duration" not in body.model_fields_set:
        raise BadRequest(N_("requires scoreboard_freeze_duration"), where="move_freeze")
    opened_by_thaw = "scoreboard_thaw_time" in body.model_fields_set and not moves_freeze(before, after, now)
    if body.move_freeze or opened_by_thaw:
        return
    if moves_freeze(before, after, now) or opens_board(before, after, now):
        assert before.freeze_time is not None, "it has begun"
        unmoved = format_reltime(after.duration - before.freeze_time)
        length = "null" if after.freeze_before_end is None else format_reltime(after.freeze_before_end)
        raise Forbidden(
            N_(
                "the freeze began at %(time)s; expected %(unmoved)s, which keeps that, or "
                "move_freeze: true to confirm that it moves, found %(found)s"
            ),
            where="scoreboard_freeze_duration",
            time=format_time_or_none(before.freeze),
            unmoved=unmoved,
            found=length,
        )


def check_times(row: ContestRow) -> None:
    """Raise BadRequest unless the times fit together, every contradiction listed."""
    refuse([*_countdown_faults(row), *_freeze_faults(clock(row)), *_settings_faults(row)])


def _countdown_faults(row: ContestRow) -> Iterator[Fault]:
    if row.start_time is not None and row.countdown_pause_ms is not None:
        left = format_reltime(timedelta(milliseconds=row.countdown_pause_ms))
        yield mismatch("countdown_pause_time", N_("null where there is a start_time"), left)


def _freeze_faults(times: Clock) -> Iterator[Fault]:
    freeze, duration = times.freeze_before_end, times.duration
    if freeze is not None and freeze > duration:
        at_most = Message(N_("at most the duration %(duration)s"), duration=format_reltime(duration))
        yield mismatch("scoreboard_freeze_duration", at_most, format_reltime(freeze))
    if times.thaw is not None and freeze is None:
        yield mismatch("scoreboard_thaw_time", N_("null in a contest that does not freeze"), format_time(times.thaw))
    elif times.thaw is not None and ((end := times.earliest_end) is None or times.thaw < end):
        after = (
            Message(N_("a time after the end (which is not known now)"))
            if end is None
            else Message(N_("a time after the end %(end)s"), end=format_time(end))
        )
        yield mismatch("scoreboard_thaw_time", after, format_time(times.thaw))


def _settings_faults(row: ContestRow) -> Iterator[Fault]:
    """Faults of settings whose times lie outside the contest."""
    times = clock(row)
    release, personal = row.settings.final_release, row.settings.personal_duration
    # A release before the start is one at the start, whenever that will be.
    if release is not None and times.end is not None and release >= times.end:
        yield mismatch("settings.final_release", N_("a time before the end"), format_time(release))
    if personal is not None and personal > times.duration:
        at_most = Message(N_("at most the duration %(duration)s"), duration=format_reltime(times.duration))
        yield mismatch("settings.personal_duration", at_most, format_reltime(personal))
    if personal is not None and times.freeze_before_end is not None:
        yield mismatch("settings.personal_duration", N_("null in a contest that freezes"), format_reltime(personal))


def milliseconds(duration: timedelta) -> int:
    """Return a duration as rows keep it."""
    return duration // timedelta(milliseconds=1)


def _freeze_ms(freeze: timedelta | None) -> int | None:
    return milliseconds(freeze) if freeze else None  # none at all is what 0:00:00 means


def _milliseconds_or_none(duration: timedelta | None) -> int | None:
    return None if duration is None else milliseconds(duration)


def _change_start(row: ContestRow, body: ContestChange, now: datetime) -> None:
    """Set or clear the start, or let the countdown stand still; a start that is set lets it continue."""
    if row.start_time is not None and row.start_time <= now + CLOSE:
        raise Forbidden(N_("the contest has started or starts within 30 s: its start stays"))
    if body.start_time is not None and body.start_time <= now + CLOSE:
        raise Forbidden(
            N_("expected more than 30 s from now, found %(found)s"),
            where="start_time",
            found=format_time(body.start_time),
        )
    if "start_time" in body.model_fields_set:
        row.start_time = body.start_time
        row.countdown_pause_ms = None
    if "countdown_pause_time" in body.model_fields_set:
        row.countdown_pause_ms = _milliseconds_or_none(body.countdown_pause_time)


def _change_duration(row: ContestRow, duration: timedelta, now: datetime) -> None:
    """Move the end of a contest that has begun: into the future only, and before its results are public."""
    before = clock(row)
    if milliseconds(before.duration) == milliseconds(duration):
        return
    after = with_duration(before, duration, now)
    row.duration_ms, row.freeze_ms = milliseconds(duration), _milliseconds_or_none(after.freeze_before_end)
    if not before.started(now):
        return
    if before.decided(now):
        raise Forbidden(N_("the contest has ended and its results are seen: its end stays"), where="duration")
    if before.ended(now) and row.revealed:
        # What teams send then to places that are open would be public at once.
        raise Forbidden(
            N_("the contest has ended and its frozen board is being revealed: its end stays"), where="duration"
        )
    taken = before.contest_time(now)
    if taken >= duration:
        raise Forbidden(
            N_("expected more than the %(taken)s it has run, found %(found)s"),
            where="duration",
            taken=format_reltime(taken),
            found=format_reltime(duration),
        )


def pause(row: ContestRow, now: datetime) -> None:
    """Let the contest's time stand still; raises Conflict where it does not run."""
    refuse_final(row)
    times = clock(row)
    if not times.running(now):
        raise Conflict(N_("the contest cannot be paused: %(reason)s"), reason=why_not_running(times, now))
    row.pauses = written_pauses([*times.pauses, Pause(_whole(now))])


def resume(row: ContestRow, now: datetime) -> None:
    """Let it continue; freeze, end and thaw move by what was taken out. Raises Conflict where it is not paused."""
    refuse_final(row)
    times = clock(row)
    if not times.paused(now):
        raise Conflict(N_("the contest is not paused"))
    last = times.pauses[-1]
    end = max(_whole(now), last.start)
    row.pauses = written_pauses([*times.pauses[:-1], Pause(last.start, end)])
    if row.thaw_time is not None:
        row.thaw_time += end - last.start


def _whole(now: datetime) -> datetime:
    """Cut to the milliseconds that CLICS writes, so that an export and import leaves the end in its place."""
    return now.replace(microsecond=now.microsecond // 1000 * 1000)


def why_not_running(times: Clock, now: datetime) -> Message:
    """Say why teams may not submit."""
    if times.paused(now):
        return Message(N_("the contest is paused"))
    return Message(N_("the contest is over") if times.ended(now) else N_("the contest has not started"))


def _change_thaw(row: ContestRow, thaw: datetime | None, now: datetime) -> None:
    times = clock(row)
    if times.freeze_before_end is None:
        raise Forbidden(N_("the contest does not freeze"), where="scoreboard_thaw_time")
    if times.thawed(now):
        raise Forbidden(N_("the scoreboard is thawed already"), where="scoreboard_thaw_time")
    if thaw is not None and (times.end is None or thaw < times.end):
        raise Forbidden(N_("expected a time after the end of the contest"), where="scoreboard_thaw_time")
    row.thaw_time = None if thaw is None else max(thaw, now)


def _finalize(row: ContestRow, final: bool, now: datetime) -> None:
    times = clock(row)
    if not final:
        row.finalized = None
        return
    if not times.ended(now):
        raise Conflict(N_("the contest has not ended"), where="finalized")
    if times.freeze is not None and not times.thawed(now):
        raise Conflict(N_("the scoreboard is not thawed; reveal or thaw it first"), where="finalized")
    row.finalized = row.finalized or now


def _merged(row: ContestRow, changes: dict[str, object]) -> ContestSettings:
    try:
        return ContestSettings.model_validate({**row.settings.model_dump(mode="json"), **changes})
    except ValidationError as error:
        faults = [fault(each, at="settings") for each in error.errors(include_url=False)]
        refuse(faults)
        raise BadRequest(N_("not understood"), where="settings") from None
