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
from ops.chaos.feed import Follower
from ops.chaos.stage import PATIENCE, PROBLEMS, TEAMS, Stage, wait_until

CLIENTS = 8
PAUSE = 0.1
SLOWLY = 2.0
LARGE = 70_000
"""Bytes of answers that lie in files, not in the database."""
NOTHING_KEPT = "nothing was kept"


@dataclass(frozen=True)
class Sent:
    """One acknowledged submission: its id, what was sent for which case, and when that began (monotonic)."""

    id: int
    team: str
    problem: str
    answers: dict[str, bytes]
    time: timedelta
    began: float


@dataclass
class Load:
    """Submissions on their way. `keyed` ones carry an Idempotency-Key and are sent again until they are acknowledged.

    Others are sent once. Until what happens in the meantime has `ended`, clients continue when there are enough, but
    slowly. `large` is the share of submissions whose answers lie in files. `refused` counts those of which the server
    said that nothing was kept, `unsure` those of which it said that it does not know; `broken` connections that ended
    without a reply. `times` are the moments of acknowledgement (monotonic), `follower` follows the feed.
    """

    wanted: int
    keyed: bool = True
    large: float = 0.0
    sent: list[Sent] = field(default_factory=list)
    times: list[float] = field(default_factory=list)
    ended: threading.Event = field(default_factory=threading.Event)
    broken: int = 0
    refused: int = 0
    unsure: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)
    follower: Follower | None = None

    @property
    def acknowledged(self) -> int:
        """How many submissions have been acknowledged."""
        return len(self.sent)

    def recovered(self) -> float:
        """Wait for the next acknowledgement; returns the seconds that it took."""
        since = time.monotonic()
        wait_until(lambda: self.times[-1:] > [since], "no submission was acknowledged after the fault")
        return next(at for at in self.times if at > since) - since

    def expect_refusals(self, count: int = CLIENTS) -> None:
        """Wait until so many submissions have been refused from now on."""
        before = self.refused + self.unsure
        wait_until(lambda: self.refused + self.unsure >= before + count, "no submission was refused")


def random_answers(rng: random.Random, problem: str, large: float = 0.0) -> dict[str, bytes]:
    """Some cases of a problem, each with the beginning of its reference play, and now and then a broken file.

    For a share of them, the one file is so large that it lies in a file: it is rejected, whatever it begins with.
    """
    answers = {}
    plays = bundled()[problem] / "submissions/accepted/reference"
    final = {path.stem for path in (bundled()[problem] / "data/secret/final").glob("*.in")}
    paths = [path for path in sorted(plays.rglob("*.out")) if path.stem not in final]
    if rng.random() < large:
        return {rng.choice(paths).stem: rng.randbytes(LARGE // 2).hex().encode()}
    for path in rng.sample(paths, rng.randint(1, min(5, len(paths)))):
        lines = path.read_text().split("\n")[1:-1]
        shown = lines[: rng.randint(0, len(lines))]
        broken = rng.random() < 0.1
        answers[path.stem] = "\n".join(["999999" if broken else str(len(shown)), *shown, ""]).encode()
    return answers


def under_load(load: Load, setting: Stage, url: str, meanwhile: Callable[[], None] = lambda: None) -> None:
    """Let clients submit until there are enough and what happens in the meantime is over; raises where one gives up."""
    load.ended.clear()
    if load.follower is None:
        load.follower = Follower(url, setting.admin)
        setting.followers.append(
            load.follower
        )  # it follows to the end: after an audit more may happen, and another one
    threads = [threading.Thread(target=_client, args=(load, url, setting.tokens, seed)) for seed in range(CLIENTS)]
    for thread in threads:
        thread.start()
    try:
        meanwhile()
    except BaseException:
        load.wanted = 0  # what has failed has failed
        raise
    finally:
        load.ended.set()
        for thread in threads:
            thread.join()
    assert load.acknowledged >= load.wanted, "a client gave up"


def wait_for(load: Load, share: float, seconds: float = PATIENCE) -> None:
    """Wait until this share of the submissions is acknowledged."""
    wait_until(lambda: load.acknowledged >= load.wanted * share, "too few submissions were acknowledged", seconds)


def _client(load: Load, url: str, tokens: Sequence[str], seed: int) -> None:
    rng = random.Random(seed)
    # Who sends once makes a connection for each request: one kept open may be closed while the next is on its way.
    limits = httpx.Limits(max_keepalive_connections=None if load.keyed else 0)
    with httpx.Client(base_url=url, timeout=60, limits=limits) as http:
        while load.acknowledged < load.wanted or not load.ended.is_set():
            if load.acknowledged >= load.wanted and load.ended.wait(SLOWLY):
                return
            at, problem = rng.randrange(TEAMS), rng.choice(PROBLEMS)
            answers = random_answers(rng, problem, load.large)
            began = time.monotonic()
            reply = _deliver(load, http, tokens[at], problem, answers)
            if reply is None:
                continue
            hours, minutes, seconds = reply["contest_time"].split(":")
            when = timedelta(hours=int(hours), minutes=int(minutes), seconds=float(seconds))
            with load.lock:
                load.sent.append(Sent(int(reply["id"]), f"team{at + 1}", problem, answers, when, began))
                load.times.append(time.monotonic())


def _deliver(
    load: Load, http: httpx.Client, token: str, problem: str, answers: dict[str, bytes]
) -> dict[str, Any] | None:
    """Post one submission, under a key until it is acknowledged; None where it is not."""
    packed = zip_bytes({f"{name}.out": data for name, data in answers.items()})
    headers = {"Authorization": f"Bearer {token}"}
    if load.keyed:
        headers["Idempotency-Key"] = uuid.uuid4().hex
    while load.wanted or not load.ended.is_set():
        try:
            reply = http.post(
                f"/api/contests/{CONTEST}/submissions",
                headers=headers,
                data={"problem_id": problem},
                files={"files": ("answers.zip", packed)},
            )
        except httpx.TransportError:
            load.broken += 1
            time.sleep(PAUSE)
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
        time.sleep(PAUSE)
    return None
