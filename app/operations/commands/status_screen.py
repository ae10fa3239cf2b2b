"""The screen of `jurado status`: a line for each part of an installation, then what to do about what is not well."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from app.core.commands.output import JsonMapping, harmless

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
    replica = "" if files["replica"] is None else f"; replica {files['replica']}"
    return f"{files['place']}{free}, {files['damaged']} damaged{replica}"


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
