"""Clients who submit random answers, and what was acknowledged to them."""

from __future__ import annotations

import random
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import httpx

from app.packages.catalog import bundled
from app.packages.zips import zip_bytes
from bench.stage import CONTEST
from tests.chaos.stage import PROBLEMS, TEAMS

CLIENTS = 8
NOTHING_KEPT = "nothing was kept"


@dataclass(frozen=True)
class Sent:
    """One acknowledged submission: its id, and what was sent for which case."""

    id: int
    team: str
    problem: str
    answers: dict[str, bytes]
    time: timedelta


@dataclass
class Load:
    """Submissions on their way. `keyed` ones carry an Idempotency-Key and are sent again until they are acknowledged.

    Others are sent once. `refused` counts those of which the server said that nothing was kept, `unsure` those of which
    it said that it does not know; `broken` connections that ended without a reply.
    """

    wanted: int
    keyed: bool = True
    sent: list[Sent] = field(default_factory=list)
    broken: int = 0
    refused: int = 0
    unsure: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def acknowledged(self) -> int:
        """How many submissions have been acknowledged."""
        return len(self.sent)


def random_answers(rng: random.Random, problem: str) -> dict[str, bytes]:
    """Some cases of a problem, each with the beginning of its reference play, and now and then a broken file."""
    answers = {}
    plays = bundled()[problem] / "submissions/accepted/reference"
    final = {path.stem for path in (bundled()[problem] / "data/secret/final").glob("*.in")}
    paths = [path for path in sorted(plays.rglob("*.out")) if path.stem not in final]
    for path in rng.sample(paths, rng.randint(1, min(5, len(paths)))):
        lines = path.read_text().split("\n")[1:-1]
        kept = lines[: rng.randint(0, len(lines))]
        broken = rng.random() < 0.1
        answers[path.stem] = "\n".join(["999999" if broken else str(len(kept)), *kept, ""]).encode()
    return answers


def under_load(load: Load, url: str, tokens: Sequence[str], meanwhile: Callable[[], None] = lambda: None) -> None:
    """Let clients submit until there are enough, while something happens; raises where one gives up."""
    threads = [threading.Thread(target=_client, args=(load, url, tokens, seed)) for seed in range(CLIENTS)]
    for thread in threads:
        thread.start()
    try:
        meanwhile()
    finally:
        for thread in threads:
            thread.join()
    assert load.acknowledged >= load.wanted, "a client gave up"


def wait_for(load: Load, share: float, seconds: float = 300) -> None:
    """Wait until this share of the submissions is acknowledged."""
    until = time.monotonic() + seconds
    while load.acknowledged < load.wanted * share:
        assert time.monotonic() < until, f"only {load.acknowledged} submissions were acknowledged"
        time.sleep(0.005)


def _client(load: Load, url: str, tokens: Sequence[str], seed: int) -> None:
    rng = random.Random(seed)
    with httpx.Client(base_url=url, timeout=60) as http:
        while load.acknowledged < load.wanted:
            at, problem = rng.randrange(TEAMS), rng.choice(PROBLEMS)
            answers = random_answers(rng, problem)
            reply = _deliver(load, http, tokens[at], problem, answers)
            if reply is None:
                continue
            hours, minutes, seconds = reply["contest_time"].split(":")
            when = timedelta(hours=int(hours), minutes=int(minutes), seconds=float(seconds))
            with load.lock:
                load.sent.append(Sent(int(reply["id"]), f"team{at + 1}", problem, answers, when))


def _deliver(
    load: Load, http: httpx.Client, token: str, problem: str, answers: dict[str, bytes]
) -> dict[str, Any] | None:
    """Post one submission, under a key until it is acknowledged; None where it is not."""
    packed = zip_bytes({f"{name}.out": data for name, data in answers.items()})
    headers = {"Authorization": f"Bearer {token}"}
    if load.keyed:
        headers["Idempotency-Key"] = uuid.uuid4().hex
    while True:
        try:
            reply = http.post(
                f"/api/contests/{CONTEST}/submissions",
                headers=headers,
                data={"problem_id": problem},
                files={"files": ("answers.zip", packed)},
            )
        except httpx.TransportError:
            load.broken += 1
            time.sleep(0.05)
            assert load.keyed, "a connection ended without a reply"
            continue
        if reply.status_code == 201:
            accepted: dict[str, Any] = reply.json()
            return accepted
        if reply.status_code not in {503, 507}:
            raise AssertionError(f"expected 201 or 503, found {reply.status_code}: {reply.text}")
        assert reply.headers["Retry-After"].isdecimal(), reply.text
        if NOTHING_KEPT in reply.text:
            load.refused += 1
        else:
            load.unsure += 1
        if not load.keyed:
            return None
        time.sleep(0.05)
