"""The body of a request as a document in JSON, YAML or as a table."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from app.core.bodies import Document, json_document, objects, read_yaml
from app.core.encodings import charset_of, table_text
from app.core.errors import BadRequest, TooLarge, UnsupportedMedia
from app.core.heavy import run_heavy
from app.core.http.uploads import content_type
from app.core.messages import N_

JSON_TYPES = frozenset({"application/json"})
YAML_TYPES = frozenset({"application/yaml", "application/x-yaml", "text/yaml", "text/x-yaml"})
TSV_TYPES = frozenset({"text/tab-separated-values", "text/tsv"})
CSV_TYPES = frozenset({"text/csv", "application/csv"})
MOST_YAML = 2**20
"""Bytes of a document in YAML, which is written by hand and read a hundred times slower than JSON."""
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
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadRequest(
            N_("expected UTF-8, found byte %(byte)s at %(start)s"),
            where="body",
            byte=error.object[error.start],
            start=error.start,
        ) from None
    if len(data) > MOST_YAML:
        raise TooLarge(
            N_("expected at most %(most)s bytes of YAML, found %(found)s (JSON may be larger)"),
            where="body",
            most=MOST_YAML,
            found=len(data),
        )
    return objects(await run_heavy(lambda: read_yaml(text)))


TheDocument = Annotated[Document, Depends(_document)]
