"""How much a process spends on surviving a loss of power, on hashes of passwords and on waiting for notices.

Every installation spends this; it is no setting of theirs. Tests spend less: they kill processes, but cut no power.
"""

from dataclasses import dataclass


@dataclass(slots=True)
class Effort:
    """What a process spends, read at each use."""

    waits_for_disk: bool = True  # for files that are synced, and for SQLite's log at each commit
    hash_passes: int = 2
    hash_kib: int = 19 * 1024
    seconds_to_hear: float = 0.5  # a listener that is closed waits so long


EFFORT = Effort()
