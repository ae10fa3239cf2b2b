"""The words of the CLICS Contest API, version 2026-01: times, durations and ids as text, and back.

Absolute times are UTC with milliseconds and `Z`, relative ones `h:mm:ss.uuu`, both always with the milliseconds.

- Examples of documents, each written next to its model; the description of the API shows them.
- Filters of collections: `?team_id=X` on any property that is an id, `?team_id=` for null.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import Annotated, TypeVar

from pydantic import BaseModel, BeforeValidator, PlainSerializer, StringConstraints

from app.core.messages import N_, Message, WrongValue, describe_pattern
from app.core.passwords import random_letters
from app.domain import contests, counting

FIRST_YEAR = 1970
VERSION = "2026-01"
LANGUAGE = "answers"
VERSION_URL = "https://ccs-specs.icpc.io/2026-01/contest_api"
ID_PATTERN = r"^[a-zA-Z0-9_]([a-zA-Z0-9_.-]{0,34}[a-zA-Z0-9_-])?$"
ID_WORDS = Message(N_("an id: letters, digits, . _ or -, at most 36, the first no . or -, the last no ."))
ID = re.compile(ID_PATTERN, re.ASCII)
NOT_IN_IDS = re.compile(r"[^a-z0-9]+")
RELTIME = re.compile(r"(-)?(\d{1,7}):([0-5]\d):([0-5]\d)(?:\.(\d{3}))?", re.ASCII)
TIME = re.compile(
    r"([12]\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{3}))?(Z|[+-]\d\d(?::\d\d)?)",
    re.ASCII,
)
MILLISECOND = timedelta(milliseconds=1)
# A document of a CLICS collection: lists, the feed and packages compare and write thousands of them as they are.
JsonObject = Mapping[str, object]


def slug_with_letters(name: str, taken: Callable[[str], bool], otherwise: str) -> str:
    """Return a free id made of a name and random letters, which are always there: whether the plain id is taken by a
    hidden object stays secret.
    """
    base = slug(name, lambda _: False, otherwise)
    while taken(free := f"{base}-{random_letters()}"):
        pass
    return free


def slug(name: str, taken: Callable[[str], bool], otherwise: str) -> str:
    """A free id made of a name, or of `otherwise` where the name has only characters that ids lack."""
    base = NOT_IN_IDS.sub("-", name.lower()).strip("-")[:30].strip("-") or otherwise
    number = 1
    free = base
    while taken(free):
        number += 1
        free = f"{base}-{number}"
    return free


def format_time(moment: datetime) -> str:
    """An absolute time in UTC, such as 2026-11-21T02:19:00.000Z; cut to whole milliseconds."""
    utc = moment if moment.tzinfo is UTC else moment.astimezone(UTC)
    return f"{utc.replace(tzinfo=None).isoformat(timespec='milliseconds')}Z"


def format_time_or_none(moment: datetime | None) -> str | None:
    """`format_time`, and None for None."""
    return None if moment is None else format_time(moment)


def format_reltime(duration: timedelta) -> str:
    """A relative time such as 1:23:45.678 or -0:00:30.000; cut towards zero to whole milliseconds."""
    sign = "-" if duration < timedelta(0) else ""
    total = abs(duration) // MILLISECOND
    sign = sign if total else ""
    seconds, milliseconds = divmod(total, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{sign}{hours}:{minutes:02d}:{seconds:02d}.{milliseconds:03d}"


def parse_time(text: str) -> datetime:
    """Read an absolute time; raises ValueError saying what is expected."""
    match = TIME.fullmatch(text)
    if match is None:
        raise WrongValue(N_("a time with its zone such as 2026-11-21T02:19:00.000Z"))
    day_and_time, milliseconds, zone = match.groups()
    if zone != "Z" and len(zone) == 3:
        zone += ":00"
    try:
        moment = datetime.fromisoformat(f"{day_and_time}.{milliseconds or '000'}{zone}").astimezone(UTC)
    except (ValueError, OverflowError):  # the latter where UTC has no such year
        raise WrongValue(N_("a time that exists, such as 2026-11-21T02:19:00.000Z")) from None
    if moment.year < FIRST_YEAR:
        raise WrongValue(N_("a time from %(year)s on"), year=FIRST_YEAR)
    return moment


def parse_reltime(text: str) -> timedelta:
    """Read a relative time; raises ValueError saying what is expected."""
    match = RELTIME.fullmatch(text)
    if match is None:
        raise WrongValue(N_("a duration h:mm:ss or h:mm:ss.uuu such as 5:00:00"))
    sign, hours, minutes, seconds, milliseconds = match.groups()
    duration = timedelta(
        hours=int(hours), minutes=int(minutes), seconds=int(seconds), milliseconds=int(milliseconds or 0)
    )
    return -duration if sign else duration


def _time(value: object) -> object:
    if not isinstance(value, str):
        raise WrongValue(N_("a time as text such as 2026-11-21T02:19:00.000Z"))
    return parse_time(value)


def _reltime(value: object) -> object:
    if not isinstance(value, str):
        raise WrongValue(N_("a duration as text, h:mm:ss or h:mm:ss.uuu such as 5:00:00"))
    return parse_reltime(value)


Id = Annotated[str, StringConstraints(pattern=describe_pattern(ID_PATTERN, ID_WORDS))]
Time = Annotated[
    datetime, BeforeValidator(_time, json_schema_input_type=str), PlainSerializer(format_time, str, when_used="json")
]
Reltime = Annotated[timedelta, BeforeValidator(_reltime, json_schema_input_type=str)]


def number(value: counting.Exact | None) -> int | float | None:
    """An exact number as JSON has them: an integer where it is one."""
    if value is None or isinstance(value, int):
        return value
    return value.numerator if value.denominator == 1 else float(value)


def state_json(state: contests.State) -> dict[str, str | None]:
    """The state of a contest as CLICS writes it: the moments at which something happened, null for what has not."""
    return {each.name: format_time_or_none(getattr(state, each.name)) for each in fields(state)}


def intervals_json(clock: contests.Clock) -> list[dict[str, str | None]]:
    """The intervals taken out of a contest's time, each with the contest time it stands still at."""
    return [
        {
            "start": format_time(pause.start),
            "end": format_time_or_none(pause.end),
            "contest_time": format_reltime(clock.contest_time(pause.start)),
        }
        for pause in clock.pauses
    ]


M = TypeVar("M", bound=BaseModel)
EXAMPLES_TIME, CONTEST_TIME = "2026-11-21T03:19:00.000Z", "1:00:00.000"
STATE = state_json(contests.State(started=datetime(2026, 11, 21, 2, 19, tzinfo=UTC)))
# By the name of the model.
EXAMPLES: dict[str, JsonObject] = {}


def example(document: JsonObject) -> Callable[[type[M]], type[M]]:
    """Decorate a model with an example of it; a test holds each against its schema."""

    def keep(model: type[M]) -> type[M]:
        EXAMPLES[model.__name__] = document
        return model

    return keep


D = TypeVar("D", bound=BaseModel)


def matching(documents: Iterable[D], **wanted: str | None) -> list[D]:
    """The documents whose properties have all the wanted values; None asks for any value, empty text for null."""
    asked = {key: value for key, value in wanted.items() if value is not None}
    return [
        each for each in documents if all((getattr(each, key, None) or "") == value for key, value in asked.items())
    ]
