"""Server-sent events: a stream that is resumed whenever it breaks off."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from jurado_client.connection import Connection

SECONDS_BETWEEN_STREAMS = 1.0
NO_STREAM = (404, 405, 406)
EVENT_STREAM = "text/event-stream"


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One server-sent event."""

    name: str
    data: str
    id: str

    def json(self) -> Any:
        """Read its data as JSON."""
        return json.loads(self.data)


def server_events(connection: Connection, path: str) -> Iterator[ServerEvent]:
    """Yield the events of a stream below /api, resumed after the last one; none if the server has no such stream."""
    last = ""
    while True:
        headers = {"Accept": EVENT_STREAM, **({"Last-Event-ID": last} if last else {})}
        with connection.stream(f"/api/{path}", headers=headers, accept=NO_STREAM) as lines:
            if lines is None:
                return
            for event in events_of(lines):
                last = event.id or last
                yield event
        time.sleep(SECONDS_BETWEEN_STREAMS)


def events_of(lines: Iterable[str]) -> Iterator[ServerEvent]:
    """Read server-sent events, as the HTML standard defines them; comments and unknown fields are skipped."""
    name, id_ = "message", ""
    data: list[str] = []
    for line in lines:
        if not line:
            if data:
                yield ServerEvent(name, "\n".join(data), id_)
            name, data = "message", []
            continue
        key, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if key == "event":
            name = value
        elif key == "data":
            data.append(value)
        elif key == "id":
            id_ = value
