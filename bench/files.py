"""Files a second that a local folder and S3 (moto) keep and give, and answers of 200 KB accepted on both.

Shares are of the local folder. moto is a stand-in in Python: its own time bounds what S3 shows here.
"""

from __future__ import annotations

import random
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from app.core.files.files import Files
from app.core.files.open_files import open_files
from app.core.settings import Settings
from bench.stage import CONTEST, prepare, serving
from tests import s3

SIZES = (2_000, 200_000)
THREADS = 8
SECONDS = 4.0
LARGE = 200_000


def main() -> int:
    """Measure both stores in turn, and print a table."""
    with tempfile.TemporaryDirectory() as name, s3.own_server() as started:
        folder, port = Path(name), started()
        urls = {"local": f"file://{folder}/local", "S3": s3.address(port, s3.new_bucket(port))}
        stores = {where: open_files(Settings(home=folder / where, files_url=url)) for where, url in urls.items()}
        print(f"{'':<34}{'local':>10}{'S3':>10}{'share':>8}")
        for size in SIZES:
            names = {where: keep_for_a_while(store, size) for where, store in stores.items()}
            show(f"keep, {size} bytes", {where: len(each) / SECONDS for where, each in names.items()})
            show(f"give, {size} bytes", {where: read_all(stores[where], each) for where, each in names.items()})
            forget_copies(folder)
            show(f"fetch, {size} bytes", {where: read_all(stores[where], each) for where, each in names.items()})
        accepted = {where: accept_for_a_while(folder / f"served-{where}", url) for where, url in urls.items()}
        show(f"accept, answers of {LARGE} bytes", accepted)
    print(f"a second, {THREADS} threads; 'give' reads the copies on this machine, 'fetch' the store")
    return 0


def keep_for_a_while(store: Files, size: int) -> list[str]:
    """Keep files with digits, as answers have; returns the names of those that were kept in time."""
    names: list[str] = []

    def keep(rng: random.Random) -> None:
        names.append(store.keep(digits(rng, size)))

    for_a_while(keep)
    return names


def read_all(store: Files, names: list[str]) -> float:
    """Read files once; returns how many a second."""
    began = time.perf_counter()
    with ThreadPoolExecutor(THREADS) as pool:
        for _ in pool.map(store.load, names):
            pass
    return len(names) / (time.perf_counter() - began)


def forget_copies(folder: Path) -> None:
    """Empty the caches."""
    for path in folder.glob("*/cache/**/*.zst"):
        path.unlink()


def accept_for_a_while(home: Path, url: str) -> float:
    """Submit answers that lie in files, no two of them equal; returns how many a second were acknowledged."""
    token = prepare(home)[0]
    remote, accepted = open_files(Settings(home=home, files_url=url)), list[int]()
    here = open_files(Settings(home=home))
    for each in here.stored():
        with here.opened(each.sha256) as packed:
            remote.keep_packed(each.sha256, packed)
    with serving(home, files_url=url) as address:
        clients = threading.local()

        def submit(rng: random.Random) -> None:
            if not hasattr(clients, "http"):
                clients.http = httpx.Client(base_url=address, timeout=60, headers={"Authorization": f"Bearer {token}"})
            files = [("files", ("101-n05-p70.out", digits(rng, LARGE)))]
            reply = clients.http.post(
                f"/api/contests/{CONTEST}/submissions", data={"problem_id": "comesolo"}, files=files
            )
            if reply.status_code != 201:
                raise RuntimeError(f"expected 201, found {reply.status_code}: {reply.text[:200]}")
            accepted.append(1)

        for_a_while(submit)
    return len(accepted) / SECONDS


def for_a_while(step: Callable[[random.Random], None]) -> None:
    """Let threads repeat a step until the time is up."""
    until = time.monotonic() + SECONDS

    def repeat(seed: float) -> None:
        rng = random.Random(seed)
        while time.monotonic() < until:
            step(rng)

    with ThreadPoolExecutor(THREADS) as pool:
        for each in [pool.submit(repeat, time.time_ns() + at) for at in range(THREADS)]:
            each.result()


def digits(rng: random.Random, size: int) -> bytes:
    """Random digits: they compress as answers do."""
    return rng.randbytes(size // 2).hex().encode()


def show(what: str, rates: dict[str, float]) -> None:
    """Print a line."""
    print(f"{what:<34}{rates['local']:10.0f}{rates['S3']:10.0f}{rates['S3'] / rates['local']:8.2f}", flush=True)
