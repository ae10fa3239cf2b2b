"""Places inside the sandbox, commands in terms of them, and what a run leaves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.sandbox.model import Result

PROGRAM_FOLDER = "/program"
CASE_FOLDER = "/case"
INPUT, ANSWER, OUTPUT = (f"{CASE_FOLDER}/{name}" for name in ("input", "answer", "output"))
WORK = "/work"
FEEDBACK = f"{WORK}/feedback"


@dataclass(frozen=True, slots=True)
class Asked:
    """A command that asks about a case.

    stdin            the file of the case that it reads
    links            other paths of the case's files
    leaves_feedback  it may write files into FEEDBACK
    """

    argv: tuple[str, ...]
    stdin: str | None = None
    links: tuple[tuple[str, str], ...] = ()
    leaves_feedback: bool = False


@dataclass(frozen=True, slots=True)
class Run:
    """A run that has ended, and the files it left as feedback."""

    result: Result
    feedback: Mapping[str, bytes]
