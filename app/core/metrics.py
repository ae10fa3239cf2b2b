"""Counts of this process for Prometheus; the database is counted on request (`app.operations.service.counts`)."""

from prometheus_client import CollectorRegistry, Counter, Histogram

SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The counters of one process, in a registry of their own so that many apps may live in one process.

    They are for whoever runs the service alone: how many were accepted tells what a frozen board hides, and how many
    requests there were to routes of rejudgings tells of those.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Histogram(
            "jurado_request_seconds",
            "time to answer a request",
            ("method", "route", "status"),
            buckets=SECONDS,
            registry=self.registry,
        )
        self._faults = Counter("jurado_errors", "requests that ended with a fault of ours", registry=self.registry)
        self._unavailable = Counter(
            "jurado_unavailable",
            "requests refused as the database, the files or the machine failed",
            registry=self.registry,
        )
        self._boards = Histogram(
            "jurado_board_seconds",
            "time to bring a contest's boards up to date",
            buckets=SECONDS,
            registry=self.registry,
        )
        self._commits = Histogram(
            "jurado_commit_seconds", "time of a commit of the writer", buckets=SECONDS, registry=self.registry
        )
        self._writes = Counter("jurado_writes", "writes in these commits", registry=self.registry)

    def answered(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request; `route` is the route's template, so that ids make no new series."""
        self._requests.labels(method, route, str(status)).observe(seconds)

    def failed(self) -> None:
        """Count a request that ended with a fault of the program, which is logged as `fault`.

        A status of 503 is none by itself: a server that is told to stop answers with it that it is not ready.
        """
        self._faults.inc()

    def could_not_serve(self) -> None:
        """Count a request that is refused because what the program needs has failed."""
        self._unavailable.inc()

    def read_board(self, seconds: float) -> None:
        """Observe the time that bringing a contest's boards up to date took."""
        self._boards.observe(seconds)

    def committed(self, writes: int, seconds: float) -> None:
        """Count the writes of a commit, and observe its time."""
        self._commits.observe(seconds)
        self._writes.inc(writes)
