"""The pages as a walk goes through them: the addresses of each route, and who of the people opens it.

A route of `app.core.pages` that is missing here fails tests/app/core/test_walk.py: a new page cannot be forgotten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import get_args

from app.accounts.service.tokens import Who, who_may
from app.authoring.pages.problems import Tab
from app.page_routes import PLACES
from app.problems.pages.contest import TITLES
from tests.builders.games import GAME

RESET = "k7fmq-2xwrt-hn9bd"
"""The reset code of the account `team` in the hostile contest."""
TODAY = datetime.now(UTC).date()
YESTERDAY, TOMORROW = TODAY - timedelta(days=1), TODAY + timedelta(days=1)
USERS = (None, "team", "staff", "boss", "judge", "admin")
"""No one, a team, a judge of the contest, its owner, a judge of the server and an admin."""
OPENS = {
    Who.EVERYBODY: {None, "team", "staff", "boss", "judge", "admin"},
    Who.CONTEST_JUDGES: {"staff", "boss", "judge", "admin"},
    Who.CONTEST_OWNERS: {"boss", "admin"},
    Who.PROBLEM_JUDGES: {"judge", "admin"},
    Who.PROBLEM_OWNERS: {"admin"},
    Who.ORGANISERS: {"admin"},
    Who.AUTHORS: {"admin"},
    Who.ROLES: {"staff", "boss", "judge", "admin"},
    Who.ACCOUNTS: {"team", "staff", "boss", "judge", "admin"},
    Who.KEEPERS: {"boss", "admin"},
    Who.JUDGES: {"judge", "admin"},
    Who.ADMINS: {"admin"},
}
"""Who of the people opens a page."""
VALUES = {
    "contest_id": "c",
    "problem_id": "echo",
    "team_id": "team",
    "rival_id": "other",
    "account_id": "staff",
    **dict.fromkeys(("submission_id", "rejudging_id", "job_id", "number", "award_id"), "1"),
    "case_name": "02",
    "tab": "overview",
    "group_name": "secret",
    "path": "problem.yaml",
}
"""What stands in the addresses of the pages of organisers."""
EVERYBODY, ACCOUNTS = frozenset(USERS), frozenset(USERS[1:])
TEAM, STAFF = frozenset({"team"}), frozenset({"staff", "boss", "judge", "admin"})


@dataclass(frozen=True)
class Walked:
    """A route of pages: the addresses to open, who opens them, and whether they need no script to be read."""

    addresses: Sequence[str]
    who: frozenset[str | None] = EVERYBODY
    is_read: bool = True


CONTEST = "/c/{contest_id}"
PROBLEM = f"{CONTEST}/problems/{{problem_id}}"
PAGES: Mapping[str, Walked] = {
    "/": Walked(["/"]),
    "/login": Walked(["/login", "/login?reset=yes&username=team"]),
    "/reset/{code}": Walked([f"/reset/{RESET}"]),
    "/account": Walked(["/account"], ACCOUNTS),
    "/docs": Walked(["/docs"], is_read=False),
    "/guides": Walked(["/guides", "/guides?find=rejudging"]),
    "/guides/{name}": Walked(["/guides/running-a-contest", "/guides/problem-packages", "/guides/http-api"]),
    CONTEST: Walked(["/c/c"]),
    f"{CONTEST}/problems": Walked(["/c/c/problems"]),
    PROBLEM: Walked(["/c/c/problems/echo", f"/c/c/problems/{GAME}"]),
    f"{PROBLEM}/answers": Walked(["/c/c/problems/echo/answers"], STAFF),
    f"{PROBLEM}/solution": Walked(["/c/c/problems/echo/solution"], STAFF),
    f"{CONTEST}/scoreboard": Walked(
        [
            "/c/c/scoreboard",
            "/c/c/scoreboard?group=g",
            "/c/c/scoreboard?find=nobody",
        ]
    ),
    f"{CONTEST}/answers": Walked(["/c/c/answers", "/c/c/answers?problem=echo&verdict=WA"], TEAM),
    f"{CONTEST}/submissions/{{submission_id}}": Walked(["/c/c/submissions/1"], TEAM | STAFF),
    f"{CONTEST}/compare": Walked(["/c/c/compare?a=1&b=3", "/c/c/compare"], TEAM | STAFF),
    f"{CONTEST}/teams/{{team_id}}": Walked(["/c/c/teams/team"]),
    f"{CONTEST}/register": Walked(["/c/c/register"]),
    f"{CONTEST}/questions": Walked(["/c/c/questions"]),
    f"{CONTEST}/notifications": Walked(["/c/c/notifications"], ACCOUNTS),
    "/daily": Walked(["/daily"]),
    "/daily/archive": Walked(["/daily/archive"]),
    "/daily/{day}": Walked([f"/daily/{YESTERDAY}"]),
    "/daily/{day}/print": Walked([f"/daily/{YESTERDAY}/print"]),
    "/daily/{kind}/{size}": Walked(["/daily/optimiza/small"]),
    "/daily/{day}/{kind}/{size}": Walked([f"/daily/{YESTERDAY}/optimiza/small"]),
    "/p/{slug}/board": Walked([f"/p/{slug}/board" for slug in TITLES], is_read=False),
    f"{PROBLEM}/board": Walked(["/c/c/problems/echo/board"], is_read=False),
    f"{PROBLEM}/play": Walked([f"/c/c/problems/{GAME}/play"]),
    f"{CONTEST}/games/{{game_id}}": Walked(["/c/c/games/{game_id}"], frozenset({"team"})),
}
"""The pages of contestants and of everyone; `{game_id}` in an address stays, as each contest has its own."""


def organisers() -> dict[str, Walked]:
    """The pages of organisers by their routes, each for those who may call its operation."""
    pages = {
        path: Walked([path.format(**VALUES)], frozenset(OPENS[who_may(operation)]))
        for method, path, _, operation in PLACES
        if method == "GET" and "{path" not in path
    }
    tab = "/admin/problems/{problem_id}/{tab}"
    tabs = [f"/admin/problems/echo/{each}" for each in get_args(Tab)]
    job = "/admin/jobs/{job_id}"
    jobs = ["/admin/jobs/1", "/admin/jobs/2"]  # an admin's: a reference run with findings, and a verification
    return {**pages, tab: Walked(tabs, pages[tab].who), job: Walked(jobs, frozenset({"judge", "admin"}))}


def addresses(user: str | None, pages: Mapping[str, Walked], **known: str) -> list[str]:
    """The addresses that someone opens, filled with what is known."""
    opened = [each for page in pages.values() if user in page.who for each in page.addresses]
    return [each.format(**known) if "{" in each else each for each in opened]
