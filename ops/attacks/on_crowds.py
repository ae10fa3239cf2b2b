"""A few clients that stop everyone: readers of lists, nested JSON, slow uploads, unread replies, one team's flood."""

from __future__ import annotations

import asyncio
import math
import os
import socket
import time

import httpx

from ops.attacks.honest import Felt, honest_people
from ops.attacks.model import Cost, attack
from ops.attacks.raw import ask_again_and_again, basic, connect, head, is_open
from ops.attacks.stage import ANSWER, CONTEST, PASSWORD, Stage

READERS = 40
SECONDS = 10.0
SLOW_UPLOADS = 60
SECONDS_OF_SLOWNESS = 45
UNREAD = 12
FLOOD = 2_000


def server_faults(felt: Felt) -> list[str]:
    """What honest people may not meet."""
    return sorted(set(felt.faults))[:5]


@attack("p99 of a submission beside 40 anonymous readers of all judgements")
def readers_of_judgements(stage: Stage) -> Cost:
    """40 anonymous connections read a contest's judgements again and again."""
    request = head("GET", f"/api/contests/{CONTEST}/judgements", stage)
    with honest_people(stage) as felt:
        asyncio.run(ask_again_and_again(stage.port, request, READERS, SECONDS))
    return Cost(felt.p99(felt.accepted), server_faults(felt))


@attack("p99 of a submission beside 40 anonymous readers of the runs")
def readers_of_runs(stage: Stage) -> Cost:
    """40 anonymous connections read a contest's runs again and again."""
    request = head("GET", f"/api/contests/{CONTEST}/runs", stage)
    with honest_people(stage) as felt:
        asyncio.run(ask_again_and_again(stage.port, request, READERS, SECONDS))
    return Cost(felt.p99(felt.accepted), server_faults(felt))


