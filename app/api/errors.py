"""Errors carry their own status and message, and every body of an error is `{"code": int, "message": str, ...}`."""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException

from app.storage.commits import CommitInDoubt
from app.storage.faults import is_full, of_the_database
from app.storage.files import UNREADABLE, FileMissing

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.api")
MOST_SHOWN = 80
TABLE_LINE = "line "
"""How the places of objects that came as lines of a table begin."""
LONGEST_MESSAGE = 10_000
MOST_LISTED = 100
MOST_IN_WORDS = 20
SECRETS = ("password", "token")
CHALLENGE = {"WWW-Authenticate": 'Basic realm="Jurado", charset="UTF-8"'}
OF_THE_MACHINE = frozenset({errno.EROFS, errno.EMFILE, errno.ENFILE, errno.EIO, errno.ENOMEM})
PASSING: tuple[type[Exception], ...] = (DBAPIError, PoolTimeout, CommitInDoubt, OSError, FileMissing)
"""Errors that may be the machine's or the database's, not the program's."""
IN_DOUBT = (
    "the database went away while it stored this: it is not known whether that was done. Look before you send it again;"
    " under the same Idempotency-Key it is safe"
)
SECONDS_TO_RETRY = 5
PATTERNS: dict[str, str] = {}
"""What a text that fits a pattern is, in words, by the pattern; see `said`."""
PHRASES = {404: "no such resource", 405: "this resource has no such method"}


class ErrorBody(BaseModel):
    """What every error's body holds; `errors` lists every fault where there can be several."""

    model_config = ConfigDict(extra="allow")

    code: int = Field(description="the HTTP status again")
    message: str
    errors: list[dict[str, Any]] | None = Field(
        None, description="each with where, expected and found, if that is known"
    )


