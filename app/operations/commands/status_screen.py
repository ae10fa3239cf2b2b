"""The screen of `jurado status`: a line for each part of an installation, then what to do about what is not well.

- `jurado status`: the state of an installation in one screen.
- `jurado bench`: measure, with the programs of bench/.
"""

from __future__ import annotations

import subprocess
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated

import typer
from pydantic import JsonValue

from app.archive.commands.backup import HOURS_OF_GRACE, Source, fsck
from app.archive.commands.places import Home
from app.core.commands.client import Client
from app.core.commands.modules import ROOT, environment, module_command
from app.core.commands.output import Failure, JsonMapping, console, harmless, show, table, write_json
from app.core.commands.registry import AsJson, command

WIDTH = 80
LABEL = 13
MOST_NAMED = 3
UNITS = ((86_400, "d"), (3600, "h"), (60, "min"))
SIZES = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB"))


def screen(url: str, answer: JsonMapping, readiness: JsonMapping) -> Iterator[str]:
    """The lines, none longer than 80 columns; in the usual case no more than 24."""
    status = answer["status"]
    ready = "ready" if answer["ready"] else "NOT READY"
    yield f"{ready}, Jurado {status['version']} at {url}, {_minute(status['time'])} UTC"[:WIDTH]
    for label, text in _parts(status):
        yield from _line(label, text)
    yield from _line("sandbox", _sandbox(readiness["sandbox"]))
    yield from _line("background", "; ".join(f"{name} {loop_text(loop)}" for name, loop in readiness["loops"].items()))
    yield "all is well" if not answer["advice"] else "what to do:"
    for each in answer["advice"]:
        yield from _wrapped(f"{'!' if each['urgent'] else '-'} {each['what']}: {each['advice']}", "  ")


def _parts(status: JsonMapping) -> Iterator[tuple[str, str]]:
    yield "servers", _processes(status["processes"], "server")
    yield "workers", _processes(status["processes"], "worker")
    yield "database", _database(status["database"])
    yield "broker", _broker(status["broker"])
    yield "waiting", _waiting(status["judging"])
    yield "last 5 min", _recent(status["judging"])
    yield "judge errors", str(status["judge_errors"])
    yield "contests", _contests(status["contests"])
    yield "next", _next(status["next_event"])
    yield "files", _files(status["files"])
    yield "last backup", _backup(status["backup"])


def loop_text(loop: JsonMapping) -> str:
    """The time of the last success of background work, its failures, and the last error."""
    parts = [loop["last_success"][11:19] if loop["last_success"] else "no success yet"]
    if loop["failures"]:
        parts.append(f"{loop['failures']} failures")
    return ", ".join([*parts, loop["error"]] if loop["error"] else parts)


def _line(label: str, text: str) -> Iterator[str]:
    yield from _wrapped(f"{label:{LABEL}}{text}", " " * LABEL)


def _wrapped(text: str, indent: str) -> Iterator[str]:
    yield from textwrap.wrap(
        harmless(text), WIDTH, subsequent_indent=indent, break_on_hyphens=False, drop_whitespace=True
    )


def _processes(processes: Sequence[JsonMapping], kind: str) -> str:
    rows = [each for each in processes if each["kind"] == kind]
    alive = [each for each in rows if each["alive"]]
    if not rows:
        return "none"
    graders = sum(each["graders"] for each in alive)
    named = [f"{each['host']}:{each['pid']} {each['version']} since {_minute(each['since'])}" for each in alive]
    more = f"; and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    gone = f"; {len(rows) - len(alive)} gone" if len(rows) > len(alive) else ""
    return f"{len(alive)} alive, {graders} graders: {'; '.join(named[:MOST_NAMED])}{more}{gone}"


def _database(database: JsonMapping) -> str:
    replicas = "; ".join(map(_replica, database["replicas"]))
    return f"{database['kind']} {database['version']}, {_size(database['size'])}" + (
        f"; {replicas}" if replicas else ""
    )


