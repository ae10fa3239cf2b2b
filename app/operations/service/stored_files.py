"""Damaged stored files and the work that waits for them, for admins."""

from __future__ import annotations

from pydantic import BaseModel, Field

from app.core.clics import format_time_or_none
from app.core.service import Service
from app.judging.queries.open_judgements import waiting_for_file


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


def stored_files(service: Service) -> StoredFiles:
    """Files that requests, graders or the last pass could not read, unless they were written again; from memory.

    Where workers judge, these tell of the files that they wait for.
    """
    last = service.scrub.last
    faults = {
        sha256: FileAtFault(sha256=sha256, error=error, waiting=0) for sha256, error in service.scrub.faults().items()
    }
    for fault in service.engine.parked.faults():
        faults[fault.sha256] = FileAtFault(sha256=fault.sha256, error=fault.error, waiting=len(fault.judgements))
    if faults and service.settings.distributed:  # what waits for them does so at workers
        with service.database.read() as session:
            for each in faults.values():
                each.waiting = waiting_for_file(session, each.sha256)
    return StoredFiles(
        faults=list(faults.values()),
        read=last.files,
        bytes_read=last.size,
        orphans_removed=last.removed,
        ended=format_time_or_none(last.ended),
    )


def damaged_files(service: Service) -> set[str]:
    """The stored files that are known to be missing or damaged."""
    return {*service.scrub.faults(), *(fault.sha256 for fault in service.engine.parked.faults())}
