"""The desk that runs a new package's checker: in the service's graders, bounded as judging is."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future

from app.core.faults import PackageError, PackageErrors
from app.domain.case_scores import FoundScore
from app.judging.service.messages import Validate, Validated
from app.judging.service.questions import JudgeFailed, NotJudged
from app.packages.model import program_document
from app.packages.trials import Outcome, Question
from app.programs.bundle import pack
from app.programs.places import PROGRAM_FOLDER
from checkers.doors import Message, Score

TRACEBACK = "Traceback"
IN_PROGRAM = re.compile(rf'File "{PROGRAM_FOLDER}/([^"]+)", line ([0-9]+)')
BATCH = 64
"""Questions asked at once: each holds an input and an answer in memory."""
BATCH_BYTES = 64 * 2**20
"""Bytes of their files from which on no further question is asked at the same time."""


class GraderDesk:
    """Asks the graders of an engine, for so many seconds in all; `lacking` says what keeps programs from running."""

    def __init__(
        self, validate: Callable[[Validate], Future[Validated]], seconds: float, lacking: Callable[[], str]
    ) -> None:
        self._validate = validate
        self._lacking = lacking
        self._seconds = seconds
        self._until = time.monotonic() + seconds

    def lacks(self) -> str:
        """What keeps packages' own checkers from running on this server."""
        return self._lacking()

    def ask(self, questions: Iterable[Question]) -> list[Outcome]:
        """Answer every question, in order.

        Raises PackageErrors once the time for all of them is over, NotJudged where graders could not answer.
        """
        outcomes: list[Outcome] = []
        for batch in batches(questions):
            if time.monotonic() > self._until:
                text = f"expected a package that is checked within {self._seconds:g} s, found one that takes longer"
                raise PackageErrors([PackageError("", "", text)])
            asked = [self._validate(_request(question)) for question in batch]
            outcomes += [_outcome(future) for future in asked]
        return outcomes


def batches(questions: Iterable[Question], most_bytes: int = BATCH_BYTES) -> Iterator[list[Question]]:
    """Yield questions in lists that may be in memory at once."""
    batch: list[Question] = []
    size = 0
    for question in questions:
        batch.append(question)
        size += sum(
            len(data or b"") for data in (question.input, question.answer, question.reference, question.expected)
        )
        if len(batch) >= BATCH or size >= most_bytes:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _request(question: Question) -> Validate:
    program = question.program
    return Validate(
        question.checker,
        question.input,
        question.checker_args,
        answer=question.answer,
        reference=question.reference,
        expected=question.expected,
        program=None if program is None else program_document(program),
        bundle=None if program is None else pack(program.files),
        case_name=question.name,
        points=None if question.most is None else question.most.as_integer_ratio(),
    )


def _outcome(future: Future[Validated]) -> Outcome:
    try:
        validated = future.result()
    except NotJudged:
        raise
    except JudgeFailed as failed:
        return Outcome(failed=_in_short(str(failed).strip()))
    for fault in validated.faults:
        text = str(fault["text"])
        return Outcome(unread=text) if fault["file"] == "input" else Outcome(rejected=text)
    return Outcome(score=None if validated.score is None else _score(validated.score))


def _in_short(text: str) -> str:
    """The reason of a failure: of a traceback the last line, with the line of the package's program that it was at."""
    if text.startswith(TRACEBACK):
        reason, places = text.splitlines()[-1], IN_PROGRAM.findall(text)
        return f"{reason} ({places[-1][0]}, line {places[-1][1]})" if places else reason
    return text or "no message"


def _score(score: FoundScore) -> Score:
    assert score.raw is not None, "an answer that is accepted has a raw score"
    message = Message(score.message["key"], score.message["text"], score.message["args"])
    return Score(score.raw, score.max_raw, score.multiplier, message)
