"""Reading a submission from a request: a form with files, or the CLICS Contest API's JSON. Nothing is decided here."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing

from fastapi import Request

from app.core import clics
from app.core.errors import UnsupportedMedia
from app.core.heavy import LIGHT, run_heavy
from app.core.http.downloads import file, form
from app.core.http.forms import Expected, read_form
from app.core.http.uploads import body_stream, content_type
from app.core.messages import N_
from app.submissions.service.submission_form import LONGEST_COMMENT, SubmissionForm, read_json, read_texts

PARTS = Expected(
    texts=frozenset({"problem_id", "language_id", "team_id", "testcase", "comment"}),
    files=frozenset({"files", "sources"}),
    parts=2000,
)
REQUEST_FORMS: dict[str, object] = {
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


@asynccontextmanager
async def open_submission_form(request: Request) -> AsyncIterator[SubmissionForm]:
    """Read the body, whichever of the two forms it has; its files are gone afterwards.

    Raises BadRequest or UnsupportedMedia.
    """
    kind = content_type(request)
    if kind == "multipart/form-data":
        with closing(await read_form(request, PARTS)) as form:
            yield read_texts(form.texts, form.named("files"), form.named("sources"))
    elif kind == "application/json":
        async with body_stream(request) as body:
            light = body.seek(0, io.SEEK_END) <= LIGHT
            body.seek(0)
            yield read_json(body.read()) if light else await run_heavy(lambda: read_json(body.read()))
    else:
        raise UnsupportedMedia(
            N_("expected multipart/form-data or application/json, found %(found)s"),
            where="Content-Type",
            found=kind or "none",
        )
