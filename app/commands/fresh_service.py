"""A throw-away service: a fresh home, a free port, a real process that ends with the one that started it."""

import os
import secrets
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from app.core.commands.output import Failure
from app.sandbox.child import WITH_PARENT, environment, module_command
from app.sandbox.model import AS_ROOT

SECONDS_TO_STOP = 15


@dataclass(frozen=True)
class Running:
    """A service that answers at `url`, and the password of its account admin."""

    url: str
    password: str


@contextmanager
def fresh_service(
    home: Path,
    settings: Mapping[str, str] | None = None,
    start: Callable[..., subprocess.Popen[str]] = subprocess.Popen,
    port: int = 0,
) -> Iterator[Running]:
    """Start `jurado serve` in an empty home; stop it on the way out. Its log is home/server.log.

    `settings` are further variables of its environment. `start` starts a process by the options of Popen. `port` is one
    of this machine's, 0 a free one.
    """
    password = secrets.token_urlsafe(16)
    # The settings of the person who runs it do not count; jurado.toml neither, as it is looked for in the home.
    # Whether programs of packages may run as root is about the person's machine.
    clean = {name: value for name, value in os.environ.items() if not name.startswith("JURADO_") or name == AS_ROOT}
    python = {name: value for name, value in environment().items() if name.startswith("PYTHON")}
    words = ("--host", "127.0.0.1", "--port", str(port), "--home", str(home / "var"))
    with (home / "server.log").open("w") as log:
        process = start(
            module_command("app.commands", WITH_PARENT, "serve", *words),
            cwd=home,
            env=clean | python | dict(settings or {}) | {"JURADO_ADMIN_PASSWORD": password},
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
        )
        try:
            yield Running(_address(process, home), password)
        finally:
            _stop(process)


def _address(process: subprocess.Popen[str], home: Path) -> str:
    """Read the line with the address; raises Failure with the end of the log if there is none."""
    assert process.stdout is not None
    words = process.stdout.readline().split()
    if words[:2] != ["Jurado", "serves"]:
        tail = "\n".join((home / "server.log").read_text().splitlines()[-5:])
        raise Failure(f"the service did not start:\n{tail}", 1)
    return words[2]


def _stop(process: subprocess.Popen[str]) -> None:
    """Ask the service to stop, and end it if it does not."""
    process.terminate()
    try:
        process.wait(SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
