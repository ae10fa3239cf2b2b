"""Webhooks are called with every change, in order, until they take it; one that fails delays no one else."""

from __future__ import annotations

import hmac
import io
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, text

from app.core.settings import Settings
from app.feed.service.sender import lock_of
from app.feed.service.webhooks import may_be_called, networks_of
from app.tables import EventRow, WebhookRow
from tests.builders.contests import HOUR, add_contest, add_problem, add_submission, judgement_id, run_id
from tests.builders.logged import logged
from tests.builders.scoring import share
from tests.builders.service import Api, open_api
from tests.builders.streams import fold, read_feed, shown
from tests.builders.two import two_apis

PATIENCE = 60.0
QUICK: dict[str, Any] = {"webhook_networks": "127.0.0.0/8", "webhook_retry_seconds": 0.05}


class Receiver:
    """A real HTTP server that is called back; `answer` says with which status, or how long it hangs first."""

    def __init__(self, bound: socket.socket) -> None:
        self.calls: list[dict[str, Any]] = []
        self.tokens: list[str | None] = []
        self.signed: list[tuple[dict[str, str], bytes]] = []
        self.refused = 0
        self.answer: Callable[[], int] = lambda: 204
        self.at_once = 0
        self.most_at_once = 0
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                receiver.at_once += 1
                receiver.most_at_once = max(receiver.most_at_once, receiver.at_once)
                data = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.signed.append((dict(self.headers), data))
                body = json.loads(data)
                status = receiver.answer()
                if status < 300:
                    receiver.tokens.append(self.headers["Webhook-Token"])
                    receiver.calls.append(body)
                else:
                    receiver.refused += 1
                receiver.at_once -= 1
                self.send_response(status)
                self.send_header("Content-Length", "0")
                if status in {301, 307}:
                    self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Quietly."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler, bind_and_activate=False)
        self.server.socket.close()
        self.server.socket = bound
        self.server.server_activate()
        self.port = bound.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/hook"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)
        self.thread.start()

    def close(self) -> None:
        """Stop listening."""
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def notifications(self, contest_id: str = "c") -> list[dict[str, Any]]:
        """Everything taken of a contest, in order."""
        return [each for call in self.calls if call["contest_id"] == contest_id for each in call["notifications"]]

    def told(self, contest_id: str = "c") -> list[tuple[str, str | None]]:
        """Type and id of everything taken."""
        return [(each["type"], each["id"]) for each in self.notifications(contest_id)]


def bound_socket() -> socket.socket:
    """A port of this test's own, at which no one listens yet."""
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    return bound


@contextmanager
def receiving(bound: socket.socket | None = None) -> Iterator[Receiver]:
    receiver = Receiver(bound or bound_socket())
    try:
        yield receiver
    finally:
        receiver.close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@contextmanager
def open_sending(database_url: str, home: Path, *, again: bool = False, **settings: Any) -> Iterator[Api]:
    """Open the API with the sender of webhooks running, as in a server."""
    with open_api(database_url, home, again=again, **settings) as api:
        api.portal.call(api.app.state.sender.start)
        yield api


@pytest.fixture
def hooked(sqlite_url: str, tmp_path: Path) -> Iterator[Api]:
    """A service with a running contest `c`, and webhooks that are tried again quickly."""
    with open_sending(sqlite_url, tmp_path / "home", **QUICK) as api:
        add_problem(api.service)
        add_contest(api.service, started=4 * HOUR)
        yield api


def hook(api: Api, url: str, **more: Any) -> dict[str, Any]:
    reply = api.post("webhooks", user="admin", json={"url": url, "token": "my-secret", **more})
    assert reply.status_code == 201, reply.text
    found: dict[str, Any] = reply.json()
    assert reply.headers["location"] == f"/api/webhooks/{found['id']}"
    return found


def wait(condition: Callable[[], object]) -> None:
    until = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def wait_until_left(api: Api, hook_id: str) -> None:
    """Wait until the sender's task for a webhook is over: it makes no call any more, not even of what is on its way."""
    wait(lambda: hook_id not in api.app.state.sender.served())


