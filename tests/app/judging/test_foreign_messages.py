"""A message only wakes a worker, whoever wrote it and whatever it says."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pika  # type: ignore[import-untyped]
import pytest

from app.judging.service.broker import QUEUE, new_message, open_broker, parameters_of
from tests.builders.grading import submission
from tests.builders.waiting import until
from tests.builders.working import working

LATER = 4_000_000_000_000


def fields(**changed: Any) -> bytes:
    """A message as a server sends it, but for what is changed."""
    return json.dumps({**new_message().asdict(), **changed}).encode()


FOREIGN = {
    "garbage": b"\x00garbage",
    "no object": b"[]",
    "a queue that is not this one": fields(queue_name="elsewhere"),
    "an actor that is none": fields(actor_name="run_everything"),
    "rows": fields(args=[[[1, "t"]]]),
    "arguments by name": fields(kwargs={"more": 1}),
    "options that are no object": fields(options=None),
    "a moment in a hundred years": fields(options={"eta": LATER}),
    "errors that are no classes": fields(options={"throws": "x"}),
    "a count that is text": fields(options={"retries": "many"}),
}
"""Messages that no server sends."""


def publish(url: str, bodies: Iterable[bytes], queue: str = QUEUE) -> None:
    """Put messages into a queue, as anybody may who knows the broker's password; it is there, or they would be lost."""
    broker = open_broker(url)
    broker.declare_queue(QUEUE, ensure=True)
    broker.close()
    connection = pika.BlockingConnection(parameters_of(url))
    channel = connection.channel()
    for body in bodies:
        channel.basic_publish("", queue, body)
    connection.close()


@pytest.mark.machine("broker")
@pytest.mark.parametrize("queue", [QUEUE, f"{QUEUE}.DQ"])
def test_messages_that_no_server_sends_hold_nobody_up(
    postgresql_url: str, broker_url: str, tmp_path: Path, queue: str
) -> None:
    """More of each than the worker has threads, any of which would have ended one or kept it for good."""
    with working(postgresql_url, broker_url, tmp_path) as found:
        for body in FOREIGN.values():
            publish(broker_url, [body] * 3, queue)
        found.accept(submission(b"10", b"10"))
        found.wait()
        broker = open_broker(broker_url)
        until(lambda: broker.get_queue_message_counts(QUEUE)[:2] == (0, 0))
        broker.close()
        assert [(row.type, row.attempt) for row in found.rows()] == [("AC", 1)]
