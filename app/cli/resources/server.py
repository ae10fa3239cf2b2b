"""The state of a server."""

from __future__ import annotations

from typing_extensions import TypedDict


class Readiness(TypedDict):
    """The readiness of a server to take and judge submissions; other properties are shown as they are."""

    ready: bool


class FileFault(TypedDict):
    """A stored file that is missing or damaged."""

    sha256: str


class StoredFiles(TypedDict):
    """The stored files known to be missing or damaged."""

    faults: list[FileFault]
