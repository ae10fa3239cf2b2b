"""What two servers may answer differently though they mean the same: moments, secrets, and ids that each home makes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

TIME = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)|\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?(?: UTC)?"
)
SPAN = re.compile(r"-?\d+:\d\d:\d\d\.(?!000)\d{3}")
SECRET = re.compile(r'("(?:token|secret|password|version|etag|code)":\s*")[^"]+')
SIZE = re.compile(r'("(?:bytes|run_time|max_run_time|contest_time_ms|seconds|age)":\s*)[0-9.e+-]+')
RETRY = re.compile(r"\b\d+ s\b")
UNTIL = re.compile(r"\b(starts in) \d+:\d\d:\d\d")
MADE_ID = re.compile(r"\b(?:[0-9a-f]{16}|[0-9a-f]{24})\b")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
SHORTEST_ID = 8
"""Characters: shorter ids are the same on every home, or too like other text to be replaced."""


@dataclass
class Masks:
    """Replaces what differs by nature; ids that a home makes are numbered by where lists show them."""

    ids: dict[str, str] = field(default_factory=dict)

    def learn(self, kind: str, ids: Iterable[str]) -> None:
        """Number these ids of a list."""
        for id_ in ids:
            if len(id_) >= SHORTEST_ID and id_ not in self.ids:
                self.ids[id_] = f"<{kind} {len(self.ids)}>"

    def apply(self, text: str) -> str:
        """The text with all of that replaced."""
        if self.ids:
            pattern = "|".join(re.escape(each) for each in sorted(self.ids, key=len, reverse=True))
            text = re.sub(pattern, lambda match: self.ids[match[0]], text)
        text = SPAN.sub("<span>", TIME.sub("<time>", text))
        text = SECRET.sub(r"\1<secret>", SIZE.sub(r"\1<size>", text))
        text = UNTIL.sub(r"\1 <span>", MADE_ID.sub("<id>", text))
        return UUID.sub("<uuid>", RETRY.sub("<seconds>", text))
