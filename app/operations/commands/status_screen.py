"""`jurado status`: a line for each part of an installation, then what to do about the parts that are not well.

- `jurado bench`: measure, with the programs of bench/.
"""

from __future__ import annotations

import subprocess
import textwrap
import time
from collections.abc import Iterator, Mapping
from typing import Annotated

import typer
from pydantic import JsonValue

from app.core.commands.client import Client
from app.core.commands.modules import ROOT, environment, module_command
from app.core.commands.output import Failure, JsonMapping, console, harmless, show, table, write_json
from app.core.commands.registry import AsJson, command

WIDTH = 80
SIGNS = {"done": " ", "look": "-", "open": "!"}


def screen(url: str, answer: JsonMapping) -> Iterator[str]:
    """The lines, none longer than 80 columns."""
    status = answer["status"]
    ready = "ready" if answer["ready"] else "NOT READY"
    time = status["time"][:16].replace("T", " ")
    yield f"{ready}, Jurado {status['version']} at {url}, {time} UTC"[:WIDTH]
    for part in answer["parts"]:
        yield from _wrapped(f"{SIGNS[part['mark']]} {part['name']}: {part['figure']}", "    ")
    yield "all is well" if not answer["advice"] else "what to do:"
    for each in answer["advice"]:
        yield from _wrapped(f"{'!' if each['urgent'] else '-'} {each['what']}: {each['advice']}", "  ")


def loop_text(loop: JsonMapping) -> str:
    """The time of the last success of background work, its failures, and the last error."""
    parts = [loop["last_success"][11:19] if loop["last_success"] else "no success yet"]
    if loop["failures"]:
        parts.append(f"{loop['failures']} failures")
    return ", ".join([*parts, loop["error"]] if loop["error"] else parts)


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(harmless(text), WIDTH, subsequent_indent=indent, break_on_hyphens=False)


LABELS = {
    "damaged_files": "damaged files",
    "graders": "graders alive",
    "grader_deaths": "graders that died",
    "unprotected": "protections graders lack",
    "waiting": "judgements waiting",
    "oldest_seconds": "the oldest waits, s",
    "room": "room on the disks",
    "clock_ahead_seconds": "ahead of the system's clock, s",
}
# Statuses of what only admins may see.
REFUSED = (401, 403, 404)


@command("status")
def status(
    url: Annotated[str | None, typer.Option(metavar="URL", help="default: the server logged in to, or here")] = None,
    as_json: AsJson = False,
    watch: Annotated[
        float | None, typer.Option(min=0.5, metavar="SECONDS", help="draw it again each SECONDS, until Ctrl-C")
    ] = None,
) -> None:
    """Show the whole installation to its admin, with what to do; others see whether it takes and judges submissions.

    Exit code 0 if it does, else 1.

    Examples:
      jurado status
      jurado status --watch 2
      jurado status --url http://127.0.0.1:8000 --json
    """
    with Client.open(url) as client:
        while True:
            is_ready = show_status(client, as_json=as_json, again=watch is not None)
            if watch is None:
                raise typer.Exit(0 if is_ready else 1)
            time.sleep(watch)


def show_status(client: Client, *, as_json: bool, again: bool) -> bool:
    """Show the state once, `again` on a clear screen; returns whether submissions are taken and judged."""
    ready = client.body(client.request("GET", "/health/ready", accept=(503,)))
    reply = client.request("GET", "/api/status", accept=(*REFUSED, 503))
    whole = client.body(reply) if reply.is_success else None
    if again and not as_json:
        console().clear()
    if as_json:
        extra = {} if whole is None else {"status": whole["status"], "advice": whole["advice"]}
        write_json({**_facts(client, ready), **extra})
    elif whole is not None:
        typer.echo("\n".join(screen(client.url, whole)))
    else:
        named = [(LABELS.get(name, name), in_words(fact)) for name, fact in rows(_facts(client, ready))]
        show(table("", ["what", "now"], named))
    return bool(ready["ready"])


def _facts(client: Client, ready: JsonMapping) -> dict[str, object]:
    contests = [contest["id"] for contest in client.rows("contests")]
    return {"url": client.url, **ready, "contests": contests, **facts_for_admins(client)}


def rows(facts: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """List facts by name, each protection of the sandbox and each background loop as one of its own."""
    for name, fact in facts.items():
        if name == "sandbox" and isinstance(fact, dict):
            yield from ((f"sandbox: {each}", state) for each, state in fact.items())
        elif name == "loops" and isinstance(fact, dict):
            yield from ((f"background work: {each}", loop_text(loop)) for each, loop in fact.items())
        else:
            yield name, fact


def facts_for_admins(client: Client) -> dict[str, JsonValue]:
    """Read the jobs that wait or run and the files at fault, as far as the account may see them."""
    facts: dict[str, JsonValue] = {}
    jobs = client.request("GET", "/api/jobs", accept=REFUSED)
    if jobs.is_success:
        listed = client.body(jobs)
        facts["jobs"] = {job["id"]: job["state"] for job in listed if job["state"] in {"queued", "running"}}
    stored = client.request("GET", "/api/stored-files", accept=REFUSED)
    if stored.is_success:
        facts["damaged_files"] = [fault["sha256"] for fault in client.body(stored)["faults"]]
    return facts


def in_words(fact: object) -> object:
    """Word a fact for a person."""
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    return ", ".join(map(str, fact)) or "none" if isinstance(fact, list | dict) else fact


@command("bench")
def bench(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="none: list them; all: run all")
    ] = None,
) -> None:
    """Measure parts of Jurado on this machine, each against something known, and print tables.

    Examples:
      jurado bench
      jurado bench verdicts
    """
    if not (ROOT / "bench" / "__main__.py").is_file():
        raise Failure(f"expected the folder bench beside the program, found none in {ROOT}")
    arguments = names or ["--list"]
    done = subprocess.run(module_command("bench", *arguments), cwd=ROOT, env=environment(), check=False)
    raise typer.Exit(done.returncode)
