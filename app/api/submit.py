"""Taking submissions: the route that must never lose one. The answer is durable before the reply."""

from __future__ import annotations

import base64
import binascii
import hashlib
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated, Any

from anyio.to_thread import run_sync
from fastapi import APIRouter, Header, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException

from app.api import clics
from app.api.auth import Viewer
from app.api.bodies import Line
from app.api.deps import LoggedIn, TheService
from app.api.errors import ApiError, BadRequest, Forbidden, NotFound, TooLarge, UnsupportedMedia, fault, in_words
from app.grading.answer_files import Answer, Collected, Limits, OpenCase, Upload, UploadRefused, archive_kind, collect
from app.service import Service
from app.storage import submissions
from app.storage.entries import Entry
from app.storage.submissions import INLINE_LIMIT, NewAnswer, NewSubmission

router = APIRouter(tags=["submissions"])

FIELDS = frozenset({"problem_id", "language_id", "team_id", "testcase", "comment"})
MOST_FIELDS = 20
LONGEST_COMMENT = 10_000
WITHOUT_NUL = r"^[^\x00]*$"
LONGEST_KEY = 255
IN_THIS_THREAD = 64 * 1024
"""Uploads up to this many bytes are looked at without changing threads, which would cost more than the look."""


REQUEST_FORMS: dict[str, Any] = {
    "multipart/form-data": {
        "schema": {
            "type": "object",
            "required": ["problem_id", "files"],
            "additionalProperties": False,
            "properties": {
                "problem_id": {"type": "string"},
                "files": {"type": "array", "minItems": 1, "items": {"type": "string", "format": "binary"}},
                "sources": {"type": "array", "items": {"type": "string", "format": "binary"}},
                "testcase": {"type": "string", "description": "the case of a single plain file"},
                "comment": {"type": "string", "maxLength": LONGEST_COMMENT},
                "language_id": {"type": "string", "enum": [clics.LANGUAGE]},
                "team_id": {"type": "string", "description": "for admins: the team submitted for"},
            },
        }
    },
    "application/json": {
        "schema": {
            "type": "object",
            "required": ["problem_id", "language_id", "files"],
            "additionalProperties": False,
            "properties": {
                "problem_id": {"type": "string"},
                "language_id": {"type": "string", "enum": [clics.LANGUAGE]},
                "team_id": {"type": "string"},
                "time": {"type": "string", "format": "date-time"},
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
    """A submission as the CLICS Contest API posts it. `time` only for admins; `id` never."""

    model_config = ConfigDict(extra="forbid")

    language_id: Line
    problem_id: Line
    files: list[SubmittedFile] = Field(min_length=1, max_length=1)
    team_id: Line | None = None
    time: Line | None = None
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

    @property
    def size(self) -> int:
        """Bytes of all its files."""
        return sum(upload.stream.seek(0, io.SEEK_END) for upload in (*self.uploads, *self.sources))


@router.post(
    "/contests/{contest_id}/submissions",
    status_code=201,
    summary="Submit answer files",
    openapi_extra={"requestBody": {"required": True, "content": REQUEST_FORMS}},
)
async def submit(
    contest_id: str,
    request: Request,
    service: TheService,
    viewer: LoggedIn,
    idempotency_key: Annotated[str | None, Header(max_length=LONGEST_KEY)] = None,
) -> JSONResponse:
    """Take a submission as multipart/form-data or CLICS JSON; a repeated Idempotency-Key gives the first one back."""
    if idempotency_key is not None:
        first = await run_sync(_repeated, service, viewer, contest_id, idempotency_key)
        if first is not None:
            return _created(contest_id, first)
    try:
        parcel = await _read_parcel(request)
        new = await _check(service, viewer, contest_id, parcel, idempotency_key)
    finally:
        await request.close()
    accepted = await service.writer.call(submissions.accept, new)
    if accepted.judgement_id is not None:
        service.engine.wake(accepted.judgement_id)
        service.boards.changed(contest_id)
    if accepted.repeated:
        assert idempotency_key is not None  # nothing else can repeat
        return _created(contest_id, await run_sync(_repeated, service, viewer, contest_id, idempotency_key))
    return _created(contest_id, clics.submission_json(accepted.submission_id, contest_id, new))


async def _check(service: Service, viewer: Viewer, contest_id: str, parcel: Parcel, key: str | None) -> NewSubmission:
    """Hold the parcel against the contest and sort its files; what is left is one insert."""
    entry = await _entry(service, viewer, contest_id, parcel.problem_id)
    now = datetime.now(UTC)
    team_id = _submitting_team(viewer, parcel, entry)
    when = _submission_time(viewer, parcel, entry, now)
    if parcel.size <= IN_THIS_THREAD:
        return _prepare(service, viewer, entry, parcel, team_id, when, key)
    return await run_sync(_prepare, service, viewer, entry, parcel, team_id, when, key)


async def _read_parcel(request: Request) -> Parcel:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        return await _read_form(request)
    if kind == "application/json":
        return _read_json(await request.body())
    raise UnsupportedMedia(f"Content-Type: expected multipart/form-data or application/json, found {kind or 'none'}")


async def _read_form(request: Request) -> Parcel:
    try:
        form = await request.form(max_files=2000, max_fields=MOST_FIELDS, max_part_size=4 * LONGEST_COMMENT)
    except MultiPartException as error:
        raise BadRequest(f"body: expected multipart/form-data, found a damaged one: {error.message}") from None
    fields = _form_fields(form)
    if "problem_id" not in fields:
        raise BadRequest("problem_id: expected the problem submitted for, found nothing")
    _check_language(fields.get("language_id", clics.LANGUAGE))
    return Parcel(
        fields["problem_id"],
        _form_files(form, "files"),
        _form_files(form, "sources"),
        fields.get("team_id"),
        fields.get("testcase"),
        fields.get("comment"),
    )


def _form_fields(form: FormData) -> dict[str, str]:
    """The plain fields, each known and given once."""
    fields: dict[str, str] = {}
    for name, value in form.multi_items():
        if name in {"files", "sources"} and isinstance(value, UploadFile):
            continue
        if isinstance(value, UploadFile) or name not in FIELDS:
            expected = "files or sources" if isinstance(value, UploadFile) else ", ".join(sorted(FIELDS))
            raise BadRequest(f"form: expected {expected}, found {name[:80]!r}")
        if name in fields:
            raise BadRequest(f"{name}: expected once, found twice")
        if "\x00" in value:
            raise BadRequest(f"{name}: expected text, found a NUL")
        if len(value) > LONGEST_COMMENT:
            raise BadRequest(f"{name}: expected at most {LONGEST_COMMENT} characters, found {len(value)}")
        fields[name] = value
    return fields


def _form_files(form: FormData, name: str) -> list[Upload]:
    return [Upload(each.filename or name, each.file) for each in form.getlist(name) if isinstance(each, UploadFile)]


def _read_json(body: bytes) -> Parcel:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"body: expected JSON, found {error}") from None
    try:
        asked = SubmissionRequest.model_validate(document)
    except ValidationError as error:
        faults = [fault(each) for each in error.errors()]
        raise BadRequest("; ".join(in_words(each) for each in faults), errors=faults) from None
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
    return Parcel(asked.problem_id, [upload], [], asked.team_id, None, asked.comment, _time(asked.time))


def _time(text: str | None) -> datetime | None:
    try:
        return None if text is None else clics.parse_time(text)
    except ValueError as error:
        raise BadRequest(f"time: {error}, found {text!r}") from None


def _check_language(language: str) -> None:
    if language != clics.LANGUAGE:
        raise BadRequest(f"language_id: expected {clics.LANGUAGE}, found {language!r}")


async def _entry(service: Service, viewer: Viewer, contest_id: str, problem_id: str) -> Entry:
    """The contest's problem, read again only after an admin has changed something."""
    entry = service.entries.known(contest_id, problem_id) or await run_sync(
        service.entries.read, contest_id, problem_id
    )
    if entry is None or not (viewer.sees_all or entry.clock.started(datetime.now(UTC))):
        raise NotFound(f"no problem {problem_id!r} in contest {contest_id!r}")
    return entry


def _submitting_team(viewer: Viewer, parcel: Parcel, entry: Entry) -> str:
    """The team the submission is for; raises where the viewer may not submit for it."""
    if viewer.is_admin:
        if parcel.team_id is None:
            raise BadRequest("team_id: expected the team an admin submits for, found nothing")
        if parcel.team_id not in entry.teams:
            raise BadRequest(f"team_id: expected a team of contest {entry.contest_id}, found {parcel.team_id!r}")
        return parcel.team_id
    if viewer.team_id is None:
        raise Forbidden("only a team's account or an admin may submit")
    if parcel.team_id not in {None, viewer.team_id}:
        raise Forbidden("a team may submit only for itself")
    if viewer.team_id not in entry.teams:
        raise Forbidden(f"your team does not take part in contest {entry.contest_id}")
    return viewer.team_id


def _submission_time(viewer: Viewer, parcel: Parcel, entry: Entry, now: datetime) -> datetime:
    """When it counts as made: now, or the time an admin gives."""
    if parcel.time is not None:
        if not viewer.is_admin:
            raise BadRequest("time: expected none (the server sets it), found one")
        return parcel.time
    if not viewer.is_admin and not entry.clock.running(now):
        raise Forbidden("the contest is over" if entry.clock.ended(now) else "the contest has not started")
    return now


def _prepare(
    service: Service, viewer: Viewer, entry: Entry, parcel: Parcel, team_id: str, when: datetime, key: str | None
) -> NewSubmission:
    """Sort the files to cases and keep the large ones."""
    collected = _collect(service, entry, parcel)
    assert viewer.account_id is not None  # submitting needs an account
    return NewSubmission(
        entry.contest_id,
        entry.problem_id,
        team_id,
        viewer.account_id,
        when,
        round(entry.clock.contest_time(when).total_seconds() * 1000),
        [_kept(service, answer) for answer in collected.answers.values()],
        [note.as_json() for note in collected.notes],
        _kept_sources(service, parcel.sources),
        parcel.comment,
        key,
    )


def _collect(service: Service, entry: Entry, parcel: Parcel) -> Collected:
    settings = service.settings
    limits = Limits(settings.max_inflated, settings.max_archive_files, settings.max_ratio)
    cases = [OpenCase(id_, name, entry.limit) for id_, name in entry.cases]
    try:
        return collect(parcel.uploads, cases, limits, pattern=entry.pattern, testcase=parcel.testcase)
    except UploadRefused as refused:
        kind: type[ApiError] = TooLarge if refused.status == TooLarge.status else BadRequest
        raise kind(refused.message) from None


def _kept(service: Service, answer: Answer) -> NewAnswer:
    if answer.data is None:
        text = f"expected at most {answer.case.limit} bytes, found more"
        refused = {"key": "too-large", "text": text, "args": {"limit": answer.case.limit}}
        return NewAnswer(answer.case.id, answer.file_name, answer.size, refused=refused)
    if answer.size > INLINE_LIMIT:
        return NewAnswer(answer.case.id, answer.file_name, answer.size, service.files.keep(answer.data))
    sha256 = hashlib.sha256(answer.data).hexdigest()
    return NewAnswer(answer.case.id, answer.file_name, answer.size, sha256, answer.data)


def _kept_sources(service: Service, sources: Sequence[Upload]) -> list[dict[str, Any]]:
    kept = []
    for source in sources:
        source.stream.seek(0)
        data = source.stream.read()
        kept.append({"name": source.name, "size": len(data), "sha256": service.files.keep(data)})
    return kept


def _repeated(service: Service, viewer: Viewer, contest_id: str, key: str) -> dict[str, Any] | None:
    assert viewer.account_id is not None  # submitting needs an account
    with service.database.read() as session:
        row = submissions.find_repeated(session, viewer.account_id, contest_id, key)
        return None if row is None else clics.submission_json(row.id, contest_id, row)


def _created(contest_id: str, body: dict[str, Any] | None) -> JSONResponse:
    assert body is not None  # it was written down in this transaction or an earlier one
    return JSONResponse(body, 201, {"Location": f"/api/contests/{contest_id}/submissions/{body['id']}"})
