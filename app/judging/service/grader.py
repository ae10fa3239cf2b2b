"""A grader process: `python -m app.judging.service.grader FD MEMORY` answers requests on a pipe until it closes.

It runs checkers, which may raise, loop, eat memory, or be taken over by an answer; the server beside it kills it then
and starts another. It has no file but those the server hands it, and no way out but the pipe (`confinement`).

A rejection is the contestant's; every other exception is the judge's own fault and leaves as it came.
"""

import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from time import perf_counter
from typing import Protocol, cast

from cachetools import LRUCache

from app.core.files.stored_bytes import FileMissing, unpacked
from app.domain.counting import CaseVerdict
from app.domain.documents import CaseAnswer, FoundScore, MessageDocument, PhraseDocument
from app.judging.service.messages import (
    MOST_REQUEST,
    Failed,
    Given,
    Grade,
    Graded,
    Need,
    Reply,
    Request,
    Unreadable,
    Validate,
    Validated,
    Warm,
    Warmed,
    encoded,
    graded,
    request_of,
    validated,
)
from app.packages.settings import open_checker
from app.sandbox import confinement
from app.sandbox.child import Pipe, PipeBroken
from app.sandbox.confinement import keep_what_may_be_kept
from checkers.doors import AnyChecker, Message, Rejected, Score, check_instance, check_reference

INSTANCES_KEPT = 512
SHORTEST_ANSWER = b"0\n"


class UnreadableFile(Exception):
    """A stored file is missing or damaged, or the disk does not give it; a checker may raise the same errors itself."""

    def __init__(self, sha256: str, error: Exception) -> None:
        super().__init__(str(error))
        self.sha256 = sha256


class Files(Protocol):
    """A store that inputs and answers are read from."""

    def load(self, sha256: str) -> bytes:
        """Give the bytes of that sha256."""


class Grader:
    """Checkers kept warm: modules loaded once, instances parsed once."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._instances: LRUCache[tuple[str, str], object] = LRUCache(INSTANCES_KEPT)
        self._references: LRUCache[str, bytes] = LRUCache(INSTANCES_KEPT)

    def grade(self, request: Grade) -> Iterator[Graded]:
        """Score each answer in turn, until the slice is over."""
        until = perf_counter() + request.slice_seconds
        for answer in request.answers:
            score = self._grade_one(request.checker, answer)
            is_last = perf_counter() >= until
            yield graded(score, is_last=is_last)
            if is_last:
                return

    def validate(self, request: Validate) -> Validated:
        """Say what is wrong with a test case's input and answer."""
        checker = open_checker(request.checker, request.checker_args)
        try:
            instance = checker.read_instance(request.input)
            if request.answer is None:
                check_instance(checker, instance)
        except Rejected as fault:
            return validated([("input", message_json(fault.message))])
        if request.expected is None and request.answer is None:
            return validated([])
        try:
            score = _score(checker, instance, request)
        except Rejected as fault:
            return validated([("answer", message_json(fault.message))])
        return validated([], None if score is None else found_score(0, score))

    def warm(self, request: Warm) -> None:
        """Read an input and the shortest answer with each checker, which loads all that judging needs."""
        for name, input_sha256, answer_sha256 in request.cases:
            checker: AnyChecker = open_checker(name)
            instance, reference = self._instance(name, checker, input_sha256), self._reference(answer_sha256)
            with suppress(Rejected):
                checker.score_answer(instance, checker.read_answer(SHORTEST_ANSWER, instance), reference)

    def _grade_one(self, name: str, case: CaseAnswer) -> FoundScore:
        if case.refused is not None:
            return rejected(case.test_case_id, case.refused)
        checker: AnyChecker = open_checker(name, case.checker_args)
        instance = self._instance(name, checker, case.input_sha256)
        reference = None if case.answer_sha256 is None else self._reference(case.answer_sha256)
        data = case.data if case.data is not None else self._load(case.sha256 or "")
        began = perf_counter()
        try:
            score = checker.score_answer(instance, checker.read_answer(data, instance), reference)
        except Rejected as rejection:
            return rejected(case.test_case_id, message_json(rejection.message), _ms(began))
        return found_score(case.test_case_id, score, _ms(began))

    def _instance(self, name: str, checker: AnyChecker, sha256: str) -> object:
        if (name, sha256) not in self._instances:
            self._instances[name, sha256] = checker.read_instance(self._load(sha256))
        return self._instances[name, sha256]

    def _reference(self, sha256: str) -> bytes:
        if sha256 not in self._references:
            self._references[sha256] = self._load(sha256)
        return self._references[sha256]

    def _load(self, sha256: str) -> bytes:
        try:
            return self._files.load(sha256)
        except (FileMissing, OSError) as error:
            raise UnreadableFile(sha256, error) from None


