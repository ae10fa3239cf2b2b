"""Zips that attack: each made of honest files and one thing that no honest archive has."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping

DIRECTORY = b"PK\x01\x02"
END = b"PK\x05\x06"
ENTRIES = 10**6
Files = Mapping[str, bytes]
Attack = Callable[[Files], bytes]


def packed(files: Files, *more: tuple[zipfile.ZipInfo | str, bytes]) -> bytes:
    """A zip of files and of further entries behind them."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in (*files.items(), *more):
            archive.writestr(name, data)
    return buffer.getvalue()


def with_name(name: str) -> Attack:
    """An entry of this very name, which zipfile would mend."""

    def make(files: Files) -> bytes:
        stand_in = "Q" * len(name.encode())
        return packed(files, (stand_in, b"1\n")).replace(stand_in.encode(), name.encode())

    return make


def of_kind(kind: int, target: bytes = b"/etc/passwd") -> Attack:
    """A link or a device."""

    def make(files: Files) -> bytes:
        entry = zipfile.ZipInfo("link.in")
        entry.create_system = 3
        entry.external_attr = (kind | 0o777) << 16
        return packed(files, (entry, target))

    return make


def encrypted(files: Files) -> bytes:
    """The first entry says that it is encrypted."""
    data = bytearray(packed(files))
    data[6] |= 1
    data[data.index(DIRECTORY) + 8] |= 1
    return bytes(data)


def cut(files: Files) -> bytes:
    """The last 30 bytes are missing."""
    return packed(files)[:-30]


def without_directory(files: Files) -> bytes:
    """It breaks off before its directory."""
    data = packed(files)
    return data[: data.index(DIRECTORY)]


def wrong_crc(files: Files) -> bytes:
    """Every checksum in the directory is another one."""
    data = bytearray(packed(files))
    at = data.find(DIRECTORY)
    while at >= 0:
        data[at + 16] ^= 0xFF
        at = data.find(DIRECTORY, at + 4)
    return bytes(data)


def twice(files: Files) -> bytes:
    """The last file twice, under one name."""
    name = list(files)[-1]
    stand_in = "Q" * len(name)
    return packed(files, (stand_in, b"2\n")).replace(stand_in.encode(), name.encode())


def in_two_cases(files: Files) -> bytes:
    """The last file again, its name in capitals."""
    name = list(files)[-1]
    return packed(files, (name.upper() if name.upper() != name else name.lower(), b"2\n"))


def zip64_sizes(files: Files) -> bytes:
    """An entry whose zip64 field says that it holds 2^62 bytes."""
    name, content = b"big.in", b"1\n"
    extra = struct.pack("<HHQQ", 1, 16, 2**62, 2**62)
    header = struct.pack(
        "<4s5H3L2H", b"PK\3\4", 45, 0, 0, 0, 0, zlib.crc32(content), 2**32 - 1, 2**32 - 1, len(name), 20
    )
    return _with_entry(packed(files), header + name + extra + content, name, extra, zlib.crc32(content), 2**32 - 1)


def zip64_end(files: Files) -> bytes:
    """A zip64 end record that counts 2^60 entries in a directory of 2^61 bytes."""
    data = packed(files)
    at = data.index(END)
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 2**60, 2**60, 2**61, 0)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, at, 1)
    end = struct.pack("<4s4H2LH", END, 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0)
    return data[:at] + record + locator + end


def beyond_the_file(files: Files) -> bytes:
    """A directory entry that points to a place behind the end of the archive."""
    data = bytearray(packed(files))
    at = data.index(DIRECTORY) + 42
    data[at : at + 4] = struct.pack("<L", 2**31)
    return bytes(data)


def overlapping(files: Files, count: int = 300, kernel: int = 2**20) -> bytes:
    """Files that share one compressed kernel, each quoting the header of the next: 300 MB in 20 KB."""
    data = packed(files)
    at = data.index(DIRECTORY)
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    plain, tail = bytes(kernel), compressor.compress(bytes(kernel)) + compressor.flush()
    entries: list[tuple[bytes, bytes]] = []
    for number in reversed(range(count)):
        name = f"data/secret/over{number:04}.in".encode()
        sizes = (zlib.crc32(plain), len(tail), len(plain), len(name), 0)
        header = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 8, 0, 0, *sizes) + name
        entries.append((struct.pack("<4s6H3L2H", DIRECTORY, 20, 20, 0, 8, 0, 0, *sizes), name))
        plain, tail = header + plain, struct.pack("<B2H", 0, len(header), len(header) ^ 0xFFFF) + header + tail
    directory, place = b"", at
    for entry, name in reversed(entries):
        directory += entry + struct.pack("<3H2L", 0, 0, 0, 0, place) + name
        place += 5 + 30 + len(name)
    return _finished(data[:at] + tail[5:], data[at : data.index(END)] + directory, len(files) + count)


def quine(_files: Files) -> bytes:
    """A zip that holds a zip that holds a zip..., as deep as 50."""
    data = b"1\n"
    for number in range(50):
        data = packed({f"r{number}.zip": data})
    return data


def many_entries(files: Files) -> bytes:
    """A directory of a million entries, each of them of 46 bytes and a name."""
    data = packed(files)
    at = data.index(DIRECTORY)
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 0, 0, 0, 0, 0, 0, 1, 0) + b"e"
    entry = struct.pack("<4s6H3L5H2L", DIRECTORY, 20, 20, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, at)
    entries = b"".join(entry + b"e%06d" % number for number in range(ENTRIES))
    return _finished(data[:at] + local, data[at : data.index(END)] + entries, 0xFFFF)


def _finished(body: bytes, directory: bytes, count: int) -> bytes:
    return body + directory + struct.pack("<4s4H2LH", END, 0, 0, count, count, len(directory), len(body), 0)


def _with_entry(data: bytes, local: bytes, name: bytes, extra: bytes, crc: int, size: int) -> bytes:
    at = data.index(DIRECTORY)
    old = data[at : data.index(END)]
    entry = struct.pack(
        "<4s6H3L5H2L", DIRECTORY, 45, 45, 0, 0, 0, 0, crc, size, size, len(name), len(extra), 0, 0, 0, 0, at
    )
    return _finished(data[:at] + local, old + entry + name + extra, old.count(DIRECTORY) + 1)


ATTACKS: Mapping[str, Attack] = {
    "a path out of it": with_name("data/../../../etc/x.in"),
    "an absolute path": with_name("/etc/x.in"),
    "a path of a drive": with_name("C:/windows/x.in"),
    "a backslash": with_name("..\\..\\x.in"),
    "a control character": with_name("data/x\x1b[2J.in"),
    "a link": of_kind(stat.S_IFLNK),
    "a block device": of_kind(stat.S_IFBLK),
    "a character device": of_kind(stat.S_IFCHR),
    "a fifo": of_kind(stat.S_IFIFO),
    "a socket": of_kind(stat.S_IFSOCK),
    "encryption": encrypted,
    "an end that is cut off": cut,
    "no directory": without_directory,
    "wrong checksums": wrong_crc,
    "a name twice": twice,
    "sizes of zip64 that lie": zip64_sizes,
    "an end of zip64 that lies": zip64_end,
    "a place behind its end": beyond_the_file,
    "overlapping files": overlapping,
    "a million entries": many_entries,
    "archives in archives": quine,
}
"""Attacks by what the archive has; `in_two_cases` is one where names of answers are at stake."""
