"""Every route of /openapi.json with every kind of account, against the table of docs/decisions/0024.

A new route that no line of MAY names fails the test. Each request is made to things of this test's contests; what a
refusal is, is told by its code (401 or 403): whoever may, gets anything else, such as 400 for an empty body.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from sqlalchemy.orm import Session

from app.accounts.service.tokens import OPERATIONS, Who, who_may
from app.core.http.openapi import operations
from app.tables import AccountRow, ContestRoleRow, ContestRow, ContestTeamRow, OrganiserRow, ProblemRoleRow, TeamRow
from tests.builders.contests import PROBLEM, add_contest, add_problem, add_submission, judgement_id
from tests.builders.described import document
from tests.builders.scoring import share
from tests.builders.service import HASH, Api, open_api
from tests.conftest import migrated_sqlite

NOW = datetime.now(UTC)
KINDS = {
    "nobody": None,
    "team": "team",
    "visitor": "visitor",
    "judge-of-d": "judge-of-d",
    "judge": "judge-of-c",
    "owner": "owner-of-c",
    "author": "owner-of-echo",
    "organiser": "organiser",
    "all-judge": "judge",
    "admin": "admin",
}
"""The kinds of accounts by their names in MAY: `team` takes part in the contest and `visitor` in another one; `author`
owns its problem; `judge-of-d` judges another contest."""
ALL = tuple(KINDS)
GROUPS = {
    "everybody": ALL,
    "accounts": ALL[1:],
    "teams": ("team", "visitor"),
    "judges": ("judge", "owner", "all-judge", "admin"),
    "owners": ("owner", "admin"),
    "admins": ("admin",),
}
STREAMS = ("/event-feed", "/stream")
IDS = {
    "problem_id": PROBLEM,
    "name": "02",
    "case_name": "02",
    "group": "secret",
    "submission_id": "1",
    "team_id": "team",
    "other_team_id": "other",
    "type_id": "AC",
    "language_id": "answers",
    "number": "1",
}
MAY = """
GET    /api/ : everybody
GET    /api/account : accounts
PATCH  /api/account : accounts
DELETE /api/account/tokens : accounts
GET    /api/account/tokens : accounts
POST   /api/account/tokens : accounts
DELETE /api/account/tokens/{token_id} : accounts
GET    /api/accounts : admins all-judge
POST   /api/accounts : owners
POST   /api/accounts/{account_id}/password : owners
POST   /api/accounts/passwords : owners
POST   /api/accounts/password-resets : owners
POST   /api/account/password-reset : everybody
DELETE /api/accounts/{account_id} : owners
GET    /api/accounts/{account_id} : admins all-judge
PATCH  /api/accounts/{account_id} : owners
PUT    /api/accounts/{account_id} : owners
GET    /api/contests : everybody
POST   /api/contests : admins organiser
POST   /api/contests/predictions : admins organiser
POST   /api/contests/import : admins
DELETE /api/contests/{contest_id} : owners
GET    /api/contests/{contest_id} : everybody
PATCH  /api/contests/{contest_id} : owners
GET    /api/contests/{contest_id}/access : everybody
GET    /api/daily : everybody
GET    /api/daily/{day} : everybody
GET    /api/daily/{day}/{kind}/{size} : everybody
GET    /api/daily/{day}/netgame/{size}/reply : everybody
GET    /api/contests/{contest_id}/account : everybody
GET    /api/contests/{contest_id}/accounts : everybody
GET    /api/contests/{contest_id}/accounts/{account_id} : everybody
GET    /api/audit : admins
GET    /api/contests/{contest_id}/audit : owners
GET    /api/contests/{contest_id}/awards : everybody
POST   /api/contests/{contest_id}/awards : owners
DELETE /api/contests/{contest_id}/awards/{award_id} : owners
GET    /api/contests/{contest_id}/awards/{award_id} : everybody
PATCH  /api/contests/{contest_id}/awards/{award_id} : owners
PUT    /api/contests/{contest_id}/awards/{award_id} : owners
GET    /api/contests/{contest_id}/banner/{file_name} : everybody
GET    /api/contests/{contest_id}/clarifications : everybody
POST   /api/contests/{contest_id}/clarifications : accounts
GET    /api/contests/{contest_id}/clarifications/{clarification_id} : everybody
PUT    /api/contests/{contest_id}/clarifications/{clarification_id} : accounts
GET    /api/contests/{contest_id}/commentary : everybody
POST   /api/contests/{contest_id}/commentary : accounts
GET    /api/contests/{contest_id}/commentary/{commentary_id} : everybody
GET    /api/contests/{contest_id}/event-feed : everybody
GET    /api/contests/{contest_id}/games : everybody
GET    /api/contests/{contest_id}/groups : everybody
POST   /api/contests/{contest_id}/groups : owners
DELETE /api/contests/{contest_id}/groups/{object_id} : owners
GET    /api/contests/{contest_id}/groups/{object_id} : everybody
PATCH  /api/contests/{contest_id}/groups/{object_id} : owners
PUT    /api/contests/{contest_id}/groups/{object_id} : owners
GET    /api/contests/{contest_id}/judgement-types : everybody
GET    /api/contests/{contest_id}/judgement-types/{type_id} : everybody
GET    /api/contests/{contest_id}/judgements : everybody
GET    /api/contests/{contest_id}/judgements/{judgement_id} : everybody
GET    /api/contests/{contest_id}/languages : everybody
GET    /api/contests/{contest_id}/languages/{language_id} : everybody
GET    /api/contests/{contest_id}/limits : judges
GET    /api/contests/{contest_id}/logo/{file_name} : everybody
GET    /api/contests/{contest_id}/organizations : everybody
POST   /api/contests/{contest_id}/organizations : owners
DELETE /api/contests/{contest_id}/organizations/{object_id} : owners
GET    /api/contests/{contest_id}/organizations/{object_id} : everybody
PATCH  /api/contests/{contest_id}/organizations/{object_id} : owners
PUT    /api/contests/{contest_id}/organizations/{object_id} : owners
GET    /api/contests/{contest_id}/organizations/{object_id}/{name}/{file_name} : everybody
GET    /api/contests/{contest_id}/package.zip : owners
GET    /api/contests/{contest_id}/participation : team
POST   /api/contests/{contest_id}/participation : teams
POST   /api/contests/{contest_id}/copy : owners
POST   /api/contests/{contest_id}/pause : owners
GET    /api/contests/{contest_id}/persons : everybody
POST   /api/contests/{contest_id}/persons : owners
DELETE /api/contests/{contest_id}/persons/{object_id} : owners
GET    /api/contests/{contest_id}/persons/{object_id} : everybody
PATCH  /api/contests/{contest_id}/persons/{object_id} : owners
PUT    /api/contests/{contest_id}/persons/{object_id} : owners
GET    /api/contests/{contest_id}/persons/{object_id}/{name}/{file_name} : everybody
GET    /api/contests/{contest_id}/problems : everybody
POST   /api/contests/{contest_id}/problems : owners
DELETE /api/contests/{contest_id}/problems/{problem_id} : owners
GET    /api/contests/{contest_id}/problems/{problem_id} : everybody
PATCH  /api/contests/{contest_id}/problems/{problem_id} : owners
DELETE /api/contests/{contest_id}/problems/{problem_id}/chosen : team
GET    /api/contests/{contest_id}/problems/{problem_id}/chosen : teams
PUT    /api/contests/{contest_id}/problems/{problem_id}/chosen : teams
GET    /api/contests/{contest_id}/problems/{problem_id}/inputs : teams
POST   /api/contests/{contest_id}/problems/{problem_id}/games : everybody
POST   /api/contests/{contest_id}/problems/{problem_id}/inputs : team
GET    /api/contests/{contest_id}/problems/{problem_id}/inputs.zip : everybody
GET    /api/contests/{contest_id}/problems/{problem_id}/quota : judges team visitor
GET    /api/contests/{contest_id}/problems/{problem_id}/solution : everybody
GET    /api/contests/{contest_id}/problems/{problem_id}/statement : everybody
GET    /api/contests/{contest_id}/problems/{problem_id}/statement/{path} : everybody
GET    /api/contests/{contest_id}/problems/{problem_id}/testcases : everybody
GET    /api/contests/{contest_id}/problems/{problem_id}/testcases/{name}/input : everybody
GET    /api/contests/{contest_id}/rejudgings : judges
POST   /api/contests/{contest_id}/rejudgings : owners
GET    /api/contests/{contest_id}/rejudgings/{rejudging_id} : judges
POST   /api/contests/{contest_id}/rejudgings/{rejudging_id}/apply : owners
POST   /api/contests/{contest_id}/rejudgings/{rejudging_id}/cancel : owners
GET    /api/contests/{contest_id}/rejudgings/{rejudging_id}/difference : judges
POST   /api/contests/{contest_id}/rejudgings/{rejudging_id}/undo : owners
POST   /api/contests/{contest_id}/resume : owners
GET    /api/contests/{contest_id}/reveal : judges
POST   /api/contests/{contest_id}/reveal : owners
GET    /api/contests/{contest_id}/roles : judges
DELETE /api/contests/{contest_id}/roles/{account_id} : owners
PUT    /api/contests/{contest_id}/roles/{account_id} : owners
GET    /api/contests/{contest_id}/runs : everybody
GET    /api/contests/{contest_id}/runs/{run_id} : everybody
GET    /api/contests/{contest_id}/scoreboard : everybody
GET    /api/contests/{contest_id}/scoreboard.csv : everybody
GET    /api/contests/{contest_id}/scoreboard/stream : everybody
GET    /api/contests/{contest_id}/scores/history : everybody
GET    /api/contests/{contest_id}/similarity : judges
GET    /api/contests/{contest_id}/registration : everybody
PATCH  /api/contests/{contest_id}/registration : owners
POST   /api/contests/{contest_id}/registration/code : owners
GET    /api/contests/{contest_id}/registrations : owners
POST   /api/contests/{contest_id}/registrations : everybody
GET    /api/contests/{contest_id}/state : everybody
GET    /api/contests/{contest_id}/submissions : everybody
POST   /api/contests/{contest_id}/submissions : teams owner admin
GET    /api/contests/{contest_id}/submissions/stream : judges team visitor
GET    /api/contests/{contest_id}/submissions/{submission_id} : everybody
PUT    /api/contests/{contest_id}/submissions/{submission_id} : owners
GET    /api/contests/{contest_id}/submissions/{submission_id}/answers/{case_name} : judges team
GET    /api/contests/{contest_id}/submissions/{submission_id}/files : judges team
GET    /api/contests/{contest_id}/submissions/{submission_id}/images/{case_name}/{image_name} : judges team
GET    /api/contests/{contest_id}/submissions/{submission_id}/report : judges team
GET    /api/contests/{contest_id}/submissions/{submission_id}/sources : judges team
GET    /api/contests/{contest_id}/submissions/{submission_id}/sources/{name} : judges team
GET    /api/contests/{contest_id}/teams : everybody
POST   /api/contests/{contest_id}/teams : owners
DELETE /api/contests/{contest_id}/teams/{team_id} : owners
GET    /api/contests/{contest_id}/teams/{team_id} : everybody
PATCH  /api/contests/{contest_id}/teams/{team_id} : owners
GET    /api/contests/{contest_id}/teams/{team_id}/{name}/{file_name} : everybody
GET    /api/games/{game_id} : everybody
POST   /api/games/{game_id}/moves : everybody
POST   /api/games/{game_id}/resign : everybody
GET    /api/games/{game_id}/transcript : everybody
GET    /api/jobs : judges judge-of-d author organiser
DELETE /api/jobs/{job_id} : admins author
GET    /api/jobs/{job_id} : judges judge-of-d author organiser
GET    /api/organisers : admins
DELETE /api/organisers/{account_id} : admins
PUT    /api/organisers/{account_id} : admins
POST   /api/people : admins
GET    /api/problems : judges judge-of-d author organiser
POST   /api/problems : admins organiser
POST   /api/problems/new : admins organiser
DELETE /api/problems/{problem_id} : admins author
GET    /api/problems/{problem_id} : admins author all-judge
GET    /api/problems/{problem_id}/package.zip : admins author all-judge
GET    /api/problems/{problem_id}/versions : admins author all-judge
GET    /api/problems/{problem_id}/versions/{number} : admins author all-judge
GET    /api/problems/{problem_id}/versions/{number}/diff : admins author all-judge
GET    /api/problems/{problem_id}/versions/{number}/package.zip : admins author all-judge
POST   /api/problems/{problem_id}/versions/{number}/restore : admins author
POST   /api/problems/{problem_id}/reference-runs : admins author
POST   /api/problems/{problem_id}/trials : admins author all-judge
GET    /api/problems/{problem_id}/verification : admins author all-judge
POST   /api/problems/{problem_id}/verification : admins author
GET    /api/problems/{problem_id}/roles : admins author all-judge
DELETE /api/problems/{problem_id}/roles/{account_id} : admins author
PUT    /api/problems/{problem_id}/roles/{account_id} : admins author
DELETE /api/problems/{problem_id}/testcases/{group}/{name} : admins author
PUT    /api/problems/{problem_id}/testcases/{group}/{name} : admins author
POST   /api/problems/{problem_id}/testcases : admins author
PATCH  /api/problems/{problem_id}/testcases : admins author
GET    /api/status : admins
GET    /api/stored-files : admins
GET    /api/teams : admins all-judge
POST   /api/teams : admins
DELETE /api/teams/{team_id} : owners
GET    /api/teams/{team_id} : admins all-judge
PATCH  /api/teams/{team_id} : owners
PUT    /api/teams/{team_id} : owners
GET    /api/webhooks : admins
POST   /api/webhooks : admins
DELETE /api/webhooks/{webhook_id} : admins
GET    /api/webhooks/{webhook_id} : admins
PATCH  /api/webhooks/{webhook_id} : admins
GET    /health/live : everybody
GET    /health/ready : everybody
GET    /metrics : admins
"""


def table() -> dict[str, set[str]]:
    """The kinds that may, by method and path."""
    lines = [line.partition(":") for line in MAY.strip().splitlines()]
    return {
        " ".join(route.split()): {kind for name in who.split() for kind in GROUPS.get(name, (name,))}
        for route, _, who in lines
    }


def add_person(session: Session, name: str, team_id: str | None = None) -> None:
    """An account of a team, or without one and without rights of its own."""
    kind = "staff" if team_id is None else "team"
    row = AccountRow(id=name, username=name, password_hash=HASH, type=kind, team_id=team_id, created=NOW)
    session.add(row)


@pytest.fixture(scope="module")
def populated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """Contests c and w with the same roles, to read from and to write to, and d with others; all have the problem."""
    folder = tmp_path_factory.mktemp("rights")
    with open_api(migrated_sqlite(folder / "jurado.sqlite"), folder / "home") as api:
        add_problem(api.service)
        for contest_id in ("c", "w", "d"):
            add_contest(api.service, contest_id)
        with api.service.database.write() as session:
            session.add(TeamRow(id="guests", name="Guests", label="guests", hidden=False))
            session.flush()
            for contest_id, team_id in (("c", "team"), ("c", "other"), ("w", "team"), ("d", "guests")):
                session.get_one(ContestRow, contest_id).open_to_all = False
                session.add(ContestTeamRow(contest_id=contest_id, team_id=team_id))
            add_person(session, "visitor", "guests")
            for name in ("judge-of-d", "judge-of-c", "owner-of-c", "owner-of-echo", "organiser"):
                add_person(session, name)
            session.flush()
            for contest_id, name, role in (
                ("d", "judge-of-d", "judge"),
                ("c", "judge-of-c", "judge"),
                ("w", "judge-of-c", "judge"),
                ("c", "owner-of-c", "owner"),
                ("w", "owner-of-c", "owner"),
            ):
                session.add(ContestRoleRow(contest_id=contest_id, account_id=name, role=role, granted=NOW))
            session.add(ProblemRoleRow(problem_id=PROBLEM, account_id="owner-of-echo", role="owner", granted=NOW))
            session.add(OrganiserRow(account_id="organiser", granted=NOW))
        for contest_id in ("c", "w"):
            add_submission(api.service, {"02": share(1)}, contest_id=contest_id)
        yield api


def may(api: Api, method: str, path: str) -> set[str]:
    """The kinds whose request is not refused with 401 or 403."""
    ids = {**IDS, "contest_id": "c" if method == "GET" else "w", "account_id": "team" if method == "GET" else "none"}
    if method == "GET":
        ids["judgement_id"] = judgement_id(api.service, 1)
    else:
        ids |= {"submission_id": "none", "team_id": "none", "name": "none"}
    address = re.sub(r"\{(\w+)\}", lambda name: ids.get(name[1], "none"), path)
    address += "?stream=false" if path.endswith(STREAMS) else ""
    body: dict[str, Any] = {} if method == "GET" else {"json": {}}
    codes = {kind: api.request(method, address, user=user, **body).status_code for kind, user in KINDS.items()}
    assert max(codes.values()) < 500, (method, path, codes)
    return {kind for kind, code in codes.items() if code not in {401, 403}}


def test_every_operation_is_decided_by_the_table_of_rights() -> None:
    described = {operation["operationId"] for _, _, operation in operations(document())}
    assert described == set(OPERATIONS)


def test_every_route_lets_in_whom_the_table_names_and_nobody_else(populated: Api) -> None:
    routes = {f"{method} {path}": (method, path) for path, method, _ in operations(document())}
    wanted = table()
    assert set(routes) == set(wanted)
    assert {route: may(populated, *place) for route, place in routes.items()} == wanted


def test_an_operation_that_the_table_leaves_out_is_for_admins() -> None:
    assert who_may("an_operation_of_tomorrow") is Who.ADMINS
