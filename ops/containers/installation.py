"""One installation of `deploy/compose.yaml`: its secrets, its containers, its clients, all on one Docker host."""

from __future__ import annotations

import base64
import json
import os
import secrets
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from ops.containers.host import Host

PROJECT = Path(__file__).resolve().parents[2]
ANSWERS = [PROJECT / "problems/comesolo/submissions" / name for name in ("partial/greedy", "partial/dfs")]
RUN_BY = 10001
"""The user of the image."""
NEWER = "jurado-newer"
OURS = ("server1", "server2", "worker")
MIGRATION = """from alembic import op

revision, down_revision, branch_labels, depends_on = "0000000newer", "{before}", None, None


def upgrade() -> None:
    op.execute("CREATE TABLE newer (id INTEGER)")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("SELECT pg_sleep(3)")


def downgrade() -> None:
    op.drop_table("newer")
"""
SECONDS = 600.0
STEP = 0.5
SHOWN = 1500
"""Characters of a log that are shown."""


@dataclass
class Visits:
    """Requests that were made one after the other, and the answers that were none."""

    count: int = 0
    refused: list[str] = field(default_factory=list)


# An image with one more migration, which lies in the wheel's folder.
NEWER = """FROM jurado-distributed
COPY newer.py /tmp/newer.py
USER root
RUN cp /tmp/newer.py "$(python -c 'from app.core.shipped import shipped; print(shipped("migrations"))')/versions/"
USER jurado
"""


