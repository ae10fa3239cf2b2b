"""Input and output of contests: their bodies, settings, rules and limits."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    PlainSerializer,
    SerializerFunctionWrapHandler,
    StringConstraints,
    model_serializer,
    model_validator,
)

from app.core.bodies import Body, Line, Lines, Location
from app.core.clics import Id, Reltime, Time, example, format_reltime
from app.core.files.file_references import Files
from app.core.messages import N_, Message, WrongProperty, WrongValue, describe_pattern
from app.domain import history, participation
from app.domain.contests import EVERY, FINAL, Carry, Counting, Direction, Kind, ScoringRule

MOST_SECONDS = 366 * 86_400
# The largest integer that every reader of JSON has exactly.
MOST_BYTES = 2**53
# Default of the bytes of answers and sources that a team may send to a contest.
TEAM_BYTES = 2**30
# Default of the bytes that all teams together may send to a contest.
CONTEST_BYTES = 64 * TEAM_BYTES


class AwardSettings(Body, frozen=True):
    """The awards given at the end in addition to `winner`, `group-winner-ID` and `first-to-solve-ID`."""

    gold: int = Field(0, ge=0, le=1000, description="how many gold medals")
    silver: int = Field(0, ge=0, le=1000)
    bronze: int = Field(0, ge=0, le=1000)
    ranks: int = Field(0, ge=0, le=1000, description="an award `rank-N` for each of the first so many ranks")


def _positive(duration: timedelta) -> timedelta:
    if duration <= timedelta(0):
        raise WrongValue(N_("a duration of more than nothing"))
    return duration


PositiveReltime = Annotated[Reltime, AfterValidator(_positive), PlainSerializer(format_reltime, str, when_used="json")]


class PerWindow(Body, frozen=True):
    """A number of submissions in any period of so many seconds."""

    count: int = Field(ge=1, le=1_000_000)
    seconds: int = Field(ge=1, le=MOST_SECONDS)


class Limits(Body, frozen=True):
    """Limits on a team's submissions to a problem; null: none."""

    max_submissions: int | None = Field(None, ge=0, le=1_000_000)
    interval_seconds: int | None = Field(None, ge=1, le=MOST_SECONDS)
    per_window: PerWindow | None = None
    open_games: int | None = Field(None, ge=1, le=1000, description="games of a team open at once; null: 10")
    move_seconds: int | None = Field(None, ge=1, le=MOST_SECONDS, description="time for a move; null: the problem's")
    game_seconds: int | None = Field(
        None, ge=1, le=MOST_SECONDS, description="time for all moves of a game; null: the problem's"
    )

    def over(self, inherited: Limits) -> Limits:
        """The limits of a problem: its own where they are given, null lifting one, and those of the contest."""
        return inherited.model_copy(update={name: getattr(self, name) for name in self.model_fields_set})


NO_LIMITS = Limits()


class ContestSettings(Body, frozen=True):
    """The settings of a contest beyond the CLICS properties."""

    partly_correct_as: Literal["PC", "AC"] = Field("PC", description="the judgement type shown for partly correct")
    show_others_answers: bool = Field(False, description="all teams' answer files are public")
    share_tools: bool = Field(
        False, description="the zip of a problem's inputs also has its generators, checker and viewer"
    )
    rejections: Literal["verdict", "position", "full"] = Field(
        "full",
        description="feedback on rejected answers: the verdict, the position, or the full message; judges get it all",
    )
    show_best: bool = Field(True, description="the best raw score of each case is public")
    answer_pattern: str | None = Field(
        None,
        max_length=255,
        description="name of an answer file, with {case} in it; without it one file is for all",
    )
    final_release: Time | None = Field(
        None, description="when the inputs of final cases are released; answers for them are taken until the end"
    )
    final_minutes: int | None = Field(
        None, ge=1, le=100_000, strict=True, description="or how long a team has for them from when it asks for them"
    )
    final_phase: Literal["final", "all"] = Field(
        "final", description="what gives the points after the end: final cases, or these and the provisional ones"
    )
    practice: bool = Field(False, description="submissions after the end are judged, and on no board")
    virtual: bool = Field(False, description="after the end, teams may take part with their own clock")
    personal_duration: PositiveReltime | None = Field(
        None, description="each team has so long, from when it begins; others see nothing before the end"
    )
    limits: Limits = Field(default_factory=Limits, description="for each problem without its own limits")
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
    awards: AwardSettings = AwardSettings()
    staff_act_for_teams: bool = Field(False, description="accounts of type staff may submit and ask for any team")
    visibility: Literal["draft", "private", "public"] = Field(
        "public", description="who knows of the contest: its organizers; these and its teams; or everyone"
    )
    description: Lines | None = Field(None, description="Markdown shown on the page of the contest")

    @property
    def finals(self) -> participation.Finals:
        """The rules for final cases."""
        window = None if self.final_minutes is None else timedelta(minutes=self.final_minutes)
        return participation.Finals(self.final_release, window, EVERY if self.final_phase == "all" else FINAL)

    @property
    def prizes(self) -> history.Prizes:
        """The awards as the domain gives them."""
        return history.Prizes(self.awards.model_dump(exclude={"ranks"}), self.awards.ranks)

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        pattern = self.answer_pattern
        if pattern is not None and (pattern.count("{case}") > 1 or "/" in pattern or "\0" in pattern):
            raise WrongProperty(
                N_("expected a file name with {case} in it at most once, found %(found)r"),
                where="answer_pattern",
                found=pattern,
            )
        if self.final_release is not None and self.final_minutes is not None:
            raise WrongProperty(N_("cannot be combined with final_release"), where="final_minutes")
        return self


