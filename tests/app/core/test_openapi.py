"""The description at /openapi.json is whole, and what is answered is as it says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.core.clics import EXAMPLES
from app.core.http.openapi import operations
from tests.builders.contests import HOUR, PROBLEM, add_contest, add_problem, add_submission, judgement_id, run_id
from tests.builders.described import Description, document
from tests.builders.schemas import faults as clics_faults
from tests.builders.scoring import REJECTED, share
from tests.builders.service import Api, open_api

VERBS = re.compile(
    r"(accept|add|apply|ask|begin|cancel|change|choose|clear|compare|copy|create|decline|delete|disqualify|enrol"
    r"|export|get|import|join|list|pause|put|remove|resign|restore|resume|reveal|send|start|stream|submit|undo|withdraw)(_[a-z]+)*"
)
KNOWN = {
    "change_contest",
    "create_accounts",
    "create_contest",
    "create_teams",
    "create_token",
    "get_contest_problem",
    "get_event_feed",
    "get_history",
    "get_report",
    "get_scoreboard",
    "get_submission",
    "import_problem",
    "list_contest_problems",
    "list_contests",
    "list_judgements",
    "list_submissions",
    "list_teams",
    "put_testcase",
    "submit",
}
IDS = {
    "contest_id": "c",
    "problem_id": PROBLEM,
    "team_id": "team",
    "other_team_id": "other",
    "submission_id": "1",
    "name": "02",
    "case_name": "02",
    "type_id": "AC",
    "language_id": "answers",
    "account_id": "team",
    "group": "secret",
}
ROLES = (None, "team", "judge", "admin")
OPTIONS = ("cases=true", "since=x")


@pytest.fixture(scope="module")
def described() -> Description:
    return Description(document())


@pytest.fixture
def lively(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A frozen contest with submissions of two teams, one not judged, one with sources alike."""
    with open_api(sqlite_url, tmp_path / "home") as api:
        add_problem(api.service)
        add_contest(api.service, started=4 * HOUR, freeze=2 * HOUR)
        add_submission(api.service, {"02": share(1), "03": REJECTED}, minute=1, judgement_type="PC")
        add_submission(api.service, {"02": share(1)}, minute=2, team="other", judgement_type="PC")
        add_submission(api.service, None, files={"02": b"2\n"}, minute=3)
        yield api


def test_operations_have_short_ids_that_are_unique_and_begin_with_a_verb(described: Description) -> None:
    ids = [operation["operationId"] for _, _, operation in operations(described.document)]
    assert len(ids) == len(set(ids))
    assert [each for each in ids if not VERBS.fullmatch(each) or len(each) > 30] == []
    assert set(ids) >= KNOWN  # clients call these: they stay


def test_tags_and_parameters_are_described(described: Description) -> None:
    tags = {tag["name"]: tag["description"] for tag in described.document["tags"]}
    for path, method, operation in operations(described.document):
        assert set(operation["tags"]) <= tags.keys(), (method, path)
        for parameter in operation.get("parameters", []):
            assert len(parameter.get("description", "")) > 8, (method, path, parameter["name"])


def test_schemas_have_names_of_their_own_and_every_reference_leads_to_one(described: Description) -> None:
    schemas = described.document["components"]["schemas"]
    assert [name for name in schemas if not re.fullmatch(r"[A-Z][A-Za-z]+", name)] == []
    assert {"GroupView", "TestDataGroup", "GroupBody", "GroupChange", "Notification"} <= schemas.keys()
    for reference in set(re.findall(r'"\$ref": "([^"]+)"', json.dumps(described.document))):
        assert described.resolved({"$ref": reference}), reference


def test_every_reply_says_what_it_holds(described: Description) -> None:
    for path, method, operation in operations(described.document):
        for status, said in operation["responses"].items():
            reply = described.resolved(said)
            assert reply["description"], (method, path, status)
            if status not in {"204", "304"}:
                assert reply.get("content"), (method, path, status)
            for kind, content in reply.get("content", {}).items():
                assert content.get("schema"), (method, path, status, kind)


def test_every_body_says_what_it_holds(described: Description) -> None:
    for path, method, operation in operations(described.document):
        for kind, content in operation.get("requestBody", {}).get("content", {}).items():
            assert content.get("schema"), (method, path, kind)


def test_examples_are_as_their_schemas_say(described: Description) -> None:
    schemas = described.document["components"]["schemas"]
    examples = {name: schema["examples"][0] for name, schema in schemas.items() if "examples" in schema}
    assert examples.keys() == EXAMPLES.keys()
    wrong = {name: described.wrong_with(schemas[name], example) for name, example in examples.items()}
    assert {name: faults for name, faults in wrong.items() if faults} == {}


def test_examples_of_clics_objects_are_as_clics_says(described: Description) -> None:
    schemas = described.document["components"]["schemas"]
    for name, clics in {"Submission": "submission", "Scoreboard": "scoreboard", "TeamView": "team"}.items():
        assert clics_faults(clics, schemas[name]["examples"][0]) == []
    assert clics_faults("judgement", schemas["Judgement"]["examples"][0], partly_correct=True) == []


def test_who_must_log_in_is_said_and_is_so(lively: Api, described: Description) -> None:
    """Routes that name no security may be asked by anyone; the others answer 401 to no one."""
    for path, method, operation in operations(described.document):
        if method == "GET" and not path.endswith(("stream", "event-feed")):
            status = lively.get(filled(lively, path)).status_code
            assert (status == 401) == ("security" in operation), (method, path, status)
        elif "security" in operation:
            assert lively.request(method, filled(lively, path), json={}).status_code in {400, 401, 415}, (method, path)


