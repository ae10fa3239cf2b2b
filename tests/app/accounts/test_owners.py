"""Owners of a contest make and change teams and accounts for it, within the admins' bounds, and reach no other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.contests.schemas import CONTEST_BYTES, TEAM_BYTES
from app.core.clock import utc_now
from app.tables import GameRow
from tests.builders.contests import HOUR, PROBLEM, add_contest, add_problem, add_submission, pass_time
from tests.builders.scoring import share
from tests.builders.service import PASSWORD, Api, open_api

CSV = {"Content-Type": "text/csv"}
STRONG = "correct horse battery"
CLASS = "name,team,organization,group\nAna Pérez,Red,IES Sur,4A\nJosé Ñandú,,,\n"


@pytest.fixture
def course(api: Api) -> Api:
    """The account staff owns contest a, in which no one takes part; contest b has the teams `team` and `other`."""
    add_problem(api.service)
    for contest_id in ("a", "b"):
        add_contest(api.service, contest_id, started=2 * HOUR)
        assert api.patch(f"contests/{contest_id}", user="admin", json={"open_to_all": False}).status_code == 200
    assert api.post("contests/b/teams", user="admin", json={"team_ids": ["team", "other"]}).status_code == 200
    grant(api, "contests/a", "staff", "owner")
    return api


def grant(api: Api, place: str, account: str, role: str) -> None:
    assert api.put(f"{place}/roles/{account}", user="admin", json={"role": role}).status_code == 200


def people(api: Api, table: str, user: str = "staff", contest_id: str = "a", **query: Any) -> httpx.Response:
    """Send a class list."""
    params = {"contest_id": contest_id, **query}
    return api.post("people", user=user, content=table, headers=CSV, params=params)


def made(reply: httpx.Response) -> Any:
    """The reply of a request that must succeed."""
    assert reply.status_code in {200, 201, 204}, (reply.request.url, reply.status_code, reply.text)
    return reply.json() if reply.content else None


def name_of(id_: str) -> str:
    """The part of a generated id that is made of a name, without its random letters."""
    found = re.fullmatch(r"(.+)-[a-z0-9]{4}", id_)
    assert found is not None, id_
    return found[1]


def places(reply: httpx.Response) -> list[str]:
    return [fault["where"] for fault in reply.json()["errors"]]


def test_an_owner_makes_a_class_and_looks_after_its_passwords(course: Api) -> None:
    body = made(people(course, CLASS, generate_passwords=True))
    red, jose = body["teams"]
    assert (*map(name_of, body["teams"] + body["organizations"] + body["groups"]),) == (
        "red",
        "jose-nandu",
        "ies-sur",
        "4a",
    )
    teams = {each["id"]: each["name"] for each in made(course.get("contests/a/teams", user="staff"))}
    assert teams == {red: "Red", jose: "José Ñandú"}
    again = made(people(course, CLASS, generate_passwords=True))
    assert [each["account"] for each in again["people"]] == ["unchanged", "unchanged"]
    new = made(course.post("accounts/ana.perez/password", user="staff"))["password"]
    assert made(course.get("account", auth=("ana.perez", new)))["team_id"] == red
    assert made(course.patch("accounts/ana.perez", user="staff", json={"name": "Ana P."}))["name"] == "Ana P."
    assert made(course.patch(f"teams/{red}", user="staff", json={"hidden": True, "group_ids": []}))["hidden"] is True
    made(course.delete("accounts/jose.nandu", user="staff"))
    made(course.delete(f"teams/{jose}", user="staff"))
    log = made(course.get("contests/a/audit", user="staff"))
    assert {"import_people", "create_password", "change_account", "change_team", "delete_account", "delete_team"} <= {
        each["operation"] for each in log
    }
    assert new not in str(log)


def test_an_owner_makes_teams_and_accounts_one_by_one(course: Api) -> None:
    assert course.post("teams", user="staff", json={"id": "ants", "name": "Ants"}).status_code == 403
    made(course.post("teams?contest_id=a", user="staff", json={"id": "ants", "name": "Ants"}))
    assert [each["id"] for each in made(course.get("contests/a/teams"))] == ["ants"]
    account = {"username": "ants", "type": "team", "team_id": "ants", "password": STRONG}
    made(course.post("accounts", user="staff", json=account))
    assert made(course.get("account", auth=("ants", STRONG)))["team_id"] == "ants"
    for changes, where in (
        ({"type": "judge", "team_id": None}, ["body.type"]),
        ({"type": "admin", "team_id": None}, ["body.type"]),
        ({"team_id": "team"}, ["body.team_id"]),
        ({"team_id": "nothing"}, ["body.team_id"]),
    ):
        refused = course.post("accounts", user="staff", json={**account, "username": "mole", **changes})
        assert (refused.status_code, places(refused)) == (400, where)
        refused = course.put("accounts/ants", user="staff", json={**account, **changes})
        assert (refused.status_code, places(refused)) == (400, where)
    final = course.post("teams?contest_id=b", user="staff", json={"id": "bees", "name": "Bees"})
    assert final.status_code == 403


def test_an_owner_reaches_no_team_and_no_account_of_others(course: Api) -> None:
    """What is there and what is not gets the same words."""
    before = made(course.get("accounts", user="admin")), made(course.get("teams", user="admin"))
    team, account = {"id": "other", "name": "Mine"}, {"username": "x", "type": "team", "team_id": "other"}
    for method, path, body in (
        ("PUT", "teams/{}", team),
        ("PATCH", "teams/{}", {"name": "Mine"}),
        ("DELETE", "teams/{}", None),
        ("PATCH", "accounts/{}", {"password": STRONG}),
        ("DELETE", "accounts/{}", None),
        ("POST", "accounts/{}/password", None),
    ):
        replies = []
        for id_ in ("other", "nothing"):
            sent = {**body, "id": id_} if method == "PUT" and body else body
            reply = course.request(method, path.format(id_), user="staff", json=sent)
            replies.append((reply.status_code, reply.json()["message"].replace(f"'{id_}'", "X")))
        assert replies[0] == replies[1], path
        assert replies[0][0] == 404, path
    for id_ in ("admin", "judge", "other"):
        replaced = {**account, "id": id_, "username": id_}
        assert course.put(f"accounts/{id_}", user="staff", json=replaced).status_code == 400
        assert course.post("accounts?replace=true", user="staff", json=[replaced]).status_code == 400
    refused = course.post("teams?contest_id=a&replace=true", user="staff", json=team)
    assert (refused.status_code, places(refused)) == (409, ["body.id"])
    assert course.get("accounts", user="staff").status_code == 403
    assert course.get("teams", user="staff").status_code == 403
    assert (made(course.get("accounts", user="admin")), made(course.get("teams", user="admin"))) == before


def test_a_class_list_of_an_owner_means_no_team_account_or_organization_of_others(course: Api) -> None:
    made(people(course, CLASS, user="admin", contest_id="b", generate_passwords=True))
    own = made(people(course, CLASS, generate_passwords=True))
    assert [name_of(each) for each in own["teams"]] == ["red", "jose-nandu"]
    (organization,), (group,) = own["organizations"], own["groups"]
    assert (name_of(organization), name_of(group)) == ("ies-sur", "4a")
    assert [name_of(each["username"]) for each in own["people"]] == ["ana.perez", "jose.nandu"]
    again = made(people(course, CLASS))
    assert [each["account"] for each in again["people"]] == ["unchanged", "unchanged"]
    assert [each["username"] for each in again["people"]] == [each["username"] for each in own["people"]]
    named = people(course, "name,username,team\nMole,ana.perez,Red\n", replace=True)
    assert (named.status_code, places(named)) == (409, ["line 2, column username"])
    linked = course.post("teams?contest_id=a", user="staff", json={"id": "n", "name": "N", "group_ids": ["4a"]})
    assert (linked.status_code, places(linked)) == (400, ["body.group_ids"])
    assert course.patch("contests/a", user="staff", json={"main_scoreboard_group_id": "4a"}).status_code == 400
    assert course.patch("contests/a/registration", user="staff", json={"group_id": "4a"}).status_code == 400
    assert course.patch("contests/a/registration", user="staff", json={"group_id": group}).status_code == 200
    made(course.patch(f"contests/a/groups/{group}", user="staff", json={"name": "4A, mine"}))


def test_a_team_that_takes_part_elsewhere_leaves_the_reach_of_its_owner(course: Api) -> None:
    """Else its owner could log in as the team, and take part there; so could an account with a role elsewhere."""
    red, _ = made(people(course, CLASS))["teams"]
    assert course.post("accounts/ana.perez/password", user="staff").status_code == 201
    assert course.post("accounts/jose.nandu/password", user="staff").status_code == 201
    made(course.post("contests/b/teams", user="admin", json={"team_ids": [red]}))
    grant(course, "contests/b", "jose.nandu", "judge")
    for name in ("ana.perez", "jose.nandu"):
        assert course.post(f"accounts/{name}/password", user="staff").status_code == 404
        assert course.patch(f"accounts/{name}", user="staff", json={"password": STRONG}).status_code == 404
    assert course.patch(f"teams/{red}", user="staff", json={"name": "Mine"}).status_code == 404
    made(course.delete(f"contests/b/teams/{red}", user="admin"))
    assert course.post("accounts/ana.perez/password", user="staff").status_code == 201


def test_an_owner_cannot_take_over_a_team_that_competes_in_a_contest_open_to_all(course: Api) -> None:
    """A team that has submitted there takes part until the contest is decided; practice contests decide nothing."""
    team_id = "jose.nandu"
    made(course.post("teams?contest_id=a", user="staff", json={"id": team_id, "name": "José"}))
    account = {"username": team_id, "type": "team", "team_id": team_id, "password": STRONG}
    made(course.post("accounts", user="staff", json=account))
    add_contest(course.service, "open", problem_id=None, started=2 * HOUR)
    add_submission(course.service, {}, team=team_id, contest_id="open")
    for method, path, body in (
        ("POST", "accounts/jose.nandu/password", None),
        ("PATCH", "accounts/jose.nandu", {"password": STRONG}),
        ("DELETE", "accounts/jose.nandu", None),
        ("PATCH", f"teams/{team_id}", {"name": "Mine"}),
    ):
        assert course.request(method, path, user="staff", json=body).status_code == 404, path
    second = {"username": "mole", "type": "team", "team_id": team_id, "password": STRONG}
    refused = course.post("accounts", user="staff", json=second)
    assert (refused.status_code, places(refused)) == (400, ["body.team_id"])
    made(course.post("teams?contest_id=a", user="staff", json={"id": "new", "name": "New"}))
    made(course.post("accounts", user="staff", json={**second, "team_id": "new"}))
    made(course.patch("contests/open", user="admin", json={"duration": "9000:00:00"}))
    made(course.post("accounts/jose.nandu/password", user="staff"))
    made(course.patch("contests/open", user="admin", json={"duration": "5:00:00"}))
    assert course.post("accounts/jose.nandu/password", user="staff").status_code == 404
    pass_time(course.service, 4 * HOUR, "open")
    made(course.post("accounts/jose.nandu/password", user="staff"))


def test_a_team_that_only_asks_or_plays_in_a_contest_open_to_all_leaves_the_reach_too(course: Api) -> None:
    """Its owner would read the private answers, and play its counted games."""
    add_contest(course.service, "open", problem_id=None, started=2 * HOUR)
    for name in ("asker", "player"):
        made(course.post("teams?contest_id=a", user="staff", json={"id": name, "name": name}))
        account = {"username": name, "type": "team", "team_id": name, "password": STRONG}
        made(course.post("accounts", user="staff", json=account))
        made(course.post(f"accounts/{name}/password", user="staff"))
        made(course.patch(f"accounts/{name}", user="staff", json={"password": STRONG}))
    made(course.post("contests/open/clarifications", auth=("asker", STRONG), json={"text": "Why?"}))
    with course.service.database.write() as session:
        session.add(a_game("open", "player"))
    for name in ("asker", "player"):
        assert course.post(f"accounts/{name}/password", user="staff").status_code == 404
        assert course.patch(f"teams/{name}", user="staff", json={"name": "Mine"}).status_code == 404


def a_game(contest_id: str, team_id: str) -> GameRow:
    """A counted game of a team that continues."""
    now = utc_now()
    return GameRow(
        id="game",
        contest_id=contest_id,
        problem_id=PROBLEM,
        test_case_id=None,
        case_name="02",
        team_id=team_id,
        account_id=None,
        owner=f"team:{team_id}",
        counted=True,
        game="toy",
        instance="1",
        opponent="one",
        seed=1,
        side=0,
        started=now,
        move_ms=None,
        game_ms=None,
        moves=0,
        since=now,
        used_ms=0,
        deadline=now + HOUR,
    )


def test_whoever_registers_for_a_contest_is_looked_after_by_its_owner(course: Api) -> None:
    code = made(course.patch("contests/a/registration", user="staff", json={"open": True}))["code"]
    body = {"code": code, "name": "Bea", "email": "bea@x.org", "password": STRONG}
    made(course.post("contests/a/registrations", json=body))
    assert made(course.post("accounts/bea/password", user="staff"))["password"]
    made(course.delete("accounts/bea", user="staff"))
    assert made(course.get("contests/a/registrations", user="staff")) == []


def test_the_id_that_an_owner_gets_does_not_tell_whether_a_hidden_object_has_such_a_name(course: Api) -> None:
    made(course.post("contests/b/groups", user="admin", json={"id": "north", "name": "North"}))
    for name in ("North", "South"):
        (group,) = made(course.post("contests/a/groups", user="staff", json=[{"name": name}]))
        assert name_of(group["id"]) == name.lower()


def test_the_ids_of_a_class_list_do_not_depend_on_hidden_objects(course: Api) -> None:
    """A hidden account id counts as a username: the new account has another username, and its id is the username."""
    for id_ in ("ana.perez", "bea"):
        hidden = {"id": id_, "username": f"{id_}.hidden", "type": "staff", "password": STRONG}
        made(course.post("accounts", user="admin", json=hidden))
    named = people(course, "name,username\nBea,bea\n")
    assert (named.status_code, places(named)) == (409, ["line 2, column username"])
    ana, maria = made(people(course, "name,username\nAna Pérez,\nMaría,María Gil\n", generate_passwords=True))["people"]
    assert (name_of(ana["username"]), ana["account_id"]) == ("ana.perez", ana["username"])
    assert made(course.get("account", auth=(ana["username"], ana["password"])))["id"] == ana["account_id"]
    assert name_of(maria["account_id"]) == "maria-gil"
    assert made(course.get("account", auth=("María Gil", maria["password"])))["id"] == maria["account_id"]


def test_a_judge_of_a_contest_makes_nobody(course: Api) -> None:
    made(people(course, CLASS))
    grant(course, "contests/a", "staff", "judge")
    assert people(course, CLASS).status_code == 403
    assert course.post("teams?contest_id=a", user="staff", json={"id": "n", "name": "N"}).status_code == 403
    assert course.post("accounts/ana.perez/password", user="staff").status_code == 403


@pytest.fixture
def bounded(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A server on which staff owns contest a."""
    with open_api(sqlite_url, tmp_path / "home") as api:
        add_contest(api.service, "a", problem_id=None)
        made(api.put("organisers/staff", user="admin"))
        grant(api, "contests/a", "staff", "owner")
        yield api


