"""How much of a rejection is told."""

from __future__ import annotations

from typing import Any

import pytest

from app.contests.schemas import ContestSettings
from app.domain.participation import Telling, reduced
from checkers.doors import Message, Rejected

USUAL = Rejected.at("token 3 (line 1)", expected="another token", found="7").message
PLAIN = Message("rejected", "line 5: expected a row below 10, found 57")
OTHER = Message("too-long", "12 moves are too many", {"moves": 12})


def document(message: Message) -> dict[str, Any]:
    """A message as rows keep it."""
    return {"key": message.key, "text": message.text, "args": dict(message.args)}


def test_all_of_it_unless_the_contest_says_otherwise() -> None:
    assert ContestSettings().rejections == Telling.FULL
    assert reduced(document(USUAL), Telling.FULL) == document(USUAL)


@pytest.mark.parametrize("message", [USUAL, PLAIN, OTHER])
def test_the_verdict_alone_is_the_same_for_every_rejection(message: Message) -> None:
    assert reduced(document(message), Telling.VERDICT) == {
        "key": "rejected",
        "text": "rejected",
        "args": {},
    }


@pytest.mark.parametrize(
    ("message", "text"), [(USUAL, "token 3 (line 1): rejected"), (PLAIN, "rejected"), (OTHER, "rejected")]
)
def test_the_position_is_told_without_what_was_expected_there(message: Message, text: str) -> None:
    assert reduced(document(message), Telling.POSITION)["text"] == text
