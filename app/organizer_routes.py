"""The addresses of organisers' pages, each with the operation of the API whose rights it needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from app.accounts.pages import admin as accounts_admin
from app.authoring.pages import case, contest_problems, problems
from app.contests.pages import finals, home, setup
from app.core.pages.gate import needs
from app.core.pages.visitor import PageRoute
from app.judging.pages import live, rejudgings
from app.messages import pages as messages_pages
from app.operations import pages as operations_pages
from app.scoreboard.pages import projector
from app.similarity import pages as similarity_pages
from app.teams import pages as teams_pages

ADMIN = "/admin"
CONTEST = f"{ADMIN}/contests/{{contest_id}}"
ENTRY = f"{CONTEST}/problems/{{problem_id}}"
TEAM = f"{CONTEST}/teams/{{team_id}}"
SUBMISSION = f"{CONTEST}/submissions/{{submission_id}}"
REJUDGING = f"{CONTEST}/rejudgings/{{rejudging_id}}"
PROBLEMS = f"{ADMIN}/problems"
PROBLEM = f"{PROBLEMS}/{{problem_id}}"
CASE = f"{PROBLEM}/case/{{case_name}}"
PERSON = f"{ADMIN}/people/{{account_id}}"
Place = tuple[str, str, Callable[..., object], str]
# The method, the address, the handler and the operation whose rights the page needs.
PLACES: Sequence[Place] = (
    ("GET", ADMIN, home.organiser_home, "list_problems"),
    ("GET", f"{ADMIN}/new", setup.new_contest, "create_contest"),
    ("POST", f"{ADMIN}/new", setup.make_contest, "create_contest"),
    ("GET", CONTEST, home.contest_home, "get_limits"),
    ("POST", f"{CONTEST}/start", setup.start_soon, "change_contest"),
    ("POST", f"{CONTEST}/pause", setup.pause, "pause_contest"),
    ("POST", f"{CONTEST}/resume", setup.resume, "resume_contest"),
    ("POST", f"{CONTEST}/finalize", setup.finalize, "change_contest"),
    ("GET", f"{CONTEST}/times", setup.times_page, "change_contest"),
    ("POST", f"{CONTEST}/times", setup.set_times, "change_contest"),
    ("GET", f"{CONTEST}/rules", setup.rules_page, "change_contest"),
    ("POST", f"{CONTEST}/rules", setup.set_rules, "change_contest"),
    ("POST", f"{CONTEST}/finals", finals.set_finals, "change_contest"),
    ("GET", f"{CONTEST}/problems", contest_problems.problems_page, "get_limits"),
    ("POST", f"{CONTEST}/problems", contest_problems.add_problems, "add_contest_problem"),
    ("POST", ENTRY, contest_problems.change_problem, "change_contest_problem"),
    ("POST", f"{ENTRY}/remove", contest_problems.remove_problem, "remove_contest_problem"),
    ("GET", f"{CONTEST}/teams", teams_pages.teams_page, "get_limits"),
    ("POST", f"{CONTEST}/teams", teams_pages.enrol, "enrol_teams"),
    ("POST", f"{CONTEST}/teams/new", teams_pages.make_team, "import_people"),
    ("POST", f"{CONTEST}/teams/import", teams_pages.import_teams, "import_people"),
    ("POST", f"{CONTEST}/teams/registration", teams_pages.set_registration, "change_registration"),
    ("POST", f"{CONTEST}/teams/code", teams_pages.new_code, "create_registration_code"),
    ("POST", f"{TEAM}/withdraw", teams_pages.withdraw, "withdraw_team"),
    ("POST", f"{TEAM}/disqualify", teams_pages.set_disqualified, "disqualify_team"),
    ("GET", f"{CONTEST}/live", live.live_page, "get_limits"),
    ("GET", SUBMISSION, live.submission_page, "get_limits"),
    ("POST", f"{SUBMISSION}/rejudge", live.rejudge_one, "create_rejudging"),
    ("GET", f"{CONTEST}/rejudgings", rejudgings.rejudgings_page, "list_rejudgings"),
    ("POST", f"{CONTEST}/rejudgings", rejudgings.make_rejudging, "create_rejudging"),
    ("GET", REJUDGING, rejudgings.rejudging_page, "get_rejudging_difference"),
    ("POST", f"{REJUDGING}/apply", rejudgings.apply_rejudging, "apply_rejudging"),
    ("POST", f"{REJUDGING}/undo", rejudgings.undo_rejudging, "undo_rejudging"),
    ("POST", f"{REJUDGING}/cancel", rejudgings.cancel_rejudging, "cancel_rejudging"),
    ("GET", f"{CONTEST}/questions", messages_pages.questions_page_organizer, "get_limits"),
    ("POST", f"{CONTEST}/questions", messages_pages.send_message, "get_limits"),
    ("GET", f"{CONTEST}/roles", accounts_admin.roles_page, "list_contest_roles"),
    ("POST", f"{CONTEST}/roles", accounts_admin.grant_role, "put_contest_role"),
    ("POST", f"{CONTEST}/roles/{{account_id}}/revoke", accounts_admin.revoke_role, "delete_contest_role"),
    ("GET", "/c/{contest_id}/projector", projector.projector, "get_scoreboard"),
    ("GET", f"{CONTEST}/ceremony", projector.ceremony_page, "get_reveal"),
    ("POST", f"{CONTEST}/ceremony", projector.publish, "reveal_places"),
    ("GET", f"{CONTEST}/awards", projector.awards_page, "get_limits"),
    ("POST", f"{CONTEST}/awards", projector.give_award, "create_award"),
    ("POST", f"{CONTEST}/awards/medals", finals.set_medals, "change_contest"),
    ("POST", f"{CONTEST}/awards/{{award_id}}/remove", projector.remove_award, "delete_award"),
    ("GET", f"{CONTEST}/audit", accounts_admin.contest_audit, "list_contest_audit"),
    ("GET", f"{CONTEST}/similarity", similarity_pages.similarity_page, "get_similarity"),
    ("GET", f"{CONTEST}/similarity/{{team_id}}/{{rival_id}}", similarity_pages.comparison_page, "compare_teams"),
    ("GET", PROBLEMS, problems.list_page, "list_problems"),
    ("POST", PROBLEMS, problems.bring_in, "import_problem"),
    ("GET", PROBLEM, problems.problem_page, "get_problem"),
    ("POST", f"{PROBLEM}/verify", problems.verify, "start_verification"),
    ("POST", f"{PROBLEM}/reference-runs", problems.run_reference, "start_reference_run"),
    ("POST", f"{PROBLEM}/cases", problems.add_cases, "import_testcases"),
    ("GET", CASE, case.case_page, "get_problem"),
    ("POST", f"{PROBLEM}/case", case.put_case, "put_testcase"),
    ("POST", f"{CASE}/delete", case.delete_case, "delete_testcase"),
    ("POST", f"{PROBLEM}/cases/arrange", problems.arrange_cases, "change_testcases"),
    ("GET", f"{PROBLEM}/versions/{{number}}", problems.version_page, "get_version"),
    ("POST", f"{PROBLEM}/versions/{{number}}/restore", problems.restore_version, "restore_version"),
    ("GET", f"{ADMIN}/jobs", case.jobs_page, "list_jobs"),
    ("GET", f"{ADMIN}/jobs/{{job_id}}", case.job_page, "get_job"),
    ("POST", f"{ADMIN}/jobs/{{job_id}}/cancel", case.cancel_job, "cancel_job"),
    ("GET", f"{ADMIN}/people", accounts_admin.people_page, "list_accounts"),
    ("POST", f"{PERSON}/password", accounts_admin.new_password, "create_password"),
    ("POST", f"{PERSON}/allow", accounts_admin.allow, "put_organiser"),
    ("POST", f"{PERSON}/disallow", accounts_admin.disallow, "delete_organiser"),
    ("GET", f"{ADMIN}/health", operations_pages.health_page, "get_stored_files"),
    ("GET", f"{ADMIN}/audit", accounts_admin.server_audit, "list_audit"),
)

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=PageRoute)
for method, path, handler, operation in PLACES:
    router.add_api_route(path, handler, methods=[method], dependencies=[needs(operation)])