class ApiError(HTTPException):
    """A refusal with the sentence that the client reads. `errors` are listed beside it."""

    status = 500

    def __init__(
        self,
        message: str,
        *,
        errors: Sequence[Mapping[str, Any]] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(self.status, message, dict(headers) if headers else None)
        self.message = message
        self.errors = errors

    async def sentence(self, request: Request) -> str:
        """What the client reads; a kind of error may look something up for it."""
        return self.message


class BadRequest(ApiError):
    """What was sent is not what is expected."""

    status = 400


class Unauthorized(ApiError):
    """Nobody, or the wrong password; the client is asked to say who it is."""

    status = 401

    def __init__(self, message: str) -> None:
        super().__init__(message, headers=CHALLENGE)


class Forbidden(ApiError):
    """Known, but not allowed."""

    status = 403


class NotFound(ApiError):
    """Not there, or not to be seen by this client."""

    status = 404


class Conflict(ApiError):
    """It would contradict what is kept."""

    status = 409


class TooLarge(ApiError):
    """More than may be sent."""

    status = 413


class UnsupportedMedia(ApiError):
    """A format that is not understood."""

    status = 415


class TooManyRequests(ApiError):
    """Come back after `seconds`, or (None) not at all."""

    status = 429

    def __init__(self, message: str, seconds: int | None) -> None:
        super().__init__(message, headers={} if seconds is None else {"Retry-After": str(max(1, seconds))})


class Unavailable(ApiError):
    """Not now, for nobody; come back after `seconds`."""

    status = 503

    def __init__(self, message: str, seconds: int) -> None:
        super().__init__(message, headers={"Retry-After": str(seconds)})


def install(app: FastAPI) -> None:
    """Make every refusal of `app` an ErrorBody, also those of the framework."""
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(IntegrityError, _contradiction)
    for passing in PASSING:
        app.add_exception_handler(passing, _may_pass)


def error_response(
    status: int,
    message: str,
    errors: Sequence[Mapping[str, Any]] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Build the reply to a refused request."""
    shown = message if len(message) <= LONGEST_MESSAGE else f"{message[:LONGEST_MESSAGE]}…"
    body: dict[str, Any] = {"code": status, "message": shown}
    if errors:
        body["errors"] = [dict(error) for error in errors[:MOST_LISTED]]
    return JSONResponse(body, status, headers)


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if isinstance(error, ApiError):
        return error_response(error.status_code, await error.sentence(request), error.errors, error.headers)
    message = PHRASES.get(error.status_code, str(error.detail))
    if error.status_code in {404, 405}:
        message = f"{message}: {request.method} {request.url.path}"
    return error_response(error.status_code, message, headers=error.headers)


async def _contradiction(request: Request, error: Exception) -> JSONResponse:
    # What an endpoint looks for first can still be written by another request before it commits.
    log.info("contradiction", path=request.url.path, error=str(error))
    return error_response(409, "it contradicts what is kept, perhaps since a moment ago: look again")


async def _may_pass(request: Request, error: Exception) -> JSONResponse:
    reply = unavailable(error, request.url.path)
    if reply is None:
        raise error
    return reply


def unavailable(error: Exception, path: str) -> JSONResponse | None:
    """The reply to a fault of the machine or the database, which may pass by itself; None for a fault of the program.

    Nothing was kept, but for a commit in doubt: of that one the reply says so.
    """
    if isinstance(error, CommitInDoubt):
        log.error("a commit is in doubt", path=path, error=str(error))
        return _later(503, IN_DOUBT)
    if isinstance(error, UNREADABLE):
        log.error("a stored file cannot be read", path=path, error=str(error))
        return _later(503, f"a file of the server cannot be read: {error}. Tell whoever runs it: jurado fsck")
    if is_full(error):
        log.error("the disk is full", path=path, error=str(error))
        return _later(507, "the server has no room left: nothing was kept, tell whoever runs it")
    if isinstance(error, OSError) and error.errno in OF_THE_MACHINE:
        log.error("the machine failed", path=path, error=str(error))
        return _later(503, f"the server cannot use its files now ({error.strerror}): nothing was kept, try again later")
    if of_the_database(error):
        log.error("the database failed", path=path, error=str(error))
        return _later(503, "the database does not take this now: nothing was kept, try again later")
    return None


def _later(status: int, message: str) -> JSONResponse:
    return error_response(status, message, headers={"Retry-After": str(SECONDS_TO_RETRY)})


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if any(each["loc"] == ("body",) and isinstance(each.get("input"), bytes) for each in error.errors()):
        return error_response(415, f"Content-Type: expected application/json, found {kind[:80] or 'none'}")
    return invalid(error.errors())


def invalid(found: Sequence[Mapping[str, Any]]) -> JSONResponse:
    """Build the 400 for pydantic's errors."""
    faults = [fault(error) for error in found[:MOST_LISTED]]
    return error_response(400, all_in_words(faults, len(found)), faults)


def said(pattern: str, words: str) -> str:
    """Let refusals say a pattern in words; returns the pattern."""
    PATTERNS[pattern] = words
    return pattern


def place(where: str, name: str) -> str:
    """A property's place, in an object or in a line of a table: `[3].name`, `line 3, column name`."""
    return f"{where}, column {name}" if where.startswith(TABLE_LINE) else f"{where}.{name}"


def fault(error: Mapping[str, Any], *, at: str | None = None) -> dict[str, str]:
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


def _expected(error: Mapping[str, Any]) -> str:
    context = error.get("ctx") or {}
    if context.get("pattern") in PATTERNS:
        return PATTERNS[context["pattern"]]
    if error["type"] == "string_too_long":
        return f"at most {context['max_length']} characters"
    message = str(error["msg"]).removeprefix("Value error, ").removeprefix("expected ")
    return message.removeprefix("Input should be ").removeprefix("a ") if message.startswith("Input") else message


def _where(place: Sequence[Any]) -> str:
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{_cut(str(part))}"
    return text.removeprefix(".")


def _shown(value: Any) -> str:
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "an array"
    text = repr(value) if isinstance(value, str) else str(value)
    return _cut(text)


def _cut(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else text[: MOST_SHOWN - 1] + "…"
