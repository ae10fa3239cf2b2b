"""The server that a measurement has started, as a process of the machine."""

from __future__ import annotations

import psutil


def server_process() -> psutil.Process:
    """Find the process of the server that was started last."""
    return next(each for each in psutil.Process().children() if "serve" in each.cmdline())


def process_at(url: str) -> psutil.Process:
    """Find the process of the server that was started at an address, by its port."""
    port = url.rsplit(":", 1)[1]
    return next(each for each in psutil.Process().children() if port in each.cmdline())


def processor_seconds(server: psutil.Process) -> float:
    """The processor time that a server and its children have taken, those that have ended among them."""
    return sum(sum(each.cpu_times()[:4]) for each in (server, *server.children(recursive=True)))
