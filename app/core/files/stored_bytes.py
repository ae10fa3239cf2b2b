"""The bytes of stored files: inflated, compared with their names, and what may be wrong with them.

Graders import this alone of the file store, as their start is what a verdict may wait for.
"""

import hashlib

import zstandard


class FileMissing(LookupError):
    """No file of that sha256 is stored."""


class FileDamaged(OSError):
    """The stored bytes do not have the sha256 they are named by, or the disk does not give them."""


class StoreUnavailable(OSError):
    """The store of files does not answer, or refuses what it is asked, which may pass; no file is at fault.

    `is_final`: asking again at once gives the same answer, as with a wrong key.
    """

    def __init__(self, message: str, *, is_final: bool = False) -> None:
        super().__init__(message)
        self.is_final = is_final


# The faults of one stored file; both name it.
UNREADABLE = (FileMissing, FileDamaged)


def unpacked(sha256: str, packed: bytes) -> bytes:
    """Inflate the bytes of a stored file and check them; raises FileDamaged."""
    try:
        data = zstandard.decompress(packed)
    except zstandard.ZstdError as error:
        raise FileDamaged(f"stored file {sha256}: {error}") from None
    if hashlib.sha256(data).hexdigest() != sha256:
        raise FileDamaged(f"stored file {sha256} has other bytes than were stored")
    return data
