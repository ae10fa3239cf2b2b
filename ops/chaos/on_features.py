"""What organisers do while teams submit to two servers: at one of them, seen at the other, with something killed."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import httpx

from app.packages.catalog import bundled
from bench.stage import CONTEST
from ops.chaos.load import Load, under_load, wait_for
from ops.chaos.model import scenario
from ops.chaos.on_kills import bring_in, is_board, rows_of_board
from ops.chaos.on_many_servers import audit_all, servers_of
from ops.chaos.stage import PATIENCE, POSTGRESQL, PROBLEMS, Stage, wait_until
from tests.builders.balancer import balanced
from tests.builders.two import SECRET_KEY

CONFLICT = 409


@scenario(POSTGRESQL)
def rejudging_across_two_servers(setting: Stage) -> str:
    """a test case is put at one server while a worker is killed, applied at the other under load, and undone"""
    broker, *servers = servers_of(setting)
    victim = setting.worker(broker_url=broker, secret_key=SECRET_KEY)
    victim.start()
    load, tries = Load(setting.size.submissions), 0

    def apply_and_undo() -> None:
        nonlocal tries
        with setting.client(servers[0]) as here, setting.client(servers[1]) as second:
            wait_for(load, 1)  # else answers that contestants wait for leave it no turn
            while (reply := second.post(f"{href}/apply")).status_code == CONFLICT:
                tries += 1
                assert "judged yet" in reply.text or "done yet" in reply.text, reply.text
                time.sleep(0.5)
            reply.raise_for_status()
            wait_until(lambda: _state(here, href) == "applied", "the first server does not show it as applied")
            here.post(f"{href}/undo").raise_for_status()
            wait_until(lambda: _state(second, href) == "undone", "the other server does not show it as undone")

    with balanced(*(each.url for each in servers)) as balancer:
        under_load(load, setting, balancer.url)
        with setting.client(servers[0]) as here, setting.client(servers[1]) as second:
            href = _put_the_same_case(here)
            victim.kill()
            wait_until(lambda: _state(second, href) == "ready", "the rejudging is not ready at the other server")
            assert not second.get(f"{href}/difference").raise_for_status().json()["teams"], "a place has changed"
        load.wanted *= 2
        under_load(load, setting, balancer.url, apply_and_undo)
        audit_all(setting, load, *servers)
    return f"applied after {tries + 1} tries and undone, {load.acknowledged} acknowledged"


@scenario(POSTGRESQL)
def kills_of_imports_beside_another_server(setting: Stage) -> str:
    """kill -9 of the server that brings in a contest, while teams submit to the other, which then has it or nothing"""
    _, one, other = servers_of(setting)
    load, left = Load(setting.size.submissions), 0
    under_load(load, setting, other.url)
    audit_all(setting, load, one, other)
    with setting.client(other) as admin:
        package = admin.get(f"contests/{CONTEST}/package.zip").raise_for_status().content
        board = rows_of_board(admin, CONTEST)
    with setting.client(one) as admin:
        began = time.monotonic()
        bring_in(admin, package, "whole")
        whole = time.monotonic() - began

    def kill() -> None:
        nonlocal left
        for at in range(1, setting.size.kills + 1):
            name = f"copy{at}"
            with ThreadPoolExecutor(1) as pool, setting.client(one) as admin, setting.client(other) as second:
                bringing = pool.submit(bring_in, admin, package, name)
                time.sleep(whole * at / (setting.size.kills + 1))
                one.kill()
                setting.recoveries.append(load.recovered())
                killed = isinstance(bringing.exception(), httpx.TransportError)
                is_there = name in {each["id"] for each in second.get("contests").raise_for_status().json()}
                assert is_there or killed, "an import was acknowledged and is not there"
                if not is_there:
                    bring_in(second, package, name)
                left += not is_there
                wait_until(partial(is_board, second, name, board), "the imported board is another one")
            one.start()
            one.wait_until_ready()
            with setting.client(one) as admin:
                wait_until(partial(is_board, admin, name, board), "the imported board is another one")

    load.wanted *= 2
    under_load(load, setting, other.url, kill)
    audit_all(setting, load, one, other)
    return f"{setting.size.kills} imports killed, {left} left nothing; {load.acknowledged} acknowledged meanwhile"


def _put_the_same_case(admin: httpx.Client) -> str:
    """Put a test case with one more line end behind its answer: all is judged again, alike; returns the rejudging."""
    problem = PROBLEMS[0]
    given = min((bundled()[problem] / "data/secret").rglob("*.in"))
    answer = given.with_suffix(".ans").read_bytes()
    files = {"input": given.read_bytes(), "answer": answer + b"\n"}
    group = given.parent.relative_to(bundled()[problem] / "data").as_posix()
    reply = admin.put(f"problems/{problem}/testcases/{group}/{given.stem}", files=files, timeout=PATIENCE)
    assert reply.status_code == httpx.codes.ACCEPTED, reply.text
    return str(reply.json()["href"])


def _state(admin: httpx.Client, href: str) -> Any:
    return admin.get(href).raise_for_status().json()["state"]
