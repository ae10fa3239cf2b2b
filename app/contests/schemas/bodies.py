"""Documents of contests: bodies of requests, and replies."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from app.contests.schemas.settings import ContestSettings
from app.core.bodies import Body, Line, Location, mismatch
from app.core.clics import Id, Reltime, Time, example, format_reltime
from app.core.files.file_references import Files
from app.core.messages import N_, Fault, Message, WrongProperty, WrongValue

NOTHING = timedelta(0)
LONGEST = timedelta(days=36_525)
FILES = ("banner", "logo")
OPTIONAL = frozenset({"main_scoreboard_group_id", "banner", "logo", "location", "times_change"})


def _within_a_century(duration: timedelta) -> timedelta:
    if duration > LONGEST:
        raise WrongValue(N_("at most %(duration)s, a hundred years"), duration=format_reltime(LONGEST))
    return duration


Duration = Annotated[Reltime, AfterValidator(_within_a_century)]


class ContestProperties(Body):
    """The properties that may be left out of a new contest, and of a change."""

    id: Id | None = None
    formal_name: Line | None = None
    start_time: Time | None = None
    countdown_pause_time: Duration | None = Field(None, ge=NOTHING)
    scoreboard_freeze_duration: Duration | None = Field(None, ge=NOTHING)
    scoreboard_thaw_time: Time | None = None
    main_scoreboard_group_id: Id | None = None
    banner: Files = None
    logo: Files = None
    location: Location | None = None


@example(
    {
        "id": "spring",
        "name": "Spring Contest",
        "start_time": "2026-03-21T09:00:00.000Z",
        "duration": "5:00:00",
        "scoreboard_freeze_duration": "1:00:00",
    }
)
class ContestBody(ContestProperties):
    """A contest to be made. Without an id it gets one from its name."""

    name: Line
    duration: Duration = Field(gt=NOTHING)
    scoreboard_type: Literal["score"] = "score"
    open_to_all: bool = Field(False, description="every team takes part")
    settings: ContestSettings = ContestSettings()
    already_over: bool = Field(False, description="confirms a contest whose end is in the past")


class ContestChange(ContestProperties):
    """Properties of a contest to be changed; what is left out stays.

    `id` verifies the address, and must be there where the start or the thaw changes.
    """

    name: Line | None = None
    duration: Duration | None = Field(None, gt=NOTHING)
    move_freeze: bool = Field(
        False, description="confirms that scoreboard_freeze_duration moves or ends a freeze that has begun"
    )
    open_to_all: bool | None = None
    settings: dict[str, object] | None = Field(None, description="the settings named here change, the others stay")
    finalized: bool | None = Field(None, description="true: the results are final; false: they are not after all")

    @model_validator(mode="after")
    def _not_null(self) -> Self:
        for name in ("name", "duration", "open_to_all", "settings", "finalized"):
            if name in self.model_fields_set and getattr(self, name) is None:
                raise WrongProperty(N_("expected a value, found null"), where=name)
        return self


class ContestView(BaseModel):
    """A contest as CLICS shows it, and what is ours: `open_to_all` and `settings`."""

    id: str
    name: str
    formal_name: str
    start_time: str | None
    countdown_pause_time: str | None
    duration: str
    scoreboard_freeze_duration: str | None
    scoreboard_thaw_time: str | None
    scoreboard_type: Literal["score"] = "score"
    main_scoreboard_group_id: str | None = None
    banner: list[dict[str, object]] | None = None
    logo: list[dict[str, object]] | None = None
    location: dict[str, float] | None = None
    open_to_all: bool
    settings: ContestSettings

    @model_serializer(mode="wrap")
    def _without_empty(self, write: SerializerFunctionWrapHandler):  # type: ignore[no-untyped-def] # keeps the schema
        return {name: value for name, value in write(self).items() if value is not None or name not in OPTIONAL}


class Moved(BaseModel):
    """A moment before a change and after it; null: there is none, or nobody knows it while the contest is paused."""

    before: str | None
    after: str | None


class TimesChange(BaseModel):
    """The change of a contest's times: `message` says it in words, `frozen` is of the public board now."""

    start: Moved
    freeze: Moved
    end: Moved
    thaw: Moved
    frozen: bool
    message: str


class ChangedContest(ContestView):
    """A contest after a change, and what became of its times if these changed."""

    times_change: TimesChange | None = None


def version(contest: ContestView) -> str:
    """Return a name of a contest's state, which differs once a property has changed."""
    shown = contest.model_dump_json(include=set(ContestView.model_fields))
    return hashlib.sha256(shown.encode()).hexdigest()[:16]


def differences(stored: ContestView, sent: ContestView) -> list[Fault]:
    """Return the properties, and the settings, that differ between two states, each with both values."""
    before, after = _properties(stored), _properties(sent)
    return [
        mismatch(name, Message(N_("the stored value, %(value)s"), value=repr(before.get(name))), repr(after.get(name)))
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    ]


def _properties(contest: ContestView) -> dict[str, object]:
    settings = contest.settings.model_dump()
    return {
        **contest.model_dump(exclude={"settings"}),
        **{f"settings.{name}": value for name, value in settings.items()},
    }


class BoardState(BaseModel):
    """The moments at which something happened to a contest; null: not yet."""

    started: str | None
    frozen: str | None
    ended: str | None
    thawed: str | None
    finalized: str | None
    end_of_updates: str | None
