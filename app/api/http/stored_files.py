"""HTTP routes: what is known of stored files that are damaged, and what waits for them: for admins."""

from __future__ import annotations

from fastapi import APIRouter

from app.api.http.deps import AdminOnly, TheService
from app.api.http.gated import GatedRoute
from app.services.clics import format_time_or_none
from app.services.stored_files import FileAtFault, StoredFiles

router = APIRouter(route_class=GatedRoute, tags=["health"])


@router.get("/stored-files", summary="Which stored files are damaged, and what waits for them")
def get_stored_files(_viewer: AdminOnly, service: TheService) -> StoredFiles:
    """From memory: what requests, graders and the last pass over all files could not read, and nobody wrote again."""
    last = service.scrub.last
    noted = service.scrub.faults()
    faults = {sha256: FileAtFault(sha256=sha256, error=error, waiting=0) for sha256, error in noted.items()}
    for fault in service.engine.parked.faults():
        faults[fault.sha256] = FileAtFault(sha256=fault.sha256, error=fault.error, waiting=len(fault.judgements))
    return StoredFiles(
        faults=list(faults.values()),
        read=last.files,
        bytes_read=last.size,
        orphans_removed=last.removed,
        ended=format_time_or_none(last.ended),
    )
