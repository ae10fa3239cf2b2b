"""Workers and their broker: killed, frozen, restarted, robbed of all that they had, while teams submit."""

from __future__ import annotations

import time

from bench.stage import CONTEST
from tests.chaos.audit import audit
from tests.chaos.load import Load, under_load, wait_for
from tests.chaos.model import scenario
from tests.chaos.stage import POSTGRESQL, Server, Stage, Worker, wait_until
from tests.rabbitmq import RabbitMQ

FEW = {"graders": "1", "spare_graders": "0"}


def distributed(setting: Stage, broker: str, workers: int = 2) -> tuple[Server, list[Worker]]:
    """Start a server and workers that a broker feeds."""
    server = setting.serve(broker_url=broker, **FEW)
    started = [setting.worker(broker_url=broker) for _ in range(workers)]
    for each in started:
        each.launch()
    for each in started:
        each.expect_in_log("Jurado judges")
    return server, started


@scenario(POSTGRESQL, in_suite=(POSTGRESQL,))
def kills_of_workers(setting: Stage) -> str:
    """kill -9 of one of two workers and its graders, under load: the other one takes over"""
    server, workers = distributed(setting, setting.broker())
    load = Load(setting.size.submissions)

    def kill() -> None:
        for at in range(1, setting.size.kills + 1):
            wait_for(load, at / (setting.size.kills + 1))
            victim = workers[at % 2]
            before = _judged(setting, server)
            victim.kill()
            began = time.monotonic()
            wait_until(lambda before=before: _judged(setting, server) > before, "no other worker has taken over")  # type: ignore[misc]
            setting.recoveries.append(time.monotonic() - began)
            victim.launch()

    under_load(load, setting, server.url, kill)
    audit(setting, server, load)
    return f"{setting.size.kills} workers killed, a verdict {max(setting.recoveries):.2f} s later at most"


@scenario(POSTGRESQL)
def frozen_worker(setting: Stage) -> str:
    """a worker is stopped (SIGSTOP) under load and woken a minute later: others judge what it had, once"""
    server, workers = distributed(setting, setting.broker())
    load = Load(setting.size.submissions)

    def freeze() -> None:
        wait_for(load, 1 / 3)
        workers[0].freeze()
        time.sleep(3 * setting.size.seconds)
        workers[0].wake()

    under_load(load, setting, server.url, freeze)
    audit(setting, server, load)
    return f"one of two workers stopped for {3 * setting.size.seconds:g} s"


@scenario(POSTGRESQL)
def broker_crashes(setting: Stage) -> str:
    """kill -9 of RabbitMQ under load, and its start anew; then once more, with all its queues and messages lost"""
    broker = RabbitMQ(setting.folder / "rabbitmq")
    broker.start()
    try:
        server, _workers = distributed(setting, broker.url())
        load = Load(setting.size.submissions)

        def crash() -> None:
            for at, is_lost in enumerate((False, True), start=1):
                wait_for(load, at / 3)
                broker.kill()
                if is_lost:
                    broker.lose()
                load.recovered()  # submissions are taken all the same
                broker.start()
                before, began = _judged(setting, server), time.monotonic()
                wait_until(lambda before=before: _judged(setting, server) > before, "nothing is judged any more")  # type: ignore[misc]
                setting.recoveries.append(time.monotonic() - began)

        under_load(load, setting, server.url, crash)
        audit(setting, server, load)
    except Exception:
        print(f"RabbitMQ: ...{broker.log()[-3000:]}")
        raise
    finally:
        for each in setting.servers:
            each.stop()
        broker.kill()
    return "RabbitMQ killed twice, once with all it had"


@scenario(POSTGRESQL)
def rolling_workers(setting: Stage) -> str:
    """workers are stopped and started in turn under load: what they had is judged by the others at once"""
    server, workers = distributed(setting, setting.broker())
    load = Load(setting.size.submissions)

    def roll() -> None:
        for at in range(1, setting.size.kills + 1):
            wait_for(load, at / (setting.size.kills + 1))
            worker = workers[at % 2]
            began = time.monotonic()
            worker.stop()
            setting.recoveries.append(time.monotonic() - began)
            worker.start()

    under_load(load, setting, server.url, roll)
    audit(setting, server, load)
    return f"{setting.size.kills} workers restarted"


def _judged(setting: Stage, server: Server) -> int:
    with setting.client(server) as admin:
        judgements = admin.get(f"contests/{CONTEST}/judgements").raise_for_status().json()
    return sum(each["judgement_type_id"] is not None for each in judgements)
