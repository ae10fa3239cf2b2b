"""problem.yaml of the package format 2025-09: every key with its type, nothing else.

Short spellings the format allows (one string for a list of one, a name for a person) are written out when read, so
that users of :class:`Problem` meet one shape only.
Source: https://www.kattis.com/problem-package-format/spec/2025-09, section "Problem metadata".
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from app.core.faults import mismatch
from app.packages.names import LANGUAGE_CODE
from checkers.doors import N_

# Characters: a statement may name a constant in every line.
LONGEST_CONSTANT = 200
UUID = r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"

T = TypeVar("T")
Number = int | float
N = TypeVar("N", bound=Number)


class Strict(BaseModel):
    """A map with known keys only, and values of exactly the type named."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def as_tuple(value: object) -> object:
    """Turn the list YAML gives into a tuple; anything else stays, for the type check to refuse."""
    return tuple(value) if isinstance(value, list) else value


def one_or_many(value: object) -> object:
    """Write a single value out as a tuple of one."""
    return tuple(value) if isinstance(value, list | tuple) else (value,)


def _some(value: tuple[T, ...]) -> tuple[T, ...]:
    if not value:
        raise ValueError(mismatch(N_("at least one value"), N_("an empty list")))
    return value


def _as_range(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value if isinstance(value, tuple) else (value, value)


def _ordered(value: tuple[Number, Number]) -> tuple[Number, Number]:
    if value[0] > value[1]:
        raise ValueError(mismatch(N_("[least, most]"), f"[{value[0]}, {value[1]}]"))
    return value


def read_person(value: object) -> object:
    """Split `Full Name <email>`; a map stays as it is."""
    if not isinstance(value, str):
        return value
    name, angle, rest = value.strip().partition("<")
    name, email = name.rstrip(), rest.removesuffix(">")
    is_email = bool(email) and rest.endswith(">") and not any(each in "<>" or each.isspace() for each in email)
    if not name or ">" in name or bool(angle) != is_email:
        raise ValueError("expected `Full Name` or `Full Name <email>`")
    return {"name": name, "email": email or None}


Text = Annotated[str, StringConstraints(min_length=1)]
Language = Annotated[str, StringConstraints(pattern=LANGUAGE_CODE)]
Names = Annotated[tuple[Text, ...], BeforeValidator(as_tuple)]
OneOrMore = Annotated[tuple[T, ...], AfterValidator(_some), BeforeValidator(one_or_many)]
# A number, or [least, most].
Range = Annotated[tuple[N, N], AfterValidator(_ordered), BeforeValidator(_as_range)]
Positive = Annotated[int, Field(gt=0)]


class Person(Strict):
    """Someone credited."""

    name: Text
    email: Text | None = None
    orcid: Annotated[str, StringConstraints(pattern=r"^(\d{4}-){3}\d{3}[0-9X]$")] | None = None
    kattis: Text | None = None


Persons = OneOrMore[Annotated[Person, BeforeValidator(read_person)]]


class Credits(Strict):
    """The people who made the problem."""

    authors: Persons | None = None
    contributors: Persons | None = None
    testers: Persons | None = None
    translators: dict[Language, Persons] = {}
    packagers: Persons | None = None
    acknowledgements: Persons | None = None


class Source(Strict):
    """The first use of the problem."""

    name: Text
    url: Text | None = None


class TimeMultipliers(Strict):
    """Safety margins of the time limit; unused where answer files are submitted."""

    ac_to_time_limit: Annotated[Number, Field(ge=1)] = 2.0
    time_limit_to_tle: Annotated[Number, Field(ge=1)] = 1.5


class Limits(Strict):
    """Limits of submissions and of the package's programs (memory and output in MiB, code in KiB, times in seconds)."""

    time_multipliers: TimeMultipliers = TimeMultipliers()
    time_limit: Annotated[Number, Field(gt=0, le=10**6)] | None = None
    time_resolution: Annotated[Number, Field(gt=0, le=10**6)] = 1.0
    memory: Positive | None = None
    output: Positive | None = None
    code: Positive | None = None
    compilation_time: Positive | None = None
    compilation_memory: Positive | None = None
    validation_time: Positive | None = None
    validation_memory: Positive | None = None
    validation_output: Positive | None = None


License = Literal["unknown", "public domain", "cc0", "cc by", "cc by-sa", "educational", "permission"]
Scalar = int | float | str


def _name_map(value: object) -> object:
    return {"en": value} if isinstance(value, str) else value


def _credits_map(value: object) -> object:
    return {"authors": value} if isinstance(value, str) else value


def _source_maps(value: object) -> object:
    entries = value if isinstance(value, list) else [value]
    return tuple({"name": entry} if isinstance(entry, str) else entry for entry in entries)


def _constant_map(value: object) -> object:
    return value if isinstance(value, dict) else {"value": value}


def _has_value(value: dict[str, Scalar]) -> dict[str, Scalar]:
    if "value" not in value:
        raise ValueError("expected a key `value`")
    if any(isinstance(each, str) and len(each) > LONGEST_CONSTANT for each in value.values()):
        raise ValueError(f"expected texts of at most {LONGEST_CONSTANT} characters")
    return value


def _judged(kinds: tuple[str, ...]) -> tuple[str, ...]:
    if sorted(kinds) != ["scoring", "submit-answer"]:
        expected = N_("[scoring, submit-answer], as Jurado scores answer files")
        raise ValueError(mismatch(expected, ", ".join(kinds)))
    return kinds


def _is_date(value: object) -> object:
    if isinstance(value, str):
        raise ValueError("expected YYYY-MM-DD or YYYY-MM-DDThh:mm:ssZ")
    return value


Constant = Annotated[dict[Text, Scalar], BeforeValidator(_constant_map), AfterValidator(_has_value)]
ConstantName = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$")]


class Problem(Strict):
    """The metadata of a problem, as problem.yaml gives them."""

    problem_format_version: Literal["2025-09"]
    type: Annotated[OneOrMore[Text], AfterValidator(_judged), Field(validate_default=True)] = ("pass-fail",)
    name: Annotated[dict[Language, Text], Field(min_length=1), BeforeValidator(_name_map)]
    uuid: Annotated[str, StringConstraints(pattern=UUID)]
    version: Text | None = None
    credits: Annotated[Credits, BeforeValidator(_credits_map)] = Credits()
    source: Annotated[tuple[Source, ...], BeforeValidator(_source_maps)] = ()
    license: License = "unknown"
    rights_owner: Text | None = None
    embargo_until: Annotated[date | datetime, BeforeValidator(_is_date)] | None = None
    limits: Limits = Limits()
    keywords: Names = ()
    languages: OneOrMore[Text] = ("all",)
    allow_file_writing: bool = False
    constants: dict[ConstantName, Constant] = {}

    @model_validator(mode="after")
    def _rights(self) -> Problem:
        if self.license == "public domain" and self.rights_owner:
            raise ValueError("rights_owner: expected none under the license `public domain`")
        owned = self.rights_owner or self.credits.authors or self.source
        if self.license not in ("unknown", "public domain") and not owned:
            raise ValueError(f"license `{self.license}`: expected a rights_owner, credits.authors or a source")
        return self
