"""Messages for users: an English source text as id, with named values. Pages translate it, others format English.

- Refusals, each with the message that the client reads, and faults as where, expected, found.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeAlias

from checkers.doors import Phrase, Rejected

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from app.core.service import Service


class Message:
    """A text that users read, not yet in a language.

    id      the English source text, with placeholders such as %(team)s; catalogues have its translations
    values  what the placeholders stand for; a value may be a message too
    """

    __slots__ = ("id", "values")

    def __init__(self, id_: str, /, **values: object) -> None:
        self.id = id_
        self.values = values

    def __str__(self) -> str:
        """Format the text in English."""
        return self.id % self.values if self.values else self.id

    def __repr__(self) -> str:
        return f"Message({self.id!r}, {self.values!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and (self.id, self.values) == (other.id, other.values)

    def __hash__(self) -> int:
        return hash(self.id)


# A value as it is, such as what was found, or a message.
Text: TypeAlias = "str | Message"
# A fault of a field: `where`, `expected` and `found`, or `where` and `message`.
Fault: TypeAlias = dict[str, Text]


class WrongValue(ValueError):
    """A value that is not what a field takes; the message says what was expected."""

    def __init__(self, expected: str | Message, /, **values: object) -> None:
        self.expected = as_message(expected, values)
        super().__init__(f"expected {self.expected}")


class WrongProperty(ValueError):
    """A property that contradicts others of its object, or has none of its values; the message says so."""

    def __init__(self, message: str, /, *, where: str, **values: object) -> None:
        self.message = Message(message, **values)
        self.where = where
        super().__init__(f"{where}: {self.message}")


def as_message(message: str | Message, values: Mapping[str, object]) -> Message:
    """Return a message of an id and values, or a whole message itself."""
    return message if isinstance(message, Message) else Message(message, **values)


def N_(message: str) -> str:
    """Return the message itself: marks an id for the catalogues, which is translated where it is shown."""
    return message


A_VALUE = Message(N_("a value"))
NOTHING = Message(N_("nothing"))


def joined(messages: Iterable[str | Message], separator: str = ", ") -> Message:
    """Return a list of messages as one; its id has placeholders only, so that no catalogue needs it."""
    values = {f"part{at}": each for at, each in enumerate(messages)}
    return Message(separator.join(f"%({name})s" for name in values), **values)


def in_english(fault: Mapping[str, object]) -> dict[str, object]:
    """Return a fault as the API shows it."""
    return {name: str(value) if isinstance(value, Message) else value for name, value in fault.items()}


NEAR = 0.5
LONGEST_NAME = 100
# Names that are compared with a misspelt one; with more, anyone could have thousands compared by each request.
MOST_NAMES = 300


def did_you_mean(message: Message, name: str, known: Iterable[str]) -> Message:
    """Return the refusal of a name with the nearest known name, or the message itself where none is near."""
    if len(name) > LONGEST_NAME:
        return message
    by_lower = {each.lower(): each for each in known}
    if len(by_lower) > MOST_NAMES:
        return message
    near = get_close_matches(name.lower(), by_lower, 1, NEAR)
    if not near:
        return message
    return Message(N_("%(sentence)s: did you mean %(name)r?"), sentence=message, name=by_lower[near[0]])


AT = N_("%(where)s: %(fault)s")
PLACED = N_("%(where)s: expected %(expected)s, found %(found)s")
MOST_SHOWN = 80
# The prefix of places in tables.
TABLE_LINE = "line "
MOST_LISTED = 100
MOST_IN_WORDS = 20
SECRETS = ("password", "token")
# Descriptions of patterns for refusals; see `describe_pattern`.
PATTERNS: dict[str, Message] = {}


class ServiceError(Exception):
    """A refusal, as the client reads it.

    message      an id with `values`, or a whole message; pages translate it, `str(error)` is English
    where        the property that is refused, such as a field of a form; it precedes the message
    errors       all faults, listed with the message
    retry_after  seconds after which the same may be tried again; None where that does not help
    """

    def __init__(
        self,
        message: str | Message,
        /,
        *,
        where: str | None = None,
        errors: Sequence[Mapping[str, object]] | None = None,
        retry_after: int | None = None,
        **values: object,
    ) -> None:
        self.fault = as_message(message, values)
        self.where = where
        self.message = self.fault if where is None else Message(AT, where=where, fault=self.fault)
        self.errors = errors
        self.retry_after = retry_after
        super().__init__(self.message)

    async def full_message(self, service: Service) -> Message:
        """Return the message that the client reads; subclasses may look something up for it."""
        return self.message


class BadRequest(ServiceError):
    """The request is malformed."""


class Unauthorized(ServiceError):
    """The client has to log in, or the password is wrong."""


class Forbidden(ServiceError):
    """The client is known and lacks the right."""


class NotFound(ServiceError):
    """The object does not exist for this client: it may be hidden."""


class Conflict(ServiceError):
    """The request contradicts the stored state."""


class PreconditionFailed(ServiceError):
    """The object is no longer the version that the request was made for."""


class TooLarge(ServiceError):
    """The request is larger than its limit."""


class Unprocessable(ServiceError):
    """The request is well formed, and asks for what this object has no use for."""


class UnsupportedMedia(ServiceError):
    """The request has an unknown format."""


class TooManyRequests(ServiceError):
    """The client is over a limit: it may try again after `seconds`, or never (None)."""

    def __init__(self, message: str | Message, seconds: int | None, /, **values: object) -> None:
        super().__init__(as_message(message, values), retry_after=None if seconds is None else max(1, seconds))


# Seconds after which to try again what graders could not do.
SECONDS_UNTIL_BACK = 10


class Unavailable(ServiceError):
    """The service cannot do this for anyone at the moment; try again after `seconds`."""

    def __init__(self, message: str | Message, seconds: int | None = None, /, **values: object) -> None:
        super().__init__(as_message(message, values), retry_after=seconds)


def describe_pattern(pattern: str, words: Message) -> str:
    """Let refusals say a pattern in words; returns the pattern."""
    PATTERNS[pattern] = words
    return pattern


def place(where: str, name: str) -> str:
    """A property's place, in an object or in a line of a table: `[3].name`, `line 3, column name`."""
    return f"{where}, column {name}" if where.startswith(TABLE_LINE) else f"{where}.{name}"


