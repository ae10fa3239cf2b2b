"""Documents of contests: bodies of requests, and replies."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any, Literal, Self, cast

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from app.core.bodies import Body, Line
from app.core.clics import (
    Id,
    Reltime,
    Time,
    format_reltime,
    format_time,
    format_time_or_none,
    parse_reltime,
    parse_time,
)
from app.core.examples import example
from app.core.files.file_references import Files, shown
from app.domain.documents import LimitsDocument, SettingsDocument
from app.domain.limits import CONTEST_BYTES, TEAM_BYTES
from app.tables import ContestRow
from app.teams.schemas.directory_bodies import Location

NOTHING = timedelta(0)
LONGEST = timedelta(days=36_525)
FILES = ("banner", "logo")
OPTIONAL = frozenset({"main_scoreboard_group_id", "banner", "logo", "location", "times_change"})


class AwardSettings(Body):
    """The awards given at the end beside `winner`, `group-winner-ID` and `first-to-solve-ID`."""

    gold: int = Field(0, ge=0, le=1000, description="how many gold medals")
    silver: int = Field(0, ge=0, le=1000)
    bronze: int = Field(0, ge=0, le=1000)
    ranks: int = Field(0, ge=0, le=1000, description="an award `rank-N` for each of the first so many ranks")


def _whole_time(value: object) -> str:
    return format_time(parse_time(value)) if isinstance(value, str) else _text(value, "2026-11-21T02:19:00.000Z")


def _whole_reltime(value: object) -> str:
    if not isinstance(value, str):
        return _text(value, "5:00:00")
    if (duration := parse_reltime(value)) <= NOTHING:
        raise ValueError(f"expected a duration of more than nothing, found {value}")
    return format_reltime(duration)


def _text(value: object, example: str) -> str:
    raise ValueError(f"expected text such as {example}, found {type(value).__name__}")


KeptTime = Annotated[str, BeforeValidator(_whole_time)]
"""A time as settings keep it: text, always with milliseconds and in UTC."""
KeptReltime = Annotated[str, BeforeValidator(_whole_reltime)]
MOST_SECONDS = 366 * 86_400
MOST_BYTES = 2**53
"""The largest integer that every reader of JSON has exactly."""


def _within_a_century(duration: timedelta) -> timedelta:
    if duration > LONGEST:
        raise ValueError(f"expected at most {format_reltime(LONGEST)}, a hundred years")
    return duration


Duration = Annotated[Reltime, AfterValidator(_within_a_century)]


class PerWindow(Body):
    """A number of submissions in any period of so many seconds."""

    count: int = Field(ge=1, le=1_000_000)
    seconds: int = Field(ge=1, le=MOST_SECONDS)


class LimitsBody(Body):
    """Limits on a team's submissions to a problem; null: none."""

    max_submissions: int | None = Field(None, ge=0, le=1_000_000)
    interval_seconds: int | None = Field(None, ge=1, le=MOST_SECONDS)
    per_window: PerWindow | None = None
    open_games: int | None = Field(None, ge=1, le=1000, description="games of a team open at once; null: 10")
    move_seconds: int | None = Field(None, ge=1, le=MOST_SECONDS, description="time for a move; null: the problem's")
    game_seconds: int | None = Field(
        None, ge=1, le=MOST_SECONDS, description="time for all moves of a game; null: the problem's"
    )

    def document(self) -> LimitsDocument:
        """The limits as rows keep them: what the request leaves out stays out, for the contest's own to hold."""
        return cast(LimitsDocument, self.model_dump(exclude_unset=True))  # its keys are the fields


class ContestSettings(Body):
    """The settings of a contest beyond the CLICS properties."""

    partly_correct_as: Literal["PC", "AC"] = Field("PC", description="the judgement type shown for partly correct")
    show_others_answers: bool = Field(False, description="everybody may read every team's answer files")
    rejections: Literal["verdict", "position", "full"] = Field(
        "full", description="what all but judges are told of a rejected answer: the verdict, its position, or all"
    )
    show_best: bool = Field(True, description="everybody may see the best raw score of each case")
    answer_pattern: str | None = Field(
        None,
        max_length=255,
        description="name of an answer file, with {case} in it; without it one file is for all",
    )
    final_release: KeptTime | None = Field(
        None, description="when everybody gets the inputs of final cases; answers for them are taken until the end"
    )
    final_minutes: int | None = Field(
        None, ge=1, le=100_000, strict=True, description="or how long a team has for them from when it asks for them"
    )
    final_phase: Literal["final", "all"] = Field(
        "final", description="what gives the points after the end: final cases, or these and the provisional ones"
    )
    practice: bool = Field(False, description="submissions after the end are judged, and on no board")
    virtual: bool = Field(False, description="after the end, teams may take part by a clock of their own")
    personal_duration: KeptReltime | None = Field(
        None, description="each team has so long, from when it begins; others see nothing before the end"
    )
    limits: LimitsBody = Field(default_factory=LimitsBody, description="for each problem that has no limits of its own")
    team_bytes: int | None = Field(
        TEAM_BYTES,
        ge=0,
        le=MOST_BYTES,
        description="bytes of answers and sources a team may send to the contest; null: any number",
    )
    contest_bytes: int | None = Field(
        CONTEST_BYTES,
        ge=0,
        le=MOST_BYTES,
        description="bytes of answers and sources all teams together may send to the contest; null: any number",
    )
    choose: bool = Field(False, description="teams choose which submission counts after the end")
    allow_overlap: bool = Field(False, description="teams may take part in another contest at the same time")

    awards: AwardSettings = AwardSettings()
    staff_act_for_teams: bool = Field(False, description="accounts of type staff may submit and ask for any team")

    def document(self) -> SettingsDocument:
        """The settings as rows keep them, with the defaults written out."""
        return cast(SettingsDocument, self.model_dump())  # its keys are the fields

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        pattern = self.answer_pattern
        if pattern is not None and (pattern.count("{case}") > 1 or "/" in pattern or "\0" in pattern):
            raise ValueError(
                f"answer_pattern: expected a file name with {{case}} in it at most once, found {pattern!r}"
            )
        if self.final_release is not None and self.final_minutes is not None:
            raise ValueError("final_minutes: expected null beside final_release, found both")
        return self


