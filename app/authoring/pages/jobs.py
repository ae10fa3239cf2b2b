"""Jobs as pages: how far each is, its log, the best so far as a curve, and a button that cancels it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from fastapi import Request, Response
from fastapi.responses import HTMLResponse

from app.authoring.service import jobs
from app.authoring.service.jobs import Job
from app.core.pages.gate import see
from app.core.pages.pages import page
from app.core.pages.type_words import type_word
from app.core.pages.visitor import Reading, TheService, Visitor

BEST = re.compile(r"(?P<case>[^:]+): best (?P<best>-?[0-9]+(?:\.[0-9]+)?)(?:/[0-9]+)?, [0-9]+ states")
GOING = frozenset({"queued", "running"})
WIDTH, HEIGHT = 600, 120
"""Units of the drawing."""


@dataclass(frozen=True, slots=True)
class Curve:
    """The best raw score so far of a case, report by report, as the path of a drawing."""

    case: str
    first: float
    last: float
    count: int
    path: str


def jobs_page(request: Request, viewer: Visitor, session: Reading) -> HTMLResponse:
    """The latest jobs that the viewer may see, newest first."""
    listed = jobs.newest(session, viewer)
    return page(
        "organiser/jobs.html",
        request,
        viewer=viewer,
        jobs=listed,
        is_going=any(job.state in GOING for job in listed),
    )


def job_page(request: Request, viewer: Visitor, session: Reading, job_id: str) -> HTMLResponse:
    """A job: how far it is, whether it still improves, and what came of it."""
    job = jobs.one(session, viewer, job_id)
    result = job.result or {}
    report = result.get("report") or {}
    return page(
        "organiser/job.html",
        request,
        viewer=viewer,
        job=job,
        kind=type_word(job.kind),
        is_going=job.state in GOING,
        curves=curves(job.log),
        cases=_cases(job),
        error=result.get("error"),
        findings=[*report.get("errors", []), *report.get("warnings", []), *report.get("notes", [])],
        is_verified=bool(report),
        width=WIDTH,
        height=HEIGHT,
    )


def cancel_job(request: Request, service: TheService, viewer: Visitor, job_id: str) -> Response:
    """Stop everything that the job runs; what it has finished stays."""
    jobs.cancel(service, viewer, job_id)
    return see(request, f"/admin/jobs/{job_id}")


def curves(log: str) -> list[Curve]:
    """The best so far of each case that the log reports on at least twice."""
    series: dict[str, list[float]] = {}
    for line in log.splitlines():
        match = BEST.fullmatch(line)
        if match is not None:
            series.setdefault(match["case"], []).append(float(match["best"]))
    return [_curve(case, values) for case, values in series.items() if len(values) > 1]


def _curve(case: str, values: Sequence[float]) -> Curve:
    least, most = min(values), max(values)
    span = most - least or 1.0
    heights = [HEIGHT - 4 - (value - least) / span * (HEIGHT - 8) for value in values]
    step = WIDTH / (len(values) - 1)
    parts = [f"M0 {heights[0]:.0f}", *(f"H{at * step:.0f}V{y:.0f}" for at, y in enumerate(heights) if at)]
    return Curve(case, values[0], values[-1], len(values), "".join(parts))


def _cases(job: Job) -> list[tuple[str, dict[str, object]]]:
    """The results of a reference run, case by case."""
    cases = (job.result or {}).get("cases")
    if isinstance(cases, dict):
        return [(str(name), facts) for name, facts in cases.items() if isinstance(facts, dict)]
    return []
