"""Checkers in Python: a module with the doors of `checkers/doors.py`, or with `score(input, answer, reference)`.

The function gets texts and gives a number, a number and a message for the team, or a `Score`; it rejects by raising
`Rejected`. One process is asked about the cases of one submission, one after another.
"""

from __future__ import annotations

import json
import re
import secrets
from fractions import Fraction
from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from app.programs.model import (
    ACCEPTED,
    LONGEST_TEAM_MESSAGE,
    OF_PROGRAM,
    REJECTED,
    CaseFiles,
    Decision,
    Meaning,
    ProgramFault,
    Unread,
    plain,
    team_message,
)
from app.programs.points import scored, storable
from app.programs.runner import LARGEST_IMAGE, LENGTH_BYTES, MOST_IMAGES
from checkers.doors import Exact, Message, Score

Ratio = Annotated[str, Meta(pattern="^-?[0-9]{1,400}/[0-9]{1,400}$")]
TOKEN_BYTES = 12
KEY = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
MOST_ARGUMENTS = 20
LONGEST_ARGUMENT = 500


class Words(Struct, frozen=True):
    """A message of `checkers.doors` as the runner sends it."""

    key: Annotated[str, Meta(max_length=200)]
    text: Annotated[str, Meta(max_length=20_000)]
    args: dict[str, int | str] = {}


class Reply(Struct, frozen=True):
    """A reply of the runner: one of a failure, a rejection, a refused input, a score, a number, or nothing to say."""

    token: str
    failed: str | None = None
    rejected: Words | None = None
    unread: Words | None = None
    raw: Ratio | None = None
    max_raw: Ratio | None = None
    multiplier: Ratio | None = None
    message: Words | None = None
    number: Ratio | None = None
    text: Annotated[str, Meta(max_length=20_000)] = ""
    images: dict[str, Annotated[int, Meta(ge=0, le=LARGEST_IMAGE + 1)]] = {}


_replies = msgspec.json.Decoder(Reply)


def request(case: CaseFiles) -> tuple[str, bytes]:
    """A request's token and its bytes."""
    parts = {"input": case.input, "reference": case.reference}
    if case.output is not None:
        parts["output"] = case.output
    token = secrets.token_hex(TOKEN_BYTES)
    header = {
        "token": token,
        "args": list(case.args),
        "expected": case.is_expected,
        "parts": {name: len(data) for name, data in parts.items()},
    }
    head = json.dumps(header).encode()
    return token, b"".join((len(head).to_bytes(LENGTH_BYTES, "big"), head, *parts.values()))


def reply_of(data: bytes, token: str) -> Reply:
    """The reply to the request with this token; raises ProgramFault for anything else."""
    try:
        reply = _replies.decode(data)
    except (ValueError, RecursionError) as error:  # msgspec's faults are ValueErrors, but for documents too deep
        raise ProgramFault(f"a reply that is none: {plain(str(error))}") from None
    if reply.token != token:
        raise ProgramFault("expected the reply to this case, found one to another")
    if len(reply.images) > MOST_IMAGES:
        raise ProgramFault(f"expected at most {MOST_IMAGES} images, found {len(reply.images)}")
    return reply


def decision(reply: Reply, case: CaseFiles, meaning: Meaning) -> Decision | None:
    """The checker's decision; None where it has nothing to say. Raises Unread, or ProgramFault."""
    if reply.failed is not None:
        raise ProgramFault(plain(reply.failed))
    if reply.unread is not None:
        raise Unread(plain(reply.unread.text)[:LONGEST_TEAM_MESSAGE])
    if reply.rejected is not None:
        return Decision(None, _message(reply.rejected) or REJECTED)
    if reply.number is not None:
        value = _ratio(reply.number, "score")
        message = team_message(plain(reply.text), ACCEPTED)
        return Decision(scored(value, meaning, case.most, message), message)
    if reply.raw is None:
        return None
    message = _message(reply.message) or ACCEPTED
    return Decision(_score(reply, message), message)


def _score(reply: Reply, message: Message) -> Score:
    multiplier = _exact(reply.multiplier, "multiplier")
    if multiplier is not None and multiplier > 1:
        raise ProgramFault(f"multiplier: expected 0 to 1, found {float(multiplier):g}")
    raw = _exact(reply.raw, "raw score")
    assert raw is not None, "the reply has one"
    return Score(raw, _exact(reply.max_raw, "largest raw score"), multiplier, message)


def _message(words: Words | None) -> Message | None:
    """The words of a checker as people may read them, None for none: whoever has taken it over chooses them."""
    if words is None:
        return None
    text = plain(words.text).strip()[:LONGEST_TEAM_MESSAGE]
    if not text:
        return None
    args = {plain(name): _argument(value) for name, value in list(words.args.items())[:MOST_ARGUMENTS]}
    return Message(words.key if KEY.fullmatch(words.key) else OF_PROGRAM, text, args)


def _argument(value: int | str) -> int | str:
    return plain(value)[:LONGEST_ARGUMENT] if isinstance(value, str) else value


def _ratio(text: str, what: str) -> Fraction:
    try:
        return storable(Fraction(text), what)
    except ZeroDivisionError:
        raise ProgramFault(f"{what}: expected a ratio, found one by 0") from None


def _exact(ratio: str | None, what: str) -> Exact | None:
    if ratio is None:
        return None
    value = _ratio(ratio, what)
    return value.numerator if value.denominator == 1 else value
