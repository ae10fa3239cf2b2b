"""PostgreSQL: commits of as many connections, with notices and without, and submissions accepted over as many.

One connection and 32 commit a row of 2 KB at a time, then the same with a notice in each transaction, which a listener
hears. Then 32 teams, each over a keep-alive connection, submit answers of 2 KB to `jurado serve`, alone and with
RabbitMQ. The ceiling, in the same run: a bare route that takes the same requests over the same connections and commits
a row for each.
"""

from __future__ import annotations

import argparse
import sys
import threading
import time
from collections.abc import Sequence

import psycopg

from bench._figures import report
from bench._installations import DISTRIBUTED, POSTGRESQL, Installation, installation
from bench._processes import report_spent, spending
from bench.acceptance import CONNECTIONS, SIZE, measure, padded_answer
from bench.load import form_request
from bench.stage import CONTEST, prepare, serving_bare

SECONDS = 4.0
SHARE = 0.5
TABLE = "CREATE TABLE IF NOT EXISTS bare (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, data BYTEA)"
INSERT = "INSERT INTO bare (data) VALUES (%s)"
NOTIFY = "SELECT pg_notify('bare', %s)"
PAYLOAD = '["a1b2c3",["board","bench",12345],["bytes","bench","team1",2048]]'


def main(kinds: Sequence[str] = (POSTGRESQL, DISTRIBUTED), seconds: float = SECONDS) -> int:
    """Print commits and submissions a second; 1 if fewer are accepted than the goal's share of the commits."""
    missed = False
    for kind in kinds:
        with installation(kind) as installed:
            missed |= measure_on(installed, seconds)
    return int(missed)


def measure_on(installed: Installation, seconds: float) -> bool:
    """Print the figures of one installation; returns whether the goal is missed."""
    tokens = prepare(installed.home, teams=CONNECTIONS, database_url=installed.database_url)
    alone = commits(installed.database_url, 1, seconds)
    alone_noticed = commits(installed.database_url, 1, seconds, notice=True)
    together = commits(installed.database_url, CONNECTIONS, seconds)
    noticed = commits(installed.database_url, CONNECTIONS, seconds, notice=True)
    report("commits of 1 connection", alone, "/s")
    report("commits of 1 connection, each with a notice", alone_noticed, "/s")
    report("share that notices leave, 1 connection", alone_noticed / alone)
    report(f"commits of {CONNECTIONS} connections", together, "/s")
    report(f"commits of {CONNECTIONS} connections, each with a notice", noticed, "/s")
    report(f"share that notices leave, {CONNECTIONS} connections", noticed / together)
    bare = accepted_by_bare(installed, tokens)
    report(f"bare route with a commit a request, {CONNECTIONS} connections", bare, "/s")
    place = f"accepted on {installed.kind}"
    rate = accepted(installed, tokens, place)
    report(f"{place}, {CONNECTIONS} connections", rate, "/s")
    report(f"{place}: share of what {CONNECTIONS} connections commit without HTTP", rate / together)
    return report(f"{place}: share of the bare route", rate / bare, least=SHARE)


def submissions(path: str, tokens: Sequence[str]) -> list[bytes]:
    """Build the requests that are sent again and again, one for each team."""
    fields, file = {"problem_id": "comesolo"}, ("101-n05-p70.out", padded_answer())
    return [form_request(path, "127.0.0.1", token, fields, file) for token in tokens]


def accepted_by_bare(installed: Installation, tokens: Sequence[str]) -> float:
    """Load the bare route, and print the processor time of each kind of process; returns its commits a second."""
    with serving_bare(libpq(installed.database_url)) as url, spending() as spent:
        outcome = measure(url, submissions("/answers", tokens))
    report_spent("bare route", spent, round(len(outcome.latencies) * (outcome.seconds + 1.0) / outcome.seconds))
    return outcome.rate


def accepted(installed: Installation, tokens: Sequence[str], place: str) -> float:
    """Load the route, and print the processor time of each kind of process; returns submissions a second."""
    requests = submissions(f"/api/contests/{CONTEST}/submissions", tokens)
    with installed.running() as urls, spending() as spent:
        outcome = measure(urls[0], requests)
    count = len(outcome.latencies) * (outcome.seconds + 1.0) / outcome.seconds  # with the second of warming up
    report_spent(place, spent, round(count))
    return outcome.rate


def commits(url: str, connections: int, seconds: float, *, notice: bool = False) -> float:
    """Commit a row at a time over so many connections, each in a thread; returns the commits a second of all."""
    data, counts = b"x" * SIZE, [0] * connections
    until = [0.0]
    ready = threading.Barrier(connections + 1)

    def commit(at: int) -> None:
        with connect(url) as connection:
            ready.wait()
            while time.perf_counter() < until[0]:
                with connection.transaction():
                    connection.execute(INSERT, [data])
                    if notice:
                        connection.execute(NOTIFY, [PAYLOAD])
                counts[at] += 1

    with connect(url) as listener:
        listener.execute(TABLE)
        listener.execute("LISTEN bare")
        threads = [threading.Thread(target=commit, args=(at,)) for at in range(connections)]
        for thread in threads:
            thread.start()
        until[0] = time.perf_counter() + seconds + 0.5
        ready.wait()
        began = time.perf_counter()
        for thread in threads:
            thread.join()
        rate = sum(counts) / (time.perf_counter() - began)
        if notice and not list(listener.notifies(timeout=10, stop_after=1)):
            raise RuntimeError("no notice has come")
    return rate


def connect(url: str) -> psycopg.Connection[tuple[object, ...]]:
    """Open a connection with no transaction but those asked for."""
    return psycopg.connect(libpq(url), autocommit=True)


def libpq(url: str) -> str:
    """Write an address of SQLAlchemy's as libpq wants it."""
    return url.replace("postgresql+psycopg:", "postgresql:", 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, prog="python -m bench.postgresql")
    parser.add_argument("--on", choices=(POSTGRESQL, DISTRIBUTED), action="append", help="default: both")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of each ceiling")
    flags = parser.parse_args()
    sys.exit(main(flags.on or (POSTGRESQL, DISTRIBUTED), flags.seconds))
