"""A contest with one of everything, seen by every role: shapes, references, filters, and what access says of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.builders import lively
from tests.builders.contests import add_problem, add_submission
from tests.builders.schemas import FOLDER, faults
from tests.builders.scoring import REJECTED, share
from tests.builders.service import Api, open_api
from tests.conftest import migrated_sqlite

BASE = f"contests/{lively.CONTEST}"
USERS = (None, "red", "blue", "voice", "helper", "jury", "admin")
SINGLE = {
    "judgement-types": "judgement-type",
    "languages": "language",
    "problems": "problem",
    "groups": "group",
    "organizations": "organization",
    "persons": "person",
    "teams": "team",
    "accounts": "account",
    "submissions": "submission",
    "judgements": "judgement",
    "runs": "run",
    "clarifications": "clarification",
    "awards": "award",
    "commentary": "commentary",
}
LISTS = {"commentary": "commentaries"}
REFERENCES = {
    "account": "accounts",
    "team": "teams",
    "from_team": "teams",
    "to_team": "teams",
    "group": "groups",
    "to_group": "groups",
    "main_scoreboard_group": "groups",
    "organization": "organizations",
    "person": "persons",
    "source": "persons",
    "problem": "problems",
    "language": "languages",
    "submission": "submissions",
    "judgement": "judgements",
    "judgement_type": "judgement-types",
    "reply_to": "clarifications",
}
EXTENSIONS = {
    "contest": {"open_to_all", "settings", "main_scoreboard_group_id"},
    "problems": {"names", "languages", "rule", "credits", "sources", "license"},
    "submissions": {"account_id", "comment", "practice"},
    "runs": {"testcase", "raw", "message"},
    "teams": {"disqualified", "extra_time"},
    "clarifications": {"to_team_ids", "to_group_ids"},
    "state": {"removed_intervals"},
}
"""What is ours, and what the specification has while its schemas do not: the last property of a contest, the account of
a submission, and the recipients of clarifications."""
NULL_HERE = {"account_id", "to_team_ids", "to_group_ids"}
"""Properties that are null for those who are no judges in this contest, though they need not be in another."""
NO_RUNS = {None, "voice", "helper"}


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A server with the lively contest; nothing in this module changes it."""
    home = tmp_path_factory.mktemp("lively")
    url = migrated_sqlite(home / "jurado.sqlite")
    with open_api(url, Path(home)) as api:
        fill(api)
        yield api


def fill(api: Api) -> None:
    """Make the contest, with submissions that are judged and some that wait."""

    def ask(method: str, path: str, *, user: str | None = None, json: Any = None) -> httpx.Response:
        return api.request(method, path, user=user, json=json)

    add_problem(api.service)
    start = lively.begin(ask)
    lively.submit(ask, start)
    contest = lively.CONTEST
    files = {"02": b"2\n", "03": b"3\n"}
    right = {"02": share(1), "03": share(1)}
    first = add_submission(api.service, right, team="blue", contest_id=contest, minute=60, files=files)
    half, files = {"02": share(1), "03": REJECTED}, {"02": b"2\n"}
    add_submission(api.service, half, team="red", contest_id=contest, minute=61, files=files)
    add_submission(api.service, {"02": REJECTED}, team="ghost", contest_id=contest, minute=62, judgement_type="WA")
    lively.talk(ask, submission=str(first))


def collections(api: Api, user: str | None) -> dict[str, list[dict[str, Any]]]:
    """All that a user sees; what is not there at all is left out."""
    found = {name: api.get(f"{BASE}/{name}", user=user) for name in SINGLE}
    return {name: reply.json() for name, reply in found.items() if reply.status_code == 200}


def known(schema: str) -> set[str]:
    """The properties a schema knows."""
    return set(json.loads((FOLDER / f"{schema}.json").read_text())["properties"])


@pytest.mark.parametrize("user", USERS)
def test_every_collection_has_something_in_the_shape_of_clics(api: Api, user: str | None) -> None:
    """By the unmodified schemas, with no properties beyond theirs but those that are listed as ours."""
    seen = collections(api, user)
    assert set(SINGLE) - set(seen) == ({"accounts"} if user is None else set())
    for name, found in seen.items():
        assert faults(LISTS.get(name, name), found) == [], name
        assert found or (name == "runs" and user in NO_RUNS), name
        for each in found:
            assert set(each) - known(SINGLE[name]) <= EXTENSIONS.get(name, set()), (name, each)


@pytest.mark.parametrize("user", USERS)
def test_every_object_is_the_same_alone_as_among_the_others(api: Api, user: str | None) -> None:
    for name, found in collections(api, user).items():
        for each in found:
            alone = api.get(f"{BASE}/{name}/{each['id']}", user=user)
            assert alone.json() == each
            assert faults(SINGLE[name], alone.json()) == []
        assert len({each["id"] for each in found}) == len(found)


@pytest.mark.parametrize("user", USERS)
def test_whatever_is_referred_to_is_there(api: Api, user: str | None) -> None:
    seen = collections(api, user)
    seen["contest"] = [api.get(BASE, user=user).json()]
    for name, found in seen.items():
        for each in found:
            for property_, value in each.items():
                stem = property_.removesuffix("s").removesuffix("_id")
                if stem + "_id" not in {property_, property_.removesuffix("s")} or stem == "icpc" or value is None:
                    continue
                ids = {target["id"] for target in seen[REFERENCES[stem]]}
                assert ids.issuperset(value if isinstance(value, list) else [value]), (name, each["id"], property_)
    for row in api.get(f"{BASE}/scoreboard", user=user).json()["rows"]:
        assert row["team_id"] in {team["id"] for team in seen["teams"]}


