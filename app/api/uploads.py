"""Bodies that may be large: kept in a temporary file while they stream, never in memory as a whole."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException

from app.api.errors import BadRequest, TooLarge

FEW = 40


@asynccontextmanager
async def body_file(request: Request, limit: int) -> AsyncIterator[Path]:
    """The body in a temporary file of at most `limit` bytes, gone afterwards; raises TooLarge as soon as it is more."""
    with tempfile.TemporaryDirectory(prefix="jurado-upload-") as folder:
        path = Path(folder) / "body"
        size = 0
        with path.open("wb") as file:
            async for chunk in request.stream():
                size += len(chunk)
                if size > limit:
                    raise TooLarge(f"body: expected at most {limit} bytes, found more")
                file.write(chunk)
        yield path


async def read_form(request: Request, texts: frozenset[str], files: frozenset[str]) -> tuple[dict[str, str], FormData]:
    """The plain fields of a multipart form and the form with its files; each known, and there at most once."""
    try:
        form = await request.form(max_files=FEW, max_fields=FEW, max_part_size=1 << 16)
    except MultiPartException as error:
        raise BadRequest(f"body: expected multipart/form-data, found a damaged one: {error.message}") from None
    fields: dict[str, str] = {}
    for name, value in form.multi_items():
        known = files if isinstance(value, UploadFile) else texts
        if name not in known:
            what = "the files" if isinstance(value, UploadFile) else "the fields"
            raise BadRequest(f"form: expected {what} {', '.join(sorted(known))}, found {name[:80]!r}")
        if len(form.getlist(name)) > 1:
            raise BadRequest(f"{name}: expected once, found {len(form.getlist(name))} times")
        if isinstance(value, str):
            fields[name] = value
    return fields, form
