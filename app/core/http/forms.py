"""Multipart forms, read while they stream: texts are short, the files of a large form share one spool."""

import io
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from functools import partial
from typing import IO, cast

from fastapi import Request
from multipart import MultipartError, MultipartSegment, PushMultipartParser, parse_options_header

from app.core.messages import N_, BadRequest

# Bytes of all files of one form that lie in memory; with more, they go to one temporary file.
IN_MEMORY = 64 * 1024
LONGEST_TEXT = 2**18


@dataclass(frozen=True, slots=True)
class FormFile:
    """A file of a form: the field it came in, the name it was sent under, its bytes."""

    field: str
    name: str
    stream: IO[bytes]


class _Part(io.RawIOBase):
    """A part of a spool as a file to read; written at the end of the spool, before anything is read of it."""

    def __init__(self, spool: IO[bytes]) -> None:
        super().__init__()
        self._spool = spool
        self._start = spool.seek(0, io.SEEK_END)
        self._size = self._at = 0

    def append(self, data: bytes | bytearray) -> None:
        """Write more of it."""
        self._size += self._spool.write(data)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        if base + offset < 0:
            raise ValueError(f"expected a place in the file, found {base + offset}")
        self._at = base + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> bytes:
        left = max(0, self._size - self._at)
        # Other parts of the spool may have been read in between.
        self._spool.seek(self._start + self._at)
        data = self._spool.read(left if size < 0 else min(size, left))
        self._at += len(data)
        return data


@dataclass
class Form:
    """The texts of a form, each there at most once, and its files in order."""

    texts: dict[str, str] = field(default_factory=dict)
    files: list[FormFile] = field(default_factory=list)
    spool: IO[bytes] = field(default_factory=partial(tempfile.SpooledTemporaryFile, IN_MEMORY))

    def named(self, field: str) -> list[tuple[str, IO[bytes]]]:
        """The files of a field, each with the name it was sent under."""
        return [(file.name, file.stream) for file in self.files if file.field == field]

    def file(self, field: str) -> FormFile | None:
        """The file of a field that takes one; raises BadRequest where there are several."""
        files = [file for file in self.files if file.field == field]
        if len(files) > 1:
            raise BadRequest(N_("expected once, found %(found)s times"), where=field, found=len(files))
        return files[0] if files else None

    def read(self, field: str) -> bytes | None:
        """The bytes of such a file, or None where there is none."""
        file = self.file(field)
        return None if file is None else file.stream.read()

    def close(self) -> None:
        """Let go of the files."""
        self.spool.close()


@dataclass(frozen=True, slots=True)
class Expected:
    """What a form may bring: names of texts, names of files, how many parts in all."""

    texts: frozenset[str]
    files: frozenset[str]
    parts: int


@asynccontextmanager
async def open_form(request: Request, expected: Expected) -> AsyncIterator[Form]:
    """Read the body as a form; its files are gone afterwards. Raises BadRequest for whatever is not expected."""
    with closing(Form()) as form:
        await _read(request, expected, form)
        yield form


async def _read(request: Request, expected: Expected, form: Form) -> None:
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    if kind != "multipart/form-data":
        raise BadRequest(
            N_("expected multipart/form-data, found %(found)s"), where="Content-Type", found=kind[:80] or "none"
        )
    reader = _Reader(form, expected)
    try:
        parser = PushMultipartParser(options.get("boundary", ""), max_segment_count=expected.parts)
        async for chunk in request.stream():
            for event in parser.parse(chunk):
                reader.take(event)
        parser.close()
    except (MultipartError, UnicodeError) as error:
        raise BadRequest(
            N_("expected multipart/form-data, found a damaged one: %(error)s"), where="body", error=error
        ) from None


class _Reader:
    """Sorts what the parser finds: the head of a part, pieces of its bytes, its end."""

    def __init__(self, form: Form, expected: Expected) -> None:
        self._form = form
        self._expected = expected
        self._name = ""
        self._text: bytearray | None = None

    def take(self, event: MultipartSegment | bytes | None) -> None:
        """Take one event of the parser: a MultipartSegment, bytes, or None at the end of a part."""
        if isinstance(event, MultipartSegment):
            self._begin(event.name, event.filename)
        elif event is None:
            self._end()
        elif self._text is None:
            self._part.append(event)
        else:
            self._text += event
            if len(self._text) > LONGEST_TEXT:
                raise BadRequest(
                    N_("expected at most %(limit)s bytes, found more"), where=self._name, limit=LONGEST_TEXT
                )

    def _begin(self, name: str, filename: str | None) -> None:
        known = self._expected.texts if filename is None else self._expected.files
        if name not in known:
            expected = (
                N_("expected the fields %(names)s, found %(found)r")
                if filename is None
                else N_("expected the files %(names)s, found %(found)r")
            )
            raise BadRequest(expected, where="form", names=", ".join(sorted(known)), found=name[:80])
        self._name = name
        if filename is None:
            if name in self._form.texts:
                raise BadRequest(N_("expected once, found twice"), where=name)
            self._text = bytearray()
        else:
            self._text = None
            self._part = _Part(self._form.spool)
            self._form.files.append(FormFile(name, filename or name, cast(IO[bytes], self._part)))

    def _end(self) -> None:
        if self._text is None:
            self._part.seek(0)
            return
        try:
            text = self._text.decode()
        except UnicodeDecodeError:
            raise BadRequest(N_("expected UTF-8, found other bytes"), where=self._name) from None
        if "\x00" in text:
            raise BadRequest(N_("expected text, found a NUL"), where=self._name)
        self._form.texts[self._name] = text
