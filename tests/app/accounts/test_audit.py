"""The audit log: every change of an organiser or admin has its entry, in the transaction of the change."""

from __future__ import annotations

import base64
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from sqlalchemy import func, insert, select, text
from sqlalchemy.exc import DBAPIError

from app.core.db import audit
from app.core.db.audit import Retention
from app.core.http.openapi import operations
from app.judging.service.engine import Engine
from app.judging.service.jobs import JobRunner
from app.packages.zips import zip_bytes
from app.tables import AccountRow, AuditRow
from tests.builders.contests import HOUR, PROBLEM, add_contest, add_problem, add_submission, with_checkers
from tests.builders.described import document
from tests.builders.examples import sqlite_first
from tests.builders.games import add_games
from tests.builders.judging import judge
from tests.builders.packages import PROBLEM as PROBLEM_YAML
from tests.builders.packages import zip_package
from tests.builders.scoring import share
from tests.builders.service import PASSWORD, Api

STRONG = "correct horse battery"
WITH_SOLVER = """\
checker: exact
scoring: {kind: absolute, direction: maximise}
reference: {method: greedy, seconds: 1, seed: 1}
"""
OTHER = PROBLEM_YAML.replace("0f8b0a52", "1f8b0a52")
ZIP = {"Content-Type": "application/zip"}
TEXTS = ("username", "role", "address", "credential", "operation", "method", "path")
ENTRY: dict[str, Any] = {**dict.fromkeys(TEXTS, ""), "changes": {}}
OF_TEAMS = {
    "begin_participation",
    "ask_for_final_inputs",
    "choose_submission",
    "clear_chosen_submission",
    "create_game",
    "create_move",
    "resign_game",
    "create_registration",
    "decline_role",
}
"""Operations that are a team's own affair, or that of someone who is not logged in: the log has none of them."""


@pytest.fixture
def busy(api: Api) -> Api:
    """A running contest with a problem and a submission, in a service that checks test cases."""
    add_problem(api.service, {"jurado.yaml": WITH_SOLVER})
    add_contest(api.service, started=2 * HOUR)
    add_contest(api.service, "over", started=6 * HOUR, freeze=HOUR)
    add_submission(api.service, {"02": share(1)}, minute=250, contest_id="over")
    add_submission(api.service, {"02": share(1)})
    add_games(api.service, contest_id="games")
    with_checkers(api)
    service = api.service
    engine = cast(Engine, service.engine)
    jobs = JobRunner(service.database, service.files, engine, lambda _problem_id: None)  # not started: it runs none
    api.service = api.app.state.service = replace(service, jobs=jobs)
    return api


def entries(api: Api, **params: Any) -> list[dict[str, Any]]:
    """The log as an admin reads it, newest first."""
    reply = api.get("audit", user="admin", params=params)
    assert reply.status_code == 200, reply.text
    listed: list[dict[str, Any]] = reply.json()
    return listed


def done(api: Api, method: str, path: str, user: str = "admin", **body: Any) -> Any:
    """Send a request that must succeed; returns its JSON."""
    reply = api.request(method, path, user=user, **body)
    assert reply.status_code < 300, (method, path, reply.status_code, reply.text)
    return reply.json() if reply.content else None


def change_contests(api: Api) -> None:
    """Make a contest, change it and what is in it."""
    done(api, "POST", "contests", json={"id": "new", "name": "New", "duration": "1:00:00"})
    table, csv = "id,size,kind\n1,2,a\n2,3,b\n3,1,a\n4,5,b\n", {"Content-Type": "text/csv"}
    done(api, "POST", "contests/predictions?name=Forest&target=kind", content=table, headers=csv)
    done(api, "PATCH", "contests/new", json={"name": "Newer"})
    done(api, "POST", "contests/new/problems", json={"id": PROBLEM})
    done(api, "PATCH", f"contests/new/problems/{PROBLEM}", json={"ordinal": 3})
    done(api, "DELETE", f"contests/new/problems/{PROBLEM}")
    done(api, "POST", "contests/c/copy", json={"name": "Twin"})
    done(api, "POST", "contests/c/pause")
    done(api, "POST", "contests/c/resume")
    done(api, "POST", "contests/over/reveal", json={"step": "cell"})
    package = api.get("contests/new/package.zip", user="admin").content
    done(api, "POST", "contests/import?id=copy", content=package, headers=ZIP)


