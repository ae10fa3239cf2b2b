"""Every router below /api: first those asked most, because routes are tried in this order."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.routing import BaseRoute

from app.accounts.routes import accounts, audit, own_account, password_resets, registration, roles, tokens
from app.archive.routes import export, importing
from app.authoring.routes import contest_problems, jobs, packages, test_data, testcases, versions
from app.contests.routes import contests, judging, limits, participation
from app.core.http.labels import ByLabel
from app.core.http.middleware import API
from app.core.http.openapi import operation_id
from app.core.settings import Settings
from app.daily.routes import puzzles
from app.feed.routes import access, boards, webhooks
from app.feed.routes import routes as feed
from app.games.routes import games, live
from app.judging.routes import rejudgings
from app.messages.routes import clarifications, commentary
from app.operations.routes import status, stored_files
from app.problems.routes import problems
from app.scoreboard.routes import awards, reveal, scoreboard
from app.similarity.routes import similarity
from app.submissions.routes import chosen, final_inputs, judgements, quota, reports, sources, submissions, submit
from app.teams.routes import class_list, directory, team_import, teams

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
