"""A message only wakes a worker, whoever wrote it and whatever it says."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pika.exceptions import NackError

from app.judging.service.broker import QUEUE, open_channel, parameters_of, queue_state
from tests.builders.grading import submission
from tests.builders.waiting import until
from tests.builders.working import working

FOREIGN = (
    b"\x00garbage",
    b"[]",
    b'{"queue_name": "elsewhere", "actor_name": "run_everything", "options": {}}',
)
"""Messages that no server sends."""


@pytest.mark.machine("broker")
def test_messages_that_no_server_sends_hold_nobody_up(postgresql_url: str, broker_url: str, tmp_path: Path) -> None:
    with working(postgresql_url, broker_url, tmp_path) as found:
        channel = open_channel(parameters_of(broker_url))
        for body in FOREIGN * 3:
            until(partial(is_stored, channel, body))
        channel.connection.close()
        found.accept(submission(b"10", b"10"))
        found.wait()
        until(lambda: queue_state(broker_url).ready == 0)
        assert [(row.type, row.attempt) for row in found.rows()] == [("AC", 1)]


def is_stored(channel: Any, body: bytes) -> bool:
    """Send a message. The broker refuses it while a queue that was just made has no leader."""
    try:
        channel.basic_publish("", QUEUE, body)
    except NackError:
        return False
    return True