def change_people(api: Api) -> None:
    """Make and change teams, accounts and what is around them."""
    done(api, "POST", "teams", json={"id": "ants", "name": "Ants"})
    done(api, "PUT", "teams/ants", json={"id": "ants", "name": "The Ants"})
    done(api, "PATCH", "teams/ants", json={"name": "Ants again"})
    done(api, "POST", "contests/new/teams", json={"team_ids": ["ants"]})
    done(api, "PATCH", "contests/new/teams/ants", json={"disqualified": True})
    done(api, "PATCH", "contests/new/teams/ants", json={"disqualified": False})
    done(api, "DELETE", "contests/new/teams/ants")
    done(api, "DELETE", "teams/ants")
    account = {"id": "ana", "username": "ana", "type": "staff"}
    done(api, "POST", "accounts", json={**account, "password": STRONG})
    done(api, "PUT", "accounts/ana", json={**account, "name": "Ana"})
    done(api, "PATCH", "accounts/ana", json={"password": "another " + STRONG})
    done(api, "POST", "people", json=[{"name": "Bea"}])
    done(api, "POST", "accounts/ana/password")
    (reset,) = done(api, "POST", "accounts/password-resets", json={"account_ids": ["ana"]})
    done(api, "POST", "account/password-reset", json={"code": reset["code"], "password": "a long new password"})
    done(api, "POST", "accounts/passwords", json={"account_ids": ["ana"]})
    done(api, "DELETE", "accounts/ana")
    done(api, "PATCH", "contests/c/registration", json={"open": True})
    done(api, "POST", "contests/c/registration/code")
    done(api, "PATCH", "account", "staff", json={"old_password": PASSWORD, "password": STRONG})
    token = done(api, "POST", "account/tokens", json={})
    done(api, "DELETE", f"account/tokens/{token['id']}")
    done(api, "POST", "account/tokens", json={})
    done(api, "DELETE", "account/tokens")
    kinds: dict[str, dict[str, str]] = {"groups": {}, "organizations": {}, "persons": {"role": "other"}}
    for kind, more in kinds.items():
        body = {"id": "one", "name": "One", **more}
        done(api, "POST", f"contests/c/{kind}", json=body)
        done(api, "PUT", f"contests/c/{kind}/one", json={**body, "name": "Two"})
        done(api, "PATCH", f"contests/c/{kind}/one", json={"name": "Three"})
        done(api, "DELETE", f"contests/c/{kind}/one")


def change_roles(api: Api) -> None:
    """Grant roles and take them back."""
    done(api, "PUT", "contests/c/roles/judge", json={"role": "owner"})
    assert api.put("contests/c/roles/staff", user="judge", json={"role": "judge"}).status_code == 200
    done(api, "DELETE", "contests/c/roles/judge")
    for place in ("contests/c/roles", f"problems/{PROBLEM}/roles"):
        done(api, "PUT", f"{place}/staff", json={"role": "judge"})
        done(api, "DELETE", f"{place}/staff")
    done(api, "PUT", "organisers/staff")
    done(api, "DELETE", "organisers/staff")


def change_messages(api: Api) -> None:
    """Send messages, give awards, and call addresses back."""
    done(api, "POST", "contests/c/clarifications", json={"text": "Soup is ready"})
    kept = {"id": "kept", "text": "Soup", "time": "2026-11-22T09:00:00Z", "contest_time": "0:01:00"}
    done(api, "PUT", "contests/c/clarifications/kept", json=kept)
    done(api, "POST", "contests/c/commentary", json={"message": "They are off"})
    award = {"citation": "Best", "team_ids": ["team"]}
    done(api, "POST", "contests/c/awards", json=award)
    done(api, "PUT", "contests/c/awards/best", json={**award, "id": "best", "citation": "Better"})
    done(api, "PATCH", "contests/c/awards/best", json={"citation": "Best again"})
    done(api, "DELETE", "contests/c/awards/best")
    hook = done(api, "POST", "webhooks", json={"url": "http://nowhere.invalid/", "token": "a-secret-of-the-hook"})
    done(api, "PATCH", f"webhooks/{hook['id']}", json={"active": False})
    done(api, "DELETE", f"webhooks/{hook['id']}")


