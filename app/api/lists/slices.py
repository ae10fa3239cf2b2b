"""A written collection: slices of rows as JSON, each zipped once, which one version after the other shares."""

from __future__ import annotations

import hashlib
import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

LEVEL = 4
RAW = -zlib.MAX_WBITS
GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
LAST_BLOCK = b"\x03\x00"
PIECE = 64 * 1024
"""Bytes of a reply that are handed over at once: about what the kernel copies in the time of a small request."""
BYTES_OF_A_ROW = 80
"""What Python adds to a row: the object, and its places in two tuples."""


def packed(data: bytes) -> bytes:
    """Bytes as deflate blocks that refer to nothing before them, so that they may stand anywhere in a stream."""
    squeezer = zlib.compressobj(LEVEL, zlib.DEFLATED, RAW)
    return squeezer.compress(data) + squeezer.flush(zlib.Z_FULL_FLUSH)


COMMA, OPENING, CLOSING = packed(b","), packed(b"["), packed(b"]")


@dataclass(slots=True)
class Slice:
    """Some submissions in order and the rows of each as JSON with commas between them, empty where none is seen."""

    ids: tuple[int, ...]
    texts: tuple[bytes, ...]
    digest: bytes = b""
    length: int = 0
    _zipped: bytes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        plain = self.plain()
        self.length, self.digest = len(plain), hashlib.blake2b(plain, digest_size=12).digest()

    def plain(self) -> bytes:
        """All rows; cheap enough to be done for each reader."""
        return b",".join(filter(None, self.texts))

    def zipped(self) -> bytes:
        """The same as deflate blocks, made once."""
        if self._zipped is None:
            self._zipped = packed(self.plain())
        return self._zipped

    def with_texts(self, texts: Mapping[int, bytes]) -> Slice:
        """A slice with other rows for some of its submissions; itself where none of them is in it."""
        mine = {id_: texts[id_] for id_ in self.ids if id_ in texts}
        if not mine:
            return self
        return Slice(self.ids, tuple(mine.get(id_, old) for id_, old in zip(self.ids, self.texts, strict=True)))

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes."""
        return self.length + BYTES_OF_A_ROW * len(self.ids) + len(self._zipped or b"")


@dataclass(frozen=True, slots=True)
class Written:
    """One version of a collection. Slices without any rows are not in it."""

    slices: Sequence[Slice]
    tag: str
    _ends: list[bytes] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def of(cls, slices: Sequence[Slice]) -> Written:
        """The slices in order; equal rows have equal tags."""
        full = [each for each in slices if any(each.texts)]
        said = hashlib.blake2b(b"".join(each.digest for each in full), digest_size=12)
        return cls(full, f'"{said.hexdigest()}"')

    def plain(self) -> Iterator[bytes]:
        """The JSON text, in pieces."""
        yield b"["
        for at, each in enumerate(self.slices):
            yield b"," + each.plain() if at else each.plain()
        yield b"]"

    @property
    def length(self) -> int:
        """Bytes of the JSON text."""
        return 2 + sum(each.length for each in self.slices) + max(0, len(self.slices) - 1)

    def zip(self) -> None:
        """Zip what is not zipped yet, and count the whole: takes a while, so not for the event loop."""
        if not self._ends:
            check = 0
            for each in self.plain():
                check = zlib.crc32(each, check)
            for part in self.slices:
                part.zipped()
            self._ends.append(LAST_BLOCK + struct.pack("<LL", check, self.length & 0xFFFFFFFF))

    @property
    def zipped_length(self) -> int:
        """Bytes of the gzip member; call `zip` first."""
        return sum(map(len, self.zipped()))

    @property
    def is_zipped(self) -> bool:
        """Is all zipped?"""
        return bool(self._ends)

    def zipped(self) -> Iterator[bytes]:
        """One gzip member, in pieces; call `zip` first."""
        yield GZIP_HEAD + OPENING
        for at, each in enumerate(self.slices):
            yield COMMA + each.zipped() if at else each.zipped()
        yield CLOSING + self._ends[0]

    def with_texts(self, texts: Mapping[int, bytes], all_slices: Sequence[Slice]) -> Written:
        """The collection with other rows of some submissions; `all_slices` are also those without rows."""
        if not texts:
            return self
        slices = list(all_slices)
        firsts = [each.ids[0] for each in slices]
        places = {max(0, bisect_left(firsts, id_ + 1) - 1) for id_ in texts} if slices else set()
        for place in places:
            slices[place] = slices[place].with_texts(texts)
        return Written.of(slices)

    def pieces(self, *, zipped: bool) -> Iterator[bytes]:
        """The text, or the gzip member, in pieces of about the same size."""
        piece: list[bytes] = []
        size = 0
        for each in self.zipped() if zipped else self.plain():
            piece.append(each)
            size += len(each)
            if size >= PIECE:
                yield b"".join(piece)
                piece, size = [], 0
        if piece:
            yield b"".join(piece)

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes."""
        return sum(each.size for each in self.slices)
