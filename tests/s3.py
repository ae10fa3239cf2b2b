"""An S3 server of the test run's own (moto), on a free port; each who asks gets a bucket of their own.

`python -m tests.s3 FOLDER` serves until the lock on FOLDER/alive is free: however the run ends, the server does, too.
"""

from __future__ import annotations

import fcntl
import logging
import os
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests import postgres

SECONDS_TO_START = 120
READY = "s3-port"
KEYS = "tests:secret"


def start(folder: Path) -> None:
    """Start the server in the background and wait until it answers; only one caller may do it."""
    log = folder / "s3.log"
    with log.open("w") as output:
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.s3", str(folder)],
            cwd=Path(__file__).resolve().parents[1],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is for the tests: the server ends after them
        )
    threading.Thread(target=server.wait, daemon=True).start()
    deadline = time.monotonic() + SECONDS_TO_START
    while not (folder / READY).exists():
        if server.returncode is not None or time.monotonic() > deadline:
            raise RuntimeError(f"the S3 server did not start:\n{log.read_text()}")
        time.sleep(0.05)


def port(folder: Path) -> int:
    """The port of the run's server."""
    return int((folder / READY).read_text())


def new_bucket(server_port: int) -> str:
    """Make a bucket; returns its name."""
    name = f"jurado-{uuid.uuid4().hex}"
    httpx.put(f"http://127.0.0.1:{server_port}/{name}", timeout=60).raise_for_status()
    return name


def address(server_port: int, bucket: str, prefix: str = "files") -> str:
    """The address of a store in a bucket behind a port, as settings have it."""
    return f"s3://{KEYS}@{bucket}/{prefix}?endpoint=http://127.0.0.1:{server_port}&region=us-east-1"


@contextmanager
def own_server() -> Iterator[Callable[[], int]]:
    """A server that ends with this process, started when it is first asked for; yields what gives its port."""
    with tempfile.TemporaryDirectory(prefix="jurado-s3-") as name:
        folder = Path(name)
        alive = postgres.hold(folder)

        def started() -> int:
            if not (folder / READY).exists():
                start(folder)
            return port(folder)

        try:
            yield started
        finally:
            os.close(alive)


def main() -> None:
    """Serve until the test run is over."""
    from moto.server import ThreadedMotoServer

    folder = Path(sys.argv[1])
    os.environ["MOTO_S3_DEFAULT_MAX_KEYS"] = "4"  # so that listings of a few objects have several pages
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer("127.0.0.1", 0)
    server.start()
    new_bucket(server.get_host_and_port()[1])  # the first request loads what the others need
    ready = folder / f"{READY}.new"
    ready.write_text(str(server.get_host_and_port()[1]))
    ready.rename(folder / READY)
    with (folder / "alive").open() as alive:
        fcntl.flock(alive, fcntl.LOCK_EX)


if __name__ == "__main__":
    main()
