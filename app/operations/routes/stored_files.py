"""HTTP routes: what is known of stored files that are damaged, and what waits for them: for admins."""

from __future__ import annotations

from fastapi import APIRouter

from app.core.http.deps import CurrentViewer, TheService
from app.core.http.gated import GatedRoute
from app.operations.service.stored_files import StoredFiles, stored_files

router = APIRouter(route_class=GatedRoute, tags=["health"])


@router.get("/stored-files", summary="Which stored files are damaged, and what waits for them")
def get_stored_files(_viewer: CurrentViewer, service: TheService) -> StoredFiles:
    """From memory: what requests, graders and the last pass over all files could not read, and nobody wrote again."""
    return stored_files(service)
