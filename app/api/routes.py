"""Every router below /api: first those asked most, because routes are tried in this order."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.routing import BaseRoute

from app.api.contest_package import export, importing
from app.api.contests import access, contests, judging, limits, participation
from app.api.daily import puzzles
from app.api.feed import boards, webhooks
from app.api.feed import routes as feed
from app.api.games import games, live
from app.api.http import status, stored_files
from app.api.http.labels import ByLabel
from app.api.http.middleware import API
from app.api.http.openapi import operation_id
from app.api.messages import clarifications, commentary
from app.api.people import (
    accounts,
    audit,
    class_list,
    directory,
    own_account,
    password_resets,
    registration,
    roles,
    team_import,
    teams,
    tokens,
)
from app.api.problems import contest_problems, jobs, packages, problems, test_data, testcases, versions
from app.api.rejudgings import rejudgings
from app.api.scoreboard import awards, reveal, scoreboard
from app.api.submissions import (
    chosen,
    final_inputs,
    judgements,
    quota,
    reports,
    similarity,
    sources,
    submissions,
    submit,
)
from app.settings import Settings

ROUTERS: tuple[APIRouter, ...] = (
    submit.router,
    games.router,
    live.router,
    scoreboard.router,
    boards.router,
    feed.router,
    contests.router,
    contest_problems.router,
    limits.router,
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
    roles.router,
    password_resets.router,
    registration.router,
    audit.router,
    accounts.router,
    class_list.router,
    directory.router,
    clarifications.router,
    awards.router,
    commentary.router,
    export.router,
    importing.router,
    tokens.router,
    packages.router,
    versions.router,
    problems.router,
    testcases.router,
    test_data.router,
    submissions.router,
    reports.router,
    sources.router,
    similarity.router,
    judgements.router,
    rejudgings.router,
    jobs.router,
    stored_files.router,
    status.router,
    webhooks.router,
    puzzles.router,
)
PROBLEM = "/contests/{contest_id}/problems/{problem_id}"


def _together() -> list[BaseRoute]:
    together = APIRouter(generate_unique_id_function=operation_id)
    for router in ROUTERS:
        by_label = any(PROBLEM in getattr(route, "path", "") for route in router.routes)
        together.include_router(router, prefix=API, dependencies=[ByLabel] if by_label else [])
    return together.routes


def routes_of(settings: Settings) -> list[BaseRoute]:
    """The routes that a server with these settings has."""
    together = zip(ROUTERS, ROUTES, strict=True)
    return [route for router, route in together if settings.has_daily or router is not puzzles.router]


ROUTES: Sequence[BaseRoute] = _together()
"""Every route below /api. All apps of a process share them: FastAPI reads each one's signature when it is first asked,
which takes a third of a second for all of them."""
