"""The HTTP client: what it repeats, and how it words a refusal."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from jurado_client.connection import refusal_of

from app.core.commands.client import Client, refusal
from app.core.commands.config import Login, cleaned, current_login, store_login
from app.core.commands.output import Failure
from app.submissions.commands import send


def client(answer: httpx.MockTransport) -> Client:
    return Client(Login("http://there", "token"), transport=answer, first_pause=0.0)


def test_a_submission_whose_connection_breaks_is_sent_again_whole_and_with_the_same_key() -> None:
    stored = {"id": "7", "contest_time": "0:01:00.000"}
    seen: list[tuple[str, bytes]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append((request.headers["Idempotency-Key"], request.read()))
        if len(seen) < 3:
            raise httpx.ConnectError("broken")
        return httpx.Response(201, json=stored)

    made = send(client(httpx.MockTransport(answer)), "c", "p", "a.out", b"the answer")
    assert made == stored
    keys, bodies = zip(*seen, strict=True)
    assert len(set(keys)) == 1
    assert all(b"the answer" in body for body in bodies)


def test_a_post_that_may_not_be_repeated_is_sent_once() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        raise httpx.ConnectError("broken")

    with pytest.raises(Failure, match="cannot be reached"):
        client(httpx.MockTransport(answer)).post("contests", {"name": "x"})
    assert len(seen) == 1


def test_the_token_is_sent_as_a_bearer_token() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json=request.headers["authorization"])

    assert client(httpx.MockTransport(answer)).post("account") == "Bearer token"


def test_a_reply_goes_on_as_it_was_sent_and_one_of_another_shape_is_a_failure() -> None:
    teams = [{"id": "finals", "name": "The finals", "shortname": "F", "size": 3}]
    replies = iter([teams, {"id": "ants"}, ["ants"], {"id": "ants"}, []])
    server = client(httpx.MockTransport(lambda _request: httpx.Response(200, json=next(replies))))
    assert server.rows("teams") == teams
    for _ in range(2):
        with pytest.raises(Failure, match=r"a Jurado server of this version: teams: expected a list of objects, found"):
            server.rows("teams")
    with pytest.raises(Failure, match=r"a Jurado server of this version: name: field required"):
        server.get("teams/ants")["name"]
    with pytest.raises(Failure, match=r"a Jurado server of this version: teams/ants: expected an object, found \[\]"):
        server.get("teams/ants")


def test_a_refusal_shows_the_servers_words_and_every_fault() -> None:
    faults = [
        {"file": "a.in", "where": "line 1", "message": "expected a number"},
        {"where": "id", "expected": "an id", "found": "'?'"},
    ]
    body = {"code": 400, "message": "two faults", "errors": faults}
    lines = ["two faults", "  a.in, line 1: expected a number", "  id: expected an id, found '?'"]
    assert refusal(refusal_of(httpx.Response(400, json=body))).splitlines() == lines


def test_a_refusal_without_words_shows_the_status() -> None:
    assert refusal(refusal_of(httpx.Response(502, text="<html>"))) == "the server answered 502 Bad Gateway"


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(Failure, match="expected a server's address"):
        cleaned("localhost:8000")


def test_the_kept_token_belongs_to_its_server_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    store_login(Login("http://one", 'to"ken', "anna"))
    assert current_login().token == 'to"ken'
    assert current_login("http://two").token == ""
    monkeypatch.setenv("JURADO_TOKEN", "given")
    assert current_login("http://two").token == "given"


@pytest.mark.parametrize(
    ("text", "seen"), [(None, "No such file"), ("no certificate\n", "NO_CERTIFICATE_OR_CRL_FOUND")]
)
def test_a_file_of_certificates_that_cannot_be_read_is_named(
    text: str | None, seen: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "root.crt"
    if text is not None:
        path.write_text(text)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    with pytest.raises(Failure, match=f"SSL_CERT_FILE={path}: expected certificates as PEM, found: .*{seen}"):
        Client(Login("http://there", "token"))