@example(
    {
        "id": "spring",
        "name": "Spring Contest",
        "start_time": "2026-03-21T09:00:00.000Z",
        "duration": "5:00:00",
        "scoreboard_freeze_duration": "1:00:00",
    }
)
class ContestBody(Body):
    """A contest to be made. Without an id it gets one from its name."""

    id: Id | None = None
    name: Line
    formal_name: Line | None = None
    start_time: Time | None = None
    countdown_pause_time: Duration | None = Field(None, ge=NOTHING)
    duration: Duration = Field(gt=NOTHING)
    scoreboard_freeze_duration: Duration | None = Field(None, ge=NOTHING)
    scoreboard_thaw_time: Time | None = None
    scoreboard_type: Literal["score"] = "score"
    open_to_all: bool = Field(False, description="every team takes part")
    settings: ContestSettings = ContestSettings()
    main_scoreboard_group_id: Id | None = None
    banner: Files = None
    logo: Files = None
    location: Location | None = None


class ContestChange(Body):
    """Properties of a contest to be changed; what is left out stays.

    `id` verifies the address, and must be there where the start or the thaw changes.
    """

    id: Id | None = None
    name: Line | None = None
    formal_name: Line | None = None
    start_time: Time | None = None
    countdown_pause_time: Duration | None = Field(None, ge=NOTHING)
    duration: Duration | None = Field(None, gt=NOTHING)
    scoreboard_freeze_duration: Duration | None = Field(None, ge=NOTHING)
    move_freeze: bool = Field(
        False, description="confirms that scoreboard_freeze_duration moves or ends a freeze that has begun"
    )
    scoreboard_thaw_time: Time | None = None
    open_to_all: bool | None = None
    main_scoreboard_group_id: Id | None = None
    banner: Files = None
    logo: Files = None
    location: Location | None = None
    settings: dict[str, Any] | None = Field(None, description="the settings named here change, the others stay")
    finalized: bool | None = Field(None, description="true: the results are final; false: they are not after all")

    @model_validator(mode="after")
    def _not_null(self) -> Self:
        for name in ("name", "duration", "open_to_all", "settings", "finalized"):
            if name in self.model_fields_set and getattr(self, name) is None:
                raise ValueError(f"{name}: expected a value, found null")
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
    banner: list[dict[str, Any]] | None = None
    logo: list[dict[str, Any]] | None = None
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


def view(row: ContestRow) -> ContestView:
    """Show a contest."""
    return ContestView(
        id=row.id,
        name=row.name,
        formal_name=row.formal_name or row.name,
        start_time=format_time_or_none(row.start_time),
        countdown_pause_time=_reltime(row.countdown_pause_ms),
        duration=format_reltime(timedelta(milliseconds=row.duration_ms)),
        scoreboard_freeze_duration=_reltime(row.freeze_ms),
        scoreboard_thaw_time=format_time_or_none(row.thaw_time),
        main_scoreboard_group_id=row.main_scoreboard_group_id,
        banner=_files(row, "banner"),
        logo=_files(row, "logo"),
        location=row.details.get("location"),
        open_to_all=row.open_to_all,
        settings=ContestSettings.model_validate(row.settings),
    )


def _files(row: ContestRow, name: str) -> list[dict[str, object]] | None:
    if name not in row.details:
        return None
    return [dict(each) for each in shown(f"contests/{row.id}", name, row.details[name])]


def _reltime(length_ms: int | None) -> str | None:
    return None if length_ms is None else format_reltime(timedelta(milliseconds=length_ms))


def milliseconds(duration: timedelta) -> int:
    """A duration as it is kept."""
    return duration // timedelta(milliseconds=1)
