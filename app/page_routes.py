"""The addresses of pages, outside of /api; those of organizers with the operation of the API whose rights they need."""

from collections.abc import Callable, Sequence

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from app.accounts.pages import account
from app.accounts.pages import admin as accounts_admin
from app.authoring.pages import case, contest_problems, problems
from app.contests.pages import finals, home, setup, taking_part
from app.core.pages import forms, guides, visitor
from app.core.pages.pages import page, reply
from app.daily.pages import daily_archive, daily_day, daily_latest, daily_puzzle, daily_sheet, daily_today
from app.feed import pages as notifications
from app.games.pages import begin_game, game_page, play_on, play_page
from app.judging import pages as judging_pages
from app.messages import pages as messages_pages
from app.operations import pages as operations_pages
from app.problems.pages import contest, frames_of_boards
from app.scoreboard.pages import board, projector, results
from app.similarity import pages as similarity_pages
from app.submissions.pages import answers, comparing
from app.teams import pages as teams_pages

CONTEST = "/c/{contest_id}"

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=visitor.PageRoute)
router.add_api_route("/", visitor.index)
router.add_api_route("/login", account.login_page)
router.add_api_route("/login", account.log_in, methods=["POST"])
router.add_api_route("/logout", account.log_out, methods=["POST"])
router.add_api_route("/reset/{code}", account.reset_page)
router.add_api_route("/reset/{code}", account.use_reset, methods=["POST"])
router.add_api_route("/account", account.account_page)
router.add_api_route("/preferences", forms.set_preferences, methods=["POST"])
router.add_api_route("/account", account.set_password, methods=["POST"])
router.add_api_route("/account/tokens", account.make_token, methods=["POST"])
router.add_api_route("/account/tokens/{token_id}/revoke", account.revoke_token, methods=["POST"])
router.add_api_route("/guides", guides.guides_page)
router.add_api_route("/guides/{name}", guides.guide_page)
router.add_api_route("/guides/images/{name}", guides.guide_image)
router.add_api_route(CONTEST, contest.contest_page)
router.add_api_route(f"{CONTEST}/header", notifications.live_header)
router.add_api_route(f"{CONTEST}/stream", notifications.stream_header)
router.add_api_route(f"{CONTEST}/notifications", notifications.notifications_page)
router.add_api_route(f"{CONTEST}/problems", contest.problems_page)
router.add_api_route(f"{CONTEST}/problems/{{problem_id}}", contest.problem_page)
router.add_api_route(f"{CONTEST}/problems/{{problem_id}}/answers", answers.others_page)
router.add_api_route(f"{CONTEST}/problems/{{problem_id}}/solution", contest.solution_page)
router.add_api_route(f"{CONTEST}/scoreboard", board.scoreboard)
router.add_api_route(f"{CONTEST}/scoreboard/live", board.live)
router.add_api_route(f"{CONTEST}/answers", answers.answers_page)
router.add_api_route(f"{CONTEST}/answers", answers.send_answers, methods=["POST"])
router.add_api_route(f"{CONTEST}/submissions/{{submission_id}}", answers.report_page)
router.add_api_route(f"{CONTEST}/participation", taking_part.begin_clock, methods=["POST"])
router.add_api_route(f"{CONTEST}/problems/{{problem_id}}/inputs", taking_part.ask_for_finals, methods=["POST"])
router.add_api_route(f"{CONTEST}/problems/{{problem_id}}/chosen", taking_part.choose_on_page, methods=["POST"])
router.add_api_route(f"{CONTEST}/compare", comparing.compare_page)
router.add_api_route(f"{CONTEST}/teams/{{team_id}}", board.team_page)
router.add_api_route(f"{CONTEST}/register", account.registration_page)
router.add_api_route(f"{CONTEST}/register", account.register_on_page, methods=["POST"])
router.add_api_route(f"{CONTEST}/questions", messages_pages.questions_page)
router.add_api_route(f"{CONTEST}/questions", messages_pages.ask, methods=["POST"])

