"""The contract of all commands that send one request: their examples run, and end as promised."""

from __future__ import annotations

import inspect
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import get_args

import httpx
import pytest
from typer.testing import Result

from app.commands.main import app as _registered  # noqa: F401 # importing it adds all commands
from app.core.commands.client import Client
from app.core.commands.config import Login
from app.core.commands.registry import COMMANDS, Request
from tests.app.conftest import Jurado
from tests.builders.described import document
from tests.builders.examples import later
from tests.builders.scripted import problem

REPLY = {"id": "7", "message": "stored"}


def examples() -> Iterator[str]:
    """The examples of the commands that return a request, without what a shell redirects."""
    for function in COMMANDS.values():
        answer = inspect.signature(function, eval_str=True).return_annotation
        if Request in {answer, *get_args(answer)}:
            lines = (inspect.getdoc(function) or "").partition("\n\nExamples:\n")[2].splitlines()
            yield from (line.strip().partition(" < ")[0] for line in lines)


EXAMPLES = list(examples())
OPERATIONS = {
    (method.upper(), re.compile(re.sub(r"\\{\w+(:\w+)?\\}", ".+" if "testcases" in path else "[^/]+", re.escape(path))))
    for path, methods in document()["paths"].items()
    for method in methods
}
Run = Callable[[str, Callable[[httpx.Request], httpx.Response]], Result]


@pytest.fixture
def run(jurado: Jurado, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command line against a server that answers by a function."""
    monkeypatch.setenv("JURADO_PASSWORD", "a secret of theirs")

    def run(line: str, answer: Callable[[httpx.Request], httpx.Response]) -> Result:
        there, transport = Login("http://scripted", "token"), httpx.MockTransport(answer)
        monkeypatch.setattr(
            "app.core.commands.client.Client.open", lambda: Client(there, transport=transport, first_pause=0.0)
        )
        return jurado(*shlex.split(line)[1:])

    return run


def known(request: httpx.Request) -> httpx.Response:
    """A problem by its id or label, otherwise some reply."""
    is_problems = request.method == "GET" and re.fullmatch("/api/contests/[^/]+/problems", request.url.path)
    return httpx.Response(200, json=[problem("comesolo", "A")] if is_problems else REPLY)


@pytest.mark.parametrize("line", EXAMPLES)
def test_json_prints_the_reply_to_a_request_that_the_server_knows(run: Run, line: str) -> None:
    sent: list[tuple[str, str]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append((request.method, request.url.path))
        return known(request)

    done = run(line if "--json" in line else f"{line} --json", answer)
    assert (done.exit_code, json.loads(done.stdout.splitlines()[-1])) == (0, REPLY)
    for method, path in sent:
        assert any(verb == method and pattern.fullmatch(path) for verb, pattern in OPERATIONS), f"{method} {path}"


@pytest.mark.parametrize("line", EXAMPLES)
def test_a_refusal_is_one_line_with_the_servers_words(run: Run, line: str) -> None:
    done = run(line, lambda _request: httpx.Response(404, json={"code": 404, "message": "not for you"}))
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == "jurado: not for you\n"


@pytest.mark.parametrize("line", later(EXAMPLES, 4))
def test_a_command_without_a_login_says_how_to_log_in(run: Run, line: str) -> None:
    done = run(line, lambda _request: httpx.Response(401, json={"code": 401, "message": "not for you"}))
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr == "jurado: not for you (jurado login URL USER)\n"


@pytest.mark.parametrize("line", later(EXAMPLES, 4))
def test_a_server_that_cannot_be_reached_is_named(run: Run, line: str) -> None:
    def answer(_request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("connection refused")

    done = run(line, answer)
    assert (done.exit_code, done.stdout, done.stderr) == (
        1,
        "",
        "jurado: http://scripted cannot be reached: connection refused\n",
    )


@pytest.mark.parametrize("line", EXAMPLES)
def test_a_server_of_another_version_ends_without_a_traceback(run: Run, line: str) -> None:
    """Sentences that name nothing of the reply are printed all the same."""
    done = run(line, lambda request: httpx.Response(200, json=[] if request.method == "GET" else {"other": 1}))
    assert done.exception is None or isinstance(done.exception, SystemExit)


@pytest.mark.parametrize(
    ("words", "sent"),
    [
        (("get", "contests"), ("GET", "/api/contests", b"")),
        (("GET", "/health/ready"), ("GET", "/health/ready", b"")),
        (("GET", "//other.example/x"), ("GET", "http://scripted/x", b"")),
        (("GET", "https://other.example/x"), ("GET", "http://scripted/api/https://other.example/x", b"")),
        (("GET", "contests/c/scoreboard", "public=true"), ("GET", "/api/contests/c/scoreboard?public=true", b"")),
        (
            ("PATCH", "contests/c", "name=The finals", "open_to_all=false", 'settings={"virtual":true}'),
            ("PATCH", "/api/contests/c", b'{"name":"The finals","open_to_all":false,"settings":{"virtual":true}}'),
        ),
        (("POST", "contests/c/pause"), ("POST", "/api/contests/c/pause", b"")),
    ],
)
def test_any_request_may_be_sent_to_the_server_alone(
    run: Run, words: tuple[str, ...], sent: tuple[str, str, bytes]
) -> None:
    asked: list[tuple[str, str, bytes]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append((request.method, str(request.url), request.read()))
        return httpx.Response(200, json=REPLY)

    done = run(shlex.join(("jurado", "api", *words)), answer)
    assert (done.exit_code, json.loads(done.stdout)) == (0, REPLY)
    method, url, body = sent
    assert asked == [(method, url if url.startswith("http") else f"http://scripted{url}", body)]


@pytest.mark.parametrize(("typed", "offered"), [("jurado adm", "admin"), ("jurado admin contest pa", "pause")])
def test_words_are_completed_in_a_shell(typed: str, offered: str) -> None:
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1), "_JURADO_COMPLETE": "complete_bash"}
    command = [sys.executable, "-c", "import sys; sys.argv[0] = 'jurado'; from app.commands.main import main; main()"]
    done = subprocess.run(command, env=os.environ | words, capture_output=True, text=True)
    assert offered in done.stdout.split()