def change_judging(api: Api) -> None:
    """Submit for a team, judge again, and change problems."""
    data = base64.b64encode(zip_bytes({"02.out": b"2\n"})).decode()
    sent: dict[str, Any] = {
        "problem_id": PROBLEM,
        "team_id": "team",
        "language_id": "answers",
        "files": [{"data": data, "mime": "application/zip"}],
    }
    done(api, "POST", "contests/c/submissions", json=sent)
    brought = {**sent, "id": "brought", "time": "2026-11-22T09:00:00Z"}
    done(api, "PUT", "contests/c/submissions/brought", json=brought)
    judge(api.service)
    for deeds in (("cancel",), ("apply", "undo")):
        opened = done(api, "POST", "contests/c/rejudgings", json={"problem": PROBLEM, "reason": "to see"})
        judge(api.service)
        for deed in deeds:
            done(api, "POST", f"{opened['href']}/{deed}", json={})
    job = done(api, "POST", f"problems/{PROBLEM}/reference-runs", json={"testcases": ["02"]})
    done(api, "DELETE", f"jobs/{job['id']}")
    done(api, "POST", "problems?id=other", content=zip_package({"problem.yaml": OTHER}, top="other/"), headers=ZIP)
    case = {"input": ("09.in", b"9\n"), "answer": ("09.ans", b"9\n")}
    done(api, "PUT", "problems/other/testcases/secret/09", files=case)
    done(api, "DELETE", "problems/other/testcases/secret/09")
    done(api, "POST", "problems/other/versions/1/restore", json={})
    more = zip_bytes({"secret/10.in": b"10\n", "secret/10.ans": b"10\n"})
    done(api, "POST", "problems/other/testcases", content=more, headers=ZIP)
    done(api, "PATCH", "problems/other/testcases", json={"delete": ["10"]})
    done(api, "POST", "problems/other/verification")
    done(api, "DELETE", "problems/other")
    done(api, "POST", "problems/new", json={"id": "sums", "title": "Sums"})


@sqlite_first
def test_every_operation_that_changes_something_has_an_entry(busy: Api) -> None:
    """A new operation fails this test until a request of it is made here, or it is named as a team's own."""
    for changes in (change_contests, change_people, change_roles, change_messages, change_judging):
        changes(busy)
    done(busy, "DELETE", "contests/new")
    logged = {entry["operation"] for entry in entries(busy, limit=1000)}
    known = {operation["operationId"] for _, method, operation in operations(document()) if method != "GET"}
    assert logged == known - OF_TEAMS - {"create_trial"}, "a trial stores nothing"


def test_an_entry_says_who_changed_what_from_where_and_how_it_was_before(busy: Api) -> None:
    done(busy, "PATCH", "contests/c", json={"name": "Finals", "settings": {"practice": True}})
    (entry,) = entries(busy)
    assert (entry["username"], entry["role"], entry["credential"]) == ("admin", "admin", "password")
    assert (entry["operation"], entry["path"], entry["contest_id"]) == ("change_contest", "/api/contests/c", "c")
    assert entry["address"]
    (contest,) = entry["changes"]["objects"]
    assert (contest["table"], contest["id"], contest["what"]) == ("contests", "c", "changed")
    assert (contest["before"]["name"], contest["after"]["name"]) == ("Contest c", "Finals")
    assert contest["after"]["settings"]["practice"] is True
    assert entry["changes"]["counts"] == {"contests": {"changed": 1}}


def test_an_entry_names_the_token_that_the_request_was_sent_with(busy: Api) -> None:
    token = done(busy, "POST", "account/tokens", json={})
    headers = {"Authorization": f"Bearer {token['token']}"}
    assert busy.post("contests/c/pause", headers=headers).status_code == 200
    assert entries(busy)[0]["credential"] == f"token {token['id']}"


def test_no_secret_is_in_the_log(busy: Api) -> None:
    made = done(busy, "POST", "accounts?generate_passwords=true", json={"username": "ana", "type": "staff"})
    done(busy, "PATCH", "accounts/ana", json={"password": STRONG})
    token = done(busy, "POST", "account/tokens", json={})
    done(busy, "POST", "webhooks", json={"url": "http://nowhere.invalid/", "token": "a-secret-of-the-hook"})
    code = done(busy, "PATCH", "contests/c/registration", json={"open": True})["code"]
    renewed = done(busy, "POST", "accounts/ana/password")["password"]
    with busy.service.database.read() as session:
        texts = [str(row) for row in session.execute(text("SELECT * FROM audit_log"))]
        hashes = list(session.scalars(select(AccountRow.password_hash).where(AccountRow.id == "ana")))
    assert len(texts) == 6
    secrets = (made["password"], STRONG, token["token"], "a-secret-of-the-hook", code, renewed)
    for secret in (*secrets, *map(str, hashes)):
        assert not [each for each in texts if secret in each]


def test_what_was_refused_or_only_tried_has_no_entry(busy: Api) -> None:
    assert busy.patch("contests/c", user="judge", json={"name": "Mine"}).status_code == 403
    assert busy.patch("contests/c", user="admin", json={"duration": "soon"}).status_code == 400
    assert busy.delete("contests/c", user="admin").status_code == 409
    assert busy.post("teams?dry_run=true", user="admin", json={"id": "ants", "name": "Ants"}).status_code == 200
    assert entries(busy) == []


