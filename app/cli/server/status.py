"""`jurado status`: whether a server takes and judges submissions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated

import typer
from pydantic import JsonValue

from app.cli.client import Client
from app.cli.options import AsJson
from app.cli.output import show, table, write_json
from app.cli.resources.people import Identified
from app.cli.resources.problems import JobState
from app.cli.resources.server import Readiness, StoredFiles

LABELS = {
    "damaged_files": "damaged files",
    "graders": "graders alive",
    "spare_graders": "graders in reserve",
    "grader_deaths": "graders that died",
    "unprotected": "protections graders lack",
    "waiting": "judgements waiting",
    "oldest_seconds": "the oldest waits, s",
    "clock_ahead_seconds": "ahead of the system's clock, s",
}
REFUSED = (401, 403, 404)
"""Statuses of what only admins may see."""


def status(
    url: Annotated[str | None, typer.Option(metavar="URL", help="default: the server logged in to, or here")] = None,
    as_json: AsJson = False,
) -> None:
    """Say whether a server takes and judges submissions: exit code 0, else 1."""
    with Client.open(url) as client:
        ready = client.body(client.request("GET", "/health/ready", accept=(503,)), Readiness)
        contests = [contest["id"] for contest in client.get("contests", list[Identified])]
        facts = {"url": client.url, **ready, "contests": contests, **facts_for_admins(client)}
    if as_json:
        write_json(facts)
    else:
        show(table("", ["what", "now"], [(LABELS.get(name, name), in_words(fact)) for name, fact in rows(facts)]))
    raise typer.Exit(0 if ready["ready"] else 1)


def rows(facts: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """List facts by name, each protection of the sandbox as one of its own."""
    for name, fact in facts.items():
        if name == "sandbox" and isinstance(fact, dict):
            yield from ((f"sandbox: {each}", state) for each, state in fact.items())
        else:
            yield name, fact


def facts_for_admins(client: Client) -> dict[str, JsonValue]:
    """Read the jobs that wait or run and the files at fault, as far as the account may see them."""
    facts: dict[str, JsonValue] = {}
    jobs = client.request("GET", "/api/jobs", accept=REFUSED)
    if jobs.is_success:
        listed = client.body(jobs, list[JobState])
        facts["jobs"] = {job["id"]: job["state"] for job in listed if job["state"] in {"queued", "running"}}
    stored = client.request("GET", "/api/stored-files", accept=REFUSED)
    if stored.is_success:
        facts["damaged_files"] = [fault["sha256"] for fault in client.body(stored, StoredFiles)["faults"]]
    return facts


def in_words(fact: object) -> object:
    """Word a fact for a person."""
    if isinstance(fact, bool):
        return "yes" if fact else "no"
    return ", ".join(map(str, fact)) or "none" if isinstance(fact, list | dict) else fact
