"""The health of the service: what `jurado status` shows, in the reader's words, and what to do."""

from fastapi.responses import HTMLResponse

from app.core.pages.visits import Visit
from app.operations.service.findings import examine


async def health_page(visit: Visit) -> HTMLResponse:
    """Whether everything is all right, first in one line, then part by part."""
    ready, stored, findings = await examine(visit.service, visit.request.app.state.probing)
    return visit.page("organiser/health.html", is_ready=ready.ready, findings=findings, faults=stored.faults)
