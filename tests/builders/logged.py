"""What is logged in the meantime, as `jurado serve` writes it."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from unittest.mock import patch

import structlog

from app.core.telemetry import configure_logs

Stream = TypeVar("Stream", bound=io.StringIO)


@contextmanager
def logged(shown: Stream, level: str = "info") -> Iterator[Stream]:
    """Logs as `jurado serve` configures them, with `shown` as its standard error; afterwards as they were.

    structlog's own `capture_logs` sees nothing of a logger that was used under an earlier configuration: it keeps that.
    """
    configured, before = structlog.get_config(), logging.root.level
    with patch.object(logging.root, "handlers", []), patch.object(sys, "stderr", shown):
        configure_logs(level)
        try:
            yield shown
        finally:
            structlog.configure(**configured)
            logging.root.setLevel(before)


def lines_of(log: io.StringIO) -> list[dict[str, Any]]:
    """The lines of a log that went to no terminal."""
    return [json.loads(line) for line in log.getvalue().splitlines()]
