"""The health of the service: what `jurado status` shows, in the reader's words, and what to do."""

from anyio.to_thread import run_sync
from fastapi.responses import HTMLResponse
from sqlalchemy.exc import SQLAlchemyError

from app.accounts.service.viewer import Viewer
from app.authoring.service import jobs
from app.core.pages.visits import Visit
from app.core.service import Service
from app.operations.service.findings import findings
from app.operations.service.readiness import disk_of, readiness, stored_files
from app.operations.service.status import Status, status


async def health_page(visit: Visit) -> HTMLResponse:
    """Whether everything is all right, first in one line, then part by part."""
    ready = await readiness(visit.service, visit.request.app.state.probing)
    stored = await run_sync(stored_files, visit.service)
    state = await run_sync(_status, visit.service)
    return visit.page(
        "organiser/health.html",
        is_ready=ready.ready,
        findings=findings(ready, stored, await run_sync(disk_of, visit.service), state),
        faults=stored.faults,
        jobs=await run_sync(_going, visit.service, visit.viewer),
    )


def _status(service: Service) -> Status | None:
    """The facts of the installation; None while the database says nothing."""
    try:
        return status(service)
    except SQLAlchemyError:
        return None


def _going(service: Service, viewer: Viewer) -> list[jobs.Job]:
    """The jobs that wait or run; none while the database says nothing."""
    try:
        with service.database.read(for_request=True) as session:
            return [job for job in jobs.newest(session, viewer) if job.ended is None]
    except SQLAlchemyError:
        return []
