"""What an audit counts."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Audit:
    """What was acknowledged, and what of it is not as promised; `faults` are sentences, none if all is well."""

    acknowledged: int = 0
    lost: int = 0
    doubled: int = 0
    judged_twice: int = 0
    feed_faults: int = 0
    faults: list[str] = field(default_factory=list)

    def count(self, what: str, number: int, sentence: str) -> None:
        """Add to one of the counts, with a sentence if it is not zero."""
        setattr(self, what, getattr(self, what) + number)
        if number:
            self.faults.append(sentence)

    def expect(self, holds: bool, sentence: str) -> None:
        """Note a sentence where something does not hold."""
        if not holds:
            self.faults.append(sentence)