router.add_api_route("/p/{slug}/board", contest.playground)
router.add_api_route(f"{CONTEST}/problems/{{problem_id}}/board", frames_of_boards.board_frame)
router.add_api_route(f"{CONTEST}/problems/{{problem_id}}/play", play_page)
router.add_api_route(f"{CONTEST}/problems/{{problem_id}}/play", begin_game, methods=["POST"])
router.add_api_route(f"{CONTEST}/games/{{game_id}}", game_page)
router.add_api_route(f"{CONTEST}/games/{{game_id}}", play_on, methods=["POST"])

daily = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=visitor.PageRoute)
daily.add_api_route("/daily", daily_today)
daily.add_api_route("/daily/archive", daily_archive)
daily.add_api_route("/daily/{day}", daily_day)
daily.add_api_route("/daily/{day}/print", daily_sheet)
daily.add_api_route("/daily/{kind}/{size}", daily_latest)
daily.add_api_route("/daily/{day}/{kind}/{size}", daily_puzzle)


ADMIN = "/admin"
ADMIN_CONTEST = f"{ADMIN}/contests/{{contest_id}}"
ENTRY = f"{ADMIN_CONTEST}/problems/{{problem_id}}"
TEAM = f"{ADMIN_CONTEST}/teams/{{team_id}}"
SUBMISSION = f"{ADMIN_CONTEST}/submissions/{{submission_id}}"
REJUDGING = f"{ADMIN_CONTEST}/rejudgings/{{rejudging_id}}"
PROBLEMS = f"{ADMIN}/problems"
PROBLEM = f"{PROBLEMS}/{{problem_id}}"
CASE = f"{PROBLEM}/case/{{case_name}}"
USERS = f"{ADMIN}/users"
USER = f"{USERS}/{{account_id}}"
Place = tuple[str, str, Callable[..., object], str]
# The method, the address, the handler and the operation whose rights the page needs.
PLACES: Sequence[Place] = (
    ("GET", ADMIN, home.organiser_home, "list_problems"),
    ("GET", f"{ADMIN}/new", setup.new_contest, "create_contest"),
    ("POST", f"{ADMIN}/new", setup.make_contest, "create_contest"),
    ("GET", f"{ADMIN}/predictions/new", contest_problems.new_predictions, "create_prediction_contest"),
    ("POST", f"{ADMIN}/predictions/new", contest_problems.create_predictions, "create_prediction_contest"),
    ("POST", f"{ADMIN}/import", setup.import_contest, "import_contest"),
    ("GET", ADMIN_CONTEST, home.contest_home, "get_limits"),
    ("POST", f"{ADMIN_CONTEST}/start", setup.start_soon, "change_contest"),
    ("POST", f"{ADMIN_CONTEST}/publish", setup.publish, "change_contest"),
    ("POST", f"{ADMIN_CONTEST}/copy", setup.copy_contest, "copy_contest"),
    ("POST", f"{ADMIN_CONTEST}/delete", setup.delete_contest, "delete_contest"),
    ("POST", f"{ADMIN_CONTEST}/pause", setup.pause, "pause_contest"),
    ("POST", f"{ADMIN_CONTEST}/resume", setup.resume, "resume_contest"),
    ("POST", f"{ADMIN_CONTEST}/extend", setup.extend, "change_contest"),
    ("POST", f"{ADMIN_CONTEST}/freeze", setup.freeze, "change_contest"),
    ("POST", f"{ADMIN_CONTEST}/finalize", setup.finalize, "change_contest"),
    ("GET", f"{ADMIN_CONTEST}/times", setup.times_page, "change_contest"),
    ("POST", f"{ADMIN_CONTEST}/times", setup.set_times, "change_contest"),
    ("GET", f"{ADMIN_CONTEST}/rules", setup.rules_page, "change_contest"),
    ("POST", f"{ADMIN_CONTEST}/rules", setup.set_rules, "change_contest"),
    ("POST", f"{ADMIN_CONTEST}/finals", finals.set_finals, "change_contest"),
    ("GET", f"{ADMIN_CONTEST}/problems", contest_problems.problems_page, "get_limits"),
    ("POST", f"{ADMIN_CONTEST}/problems", contest_problems.add_problems, "add_contest_problem"),
    ("POST", ENTRY, contest_problems.change_problem, "change_contest_problem"),
    ("POST", f"{ENTRY}/remove", contest_problems.remove_problem, "remove_contest_problem"),
    ("GET", f"{ADMIN_CONTEST}/teams", teams_pages.teams_page, "get_limits"),
    ("POST", f"{ADMIN_CONTEST}/teams", teams_pages.enrol, "enrol_teams"),
    ("POST", f"{ADMIN_CONTEST}/teams/new", teams_pages.create_teams, "import_people"),
    ("POST", f"{ADMIN_CONTEST}/teams/cards", teams_pages.reissue_cards, "import_people"),
    ("POST", f"{ADMIN_CONTEST}/teams/import", teams_pages.import_teams, "import_people"),
    ("POST", f"{ADMIN_CONTEST}/teams/registration", teams_pages.set_registration, "change_registration"),
    ("POST", f"{ADMIN_CONTEST}/teams/code", teams_pages.new_code, "create_registration_code"),
    ("POST", f"{TEAM}/rename", teams_pages.rename, "change_team"),
    ("POST", f"{TEAM}/withdraw", teams_pages.withdraw, "withdraw_team"),
    ("POST", f"{TEAM}/disqualify", teams_pages.set_disqualified, "change_team_in_contest"),
    ("POST", f"{TEAM}/extra", teams_pages.give_extra_time, "change_team_in_contest"),
    ("GET", f"{ADMIN_CONTEST}/live", judging_pages.live_page, "get_limits"),
    ("GET", SUBMISSION, judging_pages.submission_page, "get_limits"),
    ("POST", f"{SUBMISSION}/rejudge", judging_pages.rejudge_one, "create_rejudging"),
    ("GET", f"{ADMIN_CONTEST}/rejudgings", judging_pages.rejudgings_page, "list_rejudgings"),
    ("POST", f"{ADMIN_CONTEST}/rejudgings", judging_pages.make_rejudging, "create_rejudging"),
    ("GET", REJUDGING, judging_pages.rejudging_page, "get_rejudging_difference"),
    ("POST", f"{REJUDGING}/apply", judging_pages.apply_rejudging, "apply_rejudging"),
    ("POST", f"{REJUDGING}/undo", judging_pages.undo_rejudging, "undo_rejudging"),
    ("POST", f"{REJUDGING}/cancel", judging_pages.cancel_rejudging, "cancel_rejudging"),
    ("GET", f"{ADMIN_CONTEST}/questions", messages_pages.questions_page_organizer, "get_limits"),
    ("POST", f"{ADMIN_CONTEST}/questions", messages_pages.send_message, "get_limits"),
    ("GET", f"{ADMIN_CONTEST}/roles", accounts_admin.roles_page, "list_contest_roles"),
    ("POST", f"{ADMIN_CONTEST}/roles", accounts_admin.grant_role, "put_contest_role"),
    ("POST", f"{ADMIN_CONTEST}/roles/{{account_id}}/revoke", accounts_admin.revoke_role, "delete_contest_role"),
    ("GET", "/c/{contest_id}/projector", projector.projector, "get_scoreboard"),
    ("GET", f"{ADMIN_CONTEST}/ceremony", projector.ceremony_page, "get_reveal"),
    ("POST", f"{ADMIN_CONTEST}/ceremony", projector.publish, "reveal_places"),
    ("GET", f"{ADMIN_CONTEST}/awards", projector.awards_page, "get_limits"),
    ("POST", f"{ADMIN_CONTEST}/awards", projector.give_award, "create_award"),
    ("POST", f"{ADMIN_CONTEST}/awards/medals", finals.set_medals, "change_contest"),
    ("POST", f"{ADMIN_CONTEST}/awards/{{award_id}}/remove", projector.remove_award, "delete_award"),
    ("GET", f"{ADMIN_CONTEST}/results", results.results_page, "get_limits"),
    ("GET", f"{ADMIN_CONTEST}/audit", accounts_admin.contest_audit, "list_contest_audit"),
    ("GET", f"{ADMIN_CONTEST}/similarity", similarity_pages.similarity_page, "get_similarity"),
    ("GET", PROBLEMS, problems.list_page, "list_problems"),
    ("POST", PROBLEMS, problems.bring_in, "import_problem"),
    ("GET", f"{PROBLEMS}/new", problems.new_page, "create_problem"),
    ("POST", f"{PROBLEMS}/new", problems.create, "create_problem"),
    ("GET", PROBLEM, problems.problem_page, "get_problem"),
    ("POST", f"{PROBLEM}/verify", problems.verify, "start_verification"),
    ("POST", f"{PROBLEM}/reference-runs", problems.run_reference, "start_reference_run"),
    ("POST", f"{PROBLEM}/cases", problems.add_cases, "import_testcases"),
    ("GET", CASE, case.case_page, "get_problem"),
    ("POST", f"{PROBLEM}/case", case.put_case, "put_testcase"),
    ("POST", f"{CASE}/delete", case.delete_case, "delete_testcase"),
    ("POST", f"{PROBLEM}/cases/arrange", problems.arrange_cases, "change_testcases"),
    ("GET", f"{PROBLEM}/files/{{path:path}}", problems.package_file, "get_problem_package"),
    ("GET", f"{PROBLEM}/{{tab}}", problems.problem_page, "get_problem"),
    ("POST", f"{PROBLEM}/{{tab}}", problems.save, "restore_version"),
    ("GET", f"{PROBLEM}/versions/{{number}}", problems.version_page, "get_version"),
    ("POST", f"{PROBLEM}/versions/{{number}}/restore", problems.restore_version, "restore_version"),
    ("GET", f"{ADMIN}/jobs", case.jobs_page, "list_jobs"),
    ("GET", f"{ADMIN}/jobs/{{job_id}}", case.job_page, "get_job"),
    ("POST", f"{ADMIN}/jobs/{{job_id}}/cancel", case.cancel_job, "cancel_job"),
    ("GET", USERS, accounts_admin.users_page, "list_accounts"),
    ("POST", USERS, accounts_admin.create_user, "put_organiser"),
    ("POST", f"{USERS}/passwords", accounts_admin.new_passwords, "create_passwords"),
    ("POST", f"{USERS}/resets", accounts_admin.reset_links, "create_password_resets"),
    ("POST", f"{USERS}/delete", accounts_admin.delete_users, "delete_account"),
    ("GET", USER, accounts_admin.user_page, "get_account"),
    ("POST", USER, accounts_admin.change_user, "change_account"),
    ("POST", f"{USER}/roles", accounts_admin.set_user_role, "put_organiser"),
    ("POST", f"{USER}/organizer", accounts_admin.set_organizer, "put_organiser"),
    ("GET", f"{ADMIN}/health", operations_pages.health_page, "get_stored_files"),
    ("GET", f"{ADMIN}/audit", accounts_admin.server_audit, "list_audit"),
)

for method, path, handler, operation in PLACES:
    router.add_api_route(path, handler, methods=[method], dependencies=[visitor.needs(operation)])


@router.get("/docs")
async def docs(request: Request) -> HTMLResponse:
    """The description of the API, by Swagger UI."""
    return page("docs.html", request)


@router.get("/static/{name:path}")
async def static(request: Request, name: str) -> Response:
    """A style sheet, script or image of the pages."""
    return reply(request, name)
