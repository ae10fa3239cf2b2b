"""Logs on stderr, from structlog and from libraries that use logging alike: JSON lines, or colours on a terminal."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from random import getrandbits

import structlog

REQUEST_ID = re.compile(r"[A-Za-z0-9._~+/=:@-]{1,128}")
SHARED: list[structlog.typing.Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
CONTROLS = {code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}
"""Signs that steer a terminal, in words; JSON writes them so by itself."""
ON_A_TERMINAL = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
"""Tracebacks without the values of variables: these may be secrets, and take seconds to write."""


def request_id_of(sent: bytes | None) -> str:
    """The id of a request: the one that its client or a proxy sent, if it may stand in a log, or a new one."""
    text = "" if sent is None else sent.decode("latin-1")
    return text if REQUEST_ID.fullmatch(text) else f"{getrandbits(64):016x}"


@contextmanager
def in_logs(**facts: object) -> Iterator[None]:
    """Have every line that is logged meanwhile tell these facts, such as `request_id` and `submission_id`.

    They go along into threads that are asked for by a coroutine, and are those of this one alone.
    """
    tokens = structlog.contextvars.bind_contextvars(**facts)
    try:
        yield
    finally:
        structlog.contextvars.reset_contextvars(**tokens)


def without_controls(_logger: object, _name: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Write what would steer a terminal in words: a path that anybody has asked for may clear its screen."""
    return {name: fact.translate(CONTROLS) if isinstance(fact, str) else fact for name, fact in event.items()}


def configure_logs(level: str = "info") -> None:
    """Send everything at `level` and above to stderr, one JSON object a line unless somebody reads it there."""
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
    # Each message of a worker in two lines, each word of the broker's protocol in one, and the whole address of each
    # webhook that is called, which may be its secret.
    for name in ("dramatiq", "pika", "httpx", "httpcore"):
        logging.getLogger(name).setLevel(logging.WARNING)
