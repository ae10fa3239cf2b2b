"""Reading a submission from a request: a form with files, or the CLICS Contest API's JSON. Nothing is decided here."""

from __future__ import annotations

import base64
import binascii
import io
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.api import clics
from app.api.bodies import Line
from app.api.clics import Id
from app.api.downloads import file, form
from app.api.errors import MOST_LISTED, BadRequest, UnsupportedMedia, all_in_words, fault
from app.api.forms import Expected, Form, open_form
from app.api.heavy import LIGHT, run_heavy
from app.api.json_bounds import check_values
from app.api.uploads import body_stream
from app.grading.archives import Upload, archive_kind

T = TypeVar("T")
PARTS = Expected(
    texts=frozenset({"problem_id", "language_id", "team_id", "testcase", "comment"}),
    files=frozenset({"files", "sources"}),
    parts=2000,
)
LONGEST_COMMENT = 10_000
MOST_VALUES = 5_000
"""Of a JSON body, which is one long text: more values than these would take far more memory than their bytes."""
LIGHT_ARCHIVES = 4 * 1024
"""Bytes that may be archives and still are sorted at once: they hold at most 90 files, and inflate to 1 MiB."""
WITHOUT_NUL = r"^[^\x00]*$"

REQUEST_FORMS: dict[str, Any] = {
    **form(
        "SubmissionForm",
        ["problem_id", "files"],
        {
            "problem_id": {"type": "string", "description": "the problem submitted for"},
            "files": {"type": "array", "minItems": 1, "items": file("answer files, or archives of them")},
            "sources": {"type": "array", "items": file("sources, which are kept and not judged")},
            "testcase": {"type": "string", "description": "the case of a single plain file"},
            "comment": {"type": "string", "maxLength": LONGEST_COMMENT, "description": "kept with the submission"},
            "language_id": {"type": "string", "enum": [clics.LANGUAGE], "description": "there is only one"},
            "team_id": {"type": "string", "description": "for admins: the team submitted for"},
        },
    ),
    "application/json": {
        "schema": {
            "title": "SubmissionRequest",
            "description": "A submission as CLICS has it.",
            "type": "object",
            "required": ["problem_id", "language_id", "files"],
            "additionalProperties": False,
            "properties": {
                "problem_id": {"type": "string"},
                "language_id": {"type": "string", "enum": [clics.LANGUAGE]},
                "id": {"type": "string", "description": "for PUT: the id of the address"},
                "team_id": {"type": "string"},
                "time": {"type": "string", "format": "date-time"},
                "contest_time": {"type": "string"},
                "entry_point": {"type": "null"},
                "reaction": {"type": "array", "items": {"type": "object"}, "description": "not kept"},
                "comment": {"type": "string", "maxLength": LONGEST_COMMENT},
                "files": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": 1,
                    "items": {
                        "type": "object",
                        "required": ["data"],
                        "properties": {
                            "data": {"type": "string", "contentEncoding": "base64"},
                            "mime": {"type": "string", "enum": ["application/zip"]},
                            "filename": {"type": "string"},
                        },
                    },
                },
            },
        }
    },
}


class SubmittedFile(BaseModel):
    """The one archive of a CLICS submission."""

    model_config = ConfigDict(extra="forbid")

    data: str = Field(description="base64 of a zip archive of answer files")
    mime: str | None = None
    filename: str | None = None


class SubmissionRequest(BaseModel):
    """A submission as the CLICS Contest API has it. `time` and `contest_time` are for admins, `id` is for their PUT."""

    model_config = ConfigDict(extra="forbid")

    language_id: Line
    problem_id: Line
    files: list[SubmittedFile] = Field(min_length=1, max_length=1)
    id: Id | None = None
    team_id: Line | None = None
    account_id: Line | None = None
    time: Line | None = None
    contest_time: Line | None = None
    entry_point: None = None
    reaction: list[Any] | None = Field(None, description="not kept")
    comment: str | None = Field(None, max_length=LONGEST_COMMENT, pattern=WITHOUT_NUL)


