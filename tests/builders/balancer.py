"""Small TCP proxies: one that shares connections out to the servers that are ready, one whose network can be cut."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path

SECONDS_BETWEEN_LOOKS = 0.1
PIECE = 65536
Connect = Callable[[], socket.socket | None]


class Forwarder:
    """Takes connections on a free port of 127.0.0.1 and forwards each to what `connect` gives; None: it is refused.

    While `cut` is set, nothing is forwarded: what was sent waits, as in a network that is gone, and new ones hang.
    """

    def __init__(self, connect: Connect) -> None:
        self._connect = connect
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port: int = self._listening.getsockname()[1]
        self._open = threading.Event()
        self._open.set()
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Forward nothing any longer."""
        self._open.clear()

    def mend(self) -> None:
        """Forward again, also what was sent in the meantime."""
        self._open.set()

    def close(self) -> None:
        """Take no connection any longer."""
        self._open.set()
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._listening.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client:
            self._open.wait()
            server = self._connect()
            if server is None:
                return
            with server:
                back = threading.Thread(target=self._copy, args=(server, client), daemon=True)
                back.start()
                self._copy(client, server)
                back.join()

    def _copy(self, source: socket.socket, target: socket.socket) -> None:
        """Forward one direction until it ends, and then end it for the other side."""
        with suppress(OSError):
            while data := source.recv(PIECE):
                self._open.wait()
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)


class Balancer:
    """A proxy before servers: each connection goes to the next server that says that it is ready."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = list(urls)
        self._ready: list[str] = []
        self._turn = 0
        self._guard = threading.Lock()
        self._closing = threading.Event()
        self._looked = threading.Event()
        self._forwarder = Forwarder(self._connect)
        self.url = f"http://127.0.0.1:{self._forwarder.port}"
        self._threads = [threading.Thread(target=self._watch, args=(url,), daemon=True) for url in self._urls]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Take no connection any longer."""
        self._closing.set()
        self._forwarder.close()
        for thread in self._threads:
            thread.join()

    def _watch(self, url: str) -> None:
        while not self._closing.wait(SECONDS_BETWEEN_LOOKS):
            is_ready = _is_ready(url)
            with self._guard:
                if is_ready and url not in self._ready:
                    self._ready.append(url)
                elif not is_ready and url in self._ready:
                    self._ready.remove(url)
            if is_ready:
                self._looked.set()

    def _connect(self) -> socket.socket | None:
        self._looked.wait(60)
        with self._guard:
            self._turn += 1
            ready = [self._ready[(self._turn + at) % len(self._ready)] for at in range(len(self._ready))]
        for url in [*ready, *self._urls]:
            host, port = url.removeprefix("http://").split(":")
            with suppress(OSError):
                return socket.create_connection((host, int(port)), timeout=None)
        return None


def _is_ready(url: str) -> bool:
    """Ask a server; a client of httpx would take longer to make than all the rest."""
    connection = HTTPConnection(url.removeprefix("http://"), timeout=10)
    try:
        connection.request("GET", "/health/ready")
        return connection.getresponse().status == HTTPStatus.OK
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


@contextmanager
def balanced(*urls: str) -> Iterator[Balancer]:
    """Run a proxy before servers."""
    balancer = Balancer(urls)
    try:
        yield balancer
    finally:
        balancer.close()


@contextmanager
def cuttable(cluster: Path) -> Iterator[Forwarder]:
    """Run a proxy before the PostgreSQL whose socket is in a folder."""

    def connect() -> socket.socket | None:
        server = socket.socket(socket.AF_UNIX)
        with suppress(OSError):
            server.connect(str(cluster / ".s.PGSQL.5432"))
            return server
        server.close()
        return None

    with _forwarding(connect) as forwarder:
        yield forwarder


@contextmanager
def cuttable_port(port: int) -> Iterator[Forwarder]:
    """Run a proxy before what listens on a port of 127.0.0.1."""

    def connect() -> socket.socket | None:
        with suppress(OSError):
            return socket.create_connection(("127.0.0.1", port))
        return None

    with _forwarding(connect) as forwarder:
        yield forwarder


@contextmanager
def _forwarding(connect: Connect) -> Iterator[Forwarder]:
    forwarder = Forwarder(connect)
    try:
        yield forwarder
    finally:
        forwarder.close()
