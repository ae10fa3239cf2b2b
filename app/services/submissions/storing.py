"""Keeping what a submission brings: within the team's bytes, and nothing of a submission that is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from anyio.to_thread import run_sync

from app.domain.limits import TEAM_BYTES
from app.grading.answer_files import Answer, Collected
from app.grading.archives import Upload
from app.service import Service
from app.services.errors import TooLarge
from app.storage.files import Kept
from app.storage.judging_tasks import too_large
from app.storage.submission_context import Entry
from app.storage.submissions import INLINE_LIMIT, NewAnswer


def team_bytes(entry: Entry) -> int | None:
    """How many bytes a team may send to the contest; None: any number."""
    found: int | None = entry.settings.get("team_bytes", TEAM_BYTES)
    return found


@dataclass
class Keeping:
    """The files of one submission, those of them that it made, and the bytes reserved for it."""

    service: Service
    contest_id: str
    team_id: str
    reserved: int = 0
    made: list[Kept] = field(default_factory=list)
    names: dict[bytes, str] = field(default_factory=dict)

    def __enter__(self) -> Self:
        """Keep files; what fails half way leaves none."""
        return self

    def __exit__(self, error: object, *_: object) -> None:
        """Take back what was made before it failed."""
        if error is not None:
            self.give_back()
            self._take_back()

    def reserve(self, size: int, most: int) -> None:
        """Count the submission's bytes as the team's; raises TooLarge where they are too many."""
        used = self.service.entries.usage.reserve(self.contest_id, self.team_id, size, most)
        if used is not None:
            raise TooLarge(
                f"expected at most {most} bytes of a team in contest {self.contest_id},"
                f" found {used} already and {size} in this submission"
            )
        self.reserved = size

    def answer(self, answer: Answer) -> NewAnswer:
        """Keep an answer: in its row, or as a file where it is large."""
        case = answer.case
        if answer.data is None:
            return NewAnswer(case.id, answer.file_name, answer.size, refused=too_large(case.limit))
        if answer.size > INLINE_LIMIT:
            return NewAnswer(case.id, answer.file_name, answer.size, self._file(answer.data))
        return NewAnswer(case.id, answer.file_name, answer.size, None, answer.data)

    def sources(self, sources: Sequence[Upload]) -> list[dict[str, Any]]:
        """Keep the sources, as files."""
        kept = []
        for source in sources:
            source.stream.seek(0)
            data = source.stream.read()
            kept.append({"name": source.name, "size": len(data), "sha256": self._file(data)})
        return kept

    def give_back(self) -> None:
        """Count the bytes no more: the submission was not taken, or was there already."""
        self.service.entries.usage.release(self.contest_id, self.team_id, self.reserved)
        self.reserved = 0

    async def refuse(self) -> None:
        """Take away all that was kept for a submission that its limits refused, unless others have kept it too."""
        self.give_back()
        if self.made:
            await run_sync(self._take_back)

    def _take_back(self) -> None:
        for kept in self.made:
            self.service.files.take_back(kept)

    def _file(self, data: bytes) -> str:
        # The same bytes twice in a submission are kept once: the second time would look like somebody else's.
        if data not in self.names:
            kept = self.service.files.put(data)
            self.names[data] = kept.sha256
            if kept.made is not None:
                self.made.append(kept)
        return self.names[data]


def keeps_files(collected: Collected, sources: Sequence[Upload]) -> bool:
    """Is there anything that would become a file?"""
    return bool(sources) or any(each.size > INLINE_LIMIT for each in collected.answers.values() if each.data)


def size_of(collected: Collected, sources: Sequence[Upload]) -> int:
    """The bytes of answers and sources that would be kept."""
    return sum(len(each.data or b"") for each in collected.answers.values()) + sum(map(_length, sources))


def _length(source: Upload) -> int:
    source.stream.seek(0, 2)
    return source.stream.tell()
