"""Grade answers with a checker: what runs inside a grader process, and nothing else does.

A rejection is the contestant's; every other exception is the judge's own fault and leaves as it came.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from time import perf_counter
from typing import Protocol, cast

from cachetools import LRUCache

from app.core.files.stored_bytes import FileMissing
from app.domain.documents import CaseAnswer, FoundScore, MessageDocument, PhraseDocument
from app.domain.verdicts import CaseVerdict
from app.judging.service.messages import Grade, Graded, Validate, Validated, Warm, graded, validated
from app.packages.settings import open_checker
from checkers.doors import AnyChecker, Message, Rejected, Score, check_instance, check_reference

# A checker, whatever its instances and answers are: they only go from one of its functions to another.
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
        ...


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
            return FoundScore(case.test_case_id, CaseVerdict.REJECTED, None, None, None, case.refused, 0)
        checker: AnyChecker = open_checker(name, case.checker_args)
        instance = self._instance(name, checker, case.input_sha256)
        reference = None if case.answer_sha256 is None else self._reference(case.answer_sha256)
        data = case.data if case.data is not None else self._load(case.sha256 or "")
        began = perf_counter()
        try:
            score = checker.score_answer(instance, checker.read_answer(data, instance), reference)
        except Rejected as rejection:
            message = message_json(rejection.message)
            return FoundScore(case.test_case_id, CaseVerdict.REJECTED, None, None, None, message, _ms(began))
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


def _ms(began: float) -> int:
    return round((perf_counter() - began) * 1000)