def test_owners_set_quotas_up_to_the_defaults(bounded: Api) -> None:
    def change(user: str = "staff", **settings: int | None) -> httpx.Response:
        return bounded.patch("contests/a", user=user, json={"settings": settings})

    refused = change(team_bytes=TEAM_BYTES + 1, contest_bytes=None)
    assert refused.status_code == 400
    assert refused.json()["errors"] == [
        {
            "where": "settings.team_bytes",
            "expected": f"at most {TEAM_BYTES} bytes, as only an admin may allow more",
            "found": f"{TEAM_BYTES + 1}",
        },
        {
            "where": "settings.contest_bytes",
            "expected": f"at most {CONTEST_BYTES} bytes, as only an admin may allow more",
            "found": "null (any number)",
        },
    ]
    made(change(team_bytes=1000, contest_bytes=CONTEST_BYTES))
    made(change("admin", team_bytes=None))
    made(change(practice=True))
    made(change(team_bytes=None, contest_bytes=4000))
    made(change(team_bytes=7))
    assert change(team_bytes=None).status_code == 400


def test_a_contest_of_an_organiser_begins_within_the_defaults(bounded: Api) -> None:
    larger = {"id": "larger", "name": "New", "duration": "1:00:00", "settings": {"team_bytes": TEAM_BYTES + 1}}
    refused = bounded.post("contests", user="staff", json=larger)
    assert (refused.status_code, places(refused)) == (400, ["settings.team_bytes"])
    assert bounded.get("contests/larger").status_code == 404
    made(bounded.post("contests", user="admin", json=larger))


