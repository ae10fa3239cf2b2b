"""Run the specification's own check-api.sh on a fresh server that holds one contest with one of everything.

The tool comes with the public repository icpc/ccs-specs (branch 2026-01); it needs curl, jq, php and yajsv. Where yajsv
is missing, this program replaces it: it is called again with the same arguments, and validates with jsonschema.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.commands.fresh_service import fresh_service
from tests.builders import lively
from tests.builders.packages import zip_package

SECONDS_TO_JUDGE = 60
PASSWORD = "open-sesame"  # the tool splits curl's options at blanks
OWNER = "owner"
GOOD = (": OK", "Optional, not present")


def main() -> int:
    """Check anonymously and as five roles; exit code 0 if all of it passed."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("tool", type=Path, help="path of check-api.sh")
    arguments.add_argument("--final", action="store_true", help="check a contest that is over and final")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory(prefix="jurado-clics-") as name, fresh_service(Path(name)) as service:
        folder = Path(name)
        with httpx.Client(base_url=f"{service.url}/api/", timeout=60) as client:
            prepare(client, service.password, final=given.final)
        yajsv = shutil.which("yajsv") or stand_in(folder)
        failed = []
        for user in (None, "red", "voice", "jury", OWNER, "admin"):
            word = service.password if user == "admin" else PASSWORD
            curl = "-s" if user is None else f"-s -u {user}:{word}"
            print(f"as {user or 'nobody'}", flush=True)
            # With both -p and -C the tool calls a command named 1: so it is run once for each.
            command = [str(given.tool), "-n", "-j", yajsv, "-t", "3", "-c", curl, f"{service.url}/api"]
            if not (fits([*command[:1], "-p", "-e", *command[1:]]) and consistent([*command[:1], "-C", *command[1:]])):
                failed.append(user or "nobody")
    print(f"failed as {', '.join(failed)}" if failed else "passed as everybody")
    return 1 if failed else 0


def fits(command: list[str]) -> bool:
    """Run the tool, print its output, and check every line of it: the exit code reports only some faults."""
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    print(done.stdout, done.stderr, sep="", end="", flush=True)
    lines = [line for line in done.stdout.splitlines() if not line.startswith("Validating")]
    good = [line for line in lines if line.endswith(GOOD) or ": OK (returned" in line]
    return done.returncode == 0 and len(good) == len(lines)


def consistent(command: list[str]) -> bool:
    """Run the tool on the event feed and the endpoints; here it also complains of further properties.

    It never looks at the endpoint `accounts`, so that it misses the accounts that the feed tells of.
    """
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    complaints = [line for line in done.stdout.splitlines() if line.startswith(("Error", "Warning"))]
    wrong = [line for line in complaints if not line.startswith("Error: 'accounts/")]
    print(*wrong, done.stderr, sep="\n", end="")
    print(f"{'consistency of feed and endpoints':>34}: {'wrong' if wrong else 'OK'}")
    return not wrong


def prepare(client: httpx.Client, password: str, *, final: bool) -> None:
    """Leave one contest on the server, with one of everything, judged."""

    def ask(method: str, path: str, *, user: str | None = None, json: Any = None) -> httpx.Response:
        word = password if user == "admin" else PASSWORD
        return client.request(method, path, json=json, auth=None if user is None else (user, word))

    for contest in ask("GET", "contests").json():
        ask("DELETE", f"contests/{contest['id']}", user="admin")
    archive = zip_package()
    client.post(
        "problems", content=archive, headers={"Content-Type": "application/zip"}, auth=("admin", password)
    ).raise_for_status()
    over = {"duration": "1:00:00", "already_over": True} if final else {}
    start = lively.begin(ask, password=PASSWORD, settings={"show_others_answers": True}, **over)
    lively.submit(ask, start)
    lively.talk(ask, submission="s-0")
    owner = {"username": OWNER, "password": PASSWORD, "name": "Owner", "type": "staff"}
    account = lively.do(ask, "POST", "accounts", [owner])[0]
    lively.do(ask, "PUT", f"contests/{lively.CONTEST}/roles/{account['id']}", {"role": "owner"}, code=200)
    wait_until_judged(client, password)
    if final:
        ask("PATCH", f"contests/{lively.CONTEST}", user="admin", json={"finalized": True}).raise_for_status()


def wait_until_judged(client: httpx.Client, password: str) -> None:
    """Wait for every judgement's end."""
    until = time.monotonic() + SECONDS_TO_JUDGE
    path = f"contests/{lively.CONTEST}/judgements"
    while any(each["end_time"] is None for each in client.get(path, auth=("admin", password)).json()):
        assert time.monotonic() < until, "the judgements take too long"
        time.sleep(0.1)


def stand_in(folder: Path) -> str:
    """Write a program that takes the arguments of yajsv and validates with jsonschema."""
    program = folder / "yajsv"
    program.write_text(f"#!{sys.executable}\nimport runpy, sys\nsys.argv[0:1] = [{__file__!r}, '--yajsv']\n")
    with program.open("a") as file:
        file.write(f"runpy.run_path({__file__!r}, run_name='__main__')\n")
    program.chmod(0o755)
    return str(program)


def validate(arguments: list[str]) -> int:
    """Do as `yajsv -q -s SCHEMA -r 'REFERENCES' DATA` does: 1 where the data do not fit the schema."""
    from glob import glob

    from jsonschema import Draft202012Validator
    from referencing import Registry, Resource

    given = argparse.ArgumentParser()
    given.add_argument("-q", action="store_true")
    given.add_argument("-s", type=Path)
    given.add_argument("-r")
    given.add_argument("data", type=Path)
    options = given.parse_args(arguments)
    contents = [json.loads(Path(path).read_text()) for path in sorted(glob(options.r))]
    registry: Any = Registry().with_resources([(each["$id"], Resource.from_contents(each)) for each in contents])
    data = json.loads(options.data.read_text())
    # The tool asks for the schema of one comment where it has them all: it has no entry for how the two are called.
    name = "commentaries.json" if options.s.name == "commentary.json" and isinstance(data, list) else options.s.name
    validator = Draft202012Validator(json.loads((options.s.parent / name).read_text()), registry=registry)
    errors = list(validator.iter_errors(data))
    for error in errors:
        print(f"{error.json_path}: {error.message[:200]}")
    return 1 if errors else 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    sys.exit(validate(sys.argv[2:]) if sys.argv[1:2] == ["--yajsv"] else main())