def fault(error: ErrorDetails, *, at: str | None = None) -> Fault:
    """Say one of pydantic's errors as where, expected, found; `at` stands for the place of the whole value.

    What was found is never repeated where it could be a secret.
    """
    parts = tuple(error["loc"])
    where = _where(parts)
    if at is not None:
        where = at if not parts else place(at, where) if isinstance(parts[0], str) else f"{at}{where}"
    if error["type"] == "missing":
        return {"where": where, "expected": A_VALUE, "found": NOTHING}
    if error["type"] == "extra_forbidden":
        return {"where": where, "expected": Message(N_("no such property")), "found": _shown(parts[-1])}
    if error["type"] == "json_invalid":
        actual = Message(N_("%(error)s at character %(at)s"), error=error["ctx"]["error"], at=parts[-1])
        return {"where": "body", "expected": Message("JSON"), "found": actual}
    wrong = (error.get("ctx") or {}).get("error")
    if isinstance(wrong, WrongProperty):
        return {"where": wrong.where if where in {"", "body"} else place(where, wrong.where), "message": wrong.message}
    secret = any(str(part) in SECRETS for part in parts)
    shown = Message(N_("a secret")) if secret else _shown(error.get("input"))
    return {"where": where, "expected": _expected(error), "found": shown}


def in_words(fault: Mapping[str, object]) -> Message:
    """Return a fault as a sentence; one without `expected` has a message."""
    if not fault.get("expected"):
        return Message(AT, where=fault.get("where"), fault=fault.get("message"))
    return Message(
        PLACED,
        where=fault["where"],
        expected=fault["expected"],
        found=fault["found"],
    )


def all_in_words(faults: Sequence[Mapping[str, object]], count: int) -> Message:
    """Return the first of `count` faults as sentences, and how many more there are."""
    shown = joined(map(in_words, faults[:MOST_IN_WORDS]), "; ")
    more = count - MOST_IN_WORDS
    return Message(N_("%(faults)s; and %(count)s more"), faults=shown, count=more) if more > 0 else shown


A_STRING, AN_OBJECT, AN_ARRAY = N_("valid string"), N_("an object"), N_("an array")
# What a field takes, by the type of pydantic's error; the values are those of its context.
EXPECTED = {
    "bool_parsing": N_("valid boolean, unable to interpret input"),
    "bool_type": N_("valid boolean"),
    "date_from_datetime_parsing": N_("valid date or datetime"),
    "dict_type": AN_OBJECT,
    "finite_number": N_("finite number"),
    "float_parsing": N_("valid number, unable to parse string as a number"),
    "float_type": N_("valid number"),
    "greater_than": N_("greater than %(gt)s"),
    "greater_than_equal": N_("greater than or equal to %(ge)s"),
    "int_from_float": N_("valid integer, got a number with a fractional part"),
    "int_parsing": N_("valid integer, unable to parse string as an integer"),
    "int_parsing_size": N_("integer of fewer digits"),
    "int_type": N_("valid integer"),
    "less_than": N_("less than %(lt)s"),
    "less_than_equal": N_("less than or equal to %(le)s"),
    "list_type": AN_ARRAY,
    "model_attributes_type": AN_OBJECT,
    "model_type": AN_OBJECT,
    "string_too_long": N_("at most %(max_length)s characters"),
    "string_type": A_STRING,
    "string_unicode": A_STRING,
}


def _expected(error: ErrorDetails) -> Text:
    context = error.get("ctx") or {}
    if context.get("pattern") in PATTERNS:
        return PATTERNS[context["pattern"]]
    if isinstance(wrong := context.get("error"), WrongValue):
        return wrong.expected
    if isinstance(wrong, ValueError):
        return str(wrong)
    if error["type"] == "literal_error":
        return str(context["expected"])
    known = EXPECTED.get(error["type"])
    return str(error["msg"]) if known is None else Message(known, **context)


def _where(place: Sequence[int | str]) -> str:
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{_cut(str(part))}"
    return text.removeprefix(".")


def _shown(value: object) -> Text:
    if isinstance(value, dict | list):
        return Message(AN_OBJECT if isinstance(value, dict) else AN_ARRAY)
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    return _cut(repr(value) if isinstance(value, str) else str(value))


def _cut(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…"


def message_of(rejected: Rejected) -> Message:
    """Return what a checker or game rejected: with its phrases where it has a place, otherwise its English text."""
    args = rejected.message.args
    if not {"where", "expected", "found"} <= set(args):
        return Message(rejected.message.text)
    return Message(PLACED, **{name: _text(args[name]) for name in ("where", "expected", "found")})


def _text(value: object) -> Text:
    if not isinstance(value, Phrase):
        return str(value)
    return Message(value.source, **{name: _text(each) for name, each in value.values.items()})
