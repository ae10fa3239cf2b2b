"""A package's input validators, asked about its inputs in the sandbox."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from app.packages.ahead import ahead
from app.packages.contents import File
from app.programs.tools import Bounds, Opinion, Tool, ToolDesk
from app.programs.validating import ValidatorProtocol, validate

AT_ONCE = min(2, os.cpu_count() or 1)


@dataclass(frozen=True, slots=True)
class Question:
    """An input to be validated, read then; `arguments` by validator name, `*` for all of them."""

    file: File
    arguments: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Validators:
    """The validators of one package, the protocol that they speak, and the limits of a run."""

    desk: ToolDesk
    tools: Sequence[Tool]
    protocol: ValidatorProtocol
    bounds: Bounds

    def ask(self, questions: Sequence[Question]) -> Iterator[tuple[str, list[Opinion]]]:
        """Let every validator look at every input, two at a time; opinions with the input's path, in order."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            yield from ahead(pool, self._look, questions)

    def _look(self, question: Question) -> tuple[str, list[Opinion]]:
        data = question.file.read()
        return question.file.path, [self._ask(tool, question, data) for tool in self.tools]

    def _ask(self, tool: Tool, question: Question, data: bytes) -> Opinion:
        args = question.arguments.get(tool.called, question.arguments.get("*", ()))
        return validate(self.desk, tool, self.protocol, data, args, self.bounds)
