"""Every router below /api: first those asked most, because routes are tried in this order."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.routing import BaseRoute

from app.api import (
    access,
    accounts,
    awards,
    chosen,
    clarifications,
    commentary,
    contest_export,
    contest_import,
    contest_problems,
    contests,
    directory,
    final_inputs,
    jobs,
    judgements,
    judging,
    own_account,
    packages,
    participation,
    people,
    problems,
    quota,
    rejudgings,
    reports,
    reveal,
    scoreboard,
    similarity,
    sources,
    stored_files,
    submissions_read,
    submit,
    team_import,
    teams,
    testcases,
    tokens,
)
from app.api.feed import boards, webhooks
from app.api.feed import routes as feed
from app.api.middleware import API
from app.api.named import ByLabel
from app.api.openapi import operation_id

ROUTERS: tuple[APIRouter, ...] = (
    submit.router,
    scoreboard.router,
    boards.router,
    feed.router,
    contests.router,
    contest_problems.router,
    participation.router,
    reveal.router,
    final_inputs.router,
    chosen.router,
    quota.router,
    access.router,
    judging.router,
    teams.router,
    team_import.router,
    own_account.router,
    accounts.router,
    people.router,
    directory.router,
    clarifications.router,
    awards.router,
    commentary.router,
    contest_export.router,
    contest_import.router,
    tokens.router,
    packages.router,
    problems.router,
    testcases.router,
    submissions_read.router,
    reports.router,
    sources.router,
    similarity.router,
    judgements.router,
    rejudgings.router,
    jobs.router,
    stored_files.router,
    webhooks.router,
)
PROBLEM = "/contests/{contest_id}/problems/{problem_id}"


def _together() -> list[BaseRoute]:
    together = APIRouter(generate_unique_id_function=operation_id)
    for router in ROUTERS:
        by_label = any(PROBLEM in getattr(route, "path", "") for route in router.routes)
        together.include_router(router, prefix=API, dependencies=[ByLabel] if by_label else [])
    return together.routes


ROUTES: Sequence[BaseRoute] = _together()
"""Every route below /api. All apps of a process share them: FastAPI reads each one's signature when it is first asked,
which takes a third of a second for all of them."""
