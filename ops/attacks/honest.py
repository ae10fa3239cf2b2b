"""What honest people feel while someone attacks: a submission each fifth of a second, and a monitor's question."""

from __future__ import annotations

import asyncio
import json
import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx

from ops.attacks.stage import ANSWER, CONTEST, Stage

SUBMISSIONS_A_SECOND = 5
SECONDS_TO_WAIT = 60.0
SECONDS_BETWEEN_QUESTIONS = 0.05


@dataclass
class Felt:
    """Latencies in seconds of acceptances, verdicts and `/health/live`; and what went wrong."""

    accepted: list[float] = field(default_factory=list)
    verdicts: list[float] = field(default_factory=list)
    alive: list[float] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def p99(self, latencies: list[float]) -> float:
        """The latency that 99 of 100 did not pass; not a number where there are none."""
        ordered = sorted(latencies)
        return ordered[math.ceil(0.99 * len(ordered)) - 1] if ordered else math.nan


@contextmanager
def honest_people(stage: Stage, teams: range = range(5, 10)) -> Iterator[Felt]:
    """Some teams submit, and a monitor asks, in a thread of its own until the block ends; then replies are awaited."""
    felt, stop = Felt(), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(_everybody(stage, teams, felt, stop)), daemon=True)
    thread.start()
    try:
        yield felt
    finally:
        stop.set()
        thread.join(timeout=2 * SECONDS_TO_WAIT)


async def _everybody(stage: Stage, teams: range, felt: Felt, stop: threading.Event) -> None:
    limits = httpx.Limits(max_connections=200, max_keepalive_connections=50)
    async with httpx.AsyncClient(base_url=stage.url, timeout=SECONDS_TO_WAIT, limits=limits) as http:
        monitor = asyncio.create_task(_monitor(http, felt, stop))
        sent = []
        at = 0
        while not stop.is_set():
            sent.append(asyncio.create_task(_submit(http, stage.teams[teams[at % len(teams)]], felt)))
            at += 1
            await asyncio.sleep(1 / SUBMISSIONS_A_SECOND)
        await asyncio.gather(monitor, *sent)


async def _monitor(http: httpx.AsyncClient, felt: Felt, stop: threading.Event) -> None:
    while not stop.is_set():
        began = time.perf_counter()
        try:
            reply = await http.get("/health/live")
        except httpx.TransportError as error:
            felt.faults.append(f"/health/live: {type(error).__name__}")
        else:
            if reply.status_code != httpx.codes.OK:
                felt.faults.append(f"/health/live: {reply.status_code}")
        felt.alive.append(time.perf_counter() - began)
        await asyncio.sleep(SECONDS_BETWEEN_QUESTIONS)


async def _submit(http: httpx.AsyncClient, team: tuple[str, str], felt: Felt) -> None:
    began = time.perf_counter()
    path = f"/api/contests/{CONTEST}/submissions"
    try:
        form: dict[str, Any] = {"data": {"problem_id": "comesolo"}, "files": {"files": ("101-n05-p70.out", ANSWER)}}
        reply = await http.post(path, auth=team, **form)
        felt.accepted.append(time.perf_counter() - began)
        if reply.status_code != httpx.codes.CREATED:
            felt.faults.append(f"submission: {reply.status_code} {reply.text[:80]}")
            return
        await _verdict(http, team, json.loads(reply.content)["id"])
        felt.verdicts.append(time.perf_counter() - began)
    except httpx.TransportError as error:
        felt.accepted.append(time.perf_counter() - began)
        felt.faults.append(f"submission: {type(error).__name__}")


async def _verdict(http: httpx.AsyncClient, team: tuple[str, str], submission: str) -> None:
    question = f"/api/contests/{CONTEST}/judgements?submission_id={submission}"
    while True:
        reply = await http.get(question, auth=team)
        if reply.is_success and any(each["end_time"] for each in json.loads(reply.content)):
            return
        await asyncio.sleep(SECONDS_BETWEEN_QUESTIONS)