def is_position_behind(api: Api, hook_id: str, submission_id: str) -> bool:
    """Whether it is durable that a webhook has taken a submission: only then no one tells it again."""
    wanted = select(EventRow.id).where(EventRow.type == "submissions", EventRow.object_id == submission_id)
    with api.service.database.read() as session:
        event, positions = session.scalar(wanted), session.get_one(WebhookRow, hook_id).positions
    return event is not None and "c" in positions and int(positions["c"][1]) >= event


def submit(api: Api, minute: float) -> str:
    return str(add_submission(api.service, {"02": share(1)}, minute=minute))


def test_a_webhook_is_told_what_changes_after_it_was_made_with_its_token(hooked: Api, receiver: Receiver) -> None:
    submit(hooked, 1)
    hook(hooked, receiver.url)
    known = fold(read_feed(hooked, user="admin"))
    first = submit(hooked, 2)
    wait(lambda: ("judgements", judgement_id(hooked.service, first)) in receiver.told())
    wait(lambda: ("runs", run_id(hooked.service, first)) in receiver.told())
    hooked.patch("teams/team", user="admin", json={"name": "Better"})
    wait(lambda: ("teams", "team") in receiver.told())
    assert receiver.told() == [
        ("submissions", first),
        ("judgements", judgement_id(hooked.service, first)),
        ("runs", run_id(hooked.service, first)),
        ("teams", "team"),
    ]
    assert set(receiver.tokens) == {"my-secret"}
    assert receiver.most_at_once == 1
    events = [{"type": t, "id": i, "data": d} for t, objects in known.items() for i, d in objects.items()]
    assert fold(events + receiver.notifications()) == shown(hooked, "c", "admin")


def test_only_the_endpoints_and_contests_asked_for_are_told(hooked: Api, receiver: Receiver) -> None:
    add_contest(hooked.service, "d", problem_id=None)
    made = hook(hooked, receiver.url, contest_ids=["c"], endpoints=["judgements"])
    assert made["contest_ids"] == ["c"]
    first = submit(hooked, 1)
    hooked.patch("contests/d", user="admin", json={"name": "Other"})
    hooked.patch("contests/c", user="admin", json={"name": "Other"})
    second = submit(hooked, 2)
    wait(lambda: ("judgements", judgement_id(hooked.service, second)) in receiver.told())
    assert receiver.told() == [
        ("judgements", judgement_id(hooked.service, first)),
        ("judgements", judgement_id(hooked.service, second)),
    ]
    assert receiver.told("d") == []


def test_a_contest_made_later_is_told_from_its_beginning(hooked: Api, receiver: Receiver) -> None:
    hook(hooked, receiver.url)
    add_contest(hooked.service, "later", problem_id=None)
    wait(lambda: ("state", None) in receiver.told("later"))
    assert fold(receiver.notifications("later")) == shown(hooked, "later", "admin")
    assert receiver.told() == []


@pytest.mark.parametrize("status", [500, 404, 307, 301])
def test_what_was_not_taken_is_sent_again_until_it_is(hooked: Api, receiver: Receiver, status: int) -> None:
    answers = [status] * 3
    receiver.answer = lambda: answers.pop() if answers else 200
    made = hook(hooked, receiver.url)
    first = submit(hooked, 1)
    wait(lambda: ("judgements", judgement_id(hooked.service, first)) in receiver.told())
    assert receiver.refused == 3
    taken = [json.dumps(each) for each in receiver.notifications()]
    assert len(taken) == len(set(taken))
    wait(lambda: hooked.get(f"webhooks/{made['id']}", user="admin").json()["failing_since"] is None)


