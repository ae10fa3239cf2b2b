"""Forms without files: their fields, and documents of services made of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import IO, Protocol, TypeVar, cast
from urllib.parse import parse_qsl

from fastapi import Request
from pydantic import BaseModel, ValidationError

from app.core.errors import BadRequest, TooLarge, all_in_words, fault
from app.core.messages import N_

LONGEST = 100_000
"""Bytes of a form."""
MOST_FIELDS = 5000
"""Fields of a form: a list of teams has a box to tick for each."""
MOST_DIGITS = 9
"""Digits of a number: every database stores it, and no document takes more of anything that is counted."""
M = TypeVar("M", bound=BaseModel)


class SentFile(Protocol):
    """A file of a form: the name it was sent under, and its bytes."""

    @property
    def name(self) -> str:
        """The name, as the sender's machine has it."""

    @property
    def stream(self) -> IO[bytes]:
        """The bytes, from their beginning."""


class ReadForm(Protocol):
    """A form with files as it was read."""

    texts: dict[str, str]

    def file(self, field: str) -> SentFile | None:
        """The file of a field; None where there is none."""

    def read(self, field: str) -> bytes | None:
        """The bytes of the file of a field; None where there is none."""


class OpenForm(Protocol):
    """The reader of forms with files, which knows the fields that may come."""

    def __call__(
        self, request: Request, *, texts: Collection[str], files: Collection[str]
    ) -> AbstractAsyncContextManager[ReadForm]:
        """Read the body as a form whose files are gone afterwards; raises BadRequest."""


@asynccontextmanager
async def open_form(request: Request, *, texts: Collection[str], files: Collection[str]) -> AsyncIterator[ReadForm]:
    """Read a form with files, whose texts its request keeps; raises BadRequest."""
    opening = cast(OpenForm, request.app.state.open_form)
    async with opening(request, texts=texts, files=files) as form:
        request.state.fields = dict(form.texts)
        yield form


async def read_form(request: Request, longest: int = LONGEST) -> dict[str, str]:
    """The fields of a form of at most so many bytes, which its request keeps; raises TooLarge or BadRequest."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > longest:
            raise TooLarge(N_("expected at most %(limit)s bytes, found more"), where="the form", limit=longest)
    try:
        fields = parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS)
    except ValueError:  # UnicodeDecodeError is one
        raise BadRequest(N_("expected fields in UTF-8, percent-encoded"), where="the form") from None
    if any("\0" in value for _, value in fields):
        raise BadRequest(N_("expected text, found a NUL character"), where="the form")
    request.state.fields = {name: value.replace("\r\n", "\n") for name, value in fields}
    return dict(request.state.fields)


def whole_number(name: str, text: str) -> int | None:
    """The whole number from 0 on that a field holds, None for an empty one; raises BadRequest for other text."""
    digits = text.strip()
    if not digits:
        return None
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= MOST_DIGITS):
        raise BadRequest(
            N_("expected a whole number of at most %(most)s digits, found %(found)r"),
            where=name,
            most=MOST_DIGITS,
            found=text[:40],
        )
    return int(digits)


def refuse_two_texts(fields: Mapping[str, str]) -> dict[str, str]:
    """The fields without the second spelling of a new password; raises BadRequest where it is another one."""
    others = {name: value for name, value in fields.items() if name != "again"}
    if fields.get("again", "") != fields.get("password", ""):
        raise BadRequest(N_("expected the same text twice, found two texts"), where="again")
    return others


def made_of(model: type[M], fields: Mapping[str, str]) -> M:
    """A document made of the fields that are filled in; raises BadRequest with what is wrong with them."""
    return made_of_values(model, {name: value for name, value in fields.items() if value})


def made_of_values(model: type[M], values: Mapping[str, object]) -> M:
    """A document made of values, empty ones too; raises BadRequest with what is wrong with them."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        faults = [fault(each) for each in error.errors()]
        raise BadRequest(all_in_words(faults, len(faults)), errors=faults) from None
