"""Refusals, each with the sentence that the client reads, and faults as where, expected, found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic_core import ErrorDetails

if TYPE_CHECKING:
    from app.service import Service

MOST_SHOWN = 80
TABLE_LINE = "line "
"""How the places of objects that came as lines of a table begin."""
MOST_LISTED = 100
MOST_IN_WORDS = 20
SECRETS = ("password", "token")
PATTERNS: dict[str, str] = {}
"""What a text that fits a pattern is, in words, by the pattern; see `said`."""


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
        """What the client reads; a kind of error may look something up for it."""
        return self.message


class BadRequest(ServiceError):
    """What was sent is not what is expected."""


class Unauthorized(ServiceError):
    """Nobody, or the wrong password; the client is asked to say who it is."""


class Forbidden(ServiceError):
    """Known, but not allowed."""


class NotFound(ServiceError):
    """Not there, or not to be seen by this client."""


class Conflict(ServiceError):
    """It would contradict what is kept."""


class TooLarge(ServiceError):
    """More than may be sent."""


class UnsupportedMedia(ServiceError):
    """A format that is not understood."""


class TooManyRequests(ServiceError):
    """Come back after `seconds`, or (None) not at all."""

    def __init__(self, message: str, seconds: int | None) -> None:
        super().__init__(message, retry_after=None if seconds is None else max(1, seconds))


SECONDS_UNTIL_BACK = 10
"""When to come back for what graders could not do."""


class Unavailable(ServiceError):
    """Not now, for nobody; come back after `seconds`."""

    def __init__(self, message: str, seconds: int | None = None) -> None:
        super().__init__(message, retry_after=seconds)


def said(pattern: str, words: str) -> str:
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
    """One fault as a sentence."""
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
