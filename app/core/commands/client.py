"""The HTTP client of every command that talks to a server: the client library's connection, with clear errors."""

from typing import Never, Self

import httpx
from jurado_client import connection
from jurado_client.connection import Connection, Param, Refused

from app.core.commands import config, progress
from app.core.commands.output import Failure, Json

OTHER_SERVER = "the server answered otherwise than a Jurado server of this version"


class Reply(dict[str, Json]):
    """An object of a reply; raises Failure for a key that it lacks, as of a server of another version."""

    def __missing__(self, key: str) -> Never:
        raise Failure(f"{OTHER_SERVER}: {key}: field required", 1)


class Client(Connection):
    """Talks to one server as one account; requests that fail raise Failure (exit code 1)."""

    hook = Reply

    def __init__(
        self,
        login: config.Login,
        *,
        auth: tuple[str, str] | None = None,
        transport: httpx.BaseTransport | None = None,
        first_pause: float = connection.FIRST_PAUSE,
    ) -> None:
        super().__init__(login.url, login.token, auth=auth, transport=transport, first_pause=first_pause)
        self.username = login.username

    @classmethod
    def open(cls, url: str | None = None) -> Self:
        """Open a client for the server in use."""
        return cls(config.current_login(url))

    def refused(self, refusal_: Refused) -> Exception:
        """Return the failure of a refusal."""
        return Failure(refusal(refusal_), 1)

    def unreachable(self, reason: str) -> Exception:
        """Return the failure of a server that does not answer as it should."""
        return Failure(f"{self.url} {reason}", 1)

    def get(self, path: str, **params: Param) -> Reply:
        """Read an object below /api; parameters that are None are left out."""
        if isinstance(document := self.body(self.request("GET", f"/api/{path}", params=params)), Reply):
            return document
        raise Failure(f"{OTHER_SERVER}: {path}: expected an object, found {document!r}", 1)

    def rows(self, path: str, **params: Param) -> list[Reply]:
        """Read a list of objects below /api; parameters that are None are left out."""
        document = self.body(self.request("GET", f"/api/{path}", params=params))
        if isinstance(document, list) and all(isinstance(each, Reply) for each in document):
            return document
        raise Failure(f"{OTHER_SERVER}: {path}: expected a list of objects, found {document!r}", 1)


def refusal(refused: Refused) -> str:
    """Say why the server refused: its own words, and every fault if it lists several."""
    lines = [refused.message]
    if len(refused.errors) > 1:
        lines += [f"  {fault_text(fault) if isinstance(fault, dict) else fault}" for fault in refused.errors]
    hint = " (jurado login URL USER)" if refused.status == 401 else ""
    return "\n".join(lines) + hint


def fault_text(fault: Json) -> str:
    """Word one fault of a list."""
    if fault.get("severity") in progress.SEVERITIES:
        return progress.fault_line(progress.NO_FOLDER, fault)
    place = ", ".join(str(fault[key]) for key in ("file", "where") if fault.get(key))
    if "message" in fault or "text" in fault:
        return f"{place}: {fault.get('message') or fault.get('text')}" if place else str(fault.get("message"))
    return f"{place}: expected {fault.get('expected')}, found {fault.get('found')}"
