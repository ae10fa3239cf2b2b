"""A client that follows the event feed through every fault, from its last token on, and holds it against its rules."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from typing import Any

import httpx

from bench.stage import CONTEST

PARENTS = {"judgements": ("submissions", "submission_id"), "runs": ("judgements", "judgement_id")}
IN_ORDER = ("submissions", "judgements", "runs")
"""Endpoints whose objects the feed has too, each kind after the one it refers to."""


@dataclass
class Folded:
    """What a client knows after some events, by kind and id; `faults` are events before what they refer to."""

    objects: dict[str, dict[str, Any]] = field(default_factory=lambda: {kind: {} for kind in IN_ORDER})
    faults: list[str] = field(default_factory=list)

    def take(self, event: dict[str, Any]) -> None:
        """Know what an event tells."""
        kind, data = event["type"], event["data"]
        if kind not in self.objects:
            return
        if data is None:
            self.objects[kind].pop(event["id"], None)
            return
        if kind in PARENTS:
            of, key = PARENTS[kind]
            if data[key] not in self.objects[of]:
                self.faults.append(f"{kind} {data['id']} was told before its {of[:-1]}")
        self.objects[kind][data["id"]] = data


class Follower:
    """Reads the feed in a thread of its own until it is stopped; connects again behind the last token it has."""

    def __init__(self, url: str, token: str) -> None:
        self.folded = Folded()
        self.times: list[float] = []
        self._url = f"{url}/api/contests/{CONTEST}/event-feed"
        self._headers = {"Authorization": f"Bearer {token}"}
        self._last: str | None = None
        self._seen: set[str] = set()
        self._ended = threading.Event()
        self._guard = threading.Lock()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Read no more."""
        self._ended.set()

    def knows(self, expected: dict[str, dict[str, Any]]) -> bool:
        """Is what it knows now what the endpoints show?"""
        with self._guard:
            return self.folded.objects == expected

    def silence(self, since: float) -> float:
        """Seconds from a moment (monotonic) to the first event after it; what has passed where there is none."""
        return next((at for at in list(self.times) if at >= since), time.monotonic()) - since

    def _run(self) -> None:
        while not self._ended.is_set():
            since = {} if self._last is None else {"since_token": self._last}
            try:
                with httpx.stream("GET", self._url, params=since, headers=self._headers, timeout=5) as reply:
                    if reply.status_code == 400:
                        self.folded.faults.append(f"the feed does not know its own token {self._last}")
                        return
                    if reply.status_code == 200:
                        for line in reply.iter_lines():
                            self._take(line)
            except httpx.TransportError:
                pass  # a server that is killed; keep-alives come more seldom than the timeout too
            self._ended.wait(0.1)

    def _take(self, line: str) -> None:
        if not line:
            return
        event = json.loads(line)
        with self._guard:
            self.times.append(time.monotonic())
            self.folded.take(event)
            if (token := event.get("token")) is not None:
                if token in self._seen:
                    self.folded.faults.append(f"the feed told the event of token {token} twice")
                self._seen.add(token)
                self._last = token