def _replica(replica: JsonMapping) -> str:
    if replica["state"] is None:
        return f"replica {replica['name']}, hidden"
    behind = f"{replica['seconds_behind'] or 0.0:.1f} s, {_size(replica['bytes_behind'] or 0)} behind"
    return f"replica {replica['name']} {replica['state']}, {behind}"


def _broker(broker: JsonMapping | None) -> str:
    if broker is None:
        return "none: this server judges by itself"
    if broker["error"]:
        return f"does not answer, {broker['unacknowledged']} messages at workers"
    queues = ", ".join(
        f"{each['name'].removeprefix('jurado.')} {each['ready']}"
        + (f" (+{each['delayed']})" if each["delayed"] else "")
        for each in broker["queues"]
    )
    return f"ready: {queues}; unacked: {broker['unacknowledged']}"


def _waiting(judging: JsonMapping) -> str:
    oldest = judging["oldest_seconds"]
    age = "" if oldest is None else f", the oldest for {_span(oldest)}"
    again = f"; {judging['waiting_again']} of rejudgings" if judging["waiting_again"] else ""
    return f"{judging['waiting']} unjudged{age}{again}"


def _recent(judging: JsonMapping) -> str:
    rate = f"{judging['submissions_per_second']:.2f} submissions a second"
    median, most = judging["verdict_seconds_median"], judging["verdict_seconds_95"]
    if median is None or most is None:
        return f"{rate}, no verdict"
    return f"{rate}; verdict after {median:.2f} s, 95 % within {most:.2f} s"


def _contests(contests: Sequence[JsonMapping]) -> str:
    if not contests:
        return "none runs"
    named = "; ".join(map(_contest, contests[:MOST_NAMED]))
    more = f"; and {len(contests) - MOST_NAMED} more" if len(contests) > MOST_NAMED else ""
    return f"{len(contests)} run: {named}{more}"


def _contest(contest: JsonMapping) -> str:
    state = " paused" if contest["paused"] else " frozen" if contest["frozen"] else ""
    return f"{contest['id']}{state}" + (f" until {_minute(contest['end'])}" if contest["end"] else "")


def _next(event: JsonMapping | None) -> str:
    if event is None:
        return "no contest changes by the clock"
    return f"{event['contest_id']} {event['event']} in {_span(event['seconds'])}, at {_minute(event['time'])}"


def _files(files: JsonMapping) -> str:
    free = "" if files["free_bytes"] is None else f", {_size(files['free_bytes'])} free"
    return f"{files['place']}{free}, {files['damaged']} damaged"


def _backup(backup: JsonMapping | None) -> str:
    if backup is None:
        return "none"
    return f"{_minute(backup['made'])}, {_span(backup['age_seconds'])} ago, in {backup['place']}"


def _sandbox(protections: Mapping[str, str]) -> str:
    lacks = [name for name, state in protections.items() if state != "on"]
    return f"lacks {', '.join(lacks)} (jurado status --json says how to get it)" if lacks else "on"


def _minute(time: str) -> str:
    return time[:16].replace("T", " ")


def _span(seconds: float) -> str:
    for unit, name in UNITS:
        if seconds >= 2 * unit:
            return f"{seconds // unit:.0f} {name}"
    return f"{seconds:.0f} s"


def _size(count: int) -> str:
    for unit, name in SIZES:
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count} B"


LABELS = {
    "damaged_files": "damaged files",
    "graders": "graders alive",
    "spare_graders": "graders in reserve",
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
    check_files: Annotated[
        bool, typer.Option("--fsck", help="on the server's machine: read all files and rows, and mend what can be")
    ] = False,
    source: Source = None,
    home: Home = None,
) -> None:
    """Show the whole installation to its admin, with what to do; others see whether it takes and judges submissions.

    Exit code 0 if it does, else 1. With --fsck it is that of `jurado fsck --mend`, which does the same.

    Examples:
      jurado status
      jurado status --watch 2
      jurado status --url http://127.0.0.1:8000 --json
      jurado status --fsck --from /backup/jurado
    """
    if check_files:
        fsck(home=home, mend=True, source=source, grace=HOURS_OF_GRACE, as_json=as_json)
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
        typer.echo("\n".join(screen(client.url, whole, ready)))
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
