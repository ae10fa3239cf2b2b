"""Server-sent events: a stream that is taken up again whenever it breaks off."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.core.commands.client import Client, Reply
from app.core.commands.output import Json

SECONDS_BETWEEN_STREAMS = 1.0
NO_STREAM = (404, 405, 406)
EVENT_STREAM = "text/event-stream"


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event."""

    name: str
    data: str
    id: str

    def json(self) -> Json:
        """Read its data as JSON."""
        return json.loads(self.data, object_hook=Reply)


def server_events(client: Client, path: str) -> Iterator[Event]:
    """Yield the events of a stream, taken up again after the last one whenever it breaks off; none without a stream."""
    last = ""
    while True:
        headers = {"Accept": EVENT_STREAM, **({"Last-Event-ID": last} if last else {})}
        with client.stream(f"/api/{path}", headers=headers, accept=NO_STREAM) as lines:
            if lines is None:
                return
            for event in events(lines):
                last = event.id or last
                yield event
        time.sleep(SECONDS_BETWEEN_STREAMS)


def events(lines: Iterable[str]) -> Iterator[Event]:
    """Read server-sent events, as the HTML standard has them; comments and unknown fields are skipped."""
    name, id_ = "message", ""
    data: list[str] = []
    for line in lines:
        if not line:
            if data:
                yield Event(name, "\n".join(data), id_)
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
