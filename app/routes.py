"""Every router below /api: first those asked most, because routes are tried in this order."""

from collections.abc import Sequence

from fastapi import APIRouter
from starlette.routing import BaseRoute

from app.accounts.routes import access, accounts
from app.archive import routes as archive_routes
from app.authoring.routes import testcases, versions
from app.contests import routes as contests_routes
from app.core.http import deps, middleware, openapi
from app.core.settings import Settings
from app.daily import routes as daily_routes
from app.feed import routes as feed_routes
from app.games import routes as games_routes
from app.judging import routes as judging_routes
from app.messages import routes as messages_routes
from app.operations import routes as operations_routes
from app.problems import routes as problems_routes
from app.scoreboard import routes as scoreboard_routes
from app.similarity import routes as similarity_routes
from app.submissions.routes import submissions, submit
from app.teams import routes as teams_routes

ROUTERS: tuple[APIRouter, ...] = (
    submit.router,
    games_routes.router,
    scoreboard_routes.router,
    feed_routes.boards_router,
    feed_routes.router,
    contests_routes.router,
    versions.contest_problems_router,
    scoreboard_routes.reveal_router,
    submissions.final_inputs_router,
    submissions.reports_router,
    feed_routes.access_router,
    teams_routes.router,
    accounts.router,
    access.roles_router,
    access.password_resets_router,
    access.registration_router,
    access.router,
    teams_routes.class_list_router,
    teams_routes.directory_router,
    messages_routes.router,
    scoreboard_routes.awards_router,
    messages_routes.commentary_router,
    archive_routes.router,
    access.tokens_router,
    testcases.packages_router,
    versions.router,
    problems_routes.router,
    testcases.router,
    submissions.router,
    similarity_routes.router,
    submissions.judgements_router,
    judging_routes.router,
    versions.jobs_router,
    operations_routes.router,
    feed_routes.webhooks_router,
    daily_routes.router,
)
PROBLEM = "/contests/{contest_id}/problems/{problem_id}"


def _together() -> list[BaseRoute]:
    together = APIRouter(generate_unique_id_function=openapi.operation_id)
    for router in ROUTERS:
        by_label = any(PROBLEM in getattr(route, "path", "") for route in router.routes)
        together.include_router(router, prefix=middleware.API, dependencies=[deps.ByLabel] if by_label else [])
    return together.routes


def routes_of(settings: Settings) -> list[BaseRoute]:
    """The routes that a server with these settings has."""
    together = zip(ROUTERS, ROUTES, strict=True)
    return [route for router, route in together if settings.has_daily or router is not daily_routes.router]


# Every route below /api. All apps of a process share them: FastAPI reads each one's signature when it is first asked,
# which takes a third of a second for all of them.
ROUTES: Sequence[BaseRoute] = _together()