def test_only_an_admin_opens_a_contest_to_all_also_later(bounded: Api) -> None:
    """An owner could do so by a change, and saw all teams of the server."""
    made(bounded.post("contests", user="staff", json={"id": "new", "name": "New", "duration": "1:00:00"}))
    assert bounded.patch("contests/new", user="staff", json={"open_to_all": True}).status_code == 403
    made(bounded.patch("contests/new", user="admin", json={"open_to_all": True}))
    made(bounded.patch("contests/new", user="staff", json={"open_to_all": True, "name": "Newer"}))


def test_an_owner_reaches_into_no_other_contest_that_has_the_same_problem(course: Api) -> None:
    """Every address of contest b, its games, jobs, versions, images and audit log, as an owner of contest a."""
    add_submission(course.service, {"02": share(1)}, contest_id="b")
    public = {
        path: course.get(path).json()
        for path in ("contests/b/teams", "contests/b/accounts", "contests/b/persons", "contests/b/submissions")
    }
    for path, body in public.items():
        if path.endswith("accounts"):
            assert [each["id"] for each in made(course.get(path, user="staff"))] == ["staff"]
        else:
            assert course.get(path, user="staff").json() == body
    for path in (
        "contests/b/submissions/1/report",
        "contests/b/submissions/1/answers/02",
        "contests/b/submissions/1/images/02/x.png",
        "contests/b/submissions/1/sources",
        "contests/b/limits",
        "contests/b/reveal",
        "contests/b/similarity",
        "contests/b/rejudgings",
        "contests/b/audit",
        "contests/b/roles",
        "contests/b/registrations",
        "contests/b/package.zip",
        f"problems/{PROBLEM}",
        f"problems/{PROBLEM}/package.zip",
        f"problems/{PROBLEM}/versions",
        f"problems/{PROBLEM}/versions/1/package.zip",
        "audit",
        "webhooks",
        "stored-files",
        "status",
        "organisers",
    ):
        assert course.get(path, user="staff").status_code == 403, path
    assert made(course.get("jobs", user="staff")) == []
    assert made(course.get("problems", user="staff")) == []
    # the submission of b is not one of a, and a's own address does not show it
    for path in ("", "/report", "/answers/02", "/files", "/sources"):
        assert course.get(f"contests/a/submissions/1{path}", user="staff").status_code == 404, path
    assert course.post("contests/a/rejudgings", user="staff", json={"submissions": ["1"]}).status_code == 400
    award = {"id": "best", "citation": "Best", "team_ids": ["team"]}
    assert course.post("contests/a/awards", user="staff", json=award).status_code == 400
    message = {"text": "Come here", "to_team_ids": ["team"]}
    assert course.post("contests/a/clarifications", user="staff", json=message).status_code == 400
    assert course.post("contests/a/teams", user="staff", json={"team_ids": ["team"]}).status_code == 400
    person = {"id": "p", "name": "P", "role": "contestant", "team_ids": ["team"]}
    assert course.post("contests/a/persons", user="staff", json=person).status_code == 400


