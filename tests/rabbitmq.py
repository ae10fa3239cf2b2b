"""A RabbitMQ server of the test run's own: in a temporary folder, on free ports, with a name server of its own.

`python tests/rabbitmq.py FOLDER` is its keeper: it runs the server in FOLDER/rabbitmq and stops it as soon as the lock
on FOLDER/alive is free, however the run ends. Each test takes a virtual host, so that none sees messages of others.
"""

from __future__ import annotations

import fcntl
import itertools
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

VIRTUAL_HOSTS = 60
SECONDS_TO_START = 120
PLACE = "rabbitmq"
SERVER_PORTS = range(20_000, 32_000)
"""Below those of clients (32768 and above on Linux)."""
CONFIG = """\
listeners.tcp.1 = 127.0.0.1:{port}
loopback_users = none
log.console = true
log.file = false
load_definitions = {definitions}
disk_free_limit.absolute = 50MB
"""


def program() -> Path:
    """Find RabbitMQ's own start script: Debian's wrapper of it changes the user."""
    scripts = sorted(Path("/usr/lib/rabbitmq/lib").glob("rabbitmq_server-*/sbin/rabbitmq-server"))
    if not scripts:
        raise FileNotFoundError("RabbitMQ is missing: sh scripts/test_needs.sh")
    return scripts[-1]


def free_port() -> int:
    """A port that no one listens on now, that the system gives to no client, and that this gives to no one else.

    Else, while the server is killed, one of those who try to reach it may be given its port, and it cannot start again.
    A name that the kernel keeps as long as this process lives claims the port, also before anyone listens on it.
    """
    while True:
        port = random.choice(SERVER_PORTS)
        with socket.socket(socket.AF_UNIX) as claim, suppress(OSError):
            claim.bind(f"\0jurado-port-{port}")
            with socket.create_server(("127.0.0.1", port)):
                claim.detach()  # open to the end of this process
                return port


class RabbitMQ:
    """A RabbitMQ server in a folder: started, killed, started again with what it had, or without."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port, self._distribution, self._names = free_port(), free_port(), free_port()
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "plugins").write_text("[].\n")
        (folder / "definitions.json").write_text(json.dumps(_definitions()))
        config = CONFIG.format(port=self.port, definitions=folder / "definitions.json")
        (folder / "rabbitmq.conf").write_text(config)

    def url(self, virtual_host: int = 0) -> str:
        """The address of one of its virtual hosts."""
        return f"amqp://jurado:jurado@127.0.0.1:{self.port}/test{virtual_host}"

    def start(self) -> None:
        """Start it, and wait until it takes connections."""
        log = self.folder / "log.txt"
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                ["sh", str(program())],
                env=self._environment(),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        deadline = time.monotonic() + SECONDS_TO_START
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"RabbitMQ did not start:\n{self.log()[-4000:]}")
            time.sleep(0.1)

    @property
    def status(self) -> int | None:
        """How it has ended, while no one killed it; None while it runs."""
        return None if self._process is None else self._process.poll()

    def log(self) -> str:
        """All that it has logged."""
        return (self.folder / "log.txt").read_text(errors="replace")

    def kill(self) -> None:
        """Kill it as a machine that loses power does, name server and all."""
        if self._process is None:
            return
        with suppress(psutil.NoSuchProcess):
            for each in psutil.Process(self._process.pid).children(recursive=True):
                _kill(each.pid)
        for each in self._name_servers():
            _kill(each.pid)
        _kill(self._process.pid)
        self._process.wait()
        self._process = None

    def lose(self) -> None:
        """Take away all that it has kept; it is to be killed before, and is empty when it starts again."""
        for path in sorted((self.folder / "mnesia").rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()

    def _name_servers(self) -> list[psutil.Process]:
        """The name server: a daemon, told by its port."""
        mark = ("ERL_EPMD_PORT", str(self._names))
        programs = psutil.process_iter(["name", "environ"])
        return [
            each for each in programs if each.info["name"] == "epmd" and mark in (each.info["environ"] or {}).items()
        ]

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1) as connection:
                connection.sendall(b"AMQP\x00\x00\x09\x01")
                return bool(connection.recv(8))
        except OSError:
            return False

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "LANG": "C.UTF-8",
            "HOME": str(self.folder),
            "RABBITMQ_NODENAME": f"jurado{self.port}@localhost",
            "RABBITMQ_MNESIA_BASE": str(self.folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self.folder),
            "RABBITMQ_CONFIG_FILE": str(self.folder / "rabbitmq"),
            "RABBITMQ_CONF_ENV_FILE": "/dev/null",
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
            "RABBITMQ_DIST_PORT": str(self._distribution),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none",
            "ERL_EPMD_PORT": str(self._names),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
        }


def _definitions() -> dict[str, object]:
    """Virtual hosts, and a user who may do all in each."""
    names = [f"test{at}" for at in range(VIRTUAL_HOSTS)]
    everything = {"configure": ".*", "write": ".*", "read": ".*"}
    return {
        "users": [{"name": "jurado", "password": "jurado", "tags": "administrator"}],
        "vhosts": [{"name": name} for name in names],
        "permissions": [{"user": "jurado", "vhost": name, **everything} for name in names],
    }


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return


def start(folder: Path) -> None:
    """Start the keeper in the background and wait until its server answers; only one caller may do it."""
    log = folder / "rabbitmq.log"
    with log.open("w") as output:
        keeper = subprocess.Popen(
            [sys.executable, __file__, str(folder)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C is for the tests: the keeper ends after them
        )
    threading.Thread(target=keeper.wait, daemon=True).start()
    deadline = time.monotonic() + SECONDS_TO_START
    while not (folder / "rabbitmq.port").exists():
        if keeper.returncode is not None or time.monotonic() > deadline:
            raise RuntimeError(f"RabbitMQ did not start:\n{log.read_text()}")
        time.sleep(0.05)


def address(folder: Path) -> str:
    """The address of a virtual host of the run's server that no test has had."""
    port = (folder / "rabbitmq.port").read_text()
    with (folder / "rabbitmq.taken").open("a+") as taken:
        fcntl.flock(taken, fcntl.LOCK_EX)
        taken.seek(0)
        at = len(taken.read())
        taken.write("x")
    if at >= VIRTUAL_HOSTS:
        raise RuntimeError(f"more than {VIRTUAL_HOSTS} tests want RabbitMQ: raise VIRTUAL_HOSTS")
    return f"amqp://jurado:jurado@127.0.0.1:{port}/test{at}"


@contextmanager
def own_broker(folder: Path) -> Iterator[Callable[[], str]]:
    """A RabbitMQ of its own below a folder, started when it is first asked for; yields what gives unused addresses."""
    servers: list[RabbitMQ] = []
    hosts = itertools.count()

    def unused() -> str:
        if not servers:
            servers.append(RabbitMQ(folder / PLACE))
            servers[0].start()
        return servers[0].url(next(hosts))

    try:
        yield unused
    finally:
        for server in servers:
            server.kill()


def keep(folder: Path) -> None:
    """Run a server in `folder` until the test run is over."""
    server = RabbitMQ(folder / PLACE)
    server.start()
    try:
        written = folder / "rabbitmq.port.new"
        written.write_text(str(server.port))
        written.rename(folder / "rabbitmq.port")
        with (folder / "alive").open("r+") as alive:
            fcntl.flock(alive, fcntl.LOCK_EX)
    finally:
        server.kill()


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
