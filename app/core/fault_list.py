"""Faults of what may be large: the first ones are kept, the others are counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from app.core.messages import Text

MOST_KEPT = 100
Fault = Mapping[str, object]


class FaultList:
    """Faults in order of detection, the first of them kept: three million take 1.6 GB, and nobody reads them."""

    def __init__(self) -> None:
        self.first: list[Fault] = []
        self.count = 0

    def __bool__(self) -> bool:
        """Whether there is any fault."""
        return self.count > 0

    @property
    def more(self) -> int:
        """The number of faults beyond the first ones."""
        return self.count - len(self.first)

    def note(self, fault: Fault) -> None:
        """Note one."""
        self.count += 1
        if len(self.first) < MOST_KEPT:
            self.first.append(fault)

    def add(self, file: str, where: str, expected: Text, found: Text) -> None:
        """Note the usual one."""
        self.note({"file": file, "where": where, "expected": expected, "found": found})

    def extend(self, faults: Iterable[Fault]) -> None:
        """Note several."""
        for fault in faults:
            self.note(fault)

    def join(self, other: FaultList) -> None:
        """Take over what another list has."""
        self.extend(other.first)
        self.count += other.more
