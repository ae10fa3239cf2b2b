"""Traces, logs and counts of a process.

Traces with OpenTelemetry: without a provider, of the extra `jurado[otel]`, spans are empty. A request is a span, and
what it does for a submission continues in other threads and processes: the judgement's row has the trace's context,
a `traceparent` of W3C.

- Logs on stderr, from structlog and from libraries that use logging alike: JSON lines, or colours on a terminal.
- Counts of this process for Prometheus; the database is counted on request (`app.operations.service.counts`).
"""

import logging
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from importlib.metadata import version
from random import getrandbits

import structlog
from opentelemetry.context import Context
from opentelemetry.trace import NoOpTracerProvider, SpanKind, StatusCode, TracerProvider, get_current_span
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from prometheus_client import CollectorRegistry, Counter, Histogram
from structlog.contextvars import get_contextvars

MISSING = "traces need OpenTelemetry: install jurado[otel], such as `pip install 'jurado[otel]'`"
PARENT = "traceparent"
Attribute = str | int | float | bool
# Names the route and the status of a request's span.
EndOfRequest = Callable[[str, int], object]


class TracingMissing(Exception):
    """The libraries of traces are not installed; the message says what to install."""


def start(service: str) -> Callable[[], object]:
    """Send traces from now on, as the variables OTEL_... of the environment say; raises TracingMissing.

    Returns the function that sends what is left at the end.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk import trace
        from opentelemetry.sdk.resources import OTELResourceDetector, Resource
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        raise TracingMissing(MISSING) from None
    named = Resource.create({"service.name": service, "service.version": version("jurado")})
    provider = trace.TracerProvider(resource=named.merge(OTELResourceDetector().detect()))  # OTEL_SERVICE_NAME wins
    # Sent in batches by a thread of the library: a collector that is away delays no request.
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    use(provider)
    return provider.shutdown


def use(provider: TracerProvider) -> None:
    """Make the spans of this process by a provider."""
    global _tracer  # noqa: PLW0603 - one of the process
    _tracer = provider.get_tracer("jurado", version("jurado"))


_tracer = NoOpTracerProvider().get_tracer("jurado")


@contextmanager
def span(name: str, carried: str = "", **attributes: Attribute) -> Iterator[None]:
    """Make a span while the block runs, below the span of this thread or task, or below the one that was `carried`.

    It has the attributes, and the facts that lines of the log have here, such as `request_id`.
    """
    with _tracer.start_as_current_span(name, _context_of(carried), attributes=_named({**_logged(), **attributes})):
        yield


@contextmanager
def request_span(method: str, headers: Sequence[tuple[bytes, bytes]]) -> Iterator[EndOfRequest]:
    """Make the span of a request, below the one of its client or proxy; yields what names its route and its status."""
    sent = next((value.decode("latin-1") for name, value in headers if name == PARENT.encode()), "")
    with _tracer.start_as_current_span(method, _context_of(sent), SpanKind.SERVER, _named(_logged())) as made:

        def end(route: str, status: int) -> None:
            made.update_name(f"{method} {route}")
            made.set_attributes(
                {"http.request.method": method, "http.route": route, "http.response.status_code": status}
            )
            if status >= 500:
                made.set_status(StatusCode.ERROR)

        yield end


def past_span(name: str, began: datetime) -> None:
    """Make a span that began at a moment and ends now, below the span of this thread."""
    _tracer.start_span(name, start_time=int(began.timestamp() * 1e9)).end()


def tell(**attributes: Attribute) -> None:
    """Add attributes to the span of this thread or task."""
    get_current_span().set_attributes(_named(attributes))


def carried() -> str:
    """The context of the span of this thread or task, to carry it elsewhere; empty without one."""
    carrier: dict[str, str] = {}
    TraceContextTextMapPropagator().inject(carrier)
    return carrier.get(PARENT, "")


def _context_of(parent: str) -> Context | None:
    return TraceContextTextMapPropagator().extract({PARENT: parent}) if parent else None


def _named(attributes: Mapping[str, Attribute]) -> dict[str, Attribute]:
    return {f"jurado.{name}": value for name, value in attributes.items()}


def _logged() -> dict[str, Attribute]:
    """The facts that every line of the log has here, such as `request_id` and `submission_id`."""
    return {name: value for name, value in get_contextvars().items() if isinstance(value, str | int | float | bool)}


REQUEST_ID = re.compile(r"[A-Za-z0-9._~+/=:@-]{1,128}")
SHARED: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
# Signs that steer a terminal, in words; JSON writes them so by itself.
CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}
# Tracebacks without the values of variables: these may be secrets, and take seconds to write.
ON_A_TERMINAL = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)


def request_id_of(sent: bytes | None) -> str:
    """The id of a request: the one that its client or a proxy sent, if it may stand in a log, or a new one."""
    text = "" if sent is None else sent.decode("latin-1")
    return text if REQUEST_ID.fullmatch(text) else f"{getrandbits(64):016x}"


@contextmanager
def in_logs(**facts: object) -> Iterator[None]:
    """Have every line that is logged in the meantime tell these facts, such as `request_id` and `submission_id`.

    They go along into threads that are asked for by a coroutine, and are those of this one alone.
    """
    tokens = structlog.contextvars.bind_contextvars(**facts)
    try:
        yield
    finally:
        structlog.contextvars.reset_contextvars(**tokens)


def without_controls(_logger: object, _name: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Write what would steer a terminal in words: a path that anyone has asked for may clear its screen."""
    return {name: fact.translate(CONTROLS) if isinstance(fact, str) else fact for name, fact in event.items()}


def configure_logs(level: str = "auto") -> None:
    """Log to stderr: lines for people on a terminal, otherwise one JSON object a line.

    The level `auto` is info, and warning on a terminal, where startup messages would hide the address.
    """
    if level == "auto":
        level = "warning" if sys.stderr.isatty() else "info"
    if sys.stderr.isatty():
        rendering: list[structlog.typing.Processor] = [without_controls, ON_A_TERMINAL]
    else:
        rendering = [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *SHARED,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=SHARED,
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *rendering,
            ],
        )
    )
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    # Seven lines about plugins before the first that says anything.
    logging.getLogger("alembic.runtime.plugins").setLevel(logging.WARNING)
    # Each word of the broker's protocol in a line, and the whole address of each webhook that is called, which may be
    # its secret.
    for name in ("pika", "httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)


SECONDS = (0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The counters of one process, in a registry of their own so that many apps may live in one process.

    They are for whoever runs the service alone: how many were accepted tells what a frozen board hides, and how many
    requests there were to routes of rejudgings tells of those.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Histogram(
            "jurado_request_seconds",
            "time to answer a request",
            ("method", "route", "status"),
            buckets=SECONDS,
            registry=self.registry,
        )
        self.faults = Counter("jurado_errors", "requests that ended with a fault of ours", registry=self.registry)
        self.unavailable = Counter(
            "jurado_unavailable",
            "requests refused as the database, the files or the machine failed",
            registry=self.registry,
        )
        self.boards = Histogram(
            "jurado_board_seconds",
            "time to bring a contest's boards up to date",
            buckets=SECONDS,
            registry=self.registry,
        )
        self._commits = Histogram(
            "jurado_commit_seconds", "time of a commit of the writer", buckets=SECONDS, registry=self.registry
        )
        self._writes = Counter("jurado_writes", "writes in these commits", registry=self.registry)

    def committed(self, writes: int, seconds: float) -> None:
        """Count the writes of a commit, and observe its time."""
        self._commits.observe(seconds)
        self._writes.inc(writes)
