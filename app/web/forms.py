"""Forms without files: their fields, and documents of services made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar
from urllib.parse import parse_qsl

from fastapi import Request
from pydantic import BaseModel, ValidationError

from app.services.errors import BadRequest, TooLarge, fault, in_words

LONGEST = 100_000
"""Bytes of a form."""
M = TypeVar("M", bound=BaseModel)


async def read_form(request: Request) -> dict[str, str]:
    """The fields of a form; raises TooLarge or BadRequest."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LONGEST:
            raise TooLarge(f"the form: expected at most {LONGEST} bytes, found more")
    try:
        fields = parse_qsl(body.decode(), keep_blank_values=True, errors="strict", max_num_fields=50)
    except ValueError:  # UnicodeDecodeError is one
        raise BadRequest("the form: expected fields in UTF-8, percent-encoded") from None
    if any("\0" in value for _, value in fields):
        raise BadRequest("the form: expected text, found a NUL character")
    return {name: value.replace("\r\n", "\n") for name, value in fields}


def made_of(model: type[M], fields: Mapping[str, str]) -> M:
    """A document made of the fields that are filled in; raises BadRequest with what is wrong with them."""
    try:
        return model.model_validate({name: value for name, value in fields.items() if value})
    except ValidationError as error:
        raise BadRequest("; ".join(in_words(fault(each)) for each in error.errors())) from None
