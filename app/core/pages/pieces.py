"""Pages made of pieces: a piece that many pages share is zipped once, and goes into each of them as it is."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

LEVEL = 5
SHARED_LEVEL = 7
PIECES_KEPT = 512
HEADER = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
"""Of a gzip member without a name and a time."""
END = b"\x03\x00"
"""An empty last block."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a page: its bytes, and these deflated to whole bytes, without references to what comes before."""

    plain: bytes
    deflated: bytes

    @classmethod
    def of(cls, text: str, level: int = LEVEL) -> Piece:
        """Deflate a text."""
        plain = text.encode()
        stream = zlib.compressobj(level, zlib.DEFLATED, -zlib.MAX_WBITS)
        return cls(plain, stream.compress(plain) + stream.flush(zlib.Z_SYNC_FLUSH))


@lru_cache(PIECES_KEPT)
def shared(text: str) -> Piece:
    """A piece that other pages have too."""
    return Piece.of(text, SHARED_LEVEL)


def plain(pieces: Sequence[Piece]) -> bytes:
    """A page as it is."""
    return b"".join(piece.plain for piece in pieces)


def zipped(pieces: Sequence[Piece]) -> bytes:
    """A page as one gzip member: browsers read no second one."""
    check, length = 0, 0
    for piece in pieces:
        check = zlib.crc32(piece.plain, check)
        length += len(piece.plain)
    return b"".join([HEADER, *(piece.deflated for piece in pieces), END, struct.pack("<2L", check, length % 2**32)])
