"""A proxy before PostgreSQL that cuts a connection at a COMMIT: before that arrives, or after it is done."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests import postgres

BEFORE, AFTER = "before", "after"
HEADER = 5
ENCRYPTIONS = frozenset({80877103, 80877104})


class Proxy:
    """Forwards a TCP port on 127.0.0.1 to the socket in a folder. `plan(statements)` decides at each COMMIT.

    It is given the statements of the transaction and says BEFORE (the COMMIT does not arrive), AFTER (it is done, and
    its reply is lost) or None. `cuts` counts. While `away` is set, no connection is taken.
    """

    def __init__(self, folder: Path) -> None:
        self._target = str(folder / ".s.PGSQL.5432")
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self.plan: Callable[[str], str | None] = lambda _statements: None
        self.away = threading.Event()
        self.cuts = 0
        self._clients: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, database: str) -> str:
        """The address of a database behind the proxy."""
        return f"postgresql+psycopg://{postgres.USER}@127.0.0.1:{self.port}/{database}"

    def cut_once(self, where: str, having: str, *, stay_away: bool = False) -> None:
        """Cut at the next COMMIT of a transaction that has this text in a statement."""

        def plan(statements: str) -> str | None:
            if having not in statements:
                return None
            self.plan = lambda _statements: None
            if stay_away:
                self.away.set()
            return where

        self.plan = plan

    def cut_all(self) -> None:
        """Cut every connection there is."""
        for each in self._clients:
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._clients.clear()

    def lead_to(self, folder: Path) -> None:
        """Forward to the socket in another folder from now on, and end all connections."""
        self._target = str(folder / ".s.PGSQL.5432")
        self.cut_all()

    def close(self) -> None:
        """Take no connection any longer."""
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._listening.accept()
                if self.away.is_set():
                    client.close()
                else:
                    threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, socket.socket(socket.AF_UNIX) as server, suppress(OSError):
            server.connect(self._target)
            self._clients.append(client)
            muted = threading.Event()
            ready = threading.Event()
            threading.Thread(target=self._reply, args=(server, client, muted, ready), daemon=True).start()
            self._ask(client, server, muted, ready)
            for each in (client, server):
                each.shutdown(socket.SHUT_RDWR)

    def _ask(
        self, client: socket.socket, server: socket.socket, muted: threading.Event, ready: threading.Event
    ) -> None:
        """Forward what the client says, message by message; ends at a cut."""
        names: dict[str, str] = {}
        statements = ""
        server.sendall(_first_message(client))
        while True:
            head = _exactly(client, HEADER)
            body = _exactly(client, struct.unpack("!I", head[1:])[0] - 4)
            kind, texts = head[:1], body.split(b"\0")
            if kind == b"P":
                names[texts[0].decode()] = texts[1].decode()
                statements += texts[1].decode()
            elif kind == b"B":
                statements += names.get(texts[1].decode(), "")
            elif kind == b"Q" and texts[0].startswith(b"BEGIN"):
                statements = ""
            elif kind == b"Q" and texts[0] == b"COMMIT" and (where := self.plan(statements)) is not None:
                if where == AFTER:
                    muted.set()
                    server.sendall(head + body)
                    ready.wait(30)
                self.cuts += 1
                return
            server.sendall(head + body)

    def _reply(
        self, server: socket.socket, client: socket.socket, muted: threading.Event, ready: threading.Event
    ) -> None:
        with suppress(OSError):
            while data := server.recv(65536):
                if muted.is_set():
                    ready.set()
                else:
                    client.sendall(data)
            client.shutdown(socket.SHUT_RDWR)


def _first_message(client: socket.socket) -> bytes:
    """What opens a session, which has no type; encryption, asked for before it, is declined."""
    while True:
        head = _exactly(client, 4)
        body = _exactly(client, struct.unpack("!I", head)[0] - 4)
        if struct.unpack("!I", body[:4])[0] not in ENCRYPTIONS:
            return head + body
        client.sendall(b"N")


def _exactly(source: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        more = source.recv(count - len(data))
        if not more:
            raise ConnectionResetError
        data += more
    return data


@contextmanager
def proxied(folder: Path) -> Iterator[Proxy]:
    """Run a proxy before the server in a folder."""
    proxy = Proxy(folder)
    try:
        yield proxy
    finally:
        proxy.close()