def test_what_teams_do_for_themselves_has_no_entry(busy: Api) -> None:
    form = {"data": {"problem_id": PROBLEM}, "files": {"files": ("02.out", b"2\n")}}
    done(busy, "POST", "contests/c/submissions", "team", **form)
    done(busy, "POST", "contests/c/clarifications", "team", json={"text": "Why?"})
    done(busy, "POST", "account/tokens", "team", json={})
    assert entries(busy) == []


def test_a_change_without_its_entry_is_not_committed(busy: Api) -> None:
    with busy.service.database.engine.begin() as connection:
        connection.execute(text("ALTER TABLE audit_log RENAME TO elsewhere"))
    assert busy.patch("contests/c", user="admin", json={"name": "Finals"}).status_code >= 500
    assert busy.get("contests/c").json()["name"] == "Contest c"


def test_the_database_refuses_to_change_an_entry(busy: Api) -> None:
    done(busy, "POST", "contests/c/pause")
    with pytest.raises(DBAPIError, match="append-only"), busy.service.database.engine.begin() as connection:
        connection.execute(text("UPDATE audit_log SET username = 'nobody'"))
    assert entries(busy)[0]["username"] == "admin"


def test_entries_outlive_their_account_and_their_contest(busy: Api) -> None:
    done(busy, "POST", "accounts", json={"username": "ana", "type": "admin", "password": PASSWORD})
    done(busy, "POST", "contests", "ana", json={"id": "new", "name": "New", "duration": "1:00:00"})
    done(busy, "DELETE", "contests/new", "ana")
    done(busy, "DELETE", "accounts/ana")
    assert [each["operation"] for each in entries(busy, actor="ana")] == ["delete_contest", "create_contest"]
    assert len(entries(busy, contest_id="new")) == 2


def test_the_log_is_filtered_and_paged(busy: Api) -> None:
    for name in ("one", "two", "three"):
        done(busy, "PATCH", "contests/c", json={"name": name})
    done(busy, "POST", "contests/over/reveal", json={"step": "cell"})
    first = entries(busy, contest_id="c", limit=2)
    second = entries(busy, contest_id="c", limit=2, before=first[-1]["id"])
    names = [each["changes"]["objects"][0]["after"]["name"] for each in [*first, *second]]
    assert names == ["three", "two", "one"]
    assert [each["contest_id"] for each in entries(busy, operation="reveal_places")] == ["over"]
    assert entries(busy, since="2100-01-01T00:00:00Z") == []
    assert busy.get("audit?since=yesterday", user="admin").status_code == 400


def test_owners_read_the_log_of_their_contest_alone(busy: Api) -> None:
    done(busy, "PUT", "contests/c/roles/staff", json={"role": "owner"})
    done(busy, "PATCH", "contests/c", "staff", json={"name": "Finals"})
    log = busy.get("contests/c/audit", user="staff").json()
    assert [(each["username"], each["role"], each["operation"]) for each in log] == [
        ("staff", "owner", "change_contest"),
        ("admin", "admin", "put_contest_role"),
    ]
    assert busy.get("contests/over/audit", user="staff").status_code == 403
    assert busy.get("audit", user="staff").status_code == 403
    assert busy.get("contests/c/audit", user="judge").status_code == 403


def test_old_entries_and_those_over_the_limit_go(busy: Api) -> None:
    old = {**ENTRY, "time": datetime(2020, 1, 1, tzinfo=UTC)}
    for number in range(10):
        done(busy, "PATCH", "contests/c", json={"name": f"Contest {number}"})
    with busy.service.database.engine.begin() as connection:
        audit.sweep(connection, 10, Retention(days=0, most=3))
    assert len(entries(busy)) == 3
    with busy.service.database.engine.begin() as connection:
        connection.execute(insert(AuditRow).values(old))
        audit.sweep(connection, 11, Retention(days=1, most=1000))
    assert len(entries(busy)) == 3
    with busy.service.database.engine.begin() as connection:
        audit.add(connection, [old] * audit.BETWEEN_SWEEPS)
        assert connection.scalar(select(func.count()).select_from(AuditRow)) < audit.BETWEEN_SWEEPS


def test_an_answer_that_a_judge_sends_from_a_page_has_an_entry(busy: Api) -> None:
    origin = {"Origin": "http://jurado.test"}
    form = {"text": "Soup is ready"}
    assert busy.post("/c/c/questions", user="judge", data=form, headers=origin).status_code == 303
    assert busy.post("/c/c/questions", user="team", data={"text": "Why?"}, headers=origin).status_code == 303
    (entry,) = entries(busy)
    assert (entry["username"], entry["operation"], entry["contest_id"]) == ("judge", "page_ask", "c")