@pytest.mark.parametrize("user", USERS)
def test_whatever_a_file_reference_names_can_be_had(api: Api, user: str | None) -> None:
    fetched = 0
    for found in [*collections(api, user).values(), [api.get(BASE, user=user).json()]]:
        for each in found:
            for value in each.values():
                for file in value if isinstance(value, list) else []:
                    if isinstance(file, dict) and not file["href"].startswith("https:"):
                        reply = api.get(file["href"], user=user)
                        assert reply.headers["content-type"].partition(";")[0] == file["mime"], file
                        assert reply.status_code == 200
                        fetched += 1
    assert fetched > 5


@pytest.mark.parametrize("user", USERS)
def test_access_lists_just_what_is_shown(api: Api, user: str | None) -> None:
    """Every property that is shown is listed, and every one that is listed is shown, somewhere, or null."""
    access = api.get(f"{BASE}/access", user=user).json()
    assert faults("access", access) == []
    listed = {each["type"]: set(each["properties"]) for each in access["endpoints"]}
    seen: dict[str, list[dict[str, Any]]] = {**collections(api, user)}
    for name, path in (("contest", BASE), ("state", f"{BASE}/state"), ("scoreboard", f"{BASE}/scoreboard")):
        seen[name] = [api.get(path, user=user).json()]
    assert set(listed) == set(seen)
    for name, found in seen.items():
        shown = {property_ for each in found for property_ in each}
        assert shown <= listed[name], name
        if found:
            assert listed[name] - shown <= (set() if user in {"jury", "admin"} else NULL_HERE), name


@pytest.mark.parametrize("user", [None, "red", "jury"])
def test_collections_are_filtered_by_every_id(api: Api, user: str | None) -> None:
    for name, found in collections(api, user).items():
        properties = {p for each in found for p in each if p.endswith("_id") and p != "icpc_id"}
        for property_ in properties:
            values = {each.get(property_) for each in found} | {None}
            for value in values:
                path = f"{BASE}/{name}?{property_}={value or ''}"
                assert api.get(path, user=user).json() == [e for e in found if e.get(property_) == value], path
        assert api.get(f"{BASE}/{name}?{'&'.join(f'{p}=none' for p in properties)}", user=user).json() == (
            [] if properties else found
        )


@pytest.mark.parametrize(
    "path",
    ["doesnt-exist", "doesnt-exist/42", *(f"{name}/999999" for name in SINGLE), *(f"{name}/xY-9_" for name in SINGLE)],
)
def test_what_is_not_there_is_404(api: Api, path: str) -> None:
    for user in (None, "red", "admin"):
        reply = api.get(f"{BASE}/{path}", user=user)
        assert reply.status_code == 404
        assert reply.json()["code"] == 404
        assert reply.json()["message"]


def test_capabilities_are_those_of_the_account(api: Api) -> None:
    found = {user: set(api.get(f"{BASE}/access", user=user).json()["capabilities"]) for user in USERS}
    assert found["red"] == {"team_submit", "post_clar"}
    assert found["jury"] == {"post_clar", "admin_clar"}
    assert found["voice"] == {"post_comment"}
    assert found[None] == found["helper"] == set()
    assert found["admin"] >= {"admin_submit", "proxy_submit", "proxy_clar", "contest_start", "contest_thaw"}


def test_teams_read_what_is_sent_to_them_and_nobody_else_does(api: Api) -> None:
    texts = {user: [each["text"] for each in collections(api, user)["clarifications"]] for user in USERS}
    everybody, question, answer, ghost = "Do not touch anything", "May I ask a question?", "You may!", "I haunt"
    assert texts[None] == texts["voice"] == texts["helper"] == [everybody]
    assert texts["red"] == [question, answer, everybody]
    assert texts["blue"] == [answer, everybody]
    assert texts["jury"] == texts["admin"] == [question, answer, everybody, ghost]


def test_an_answer_refers_to_no_question_that_its_reader_may_not_see(api: Api) -> None:
    read = {
        user: {each["text"]: each["reply_to_id"] for each in collections(api, user)["clarifications"]}
        for user in ("red", "blue")
    }
    assert read["red"]["You may!"] == "1"
    assert read["blue"]["You may!"] is None


def test_nobody_but_judges_sees_a_hidden_team_anywhere(api: Api) -> None:
    for user in (None, "red", "voice"):
        seen = json.dumps([collections(api, user), api.get(f"{BASE}/scoreboard", user=user).json()])
        assert "ghost" not in seen
        assert "b@b.example" not in seen
    assert "ghost" in json.dumps(collections(api, "jury"))


def test_a_board_may_be_asked_of_a_group_that_has_teams(api: Api) -> None:
    assert api.get(f"{BASE}/scoreboard?group_id=south").status_code == 200
    assert api.get(f"{BASE}/scoreboard?group_id=west").status_code == 400


def test_the_id_another_system_gave_is_shown_everywhere(api: Api) -> None:
    assert api.get(f"{BASE}/submissions/s-0", user="admin").json()["id"] == "s-0"
    judged = api.get(f"{BASE}/judgements?submission_id=s-0", user="admin").json()
    assert [each["submission_id"] for each in judged] == ["s-0"]
    assert api.get(f"{BASE}/submissions/s-0/report", user="red").json()["submission_id"] == "s-0"
    assert api.get(f"{BASE}/submissions/1", user="admin").status_code == 404