class Installation:
    """`url` is where the proxy answers; `folder` has everything that clients store; `overlays` are further files."""

    url = "https://localhost"

    def __init__(self, host: Host, folder: Path) -> None:
        self.host, self.folder, self.overlays = host, folder, list[str]()
        self.secrets = {name: secrets.token_hex(24) for name in example()}
        self.secrets["JURADO_SECRET_KEY"] = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()
        self.secrets["SITE"] = "localhost"
        self._env = folder / "secrets.env"
        self._env.write_text("".join(f"{name}={value}\n" for name, value in self.secrets.items()))

    def docker(self, *words: str) -> str:
        """Run docker on the host; raises RuntimeError with its output where it fails."""
        return run(["docker", *words], self.host.inside)

    def compose(self, *words: str) -> str:
        """Run docker compose with the files and the secrets."""
        files = [word for name in ("compose.yaml", *self.overlays) for word in ("-f", str(PROJECT / "deploy" / name))]
        return self.docker("compose", "--env-file", str(self._env), "--progress", "quiet", *files, *words)

    def all_but_grafana(self, *, metrics: bool = True) -> list[str]:
        """The services to start; of Grafana there is no package of Debian's to make an image of."""
        names = self.compose(*(("--profile", "metrics") if metrics else ()), "config", "--services").split()
        return [name for name in names if name not in {"grafana", "bucket"}]

    def containers(self) -> list[dict[str, Any]]:
        """The containers that run, as docker compose tells them."""
        return [json.loads(line) for line in self.compose("ps", "--format", "json").splitlines()]

    def make_newer_image(self) -> str:
        """Let servers and workers be of an image with one migration more; returns the name of that migration.

        It takes some seconds, in which the servers of the older image continue.
        """
        context = self.folder / "newer"
        context.mkdir()
        (context / "Dockerfile").write_text(NEWER)
        (context / "newer.py").write_text(MIGRATION.format(before=self.schema()))
        self.docker("build", "--quiet", "--tag", NEWER, str(context))
        overlay = context / "compose.yaml"
        overlay.write_text("".join(["services:\n", *(f"  {name}: {{image: {NEWER}}}\n" for name in OURS)]))
        self.overlays.append(str(overlay))
        return "0000000newer"

    def schema(self) -> str:
        """The migration that the database has come to."""
        query = ("psql", "--username", "jurado", "-At", "-c", "SELECT version_num FROM alembic_version")
        return self.compose("exec", "-T", "database", *query).strip()

    def unwell(self) -> list[str]:
        """For each container that does not run, is not well or began again: what its checks and its log say."""
        shown = "{{.RestartCount}} {{.State.Status}} {{with .State.Health}}{{.Status}}{{end}} {{.Name}}"
        checks = "{{with .State.Health}}{{range .Log}}{{.Output}}{{end}}{{end}}"
        lines = []
        for row in [json.loads(line) for line in self.compose("ps", "--all", "--format", "json").splitlines()]:
            name, state = row["Name"], self.docker("inspect", "--format", shown, row["Name"])
            if not state.startswith(("0 running healthy", "0 running  ", "0 exited  /jurado-bucket", "0 created")):
                log = run(["sh", "-c", f"docker logs --tail 20 {name} 2>&1"], self.host.inside)
                lines += [state, self.docker("inspect", "--format", checks, name)[-SHOWN:], log[-SHOWN:]]
        return lines

    def logged(self, name: str) -> list[str]:
        """The lines that a container has written to its standard error."""
        return run(["sh", "-c", f"docker logs {name} 2>&1 >/dev/null"], self.host.inside).splitlines()

    def name_of(self, service: str) -> str:
        """The name of the first container of a service."""
        return str(next(row["Name"] for row in self.containers() if row["Service"] == service))

    def trust(self) -> None:
        """Fetch the certificate of the authority that Caddy has made."""
        text = self.compose("exec", "-T", "proxy", "cat", "/data/caddy/pki/authorities/local/root.crt")
        (self.folder / "root.crt").write_text(text)

    def curl(self, *words: str) -> str:
        """Run curl, which trusts the proxy."""
        trusted = (
            ("--cacert", str(self.folder / "root.crt")) if (self.folder / "root.crt").exists() else ("--insecure",)
        )
        return run(["curl", "--silent", "--show-error", "--max-time", "30", *trusted, *words], self.host.network)

    def status_of(self, path: str) -> int:
        """The status with which the proxy answers a GET."""
        return int(self.curl("--output", "/dev/null", "--write-out", "%{http_code}", self.url + path))

    def body_of(self, path: str) -> str:
        """What the proxy answers to a GET."""
        return self.curl(self.url + path)

    def jurado(self, *words: str, who: str = "admin", sent: str = "") -> str:
        """Run the command line of this checkout as someone with a home of their own."""
        home = self.folder / who
        home.mkdir(exist_ok=True)
        known = [f"HOME={home}", f"SSL_CERT_FILE={self.folder / 'root.crt'}", "COLUMNS=200"]
        command = ["env", *known, str(PROJECT / ".venv/bin/jurado"), *words]
        return run(command, self.host.network, sent)

    def submit(self, number: int) -> str:
        """Send the team's answers number `number`; returns the submission's id."""
        words = ("submit", "finals", "comesolo", str(ANSWERS[number % len(ANSWERS)]), "--json")
        return str(json.loads(self.jurado(*words, who="ants"))["id"])

    def judged(self, submission: str) -> None:
        """Wait for the verdict of a submission."""
        self.jurado("watch", submission, "--contest", "finals", who="ants")

    def answer(self, number: int) -> None:
        """Send answers and wait for their verdict."""
        self.judged(self.submit(number))

    @contextmanager
    def visitor(self) -> Iterator[Visits]:
        """Someone who asks for a board and a page ten times a second while the block runs."""
        visits, over = Visits(), threading.Event()

        def visit() -> None:
            while not over.wait(0.1):
                for path in ("/api/contests/finals/scoreboard", "/c/finals"):
                    visits.count += 1
                    try:
                        status = self.status_of(path)
                    except RuntimeError as error:
                        visits.refused.append(str(error))
                    else:
                        visits.refused += [] if status == 200 else [f"{path}: {status}"]

        thread = threading.Thread(target=visit)
        thread.start()
        try:
            yield visits
        finally:
            over.set()
            thread.join()

    def prometheus(self, path: str, **query: str) -> Any:
        """What Prometheus answers at its API of version 1."""
        address = f"http://localhost:9090/api/v1/{path}?{urlencode(query)}"
        text = self.compose("exec", "-T", "prometheus", "wget", "-q", "-O", "-", address)
        return json.loads(text)["data"]

    def alerts(self) -> set[str]:
        """The alerts that are raised."""
        return {
            each["labels"]["alertname"] for each in self.prometheus("alerts")["alerts"] if each["state"] == "firing"
        }

    def wait_until(self, holds: Callable[[], bool]) -> None:
        """Wait until something holds; raises AssertionError after SECONDS."""
        until = time.monotonic() + SECONDS
        while not holds():
            assert time.monotonic() < until, "waited in vain"
            time.sleep(STEP)

    def backup(self) -> None:
        """Make a backup of the running service, as the guide says."""
        folder = self.folder / "backup"
        folder.mkdir(exist_ok=True)
        os.chown(folder, RUN_BY, RUN_BY)
        self.compose(
            "run", "--rm", "--no-deps", "-T", "-v", f"{folder}:/backup", "worker", "jurado", "backup", "/backup"
        )

    def restore(self) -> None:
        """Put the backup into an installation of which only the stores run, as the guide says."""
        self.compose("up", "--detach", "--wait", "database", "broker", "s3")
        mounted = f"{self.folder / 'backup'}:/backup"
        self.compose("run", "--rm", "-T", "-v", mounted, "worker", "jurado", "restore", "/backup")

    def end(self) -> None:
        """Remove containers and volumes."""
        self.compose("--profile", "metrics", "down", "--volumes", "--timeout", "5")


def example() -> list[str]:
    """The names in deploy/example.env."""
    lines = (PROJECT / "deploy/example.env").read_text().splitlines()
    return [line.partition("=")[0] for line in lines if line and not line.startswith("#")]


def run(command: Sequence[str], prefix: Sequence[str] = (), sent: str = "") -> str:
    """Run a command; returns its standard output, raises RuntimeError with all of its output where it fails."""
    done = subprocess.run([*prefix, *command], input=sent, capture_output=True, text=True, timeout=3 * SECONDS)
    if done.returncode != 0:
        shown = " ".join(command[:12])
        raise RuntimeError(f"{shown}: exit code {done.returncode}\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}")
    return done.stdout
