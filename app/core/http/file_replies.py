"""Stored images and files as replies."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import Response

from app.core.errors import NotFound
from app.core.files.file_references import StoredReference
from app.core.files.files import FileStore
from app.core.messages import N_


def reply(files: FileStore, references: Sequence[StoredReference], file_name: str) -> Response:
    """Send one of a property's files; raises NotFound. A browser may draw it, and run nothing in it."""
    for each in references:
        if each["filename"] == file_name and "sha256" in each:
            headers = {
                "Cache-Control": "private, max-age=3600",
                "ETag": f'"{each["hash"]}"',
                "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
            }
            return Response(files.load(each["sha256"]), media_type=each["mime"], headers=headers)
    raise NotFound(N_("no file %(file)r"), file=file_name)
