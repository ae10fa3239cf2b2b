"""Logs on stderr, from structlog and from libraries that use logging alike: JSON lines, or colours on a terminal."""

from __future__ import annotations

import logging
import sys

import structlog

SHARED: list[structlog.typing.Processor] = [
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]
ON_A_TERMINAL = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
"""Tracebacks without the values of variables: these may be secrets, and take seconds to write."""


def configure_logs(level: int = logging.INFO) -> None:
    """Send everything at `level` and above to stderr, one JSON object a line unless somebody reads it there."""
    if sys.stderr.isatty():
        rendering: list[structlog.typing.Processor] = [ON_A_TERMINAL]
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
    logging.basicConfig(handlers=[handler], level=level, force=True)
    # Seven lines about plugins before the first that says anything.
    logging.getLogger("alembic.runtime.plugins").setLevel(logging.WARNING)
