"""Workers reject messages that no server sends, and judge what comes after them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pika  # type: ignore[import-untyped]
import pytest

from app.judging.service.distributed.broker import JUDGEMENTS, Lane, message_of, open_broker, parameters_of
from tests.builders.grading import submission
from tests.builders.waiting import until
from tests.builders.working import working

LATER = 4_000_000_000_000


def fields(lane: Lane = JUDGEMENTS, rows: object = ((9999, "t"),), **changed: Any) -> bytes:
    """A message as a server sends it, but for what is changed."""
    message = {**message_of(lane, []).asdict(), "args": [rows], **changed}
    return json.dumps(message).encode()


REJECTED = {
    "garbage": b"\x00garbage",
    "no object": b"[]",
    "a queue that is not this one": fields(queue_name="elsewhere"),
    "an actor that is none": fields(actor_name="run_everything"),
    "no rows": fields(args=[]),
    "two lists of rows": fields(args=[[[1, "t"]], [[2, "t"]]]),
    "arguments by name": fields(kwargs={"more": 1}),
    "rows that are no list": fields(rows=7),
    "a row that is no pair": fields(rows=[7]),
    "a number that is text": fields(rows=[["7", "t"]]),
    "a number beyond those of rows": fields(rows=[[2**63, "t"]]),
    "a team that is a list": fields(rows=[[7, ["t"]]]),
    "more rows than any message has": fields(rows=[[at, "t"] for at in range(10_000)]),
    "options that are no object": fields(options=None),
}
"""Messages, and what is wrong with them."""
CHANGED = {
    "a moment in a hundred years": fields(options={"eta": LATER}),
    "errors that are no classes": fields(options={"throws": "x"}),
    "a count that is text": fields(options={"retries": "many"}),
    "traces that are a list": fields(options={"jurado_traces": [1]}),
    "traces of no judgement": fields(options={"jurado_traces": {"x": "y"}}),
}
"""Messages whose options alone no server gives."""


def publish(url: str, bodies: Iterable[bytes], queue: str = JUDGEMENTS.queue) -> None:
    """Put messages into a queue, as anybody may who knows the broker's password; it is there, or they would be lost."""
    broker = open_broker(url, [JUDGEMENTS])
    broker.declare_queue(JUDGEMENTS.queue, ensure=True)
    broker.close()
    connection = pika.BlockingConnection(parameters_of(url))
    channel = connection.channel()
    for body in bodies:
        channel.basic_publish("", queue, body)
    connection.close()


@pytest.mark.machine("broker")
def test_messages_that_no_server_sends_are_rejected_and_hold_nobody_up(
    postgresql_url: str, broker_url: str, tmp_path: Path
) -> None:
    """More of each than the worker has threads, any of which would have ended one or kept it for good."""
    with working(postgresql_url, broker_url, tmp_path) as found:
        for body in (*REJECTED.values(), *CHANGED.values()):
            publish(broker_url, [body] * 3)
        found.accept(submission(b"10", b"10"))
        found.wait()
        broker = open_broker(broker_url, [JUDGEMENTS])
        until(lambda: broker.get_queue_message_counts(JUDGEMENTS.queue) == (0, 0, 3 * len(REJECTED)))
        broker.close()
        assert [row.type for row in found.rows()] == ["AC"]


@pytest.mark.machine("broker")
def test_a_message_that_a_worker_whose_clock_is_ahead_laid_aside_comes_again_within_seconds(
    postgresql_url: str, broker_url: str, tmp_path: Path
) -> None:
    with working(postgresql_url, broker_url, tmp_path) as found:
        id_ = found.accept(submission(b"10", b"10"), tell=False)
        queue = f"{JUDGEMENTS.queue}.DQ"
        publish(broker_url, [fields(rows=[[id_, "t"]], queue_name=queue, options={"eta": LATER})], queue)
        found.wait()
        assert [row.type for row in found.rows()] == ["AC"]


@pytest.mark.machine("broker")
def test_a_message_that_comes_a_hundred_times_judges_its_row_once(
    postgresql_url: str, broker_url: str, tmp_path: Path
) -> None:
    with working(postgresql_url, broker_url, tmp_path) as found:
        id_ = found.accept(submission(b"10", b"10"), tell=False)
        publish(broker_url, [fields(rows=[[id_, "t"]])] * 100)
        later = found.accept(submission(b"10", b"3"))
        found.wait()
        assert [(row.id, row.type, row.attempt) for row in found.rows()] == [(id_, "AC", 1), (later, "PC", 1)]
