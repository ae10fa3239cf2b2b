"""A proxy before the S3 server that makes it slow, failing or unreachable, one request at a time or for long."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

CUT_BEFORE, CUT_AFTER, HALF = "cut before", "cut after", "half"
"""The request does not arrive; it is done and its reply is lost; half of the body of its reply comes."""
Plan = Callable[[str, str], "str | int | None"]
"""Decides by method and path: one of the words above, a status to reply in place of S3, or None."""
CODES = {
    400: "BadRequest",
    403: "QuotaExceeded",
    500: "InternalError",
    503: "SlowDown",
    501: "NotImplemented",
    507: "InsufficientStorage",
}


class S3Proxy:
    """Forwards HTTP on a free port to the S3 server. `hold` keeps every request waiting while it is set."""

    def __init__(self, target: int) -> None:
        self.plan: Plan = lambda _method, _path: None
        self.requests: list[str] = []
        self.ignored: set[str] = set()
        """Headers, in small letters, that the server takes no notice of."""
        self.go_on = threading.Event()
        self.go_on.set()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version: ClassVar[str] = "HTTP/1.1"
            disable_nagle_algorithm: ClassVar[bool] = True

            def log_message(self, *_: object) -> None:
                pass

            def serve(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                proxy.requests.append(f"{self.command} {self.path}")
                proxy.go_on.wait(30)
                fate = proxy.plan(self.command, self.path)
                if isinstance(fate, int):
                    error = f"<Error><Code>{CODES[fate]}</Code></Error>".encode()
                    self.reply(fate, [("Content-Length", str(len(error)))], error)
                    return
                if fate == CUT_BEFORE:
                    self.close_connection = True
                    return
                status, headers, data = self.forward(body)
                if fate == CUT_AFTER:
                    self.close_connection = True
                    return
                self.reply(status, headers, data[: len(data) // 2] if fate == HALF else data)
                self.close_connection = fate == HALF

            do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = serve

            def forward(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
                connection = http.client.HTTPConnection("127.0.0.1", target)
                try:
                    sent = {name: value for name, value in self.headers.items() if name.lower() not in proxy.ignored}
                    connection.request(self.command, self.path, body, sent)
                    reply = connection.getresponse()
                    return reply.status, reply.getheaders(), reply.read()
                finally:
                    connection.close()

            def reply(self, status: int, headers: list[tuple[str, str]], data: bytes) -> None:
                self.send_response_only(status)
                for name, value in headers:
                    if name.lower() not in {"connection", "transfer-encoding"}:
                        self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, *_: object) -> None:
                """Clients go away: that is what is tried."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self.port: int = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def once(self, fate: str | int, method: str = "", having: str = "") -> None:
        """Do this to the next request of a method whose path has this text."""

        def plan(asked: str, path: str) -> str | int | None:
            if (method and asked != method) or having not in path:
                return None
            self.plan = lambda _method, _path: None
            return fate

        self.plan = plan

    def always(self, fate: str | int) -> None:
        """Do this to every request."""
        self.plan = lambda _method, _path: fate

    def slow_down(self, seconds: float) -> None:
        """Let every request take so much longer."""

        def plan(_method: str, _path: str) -> None:
            time.sleep(seconds)

        self.plan = plan

    def heal(self) -> None:
        """Do nothing to requests any longer."""
        self.plan = lambda _method, _path: None
        self.go_on.set()

    def close(self) -> None:
        """Stop."""
        self.go_on.set()
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def s3_proxy(target: int) -> Iterator[S3Proxy]:
    """A proxy before the server at a port."""
    proxy = S3Proxy(target)
    try:
        yield proxy
    finally:
        proxy.close()
