"""A written collection: slices of rows as JSON, each zipped once, which one version after the other shares."""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, Self

LEVEL = 4
RAW = -zlib.MAX_WBITS
GZIP_HEAD = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
LAST_BLOCK = b"\x03\x00"
# Bytes of a reply that are handed over at once: about what the kernel copies in the time of a small request.
PIECE = 64 * 1024
# Python's bytes for a row beside its text: its objects, and its places in two tuples.
BYTES_OF_A_ROW = 150


def packed(data: bytes) -> bytes:
    """Bytes as deflate blocks that refer to nothing before them, so that they may stand anywhere in a stream."""
    squeezer = zlib.compressobj(LEVEL, zlib.DEFLATED, RAW)
    return squeezer.compress(data) + squeezer.flush(zlib.Z_FULL_FLUSH)


COMMA, OPENING, CLOSING = packed(b","), packed(b"["), packed(b"]")
Mark = tuple[str, ...]
# Properties and the values they are to have, empty for null.
Wanted = tuple[tuple[str, str], ...]


class Row(NamedTuple):
    """The objects of one submission as JSON with commas between them, empty where none is seen.

    mark  the values of the properties that are asked for, where all objects have the same; else None
    """

    text: bytes = b""
    mark: Mark | None = None


NO_ROW = Row()


@lru_cache(maxsize=100_000)
def same_mark(mark: Mark) -> Mark:
    """A tuple shared by all that are equal: there are as many rows as submissions, and few marks."""
    return mark


@dataclass(slots=True, eq=False)
class Slice:
    """Some submissions in order and the row of each."""

    ids: tuple[int, ...]
    rows: tuple[Row, ...]
    digest: bytes = b""
    length: int = 0
    _zipped: bytes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        plain = self.plain()
        self.length, self.digest = len(plain), hashlib.blake2b(plain, digest_size=12).digest()

    def plain(self) -> bytes:
        """The rows as text; cheap enough to be done for each reader."""
        return b",".join([row.text for row in self.rows if row.text])

    def zipped(self) -> bytes:
        """The same as deflate blocks, made once."""
        if self._zipped is None:
            self._zipped = packed(self.plain())
        return self._zipped

    def with_rows(self, rows: Mapping[int, Row]) -> Slice:
        """A slice with other rows for some of its submissions; itself where none of them differs."""
        mine = tuple(rows.get(id_, old) for id_, old in zip(self.ids, self.rows, strict=True))
        return self if mine == self.rows else Slice(self.ids, mine)

    def where(self, names: Sequence[str], wanted: Wanted) -> Slice:
        """The part with the wanted values, of rows whose marks are of these names."""
        known = all(name in names for name, _ in wanted)
        places = [(names.index(name), value) for name, value in wanted] if known else []
        pairs = []
        for id_, row in zip(self.ids, self.rows, strict=True):
            if row.text and known and row.mark is not None:
                if all(row.mark[place] == value for place, value in places):
                    pairs.append((id_, row))
            elif row.text and (text := _matching(row.text, wanted)):
                pairs.append((id_, Row(text)))
        return Slice(tuple(id_ for id_, _ in pairs), tuple(row for _, row in pairs)) if pairs else NOTHING

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes."""
        return self.length + BYTES_OF_A_ROW * len(self.ids) + len(self._zipped or b"")


NOTHING = Slice((), ())


def _matching(text: bytes, wanted: Wanted) -> bytes:
    rows = [
        row for row in json.loads(b"[" + text + b"]") if all((row.get(key) or "") == value for key, value in wanted)
    ]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()[1:-1]


@dataclass(frozen=True, slots=True)
class Written:
    """A version of a collection. Slices without any rows are not in it."""

    slices: Sequence[Slice]
    tag: str
    _ends: list[bytes] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def of(cls, slices: Sequence[Slice]) -> Written:
        """The slices in order; equal rows have equal tags."""
        full = [each for each in slices if each.length]
        digest = hashlib.blake2b(b"".join(each.digest for each in full), digest_size=12)
        return cls(full, f'"{digest.hexdigest()}"')

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
        """Whether all slices are zipped."""
        return bool(self._ends)

    def zipped(self) -> Iterator[bytes]:
        """The text as one gzip member, in pieces; call `zip` first."""
        yield GZIP_HEAD + OPENING
        for at, each in enumerate(self.slices):
            yield COMMA + each.zipped() if at else each.zipped()
        yield CLOSING + self._ends[0]

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


class Part(NamedTuple):
    """Some rows as JSON, and the same as deflate blocks where they are wanted zipped."""

    text: bytes
    zipped: bytes

    @classmethod
    def of(cls, text: bytes, *, zipped: bool) -> Self:
        """Zip them where that is wanted: not for the event loop."""
        return cls(text, packed(text) if zipped and text else b"")


@dataclass(frozen=True, slots=True)
class Derived:
    """A collection made from another one, slice by slice: a filtered one, or one with a team's own rows."""

    source: object
    parts: Mapping[Slice, Slice]
    written: Written

    @classmethod
    def of(cls, source: object, slices: Sequence[Slice], change: Callable[[Slice], Slice], old: Derived | None) -> Self:
        """Change each slice; what comes out as before is taken from the old one, where it is zipped already."""
        parts: dict[Slice, Slice] = {}
        before = {} if old is None else old.parts
        for each in slices:
            new, earlier = change(each), before.get(each)
            parts[each] = earlier if earlier is not None and earlier.digest == new.digest else new
        return cls(source, parts, Written.of([*parts.values()]))

    @property
    def size(self) -> int:
        """About how many bytes of memory it takes besides what it was made from."""
        own = sum(part.size for each, part in self.parts.items() if part is not each)
        return own + BYTES_OF_A_ROW * len(self.parts)
