"""Bodies of strangers: who sends them is asked first, and they are bounded before anything is made of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute
from starlette.types import Message

from app.core.errors import BadRequest
from app.core.http.gated import WITH_BODIES, GatedRoute
from app.core.json_bounds import DEEPEST, check_values, is_within
from app.routes import ROUTERS
from tests.builders.contests import add_contest, add_problem
from tests.builders.service import Api

OF_NOBODY = {
    "/api/account/password-reset",
    "/api/contests/{contest_id}/registrations",
    "/api/contests/{contest_id}/problems/{problem_id}/games",
    "/api/games/{game_id}/join",
    "/api/games/{game_id}/moves",
    "/api/games/{game_id}/resign",
}
"""Routes by which people without an account get one, or a password."""


def api_routes() -> Iterator[APIRoute]:
    """Every route below /api that may have a body."""
    for router in ROUTERS:
        routes: Sequence[BaseRoute] = router.routes
        yield from (each for each in routes if isinstance(each, APIRoute) and each.methods & WITH_BODIES)


def test_every_route_that_changes_something_asks_who_it_is_before_it_reads(quick_api: Api) -> None:
    """Nobody's body is never read: it is not even received. What takes some from everybody refuses a large one."""
    asked = [(sorted(route.methods)[0], f"/api{route.path}") for route in api_routes()]
    assert len(asked) > 40
    for method, path in asked:
        received: list[str] = []
        expected = 413 if path in OF_NOBODY else 401
        asked_path = path.replace("{", "").replace("}", "")
        assert status_of(quick_api, method, asked_path, received) == expected, (method, path)
        assert received == []


def status_of(api: Api, method: str, path: str, received: list[str]) -> int:
    """The status of a request with a body of JSON; `received` notes when the body is asked for."""
    replies: list[Message] = []
    length = b"100000"
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "scheme": "http",
        "query_string": b"",
        "headers": [(b"host", b"here"), (b"content-type", b"application/json"), (b"content-length", length)],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
    }

    async def receive() -> Message:
        received.append(path)
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        await asyncio.sleep(0)
        replies.append(message)

    api.portal.call(api.app, scope, receive, send)
    return int(replies[0]["status"])


def test_all_routes_of_the_api_are_gated() -> None:
    """A router made without the class would read bodies of nobody."""
    assert [route.path for route in api_routes() if not isinstance(route, GatedRoute)] == []


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        ("contests/c/clarifications", [[]] * 200_000, "at most 5000 values, found more"),
        ("contests/c/submissions", [1] * 6000, "at most 5000 values"),
        ("contests/c/clarifications", "deep", f"nested at most {DEEPEST} deep"),
        ("contests/c/clarifications", "very deep", f"nested at most {DEEPEST} deep"),
    ],
    ids=["wide", "wide submission", "deep", "very deep"],
)
def test_json_of_an_account_has_few_values_and_is_not_deep(
    quick_api: Api, path: str, body: object, sentence: str
) -> None:
    add_problem(quick_api.service)
    add_contest(quick_api.service)
    depth = {"deep": 100, "very deep": 4000}.get(str(body))
    text = json.dumps(body) if depth is None else '{"a":' * depth + "1" + "}" * depth
    headers = {"Content-Type": "application/json"}
    refused = quick_api.post(path, user="team", content=text, headers=headers)
    assert refused.status_code == 400
    assert sentence in refused.json()["message"]


@pytest.mark.parametrize(("user", "path"), [("admin", "teams"), ("team", "contests/c/clarifications")])
@pytest.mark.parametrize("body", [b"9" * 5000, b"[" + b"9" * 5000 + b"]", b"\xff", b"{", b"[" * 4000])
def test_what_is_no_json_is_refused_wherever_it_is_sent(quick_api: Api, user: str, path: str, body: bytes) -> None:
    refused = quick_api.post(path, user=user, content=body, headers={"Content-Type": "application/json"})
    assert refused.status_code == 400
    assert refused.json()["message"].startswith("body: expected ")


def test_a_text_of_commas_is_one_value(quick_api: Api) -> None:
    """Only what stands between texts is counted."""
    add_problem(quick_api.service)
    add_contest(quick_api.service)
    body = {"text": 'why "\\",[{' * 1900}
    assert quick_api.post("contests/c/clarifications", user="team", json=body).status_code == 201


@pytest.mark.parametrize("piece", [b'"', b'"\\', b'\\"', b'"\\"', b"[,", b'"a\\'], ids=repr)
def test_counting_values_looks_at_each_byte_once(piece: bytes) -> None:
    """Texts that end nowhere are not looked for again from each of their quotes: that would take hours here."""
    with pytest.raises(BadRequest, match="at most 5 values"):
        check_values(b"[1,1,1,1,1,1]" + piece * 2_000_000 + b"," * 10 + b'",1,1,1,1,1,1', 5)


def test_depth_and_number_of_values_are_bounds_that_may_be_reached() -> None:
    nested: Any = 1
    for _ in range(DEEPEST):
        nested = [nested]
    assert is_within(nested, 1000)
    assert not is_within([nested], 1000)
    assert is_within([1, {"a": 2, "b": [3]}], 6)
    assert not is_within([1, {"a": 2, "b": [3]}], 5)


def test_a_hundred_faults_are_listed_and_the_others_counted_or_left(quick_api: Api) -> None:
    """Of a body that FastAPI reads, of many objects, and of one object."""
    add_problem(quick_api.service)
    add_contest(quick_api.service)
    lists = {
        "contests/c/rejudgings": {"reason": "x", "submissions": [[]] * 3000},
        "teams": [{"id": "!"}] * 3000,
        "contests/c/organizations": {"id": "x", "name": "x", **{f"p{at}": 1 for at in range(3000)}},
    }
    for path, body in lists.items():
        refused = quick_api.post(path, user="admin", json=body)
        assert refused.status_code == 400, refused.text
        assert len(refused.json()["errors"]) == 100, path


def test_one_object_has_not_ten_thousands_of_values(quick_api: Api) -> None:
    """Each of them may be a fault, which takes a hundred times its bytes."""
    refused = quick_api.post("teams", user="admin", json=[{"id": "a", "name": "A", "x": [1] * 10_000}])
    assert refused.status_code == 400
    assert refused.json()["message"] == "[0]: expected at most 10000 values in an object, found more"


def test_yaml_has_a_bound_of_its_own(quick_api: Api) -> None:
    """It is written by hand, and read a hundred times slower."""
    headers = {"Content-Type": "application/yaml"}
    refused = quick_api.post("teams", user="admin", content="- [a]\n" * 200_000, headers=headers)
    assert refused.status_code == 413
    assert "of YAML" in refused.json()["message"]
