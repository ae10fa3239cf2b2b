"""Send odd requests to every route as every role: the verb `make fuzz-http`. No 500, and replies as /openapi.json says.

A fresh service is started in a temporary folder; schemathesis makes the requests from its own description of itself.
"""

from __future__ import annotations

import argparse
import base64
import subprocess
import sys
import tempfile
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.commands.fresh_service import (
    Running,
    fresh_service,
)

CHECKS = "not_a_server_error,response_schema_conformance,content_type_conformance,status_code_conformance"
PASSWORD = "a password of no account that lasts"


def main() -> int:
    """Fuzz role by role; exit code 0 if all of it passed."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--seconds", type=int, default=60, help="for each role (default: %(default)s)")
    arguments.add_argument("--examples", type=int, default=50, help="of each route at most (default: %(default)s)")
    arguments.add_argument("--seed", type=int, help="repeat a run")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="jurado-fuzz-") as folder, fresh_service(Path(folder)) as service:
        users = {"public": None, "admin": ("admin", service.password), **make_people(service)}
        failed = [role for role, user in users.items() if fuzz(service.url, role, user, given, folder) != 0]
    print(f"failed as {', '.join(failed)}" if failed else f"passed as {', '.join(users)}")
    return 1 if failed else 0


def make_people(service: Running) -> dict[str, tuple[str, str]]:
    """Make a team's account and a judge's."""
    admin = ("admin", service.password)
    bodies = [
        {"username": "fuzzteam", "password": PASSWORD, "type": "team", "team_id": "fuzzteam"},
        {"username": "fuzzjudge", "password": PASSWORD, "type": "judge"},
    ]
    for path, body in (("teams", {"id": "fuzzteam", "name": "Fuzz"}), ("accounts", bodies)):
        httpx.post(f"{service.url}/api/{path}", auth=admin, json=body).raise_for_status()
    return {"team": ("fuzzteam", PASSWORD), "judge": ("fuzzjudge", PASSWORD)}


def fuzz(url: str, role: str, user: tuple[str, str] | None, given: argparse.Namespace, folder: str) -> int:
    """Run schemathesis as one role in `folder`, where its files stay; returns its exit code."""
    print(f"as {role}:", flush=True)
    command = [Path(sys.executable).with_name("schemathesis"), "run", f"{url}/openapi.json", "--checks", CHECKS]
    command += ["--max-time", str(given.seconds), "--max-examples", str(given.examples), "--continue-on-failure"]
    command += ["--phases", "examples,coverage,fuzzing,stateful", "--warnings", "off", "--generation-database", "none"]
    # Streams do not end, and a contest package is a zip, which the tool cannot make.
    command += ["--exclude-path-regex", "/(event-feed|stream|contests/import)$"]
    if given.seed is not None:
        command += ["--seed", str(given.seed)]
    if user is not None:
        command += ["--header", f"Authorization: Basic {base64.b64encode(':'.join(user).encode()).decode()}"]
    return subprocess.run(command, cwd=folder, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
