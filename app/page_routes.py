"""The addresses of pages, outside of /api and of its description."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from app import organizer_routes as organiser
from app.accounts.pages.account import (
    accept_role,
    account_page,
    decline_role,
    log_in,
    log_out,
    login_page,
    make_token,
    register_on_page,
    registration_page,
    revoke_token,
    set_password,
)
from app.contests.pages.taking_part import ask_for_finals, begin_clock, choose_on_page
from app.core.pages.forms import set_preferences
from app.core.pages.frames import live_header
from app.core.pages.headers import reply
from app.core.pages.pages import page
from app.core.pages.visitor import PageRoute, index
from app.daily.pages import daily_archive, daily_day, daily_latest, daily_puzzle, daily_sheet, daily_today
from app.games.pages import begin_game, game_page, play_on, play_page
from app.messages.pages import ask, questions_page
from app.problems.pages.contest import contest_page, playground, problem_page, problems_page
from app.problems.pages.frames_of_boards import board_frame
from app.scoreboard.pages.board import scoreboard
from app.scoreboard.pages.team import team_page
from app.submissions.pages.answers import answers_page, report_page, send_answers
from app.submissions.pages.comparing import compare_page

CONTEST = "/c/{contest_id}"

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=PageRoute)
router.add_api_route("/", index)
router.add_api_route("/login", login_page)
router.add_api_route("/login", log_in, methods=["POST"])
router.add_api_route("/logout", log_out, methods=["POST"])
router.add_api_route("/account", account_page)
router.add_api_route("/preferences", set_preferences, methods=["POST"])
router.add_api_route("/account", set_password, methods=["POST"])
router.add_api_route("/account/tokens", make_token, methods=["POST"])
router.add_api_route("/account/tokens/{token_id}/revoke", revoke_token, methods=["POST"])
router.add_api_route("/account/roles/{kind}/{object_id}/accept", accept_role, methods=["POST"])
router.add_api_route("/account/roles/{kind}/{object_id}/decline", decline_role, methods=["POST"])
router.add_api_route(CONTEST, contest_page)
router.add_api_route(f"{CONTEST}/header", live_header)
router.add_api_route(f"{CONTEST}/problems", problems_page)
router.add_api_route(f"{CONTEST}/problems/{{problem_id}}", problem_page)
router.add_api_route(f"{CONTEST}/scoreboard", scoreboard)
router.add_api_route(f"{CONTEST}/answers", answers_page)
router.add_api_route(f"{CONTEST}/answers", send_answers, methods=["POST"])
router.add_api_route(f"{CONTEST}/submissions/{{submission_id}}", report_page)
router.add_api_route(f"{CONTEST}/participation", begin_clock, methods=["POST"])
router.add_api_route(f"{CONTEST}/problems/{{problem_id}}/inputs", ask_for_finals, methods=["POST"])
router.add_api_route(f"{CONTEST}/problems/{{problem_id}}/chosen", choose_on_page, methods=["POST"])
router.add_api_route(f"{CONTEST}/compare", compare_page)
router.add_api_route(f"{CONTEST}/teams/{{team_id}}", team_page)
router.add_api_route(f"{CONTEST}/register", registration_page)
router.add_api_route(f"{CONTEST}/register", register_on_page, methods=["POST"])
router.add_api_route(f"{CONTEST}/questions", questions_page)
router.add_api_route(f"{CONTEST}/questions", ask, methods=["POST"])

router.add_api_route("/p/{slug}/board", playground)
router.add_api_route(f"{CONTEST}/problems/{{problem_id}}/board", board_frame)
router.add_api_route(f"{CONTEST}/problems/{{problem_id}}/play", play_page)
router.add_api_route(f"{CONTEST}/problems/{{problem_id}}/play", begin_game, methods=["POST"])
router.add_api_route(f"{CONTEST}/games/{{game_id}}", game_page)
router.add_api_route(f"{CONTEST}/games/{{game_id}}", play_on, methods=["POST"])

daily = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=PageRoute)
daily.add_api_route("/daily", daily_today)
daily.add_api_route("/daily/archive", daily_archive)
daily.add_api_route("/daily/{day}", daily_day)
daily.add_api_route("/daily/{day}/print", daily_sheet)
daily.add_api_route("/daily/{kind}/{size}", daily_latest)
daily.add_api_route("/daily/{day}/{kind}/{size}", daily_puzzle)

router.include_router(organiser.router)


@router.get("/docs")
async def docs(request: Request) -> HTMLResponse:
    """The description of the API, by Swagger UI."""
    return page("docs.html", request)


@router.get("/static/{name:path}")
async def static(request: Request, name: str) -> Response:
    """A style sheet, script or image of the pages."""
    return reply(request, name)
