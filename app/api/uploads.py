"""Bodies that may be large: kept in a temporary file while they stream, never in memory as a whole."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class Form:
    """The plain fields of a multipart form, and its files, in memory only up to a megabyte each."""

    fields: Mapping[str, str]
    files: Mapping[str, UploadFile]

    async def read(self, name: str) -> bytes | None:
        """The bytes of a file, or None where there is none of that name."""
        upload = self.files.get(name)
        return None if upload is None else await upload.read()


@asynccontextmanager
async def open_form(request: Request, texts: frozenset[str], files: frozenset[str]) -> AsyncIterator[Form]:
    """A multipart form, its temporary files closed at the end; each part must be known, and there at most once."""
    try:
        parsed = await request.form(max_files=FEW, max_fields=FEW, max_part_size=1 << 16)
    except MultiPartException as error:
        raise BadRequest(f"body: expected multipart/form-data, found a damaged one: {error.message}") from None
    try:
        yield _sorted(parsed, texts, files)
    finally:
        await parsed.close()


def _sorted(parsed: FormData, texts: frozenset[str], files: frozenset[str]) -> Form:
    fields: dict[str, str] = {}
    uploads: dict[str, UploadFile] = {}
    for name, value in parsed.multi_items():
        is_file = isinstance(value, UploadFile)
        known, what = (files, "the files") if is_file else (texts, "the fields")
        if name not in known:
            raise BadRequest(f"form: expected {what} {', '.join(sorted(known))}, found {name[:80]!r}")
        if len(parsed.getlist(name)) > 1:
            raise BadRequest(f"{name}: expected once, found {len(parsed.getlist(name))} times")
        if isinstance(value, UploadFile):
            uploads[name] = value
        else:
            fields[name] = value
    return Form(fields, uploads)