Points = Annotated[int, Field(strict=True, ge=0, le=10**9)]
Ratio = Annotated[
    str,
    StringConstraints(
        pattern=describe_pattern(
            r"^[0-9]{1,9}([.][0-9]{1,9}|/0*[1-9][0-9]{0,8})?$", Message(N_("a number such as 12, 0.5 or 1/3"))
        )
    ),
]


class Rule(Body, frozen=True):
    """The scoring of a problem in this contest; omitted properties are the problem's own."""

    kind: Literal["absolute", "relative", "rank"] | None = None
    direction: Literal["maximise", "minimise"] | None = None
    counting: Literal["best-case", "best", "last"] | None = None
    carry: Literal["best", "latest", "none"] | None = None
    reference_counts: bool | None = None
    max_points: Points | Ratio | None = Field(None, description='a number, or an exact ratio such as "100/3"')

    def over(self, kind: str, direction: str, max_points: Fraction) -> ScoringRule:
        """The whole rule of a problem with this kind and direction, whose package has so many points."""
        base = participation.default_rule(Kind(self.kind or kind), Direction(self.direction or direction), max_points)
        return ScoringRule(
            base.kind,
            base.direction,
            Counting(self.counting or base.counting),
            Carry(self.carry or base.carry),
            base.reference_counts if self.reference_counts is None else self.reference_counts,
            base.max_points if self.max_points is None else Fraction(self.max_points),
        )

    @classmethod
    def of(cls, rule: ScoringRule) -> Rule:
        """A whole rule; `max_points` is text such as `7/3` if it is no integer."""
        points = rule.max_points
        return cls.model_construct(  # sums of exact ratios may be longer than those that are sent
            kind=rule.kind.value,
            direction=rule.direction.value,
            counting=rule.counting.value,
            carry=rule.carry.value,
            reference_counts=rule.reference_counts,
            max_points=points.numerator if points.denominator == 1 else str(points),
        )


NOTHING = timedelta(0)
LONGEST = timedelta(days=36_525)
FILES = ("banner", "logo")
OPTIONAL = frozenset({"main_scoreboard_group_id", "banner", "logo", "location"})


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


@example({"id": "spring", "name": "Spring Contest", "start_time": "2026-03-21T09:00:00.000Z", "duration": "5:00:00",
          "scoreboard_freeze_duration": "1:00:00"})  # fmt: skip
class ContestBody(ContestProperties):
    """A contest to be made. Without an id it gets one from its name."""

    name: Line
    duration: Duration = Field(gt=NOTHING)
    scoreboard_type: Literal["score"] = "score"
    open_to_all: bool = Field(False, description="every team takes part")
    settings: ContestSettings = ContestSettings()
    already_over: bool = Field(False, description="confirms a contest whose end is in the past")


class ContestCopy(Body):
    """The name of a copy of a contest, its id and start (if they are known), and whether it has the same teams."""

    id: Id | None = None
    name: Line
    start_time: Time | None = None
    teams: bool = Field(False, description="the teams of the contest take part in the copy, too")


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


class BoardState(BaseModel):
    """The moments at which something happened to a contest; null: not yet."""

    started: str | None
    frozen: str | None
    ended: str | None
    thawed: str | None
    finalized: str | None
    end_of_updates: str | None
