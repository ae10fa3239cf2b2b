"""What is known of stored files that are damaged, and what waits for them: for admins."""

from __future__ import annotations

from pydantic import BaseModel, Field


class FileAtFault(BaseModel):
    """A stored file that cannot be read, why, and how many judgements wait for it."""

    sha256: str
    error: str
    waiting: int


class StoredFiles(BaseModel):
    """Files that are missing or damaged, and what the last pass over all files has read."""

    faults: list[FileAtFault]
    read: int = Field(description="files the last pass has read")
    bytes_read: int
    orphans_removed: int
    ended: str | None = Field(description="when the last pass ended; null before the first")