def test_a_judge_of_a_problem_reads_it_and_changes_nothing_and_sees_no_submission(course: Api) -> None:
    add_submission(course.service, {"02": share(1)}, contest_id="b")
    made(course.delete("contests/a/roles/staff", user="admin"))
    grant(course, f"problems/{PROBLEM}", "staff", "judge")
    for path in ("", "/package.zip", "/versions", "/versions/1/package.zip", "/roles"):
        assert course.get(f"problems/{PROBLEM}{path}", user="staff").status_code == 200, path
    assert [each["id"] for each in made(course.get("problems", user="staff"))] == [PROBLEM]
    files = {"input": ("09.in", b"9\n"), "answer": ("09.ans", b"9\n")}
    for method, path, body in (
        ("DELETE", f"problems/{PROBLEM}", {}),
        ("PUT", f"problems/{PROBLEM}/testcases/secret/09", {"files": files}),
        ("PATCH", f"problems/{PROBLEM}/testcases", {"json": {"delete": ["02"]}}),
        ("POST", f"problems/{PROBLEM}/versions/1/restore", {"json": {}}),
        ("POST", f"problems/{PROBLEM}/reference-runs", {"json": {}}),
        ("PUT", f"problems/{PROBLEM}/roles/staff", {"json": {"role": "owner"}}),
        ("POST", "contests/b/problems", {"json": {"id": PROBLEM}}),
        ("GET", "contests/b/submissions/1/report", {}),
        ("GET", "contests/b/limits", {}),
    ):
        assert course.request(method, path, user="staff", **body).status_code == 403, path
    assert course.get("account", auth=("staff", PASSWORD)).json()["type"] == "staff"


def test_the_page_of_teams_offers_an_owner_those_that_may_be_enrolled(course: Api) -> None:
    """Those of the owner's contests, and none of a contest that an admin opened to all: enrolling them is refused."""
    red, jose = made(people(course, CLASS))["teams"]
    made(course.patch("contests/b", user="admin", json={"open_to_all": True}))
    for contest_id in ("b", "a"):
        grant(course, f"contests/{contest_id}", "staff", "owner")
    made(course.post("teams", user="admin", json={"id": "strange", "name": "Strange"}))
    made(course.delete(f"contests/a/teams/{red}", user="staff"))
    page = course.get("/admin/contests/a/teams", user="staff").text
    offered = {each for each in (red, jose, "team", "other", "strange") if f'name="t.{each}"' in page}
    assert offered == {red, "team", "other"}
    headers = {"Origin": "http://jurado.test"}
    address = "/admin/contests/a/teams"
    assert course.post(address, user="staff", headers=headers, data={"t.strange": "on"}).status_code == 400
    done = course.post(
        address, user="staff", headers=headers, data=dict.fromkeys((f"t.{each}" for each in offered), "on")
    )
    assert done.status_code == 303
