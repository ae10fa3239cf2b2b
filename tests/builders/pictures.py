"""Pictures that checkers leave: bytes that are what they say, and as small as can be."""

from __future__ import annotations

import struct
import zlib


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int = 2, height: int = 1, grey: int = 128) -> bytes:
    """A PNG of one grey."""
    rows = (b"\x00" + bytes([grey]) * width) * height
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", head) + _chunk(b"IDAT", zlib.compress(rows)) + _chunk(b"IEND", b"")


SVG = b'<svg xmlns="http://www.w3.org/2000/svg" width="4" height="3"><script>alert(1)</script></svg>\n'
DRAWING_VALIDATOR = f"""\
import sys

words = sys.stdin.read().split()
feedback, expected = sys.argv[3], open(sys.argv[2]).read().strip()
wrong = words[:1] != [expected]
open(feedback + "teamimage.png", "wb").write({png()!r} if wrong else {png(3)!r})
open(feedback + "teamimage-2.svg", "wb").write({SVG!r})
open(feedback + "judgeimage.png", "wb").write({png(5)!r})
open(feedback + "judgeimage-2.jpg", "wb").write({png(6)!r})
sys.exit(43 if wrong else 42)
"""
"""Draws for team and judges; one of its images is not what its name says."""
