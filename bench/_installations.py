"""The installations that are measured: SQLite, PostgreSQL, and servers with workers, PostgreSQL and RabbitMQ."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench._postgres import durable_postgres
from bench.growth import wait_until_ready
from bench.stage import serving, working
from tests.rabbitmq import own_broker

SQLITE, POSTGRESQL, DISTRIBUTED = KINDS = ("sqlite", "postgresql", "distributed")
FEW = {"graders": "1"}
"""A server that has workers judges nothing itself; it has a grader for what a request waits for."""


@dataclass
class Installation:
    """A home, a database (empty: SQLite at home) and what gives unused addresses of a broker (None: no workers)."""

    kind: str
    home: Path
    database_url: str = ""
    unused_broker: Callable[[], str] | None = None
    graders: int = field(default_factory=lambda: max(1, (os.cpu_count() or 2) - 1))

    @contextmanager
    def running(self, *, servers: int = 1, workers: int = 1, **settings: str) -> Iterator[list[str]]:
        """Run servers, and workers where it has them, with graders; yields the addresses once all are ready."""
        common = {"database_url": self.database_url, **settings}
        judging = {"graders": str(self.graders)}
        with ExitStack() as stack:
            if self.unused_broker is None:
                own = {**common, **judging}
            else:
                common["broker_url"] = self.unused_broker()
                own = {**common, **FEW}
            urls = [stack.enter_context(serving(self.home, **own)) for _ in range(servers)]
            for url in urls:
                wait_until_ready(url)
            for _ in range(workers if self.unused_broker is not None else 0):
                stack.enter_context(working(self.home, **common, **judging))
            yield urls


@contextmanager
def installation(kind: str) -> Iterator[Installation]:
    """An empty one, with a PostgreSQL that waits for its disk and a RabbitMQ of its own where it has them."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="jurado-bench-")))
        database_url = "" if kind == SQLITE else stack.enter_context(durable_postgres())
        broker = stack.enter_context(own_broker(folder)) if kind == DISTRIBUTED else None
        yield Installation(kind, folder / "home", database_url, broker)
