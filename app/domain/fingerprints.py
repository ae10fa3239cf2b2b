"""What is kept of a text to tell whether another is equal or nearly so: two digests, and a sketch of its shingles.

Normalising, in this order: letters become lowercase, numbers with a sign, a point or an exponent are written plainly
(`1.0`, `+1` and `1e0` are `1`, an exponent of three digits stays; digits alone stay, as `0010` may be the row of a
board), and tokens are what lies between white space. `tokens` is the digest of the tokens in order, wherever lines end;
`lines` that of the lines in any order, empty ones left out.

The sketch is the SKETCH smallest hashes of the text's shingles (runs of tokens or characters), so that it has the same
size for every text, and the share of common hashes among the smallest of two sketches estimates their Jaccard index.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from hashlib import blake2b
from itertools import accumulate
from zlib import crc32

SKETCH = 64
# Texts with fewer shingles are equal or not: nearness of so little means nothing.
FEWEST_SHINGLES = 16
# Of longer texts only so much is looked at for nearness, and only bytes that are equal count as equal.
MOST_BYTES = 1 << 20
LONG_TOKEN = 16
CHANCE = 100
RUNS = (4, 8, 16, 32)
NUMBER = re.compile(rb"(?<!\S)(?:[+-]\d++|[+-]?(?:\d++\.\d*+|\.\d++)(?:e[+-]?\d{1,2})?|[+-]?\d++e[+-]?\d{1,2})(?!\S)")
UNUSUAL = re.compile(rb"[.+e-]")

WORD = re.compile(rb"[A-Za-z_]\w*|\d[\w.]*|[^\s\w]")
SOURCE_RUN = 10
KEYWORDS = frozenset(
    b"""
    and assert async auto await bool break byte case catch char class const continue def default del delete do double
    elif else enum except extern final finally float fn for from func function global if impl import in include int
    interface is lambda let long loop match module mut namespace new none not null or package pass print private
    public pub raise range return self short signed sizeof static string struct super switch template this throw
    true false try type typedef typename union unsigned use using var vector virtual void volatile where while with
    yield
    """.split()
)


@dataclass(frozen=True, slots=True)
class Grain:
    """How texts of one kind are cut into shingles: runs of so many tokens, or of characters where tokens are long."""

    run: int
    characters: bool = False


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What is kept of one text. `sketch` is sorted."""

    tokens: bytes
    lines: bytes
    sketch: Sequence[int]


def normal(data: bytes) -> list[list[bytes]]:
    """The tokens of each line that has any, normalised."""
    text = data.lower()
    if UNUSUAL.search(text):
        text = NUMBER.sub(lambda match: _plainly(match[0]), text)
    return [tokens for line in text.splitlines() if (tokens := line.split())]


def _plainly(token: bytes) -> bytes:
    text = format(Decimal(token.decode()), "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return b"0" if text in {"-0", ""} else text.encode()


def grain_of(data: bytes) -> Grain:
    """The grain that suits answers like this one: runs long enough that equal ones are hardly ever chance.

    All answers that are compared must be cut alike, so take it from one of them, best the expected answer.
    """
    tokens = [token for line in normal(data[:MOST_BYTES]) for token in line]
    length = sum(map(len, tokens))
    characters = length > LONG_TOKEN * len(tokens)
    count, different = (length, len({*b"".join(tokens)})) if characters else (len(tokens), len(set(tokens)))
    run = next((run for run in RUNS if different**run >= CHANCE * count), RUNS[-1])
    return Grain(run, characters)


def fingerprint(data: bytes, grain: Grain) -> Fingerprint:
    """What is kept of an answer."""
    lines = normal(data[:MOST_BYTES])
    tokens = [token for line in lines for token in line]
    sketch = _sketch(tokens, grain)
    if len(data) > MOST_BYTES:
        whole = _digest([data])
        return Fingerprint(whole, whole, sketch)
    return Fingerprint(_digest(tokens), _digest(sorted(b" ".join(line) for line in lines)), sketch)


def source_fingerprint(data: bytes) -> Fingerprint:
    """What is kept of a program's source: names and numbers are all alike, so that renaming changes nothing.

    The words of common languages, and signs, stay what they are; white space and the order of lines count nothing.
    """
    words = [_shape(word) for word in WORD.findall(data[:MOST_BYTES])]
    plain = [b" ".join(line.split()) for line in data.splitlines() if line.strip()]
    return Fingerprint(_digest(plain), _digest(sorted(plain)), _sketch(words, Grain(SOURCE_RUN)))


def _shape(word: bytes) -> bytes:
    if word[:1].isdigit():
        return b"0"
    if not (word[:1].isalpha() or word.startswith(b"_")):
        return word
    return word.lower() if word.lower() in KEYWORDS else b"x"


def jaccard(one: Fingerprint, other: Fingerprint, common: frozenset[int] = frozenset()) -> float:
    """How much two texts have in common, 0 to 1; shingles in `common` do not count, as everybody has them."""
    if one.tokens == other.tokens:
        return 1.0
    mine, theirs = set(one.sketch) - common, set(other.sketch) - common
    if min(len(mine), len(theirs)) < FEWEST_SHINGLES:
        return 0.0
    smallest = sorted(mine | theirs)[:SKETCH]
    return sum(1 for each in smallest if each in mine and each in theirs) / len(smallest)


def _digest(parts: Iterable[bytes]) -> bytes:
    return blake2b(b"\n".join(parts), digest_size=16).digest()


def _sketch(tokens: Sequence[bytes], grain: Grain) -> Sequence[int]:
    text = b" ".join(tokens)
    if grain.characters:
        starts: Sequence[int] = range(len(text) + 1)
    else:
        starts = [0, *accumulate(len(token) + 1 for token in tokens)]
    shingles = {crc32(text[begin:end]) for begin, end in zip(starts, starts[grain.run :], strict=False)}
    return array("I", sorted(shingles)[:SKETCH])
