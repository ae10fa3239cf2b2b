"""`jurado` that is told to stop while it starts: python -m tests.builders.stopped_early before|within serve ...

It gets SIGTERM just before its server begins, or when that has begun and answers no one yet.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import uvicorn

from app.commands.main import main


def stopped(name: str) -> None:
    """Let a method of the server begin with the signal."""
    method = getattr(uvicorn.Server, name)

    def with_signal(*given: Any, **named: Any) -> Any:
        os.kill(os.getpid(), signal.SIGTERM)
        return method(*given, **named)

    setattr(uvicorn.Server, name, with_signal)


if __name__ == "__main__":
    stopped({"before": "run", "within": "startup"}[sys.argv.pop(1)])
    main()