def test_one_that_hangs_or_is_not_there_delays_nobody_and_gets_everything_once_it_comes_back(
    sqlite_url: str, tmp_path: Path
) -> None:
    with (
        open_sending(sqlite_url, tmp_path / "home", **QUICK, webhook_timeout_seconds=0.5) as hooked,
        receiving() as good,
        receiving() as slow,
        bound_socket() as gone,
    ):
        add_problem(hooked.service)
        add_contest(hooked.service, started=4 * HOUR)
        back_again = threading.Event()

        def hang() -> int:
            if back_again.is_set():
                return 200
            back_again.wait(PATIENCE)  # longer than the sender waits
            return 500

        slow.answer = hang
        for url in (slow.url, f"http://127.0.0.1:{gone.getsockname()[1]}/", good.url):
            hook(hooked, url)
        ids = [submit(hooked, minute) for minute in (1, 2, 3)]
        wait(lambda: ("judgements", judgement_id(hooked.service, ids[-1])) in good.told())
        assert slow.told() == []
        back_again.set()
        with receiving(gone) as back:
            wait(lambda: ("runs", run_id(hooked.service, ids[-1])) in slow.told())
            wait(lambda: ("runs", run_id(hooked.service, ids[-1])) in back.told())
            everything = {
                pair
                for id_ in ids
                for pair in (
                    ("submissions", id_),
                    ("judgements", judgement_id(hooked.service, id_)),
                    ("runs", run_id(hooked.service, id_)),
                )
            }
            assert set(good.told()) == everything
            for each in (slow, back):
                # A reply that comes too late, as on a busy machine, has to be asked for again.
                assert list(dict.fromkeys(each.told())) == list(dict.fromkeys(good.told()))


def test_one_that_fails_for_long_is_called_no_more_until_an_admin_says_so(sqlite_url: str, tmp_path: Path) -> None:
    with (
        open_sending(sqlite_url, tmp_path / "home", **QUICK, webhook_give_up_seconds=0.2) as api,
        receiving() as receiver,
        receiving() as other,
    ):
        add_problem(api.service)
        add_contest(api.service)
        receiver.answer = lambda: 503
        made = hook(api, receiver.url)
        hook(api, other.url)
        first = submit(api, 1)
        wait(lambda: not api.get(f"webhooks/{made['id']}", user="admin").json()["active"])
        found = api.get(f"webhooks/{made['id']}", user="admin").json()
        assert found["error"] == "it answered 503"
        assert found["failures"] >= 2
        wait_until_left(api, made["id"])
        refused = receiver.refused
        receiver.answer = lambda: 200
        second = submit(api, 2)
        wait(lambda: ("runs", run_id(api.service, second)) in other.told())
        assert made["id"] not in api.app.state.sender.served()
        assert receiver.refused == refused
        assert receiver.told() == []
        changed = api.patch(f"webhooks/{made['id']}", user="admin", json={"active": True}).json()
        assert (changed["active"], changed["failures"], changed["error"]) == (True, 0, None)
        wait(lambda: ("runs", run_id(api.service, second)) in receiver.told())
        assert ("submissions", first) in receiver.told()  # it has missed nothing


def test_a_webhook_goes_on_where_it_was_after_a_restart(database_url: str, tmp_path: Path) -> None:
    with receiving() as receiver:
        with open_sending(database_url, tmp_path, **QUICK) as api:
            add_problem(api.service)
            add_contest(api.service)
            hook(api, receiver.url)
            first = submit(api, 1)
            wait(lambda: ("runs", run_id(api.service, first)) in receiver.told())
            receiver.answer = lambda: 500
            second = submit(api, 2)
            wait(lambda: receiver.refused)
        receiver.answer = lambda: 200
        with open_sending(database_url, tmp_path, again=True, **QUICK) as api:
            third = submit(api, 3)
            wait(lambda: ("runs", run_id(api.service, third)) in receiver.told())
        told = receiver.told()
        assert len(set(told)) == 9
        assert sorted(id_ for type_, id_ in told if type_ == "submissions") == [first, second, third]
        assert len(told) < 12  # the last call before the end may come again: its place was not stored yet


