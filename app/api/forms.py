"""Multipart forms, read while they stream: texts are short, files lie in memory only up to a megabyte each."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import IO, Any

from fastapi import Request
from multipart import MultipartError, MultipartSegment, PushMultipartParser, parse_options_header

from app.api.errors import BadRequest

IN_MEMORY = 1 << 20
LONGEST_TEXT = 40_000


@dataclass(frozen=True, slots=True)
class FormFile:
    """A file of a form: the field it came in, the name it was sent under, its bytes."""

    field: str
    name: str
    stream: IO[bytes]


@dataclass
class Form:
    """The texts of a form, each there at most once, and its files in order."""

    texts: dict[str, str] = field(default_factory=dict)
    files: list[FormFile] = field(default_factory=list)

    def file(self, field: str) -> FormFile | None:
        """The file of a field that takes one; raises BadRequest where there are several."""
        found = [file for file in self.files if file.field == field]
        if len(found) > 1:
            raise BadRequest(f"{field}: expected once, found {len(found)} times")
        return found[0] if found else None

    def read(self, field: str) -> bytes | None:
        """The bytes of such a file, or None where there is none."""
        found = self.file(field)
        return None if found is None else found.stream.read()

    def close(self) -> None:
        """Let go of the files."""
        for file in self.files:
            file.stream.close()


@dataclass(frozen=True, slots=True)
class Expected:
    """What a form may bring: names of texts, names of files, how many parts in all."""

    texts: frozenset[str]
    files: frozenset[str]
    parts: int


@asynccontextmanager
async def open_form(request: Request, expected: Expected) -> AsyncIterator[Form]:
    """Read the body as a form; its files are gone afterwards. Raises BadRequest for whatever is not expected."""
    form = Form()
    try:
        await _read(request, expected, form)
        yield form
    finally:
        form.close()


async def _read(request: Request, expected: Expected, form: Form) -> None:
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != "multipart/form-data":
        raise BadRequest(f"Content-Type: expected multipart/form-data, found {kind[:80] or 'none'}")
    reader = _Reader(form, expected)
    try:
        parser = PushMultipartParser(options.get("boundary", ""), max_segment_count=expected.parts)
        async for chunk in request.stream():
            for event in parser.parse(chunk):
                reader.take(event)
        parser.close()
    except (MultipartError, UnicodeError) as error:
        raise BadRequest(f"body: expected multipart/form-data, found a damaged one: {error}") from None


class _Reader:
    """Sorts what the parser finds: the head of a part, pieces of its bytes, its end."""

    def __init__(self, form: Form, expected: Expected) -> None:
        self._form = form
        self._expected = expected
        self._name = ""
        self._text: bytearray | None = None

    def take(self, event: Any) -> None:
        """Take one event of the parser: a MultipartSegment, bytes, or None at the end of a part."""
        if isinstance(event, MultipartSegment):
            self._begin(event.name, event.filename)
        elif event is None:
            self._end()
        elif self._text is None:
            self._form.files[-1].stream.write(event)
        else:
            self._text += event
            if len(self._text) > LONGEST_TEXT:
                raise BadRequest(f"{self._name}: expected at most {LONGEST_TEXT} bytes, found more")

    def _begin(self, name: str, filename: str | None) -> None:
        known = self._expected.texts if filename is None else self._expected.files
        if name not in known:
            what = "the fields" if filename is None else "the files"
            raise BadRequest(f"form: expected {what} {', '.join(sorted(known))}, found {name[:80]!r}")
        self._name = name
        if filename is None:
            if name in self._form.texts:
                raise BadRequest(f"{name}: expected once, found twice")
            self._text = bytearray()
        else:
            self._text = None
            stream = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - closed with its form
            self._form.files.append(FormFile(name, filename or name, stream))

    def _end(self) -> None:
        if self._text is None:
            self._form.files[-1].stream.seek(0)
            return
        try:
            text = self._text.decode()
        except UnicodeDecodeError:
            raise BadRequest(f"{self._name}: expected UTF-8, found other bytes") from None
        if "\x00" in text:
            raise BadRequest(f"{self._name}: expected text, found a NUL")
        self._form.texts[self._name] = text
