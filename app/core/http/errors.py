"""Refusals and faults as HTTP replies: every body of an error is `{"code": int, "message": str, ...}`.

- Bodies that may be large: kept in a temporary file while they stream, never in memory as a whole.
- The body of a request as a document in JSON, YAML or as a table.
"""

import errno
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Annotated

import structlog
from anyio.to_thread import run_sync
from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import ErrorDetails
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from starlette.exceptions import HTTPException

from app.core.bodies import Document, json_document, objects, read_yaml
from app.core.clics import example
from app.core.db.commits import CommitInDoubt, is_full, of_the_database
from app.core.files.stored_bytes import UNREADABLE, FileMissing, StoreUnavailable
from app.core.files.temporary import UPLOAD_PREFIX, locked_folder
from app.core.load import LIGHT, body_text, run_heavy
from app.core.messages import (
    MOST_LISTED,
    N_,
    BadRequest,
    Conflict,
    Forbidden,
    Message,
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
    in_english,
)
from app.core.table_rows import charset_of, table_text
from app.core.telemetry import Metrics

COPIED_AT_ONCE = 2**20
# Content types of a body that is a zip archive.
ZIPS = frozenset({"application/zip", "application/x-zip-compressed", "application/octet-stream"})


def content_type(request: Request) -> str:
    """The type of the body without its parameters, in small letters; empty where there is none."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


@asynccontextmanager
async def zip_body(request: Request, limit: int) -> AsyncIterator[Path]:
    """The zip of the body in a temporary file of at most `limit` bytes, gone afterwards.

    Raises UnsupportedMedia, or TooLarge as soon as it is more.
    """
    if (kind := content_type(request)) not in ZIPS:
        message = N_("expected application/zip, found %(found)s")
        raise UnsupportedMedia(message, where="Content-Type", found=kind[:80] or "none")
    with locked_folder(UPLOAD_PREFIX) as folder:
        path = folder / "body"
        size = 0
        with path.open("wb") as file:
            async for chunk in request.stream():
                size += len(chunk)
                if size > limit:
                    raise TooLarge(N_("expected at most %(limit)s bytes, found more"), where="body", limit=limit)
                file.write(chunk)
        yield path


@asynccontextmanager
async def written(stream: IO[bytes]) -> AsyncIterator[Path]:
    """A part of a form in a temporary file of its own, gone afterwards."""
    with locked_folder(UPLOAD_PREFIX) as folder:
        path = folder / "body"
        with path.open("wb") as file:
            await run_sync(shutil.copyfileobj, stream, file, COPIED_AT_ONCE)
        yield path


@asynccontextmanager
async def body_stream(request: Request) -> AsyncIterator[IO[bytes]]:
    """The body as a stream, at its beginning, in memory only while it is small; gone afterwards."""
    with tempfile.SpooledTemporaryFile(LIGHT) as file:
        async for chunk in request.stream():
            file.write(chunk)
        file.seek(0)
        yield file


log: structlog.stdlib.BoundLogger = structlog.get_logger("jurado.api")
LONGEST_MESSAGE = 10_000
CHALLENGE = {"WWW-Authenticate": 'Basic realm="Jurado", charset="UTF-8"'}
OF_THE_MACHINE = frozenset({errno.EROFS, errno.EMFILE, errno.ENFILE, errno.EIO, errno.ENOMEM})
# Errors that may be the machine's or the database's, not the program's.
PASSING: tuple[type[Exception], ...] = (DBAPIError, PoolTimeout, CommitInDoubt, OSError, FileMissing)
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
    errors: list[dict[str, object]] | None = Field(
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
    errors: Sequence[Mapping[str, object]] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    """Build the reply to a refused request."""
    text = str(message)
    shown = text if len(text) <= LONGEST_MESSAGE else f"{text[:LONGEST_MESSAGE]}…"
    body: dict[str, object] = {"code": status, "message": shown}
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
        metrics.unavailable.inc()
    return reply


def _passing_fault(error: Exception, path: str) -> JSONResponse | None:
    status = 503
    if isinstance(error, CommitInDoubt):
        what, message = "a commit is in doubt", IN_DOUBT
    elif isinstance(error, UNREADABLE):
        what = "a stored file cannot be read"
        message = f"a file of the server cannot be read: {error}. Tell whoever runs it: jurado fsck"
    elif isinstance(error, StoreUnavailable):
        what = "the files cannot be reached"
        message = "the server cannot reach its files now: nothing was kept, try again later"
    elif is_full(error):
        what, status = "the disk is full", 507
        message = "the server has no room left: nothing was kept, tell whoever runs it"
    elif isinstance(error, OSError) and error.errno in OF_THE_MACHINE:
        what = "the machine failed"
        message = f"the server cannot use its files now ({error.strerror}): nothing was kept, try again later"
    elif of_the_database(error):
        what = "the database failed"
        message = "the database does not take this now: nothing was kept, try again later"
    else:
        return None
    log.error(what, path=path, error=str(error))
    return error_response(status, message, headers={"Retry-After": str(SECONDS_TO_RETRY)})


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    kind = content_type(request)
    if any(each["loc"] == ("body",) and isinstance(each.get("input"), bytes) for each in error.errors()):
        return error_response(415, f"Content-Type: expected application/json, found {kind[:80] or 'none'}")
    return invalid(error.errors())


# The replies to errors, each for its class and those below it that have none of their own.
HANDLERS: Mapping[type[Exception], Callable[[Request, Exception], Coroutine[object, None, Response]]] = {
    ServiceError: _service_error,
    HTTPException: _http_error,
    RequestValidationError: _invalid,
    IntegrityError: _contradiction,
    **dict.fromkeys(PASSING, _may_pass),
}


def invalid(errors: Sequence[ErrorDetails]) -> JSONResponse:
    """Build the 400 for pydantic's errors."""
    faults = [fault(error) for error in errors[:MOST_LISTED]]
    return error_response(400, all_in_words(faults, len(errors)), faults)


JSON_TYPES = frozenset({"application/json"})
YAML_TYPES = frozenset({"application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"})
TSV_TYPES = frozenset({"text/tab-separated-values", "text/tsv"})
CSV_TYPES = frozenset({"text/csv", "application/csv"})
# Bytes of a document in YAML, which is written by hand and read a hundred times slower than JSON.
MOST_YAML = 2**20
ACCEPTED = "application/json, application/yaml, text/csv, text/tab-separated-values"


async def _document(request: Request) -> Document:
    kind = content_type(request)
    if kind not in JSON_TYPES | YAML_TYPES | TSV_TYPES | CSV_TYPES:
        raise UnsupportedMedia(
            N_("expected one of %(names)s, found %(found)s"),
            where="Content-Type",
            names=ACCEPTED,
            found=kind[:80] or "none",
        )
    data = await request.body()
    if kind in JSON_TYPES:
        return objects(await json_document(data))
    if kind in TSV_TYPES | CSV_TYPES:
        return Document(lines=table_text(data, charset_of(request.headers["content-type"])))
    text = body_text(data)
    if len(data) > MOST_YAML:
        raise TooLarge(
            N_("expected at most %(most)s bytes of YAML, found %(found)s (JSON may be larger)"),
            where="body",
            most=MOST_YAML,
            found=len(data),
        )
    return objects(await run_heavy(lambda: read_yaml(text)))


TheDocument = Annotated[Document, Depends(_document)]
