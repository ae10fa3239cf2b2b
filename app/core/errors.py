"""Refusals, each with the sentence that the client reads, and faults as where, expected, found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic_core import ErrorDetails

if TYPE_CHECKING:
    from app.core.service import Service

MOST_SHOWN = 80
TABLE_LINE = "line "
"""The prefix of places in tables."""
MOST_LISTED = 100
MOST_IN_WORDS = 20
SECRETS = ("password", "token")
PATTERNS: dict[str, str] = {}
"""Descriptions of patterns for refusals; see `describe_pattern`."""


class ServiceError(Exception):
    """A refusal with the sentence that the client reads. `errors` are listed beside it.

    `retry_after` are the seconds after which the same may be tried again; None where that does not help.
    """

    def __init__(
        self, message: str, *, errors: Sequence[Mapping[str, object]] | None = None, retry_after: int | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.errors = errors
        self.retry_after = retry_after

    async def sentence(self, service: Service) -> str:
        """The sentence that the client reads; subclasses may look something up for it."""
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

    def __init__(self, message: str, seconds: int | None) -> None:
        super().__init__(message, retry_after=None if seconds is None else max(1, seconds))


SECONDS_UNTIL_BACK = 10
"""Seconds after which to try again what graders could not do."""


class Unavailable(ServiceError):
    """The service cannot do this for anybody at the moment; try again after `seconds`."""

    def __init__(self, message: str, seconds: int | None = None) -> None:
        super().__init__(message, retry_after=seconds)


def describe_pattern(pattern: str, words: str) -> str:
    """Let refusals say a pattern in words; returns the pattern."""
    PATTERNS[pattern] = words
    return pattern


def place(where: str, name: str) -> str:
    """A property's place, in an object or in a line of a table: `[3].name`, `line 3, column name`."""
    return f"{where}, column {name}" if where.startswith(TABLE_LINE) else f"{where}.{name}"


def fault(error: ErrorDetails, *, at: str | None = None) -> dict[str, str]:
    """Say one of pydantic's errors as where, expected, found; `at` stands for the place of the whole value.

    What was found is never repeated where it could be a secret.
    """
    parts = tuple(error["loc"])
    where = _where(parts)
    if at is not None:
        where = at if not parts else place(at, where) if isinstance(parts[0], str) else f"{at}{where}"
    if error["type"] == "missing":
        return {"where": where, "expected": "a value", "found": "nothing"}
    if error["type"] == "extra_forbidden":
        return {"where": where, "expected": "no such property", "found": _shown(parts[-1])}
    if error["type"] == "json_invalid":
        return {"where": "body", "expected": "JSON", "found": f"{error['ctx']['error']} at character {parts[-1]}"}
    secret = any(str(part) in SECRETS for part in parts)
    return {"where": where, "expected": _expected(error), "found": "a secret" if secret else _shown(error.get("input"))}


def in_words(fault: Mapping[str, str]) -> str:
    """A fault as a sentence."""
    return f"{fault['where']}: expected {fault['expected']}, found {fault['found']}"


def all_in_words(faults: Sequence[Mapping[str, str]], count: int) -> str:
    """The first of `count` faults as sentences, and how many more there are."""
    shown = "; ".join(in_words(each) for each in faults[:MOST_IN_WORDS])
    more = count - MOST_IN_WORDS
    return f"{shown}; and {more} more" if more > 0 else shown


def _expected(error: ErrorDetails) -> str:
    context = error.get("ctx") or {}
    if context.get("pattern") in PATTERNS:
        return PATTERNS[context["pattern"]]
    if error["type"] == "string_too_long":
        return f"at most {context['max_length']} characters"
    message = str(error["msg"]).removeprefix("Value error, ").removeprefix("expected ")
    return message.removeprefix("Input should be ").removeprefix("a ") if message.startswith("Input") else message


def _where(place: Sequence[int | str]) -> str:
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{_cut(str(part))}"
    return text.removeprefix(".")


def _shown(value: object) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    text = repr(value) if isinstance(value, str) else str(value)
    return _cut(text)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…"