def test_the_next_server_goes_on_with_a_webhook_where_the_one_that_died_had_got(
    postgresql_url: str, tmp_path: Path, receiver: Receiver
) -> None:
    """One of two calls it at a time; what it has told is told by no one again."""
    with two_apis(postgresql_url, tmp_path, feed_coalesce_seconds=0, **QUICK) as (one, other):
        add_problem(one.service)
        add_contest(one.service, started=4 * HOUR)
        hook_id = hook(one, receiver.url)["id"]
        for server in (one, other):
            server.portal.call(server.app.state.sender.start)
        lock = lock_of(hook_id)
        first = submit(one, 1)
        wait(lambda: is_position_behind(one, hook_id, first))
        servers = (one, other)
        caller, next_one = servers if one.service.locks.take(lock) else servers[::-1]
        assert not next_one.service.locks.take(lock)
        caller.portal.call(caller.app.state.sender.stop)
        caller.service.locks.close()  # as a kill does
        second = submit(next_one, 2)
        wait(lambda: ("submissions", second) in receiver.told())
        assert next_one.service.locks.take(lock)
        assert [each for each in receiver.told() if each[0] == "submissions"].count(("submissions", first)) == 1


def test_webhooks_go_on_after_a_moment_in_which_their_list_could_not_be_read(hooked: Api, receiver: Receiver) -> None:
    """A lost connection of the database makes all servers read it again, which may fail at that very moment."""
    hook(hooked, receiver.url)
    with hooked.service.database.write() as session:
        session.execute(text("ALTER TABLE webhooks RENAME TO away"))
    with logged(io.StringIO()) as log:
        for listener in hooked.service.database.listeners:
            listener()
        wait(lambda: "the list of webhooks could not be read" in log.getvalue())
    with hooked.service.database.write() as session:
        session.execute(text("ALTER TABLE away RENAME TO webhooks"))
    another = hook(hooked, receiver.url.replace("/hook", "/another"))
    wait(lambda: another["id"] in hooked.app.state.sender.served())
    submission = submit(hooked, 1)
    wait(lambda: receiver.told().count(("submissions", submission)) == 2)


def test_a_deleted_webhook_is_called_no_more(hooked: Api, receiver: Receiver) -> None:
    made = hook(hooked, receiver.url)
    first = submit(hooked, 1)
    wait(lambda: ("runs", run_id(hooked.service, first)) in receiver.told())
    assert hooked.delete(f"webhooks/{made['id']}", user="admin").status_code == 204
    submit(hooked, 2)
    wait_until_left(hooked, made["id"])
    assert len(receiver.told()) == 3
    assert hooked.get(f"webhooks/{made['id']}", user="admin").status_code == 404


def test_the_token_is_never_shown(hooked: Api, receiver: Receiver) -> None:
    hook(hooked, receiver.url, id="icpc-live")
    listed = hooked.get("webhooks", user="admin")
    assert "my-secret" not in listed.text
    assert [(each["id"], each["active"], each["endpoints"]) for each in listed.json()] == [("icpc-live", True, [])]


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"url": "ftp://example.org/"}, "url"),
        ({"url": "file:///etc/passwd"}, "url"),
        ({"url": "http://admin:secret@example.org/"}, "url"),
        ({"url": "http://"}, "url"),
        ({"url": "http://[::1"}, "url"),
        ({"url": "http://example.org:99999/"}, "url"),
        ({"url": "http://example.org/\r\nX: y"}, "url"),
        ({"url": "http://example.org/#part"}, "url"),
        ({"url": 7}, "url"),
        ({"token": ""}, "token"),
        ({"token": "a\r\nb"}, "token"),
        ({"token": None}, "token"),
        ({"endpoints": ["scoreboard"]}, "endpoints"),
        ({"endpoints": "teams"}, "endpoints"),
        ({"contest_ids": ["none"]}, "contest_ids"),
        ({"id": "no id"}, "id"),
        ({"secret": 1}, "secret"),
    ],
)
def test_a_webhook_that_makes_no_sense_is_refused(hooked: Api, change: dict[str, Any], where: str) -> None:
    body = {"url": "http://example.org/", "token": "t", **change}
    reply = hooked.post("webhooks", user="admin", json=body)
    assert reply.status_code == 400
    assert where in reply.json()["message"]
    assert hooked.get("webhooks", user="admin").json() == []


def test_an_id_is_given_once(hooked: Api, receiver: Receiver) -> None:
    hook(hooked, receiver.url, id="one")
    again = hooked.post("webhooks", user="admin", json={"id": "one", "url": receiver.url, "token": "t"})
    assert again.status_code == 409