def _score(checker: AnyChecker, instance: object, request: Validate) -> Score | None:
    if request.expected is not None:
        return check_reference(checker, instance, request.expected)
    answer = checker.read_answer(request.answer or b"", instance)
    return checker.score_answer(instance, answer, request.reference)


def message_json(message: Message) -> MessageDocument:
    """A message in the form it is stored and shown in."""
    args = {name: str(value) if isinstance(value, str) else value for name, value in message.args.items()}
    document: MessageDocument = {"key": message.key, "text": message.text, "args": args}
    if phrases := message.phrases:
        document["phrases"] = cast(Mapping[str, PhraseDocument], phrases)
    return document


def found_score(test_case_id: int, score: Score, run_time_ms: int = 0) -> FoundScore:
    """A checker's score of an accepted answer, in the form it is stored in."""
    return FoundScore(
        test_case_id,
        CaseVerdict.ACCEPTED,
        score.raw,
        score.max_raw,
        score.multiplier,
        message_json(score.message),
        run_time_ms,
    )


def rejected(test_case_id: int, message: MessageDocument, run_time_ms: int = 0) -> FoundScore:
    """The score of a rejected answer, in the form it is stored in."""
    return FoundScore(test_case_id, CaseVerdict.REJECTED, None, None, None, message, run_time_ms)


def _ms(began: float) -> int:
    return round((perf_counter() - began) * 1000)


ERROR_LENGTH = 4000
NICENESS = 5  # taking submissions goes before judging them


def main(prepare: Callable[[], None] = keep_what_may_be_kept) -> None:
    """Serve one pipe, after `prepare` has loaded what checkers share."""
    descriptor, memory = int(sys.argv[1]), int(sys.argv[2])
    confinement.die_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then closes the pipe
    os.nice(NICENESS)
    prepare()
    pipe = Pipe(socket.socket(fileno=descriptor))
    Serving(pipe, confinement.give_up_others(memory)).serve()


class HandedFiles:
    """Reads files that the server opens, one for each Need; it opens only those of the request at hand."""

    def __init__(self, pipe: Pipe) -> None:
        self._pipe = pipe

    def load(self, sha256: str) -> bytes:
        """Ask for a file, inflate and check it."""
        self._pipe.send(encoded(Need(sha256)))
        data, descriptor = self._pipe.receive_file(MOST_REQUEST)
        given = request_of(data)
        if not isinstance(given, Given) or descriptor is None:
            raise FileMissing(getattr(given, "missing", "") or f"no stored file {sha256}")
        with os.fdopen(descriptor, "rb") as file:
            return unpacked(sha256, file.read())


class Serving:
    """Answers what comes on a pipe; the first thing to come is Warm, and after it the process is confined."""

    def __init__(self, pipe: Pipe, protections: confinement.Report) -> None:
        self._pipe = pipe
        self._protections = protections
        self._grader = Grader(HandedFiles(pipe))

    def serve(self) -> None:
        """Answer requests one by one until the other end is closed."""
        while True:
            try:
                request = request_of(self._pipe.receive(MOST_REQUEST))
                for reply in self._answer(request):
                    self._pipe.send(encoded(reply))
            except PipeBroken:
                return

    def _answer(self, request: Request) -> Iterator[Reply]:
        """Answer a request; whatever a checker raises becomes Failed."""
        if isinstance(request, Warm):
            yield self._warm(request)
            return
        try:
            match request:
                case Grade():
                    yield from self._grader.grade(request)
                case Validate():
                    yield self._grader.validate(request)
                case _:
                    yield Failed("a file came that was not asked for")
        except PipeBroken:
            raise
        except UnreadableFile as fault:
            yield Unreadable(str(fault), sha256=fault.sha256)
        except Exception:
            yield Failed(traceback.format_exc()[-ERROR_LENGTH:])

    def _warm(self, request: Warm) -> Warmed:
        error = ""
        try:
            self._grader.warm(request)
        except PipeBroken:
            raise
        except Exception:
            error = traceback.format_exc()[-ERROR_LENGTH:]
        if confinement.WRITES not in self._protections:
            self._protections = {**self._protections, **confinement.give_up_files()}
        return Warmed(self._protections, error)


if __name__ == "__main__":
    main()