def filled(api: Api, path: str) -> str:
    """An address of what there is."""
    ids = {**IDS, "judgement_id": judgement_id(api.service, 1), "run_id": run_id(api.service, 1)}
    return re.sub(r"\{(\w+)\}", lambda name: ids.get(name[1], "1"), path)


def test_replies_to_get_are_as_described(lively: Api, described: Description) -> None:
    """Every route that can be read, as every role, with its options."""
    faults: list[str] = []
    good = set()
    paths = [path for path, method, _ in operations(described.document) if method == "GET"]
    options = [f"/api/contests/{{contest_id}}/scoreboard?{each}" for each in OPTIONS]
    for path in [*paths, *options]:
        for role in ROLES:
            ending = "?stream=false" if path.endswith(("stream", "event-feed")) else ""
            reply = lively.get(filled(lively, path) + ending, user=role)
            faults += described.faults(reply)
            good |= {path} if reply.status_code == 200 else set()
    assert faults == []
    typed = ("scoreboard", "history", "report", "sources", "similarity", "submissions", "testcases")
    assert {path for path in paths if path.endswith(typed)} <= good


def test_changed_rows_of_a_board_are_as_described(lively: Api, described: Description) -> None:
    version = lively.get("contests/c/scoreboard", user="judge").json()["version"]
    add_submission(lively.service, {"02": share(1), "03": share(1)}, minute=4, team="other")
    reply = lively.get(f"contests/c/scoreboard?since={version}", user="judge")
    assert reply.json()["since"] == version
    assert described.faults(reply) == []


def test_replies_to_what_changes_something_are_as_described(lively: Api, described: Description) -> None:
    """Each as it should be, and once as it should not."""
    team = {"id": "ants", "name": "The Ants"}
    account = {"username": "ants", "password": "a good one", "type": "team", "team_id": "ants"}
    wanted: list[tuple[str, str, str, int, dict[str, Any]]] = [
        ("POST", "teams", "admin", 201, {"json": team}),
        ("POST", "teams", "admin", 409, {"json": [team]}),
        ("POST", "teams?replace=true", "admin", 201, {"json": [team]}),
        ("PUT", "teams/ants", "admin", 200, {"json": team}),
        ("POST", "accounts", "admin", 201, {"json": account}),
        ("POST", "accounts?replace=true", "admin", 201, {"json": [account]}),
        ("POST", "accounts", "admin", 400, {"json": [{}, 5]}),
        ("POST", "accounts", "admin", 415, {"content": b"x", "headers": {"Content-Type": "text/html"}}),
        ("POST", "account/tokens", "team", 201, {"json": {}}),
        ("POST", "contests/c/groups", "admin", 201, {"json": {"id": "g", "name": "G"}}),
        ("POST", "contests/c/groups", "admin", 201, {"json": [{"name": "H"}]}),
        ("PUT", "contests/c/groups/g", "admin", 200, {"json": {"id": "g", "name": "I"}}),
        ("PATCH", "contests/c/groups/g", "admin", 200, {"json": {"name": "J"}}),
        ("POST", "contests/c/submissions", "team", 201, form(PROBLEM)),
        ("POST", "contests/c/submissions", "team", 404, form("none")),
        ("POST", "contests/c/submissions", "judge", 403, form(PROBLEM)),
        ("POST", "contests/c/clarifications", "team", 201, {"json": {"text": "Why?"}}),
        ("POST", "contests/c/rejudgings", "admin", 201, {"json": {"problem": PROBLEM, "reason": "to see"}}),
        ("PATCH", "contests/c", "admin", 200, {"json": {"id": "c", "name": "C"}}),
        ("POST", "contests/c/pause", "admin", 200, {}),
        ("POST", "contests/c/resume", "admin", 200, {}),
        ("DELETE", "contests/c/groups/g", "admin", 204, {}),
        ("DELETE", "teams/team", "admin", 409, {}),
    ]
    for method, path, role, status, body in wanted:
        reply = lively.request(method, path, user=role, **body)
        assert reply.status_code == status, (method, path, reply.text)
        assert described.faults(reply) == []


def form(problem_id: str) -> dict[str, Any]:
    """A submission of one answer."""
    return {"data": {"problem_id": problem_id}, "files": {"files": ("02.out", b"2\n")}}


def test_a_reply_that_is_not_as_described_is_noticed(lively: Api, described: Description) -> None:
    """Else the tests above would show nothing."""
    document = json.loads(json.dumps(described.document))
    document["components"]["schemas"]["BoardRow"]["required"].append("medal")
    reply = lively.get("contests/c/scoreboard")
    assert described.faults(reply) == []
    assert any("medal" in fault for fault in Description(document).faults(reply))


def test_archives_and_feeds_come_as_types_that_generators_know_to_those_who_ask(
    lively: Api, described: Description
) -> None:
    zip_address, feed = f"contests/c/problems/{PROBLEM}/inputs.zip", "contests/c/event-feed?stream=false"
    for address, own, plain in (
        (zip_address, "application/zip", "application/octet-stream"),
        (feed, "application/x-ndjson", "text/plain"),
    ):
        usual = lively.get(address)
        other = lively.get(address, headers={"Accept": plain})
        assert usual.headers["content-type"].partition(";")[0] == own
        assert other.headers["content-type"].partition(";")[0] == plain
        assert usual.content == other.content