def is_from_us(headers: dict[str, str], body: bytes, token: str, now: float) -> bool:
    """The check as the guide gives it to whoever is called."""
    seconds = headers["Webhook-Timestamp"]
    digest = hmac.new(token.encode(), seconds.encode() + b"." + body, "sha256").hexdigest()
    return hmac.compare_digest(f"sha256={digest}", headers["Webhook-Signature"]) and abs(now - int(seconds)) < 300


def test_a_call_is_signed_with_its_time(hooked: Api, receiver: Receiver) -> None:
    hook(hooked, receiver.url)
    submit(hooked, 2)
    wait(lambda: receiver.signed)
    headers, body = receiver.signed[0]
    now = time.time()
    assert headers["Host"] == f"127.0.0.1:{receiver.port}"
    assert is_from_us(headers, body, "my-secret", now)
    assert not is_from_us(headers, body, "another", now)
    assert not is_from_us(headers, body + b" ", "my-secret", now)
    assert not is_from_us(headers, body, "my-secret", now + 3600)


def test_no_webhook_reaches_the_servers_own_network_unasked(
    sqlite_url: str, tmp_path: Path, receiver: Receiver
) -> None:
    """What a name resolves to counts when it is called: one that was taken may have become another address since."""
    with open_sending(sqlite_url, tmp_path / "home", **QUICK) as api:
        add_problem(api.service)
        add_contest(api.service, started=4 * HOUR)
        made = hook(api, f"http://localhost:{receiver.port}/hook")
    with open_sending(sqlite_url, tmp_path / "home", again=True, **{**QUICK, "webhook_networks": ""}) as api:
        submit(api, 2)
        wait(lambda: api.get(f"webhooks/{made['id']}", user="admin").json()["error"])
        assert "inside a network" in api.get(f"webhooks/{made['id']}", user="admin").json()["error"]
    assert receiver.signed == []


def test_an_address_that_could_never_be_called_is_refused_when_it_is_given(sqlite_url: str, tmp_path: Path) -> None:
    """No one has to wait for the first call to learn it; a name that leads nowhere yet is taken."""
    with open_sending(sqlite_url, tmp_path / "home") as api:
        for host in ("localhost", "10.0.0.1", "[::1]", "[::ffff:127.0.0.1]"):
            reply = api.post("webhooks", user="admin", json={"url": f"http://{host}:9/x", "token": "t"})
            assert (reply.status_code, "inside a network" in reply.json()["message"]) == (400, True), reply.text
            assert reply.json()["message"].startswith("url: expected an address that webhooks may call")
        assert api.get("webhooks", user="admin").json() == []
        made = api.post("webhooks", user="admin", json={"url": "http://receiver.invalid/x", "token": "t"})
        assert made.status_code == 201, made.text


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("10.2.0.1", True),
        ("10.3.0.1", False),
        ("127.0.0.1", False),
        ("0.0.0.0", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:10.2.0.1", True),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("fec0::1", False),
        ("feff:ffff::1", False),
        ("192.0.0.8", False),
        ("192.0.0.9", False),
        ("::127.0.0.1", False),
        ("::10.2.0.1", False),
        ("::8.8.8.8", False),
        ("64:ff9b::127.0.0.1", False),
        ("64:ff9b::a9fe:a9fe", False),
        ("64:ff9b::5db8:d822", False),
        ("64:ff9b:1::a9fe:a9fe", False),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", False),
        ("2002:7f00:1::1", False),
        ("2002:a9fe:a9fe::1", False),
    ],
)
def test_public_addresses_and_those_of_the_setting_are_called(address: str, public: bool) -> None:
    assert may_be_called(address, networks_of("10.2.0.0/16, 192.0.2.1")) is public


@pytest.mark.parametrize("networks", ["*", "localhost", "10.1.0.1/16"])
def test_networks_of_webhooks_are_networks(networks: str) -> None:
    with pytest.raises(ValueError, match="expected addresses or networks"):
        Settings(webhook_networks=networks)
