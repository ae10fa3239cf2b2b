"""Refusals and faults as HTTP replies: every body of an error is `{"code": int, "message": str, ...}`."""

from __future__ import annotations

import errno
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import ErrorDetails
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException

from app.core.db.commits import CommitInDoubt
from app.core.db.faults import is_full, of_the_database
from app.core.errors import (
    MOST_LISTED,
    BadRequest,
    Conflict,
    Forbidden,
    NotFound,
    PreconditionFailed,
    ServiceError,
    TooLarge,
    TooManyRequests,
    Unauthorized,
    Unavailable,
    Unprocessable,
    UnsupportedMedia,
    all_in_words,
    fault,
)
from app.core.examples import example
from app.core.files.stored_bytes import UNREADABLE, FileMissing, StoreUnavailable
from app.core.http.uploads import content_type
from app.core.messages import Message, in_english
from app.core.metrics import Metrics

log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.api")
LONGEST_MESSAGE = 10_000
CHALLENGE = {"WWW-Authenticate": 'Basic realm="Jurado", charset="UTF-8"'}
OF_THE_MACHINE = frozenset({errno.EROFS, errno.EMFILE, errno.ENFILE, errno.EIO, errno.ENOMEM})
PASSING: tuple[type[Exception], ...] = (DBAPIError, PoolTimeout, CommitInDoubt, OSError, FileMissing)
"""Errors that may be the machine's or the database's, not the program's."""
IN_DOUBT = (
    "the database went away while it stored this: it is not known whether that was done. Look before you send it again;"
    " under the same Idempotency-Key it is safe"
)
SECONDS_TO_RETRY = 5
PHRASES = {404: "no such resource", 405: "this resource has no such method"}


@example(
    {
        "code": 400,
        "message": "[0].name: expected a value, found nothing",
        "errors": [{"where": "[0].name", "expected": "a value", "found": "nothing"}],
    }
)
class ErrorBody(BaseModel):
    """What every error's body holds; `errors` lists every fault where there can be several."""

    model_config = ConfigDict(extra="allow")

    code: int = Field(description="the HTTP status again")
    message: str
    errors: list[dict[str, Any]] | None = Field(
        None, description="each with where, expected and found, if that is known"
    )


STATUS: Mapping[type[ServiceError], int] = {
    BadRequest: 400,
    Unauthorized: 401,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    PreconditionFailed: 412,
    TooLarge: 413,
    UnsupportedMedia: 415,
    Unprocessable: 422,
    TooManyRequests: 429,
    Unavailable: 503,
}


def status_of(error: ServiceError) -> int:
    """The HTTP status of a refusal: that of the nearest class which has one; 500 where none has."""
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 500)


def headers_of(error: ServiceError) -> dict[str, str]:
    """The headers of a refusal: when to come back, and how to log in."""
    later = {} if error.retry_after is None else {"Retry-After": str(error.retry_after)}
    return later | (CHALLENGE if isinstance(error, Unauthorized) else {})


class RefusedBody(HTTPException):
    """Carries a refusal through FastAPI's reading of bodies, which turns any other exception into a 400 of its own."""

    def __init__(self, refusal: ServiceError) -> None:
        super().__init__(status_of(refusal), str(refusal))
        self.refusal = refusal


def install(app: FastAPI) -> None:
    """Make every refusal of `app` an ErrorBody, also those of the framework."""
    for kind, handler in HANDLERS.items():
        app.add_exception_handler(kind, handler)


async def reply_to(request: Request, error: Exception) -> Response:
    """The reply to an error of a route that FastAPI does not call; raises an error that is a fault of the program."""
    handler = next((HANDLERS[kind] for kind in type(error).__mro__ if kind in HANDLERS), None)
    if handler is None:
        raise error
    return await handler(request, error)


def error_response(
    status: int,
    message: str | Message,
    errors: Sequence[Mapping[str, Any]] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Build the reply to a refused request."""
    text = str(message)
    shown = text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]}…"
    body: dict[str, Any] = {"code": status, "message": shown}
    if errors:
        body["errors"] = [in_english(error) for error in errors[:MOST_LISTED]]
    return JSONResponse(body, status, headers)


async def _service_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, ServiceError)
    sentence = await error.full_message(request.app.state.service)
    return error_response(status_of(error), sentence, error.errors, headers_of(error))


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    if isinstance(error, RefusedBody):
        return await _service_error(request, error.refusal)
    message = PHRASES.get(error.status_code, str(error.detail))
    if error.status_code in {404, 405}:
        message = f"{message}: {request.method} {request.url.path}"
    return error_response(error.status_code, message, headers=error.headers)


async def _contradiction(request: Request, error: Exception) -> JSONResponse:
    # What an endpoint looks for first can still be written by another request before it commits.
    log.info("contradiction", path=request.url.path, error=str(error))
    return error_response(409, "it contradicts what is kept, perhaps since a moment ago: look again")


async def _may_pass(request: Request, error: Exception) -> JSONResponse:
    reply = unavailable(error, request.url.path, request.app.state.metrics)
    if reply is None:
        raise error
    return reply


def unavailable(error: Exception, path: str, metrics: Metrics) -> JSONResponse | None:
    """The reply to a fault of the machine or the database, which may pass by itself; None for a fault of the program.

    Nothing was kept, but for a commit in doubt: of that one the reply says so. `metrics` counts the reply.
    """
    reply = _passing_fault(error, path)
    if reply is not None:
        metrics.could_not_serve()
    return reply


def _passing_fault(error: Exception, path: str) -> JSONResponse | None:
    if isinstance(error, CommitInDoubt):
        log.error("a commit is in doubt", path=path, error=str(error))
        return _later(503, IN_DOUBT)
    if isinstance(error, UNREADABLE):
        log.error("a stored file cannot be read", path=path, error=str(error))
        return _later(503, f"a file of the server cannot be read: {error}. Tell whoever runs it: jurado fsck")
    if isinstance(error, StoreUnavailable):
        log.error("the files cannot be reached", path=path, error=str(error))
        return _later(503, "the server cannot reach its files now: nothing was kept, try again later")
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
    kind = content_type(request)
    if any(each["loc"] == ("body",) and isinstance(each.get("input"), bytes) for each in error.errors()):
        return error_response(415, f"Content-Type: expected application/json, found {kind[:80] or 'none'}")
    return invalid(error.errors())


HANDLERS: Mapping[type[Exception], Callable[[Request, Exception], Coroutine[Any, Any, Response]]] = {
    ServiceError: _service_error,
    HTTPException: _http_error,
    RequestValidationError: _invalid,
    IntegrityError: _contradiction,
    **dict.fromkeys(PASSING, _may_pass),
}
"""The replies to errors, each for its class and those below it that have none of their own."""


def invalid(errors: Sequence[ErrorDetails]) -> JSONResponse:
    """Build the 400 for pydantic's errors."""
    faults = [fault(error) for error in errors[:MOST_LISTED]]
    return error_response(400, all_in_words(faults, len(errors)), faults)