@dataclass
class Parcel:
    """What a request brings, whatever its form."""

    problem_id: str
    uploads: list[Upload]
    sources: list[Upload] = field(default_factory=list)
    team_id: str | None = None
    testcase: str | None = None
    comment: str | None = None
    time: datetime | None = None
    contest_time: timedelta | None = None
    id: str | None = None
    account_id: str | None = None

    @property
    def is_light(self) -> bool:
        """Is sorting its files quicker than changing threads? A few KB of an archive are hundreds of files."""
        most = LIGHT
        size = 0
        for upload in (*self.uploads, *self.sources):
            size += upload.stream.seek(0, io.SEEK_END)
            if archive_kind(upload.stream) is not None:
                most = LIGHT_ARCHIVES
        return size <= most


@asynccontextmanager
async def open_parcel(request: Request) -> AsyncIterator[Parcel]:
    """Read the body, whichever of the two forms it has; its files are gone afterwards.

    Raises BadRequest or UnsupportedMedia.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        async with open_form(request, PARTS) as form:
            yield _read_form(form)
    elif kind == "application/json":
        async with body_stream(request) as body:
            light = body.seek(0, io.SEEK_END) <= LIGHT_ARCHIVES
            body.seek(0)
            yield _read_json(body.read()) if light else await run_heavy(lambda: _read_json(body.read()))
    else:
        raise UnsupportedMedia(
            f"Content-Type: expected multipart/form-data or application/json, found {kind or 'none'}"
        )


def _read_form(form: Form) -> Parcel:
    texts = form.texts
    if "problem_id" not in texts:
        raise BadRequest("problem_id: expected the problem submitted for, found nothing")
    for name, text in texts.items():
        if len(text) > LONGEST_COMMENT:
            raise BadRequest(f"{name}: expected at most {LONGEST_COMMENT} characters, found {len(text)}")
    _check_language(texts.get("language_id", clics.LANGUAGE))
    uploads, sources = (
        [Upload(file.name, file.stream) for file in form.files if file.field == field] for field in ("files", "sources")
    )
    return Parcel(
        texts["problem_id"], uploads, sources, texts.get("team_id"), texts.get("testcase"), texts.get("comment")
    )


def _read_json(body: bytes) -> Parcel:
    check_values(body, MOST_VALUES)
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"body: expected JSON, found {error}") from None
    try:
        asked = SubmissionRequest.model_validate(document)
    except ValidationError as error:
        given = error.errors(include_url=False)
        faults = [fault(each) for each in given[:MOST_LISTED]]
        raise BadRequest(all_in_words(faults, len(given)), errors=faults) from None
    _check_language(asked.language_id)
    file = asked.files[0]
    if file.mime not in {None, "application/zip"}:
        raise BadRequest(f"files[0].mime: expected application/zip, found {file.mime!r}")
    try:
        data = base64.b64decode(file.data, validate=True)
    except (binascii.Error, ValueError):
        raise BadRequest("files[0].data: expected base64 of a zip archive, found something else") from None
    upload = Upload(file.filename or "files[0]", io.BytesIO(data))
    if archive_kind(upload.stream) != "zip":
        raise BadRequest("files[0].data: expected base64 of a zip archive, found something else")
    return Parcel(
        asked.problem_id,
        [upload],
        team_id=asked.team_id,
        comment=asked.comment,
        time=_parsed("time", asked.time, clics.parse_time),
        contest_time=_parsed("contest_time", asked.contest_time, clics.parse_reltime),
        id=asked.id,
        account_id=asked.account_id,
    )


def _parsed(name: str, text: str | None, parse: Callable[[str], T]) -> T | None:
    try:
        return None if text is None else parse(text)
    except ValueError as error:
        raise BadRequest(f"{name}: {error}, found {text!r}") from None


def _check_language(language: str) -> None:
    if language != clics.LANGUAGE:
        raise BadRequest(f"language_id: expected {clics.LANGUAGE}, found {language!r}")