@attack("longest silence of /health/live")
def nested_json_of_nobody(stage: Stage) -> Cost:
    """Four requests without an account carry 4 MiB of empty arrays."""
    body = b"[" + b"[]," * (4 * 2**20 // 3 - 1) + b"[]]"
    with honest_people(stage) as felt:
        statuses = [
            httpx.put(
                f"{stage.url}/api/teams/x", content=body, headers={"Content-Type": "application/json"}, timeout=60
            )
            for _ in range(4)
        ]
    faults = [f"status {each.status_code}" for each in statuses if each.status_code not in {401, 413}]
    return Cost(max(felt.alive), faults + server_faults(felt))


@attack("longest silence of /health/live")
def nested_json_of_an_account(stage: Stage) -> Cost:
    """A team's account posts JSON nested and numbered as far as the size goes, wherever JSON is taken."""
    bodies = [
        b"[" + b"[]," * (2**18) + b"[]]",
        b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
        b"[" + b"1," * 400_000 + b"1]",
    ]
    paths = [f"contests/{CONTEST}/clarifications", f"contests/{CONTEST}/submissions", "account/tokens"]
    faults = []
    with honest_people(stage) as felt, stage.client(0) as team:
        for path in paths:
            for body in bodies:
                reply = team.post(path, content=body, headers={"Content-Type": "application/json"})
                if not 400 <= reply.status_code < 500:
                    faults.append(f"{path}: {reply.status_code}")
    return Cost(max(felt.alive), faults + server_faults(felt))


@attack("connections of 60 that are still open after 45 s", "open")
def half_open_uploads(stage: Stage) -> Cost:
    """60 uploads send a byte in two seconds."""
    lines = ["Content-Length: 1000000", "Content-Type: multipart/form-data; boundary=x", basic(stage.teams[0])]
    request = head("POST", f"/api/contests/{CONTEST}/submissions", stage, *lines)
    connections = []
    with honest_people(stage) as felt:
        for _ in range(SLOW_UPLOADS):
            connections.append(connect(stage))
            connections[-1].sendall(request)
        until = time.monotonic() + SECONDS_OF_SLOWNESS
        while time.monotonic() < until and connections:
            connections = [each for each in connections if is_open(each) and _sends_a_byte(each)]
            time.sleep(2)
    left = sum(is_open(each) for each in connections)
    for each in connections:
        each.close()
    return Cost(left, server_faults(felt))


def _sends_a_byte(connection: socket.socket) -> bool:
    try:
        connection.send(b"-")
    except OSError:
        return False
    return True


@attack("growth of the server's memory", "MiB")
def unread_replies(stage: Stage) -> Cost:
    """12 clients ask for a source of 60 MiB and do not read it."""
    with stage.client(0) as team:
        files = [("files", ("101-n05-p70.out", ANSWER)), ("sources", ("large.bin", os.urandom(2**20) * 60))]
        sent = team.post(f"contests/{CONTEST}/submissions", data={"problem_id": "comesolo"}, files=files)
    if not sent.is_success:
        return Cost(math.nan, [f"setup: {sent.status_code} {sent.text[:200]}"])
    path = f"/api/contests/{CONTEST}/submissions/{sent.json()['id']}/sources/large.bin"
    before = stage.memory()
    highest = before
    with honest_people(stage) as felt:
        connections = [connect(stage, receive_buffer=4096) for _ in range(UNREAD)]
        for each in connections:
            each.sendall(head("GET", path, stage, basic(stage.teams[0])))
        for _ in range(20):
            time.sleep(0.5)
            highest = max(highest, stage.memory())
    for each in connections:
        each.close()
    return Cost(highest - before, server_faults(felt))


@attack("seconds until /health/live answers", "s", descriptors="256")
def all_descriptors(stage: Stage) -> Cost:
    """A server with 256 file descriptors gets 400 connections that say nothing."""
    connections = []
    for _ in range(400):
        try:
            connections.append(connect(stage))
        except OSError:
            break
    began = time.perf_counter()
    faults = []
    try:
        reply = httpx.get(f"{stage.url}/health/live", timeout=30)
        if not reply.is_success:
            faults.append(f"/health/live: {reply.status_code}")
    except httpx.TransportError as error:
        faults.append(f"/health/live: {type(error).__name__}")
    seconds = time.perf_counter() - began
    for each in connections:
        each.close()
    return Cost(seconds, faults)


@attack("streams of 100 that an account still gets", "refused", most_streams="200")
def all_streams(stage: Stage) -> Cost:
    """Anonymous clients of ten addresses open every stream there is."""
    path = f"/api/contests/{CONTEST}/event-feed"
    strangers = []
    for at in range(300):
        connection = socket.socket()
        connection.bind((f"127.0.1.{1 + at % 10}", 0))
        connection.settimeout(10)
        connection.connect(("127.0.0.1", stage.port))
        connection.sendall(head("GET", path, stage))
        strangers.append(connection)
    time.sleep(3)
    refused = 0
    ours = []
    for at in range(20):
        connection = connect(stage)
        connection.sendall(head("GET", path, stage, basic(stage.teams[at % 10])))
        try:
            refused += b" 200 " not in connection.recv(64)
        except TimeoutError:
            refused += 1
        ours.append(connection)
    for each in strangers + ours:
        each.close()
    return Cost(refused * 5, [])


@attack("slowest verdict of other teams")
def flood_of_one_team(stage: Stage) -> Cost:
    """One team sends 2,000 submissions as fast as they are taken."""
    lines = ["Content-Type: multipart/form-data; boundary=x", basic((stage.teams[0][0], PASSWORD))]
    part = b'--x\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'
    body = (
        part % (b"problem_id", b"", b"comesolo")
        + part % (b"files", b'; filename="111-n30-p30.out"', ANSWER)
        + b"--x--\r\n"
    )
    request = head("POST", f"/api/contests/{CONTEST}/submissions", stage, *lines, f"Content-Length: {len(body)}") + body
    with honest_people(stage) as felt:
        asked = asyncio.run(ask_again_and_again(stage.port, request, 16, SECONDS))
    faults = [f"status {status}" for status in asked.statuses if status not in {201, 429}]
    return Cost(max(felt.verdicts, default=60.0), faults + server_faults(felt))
