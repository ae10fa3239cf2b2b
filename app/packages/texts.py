"""Text files as the format wants them: UTF-8 without a byte-order mark, LF only, a newline at the end."""

from __future__ import annotations

from collections.abc import Mapping

from app.core.faults import Faults

TEXTS = (".yaml", ".md", ".tex", ".in", ".ans", ".out", ".py", ".txt", ".json", ".statement", ".download", ".svg", ".c")
FREE = ("data/invalid_input/", "data/invalid_output/", "data/valid_output/", "submissions/")
"""Folders whose answers and inputs may be malformed on purpose, or come from contestants."""


def check_texts(files: Mapping[str, bytes], faults: Faults) -> None:
    """Note every text file that is not one."""
    for name in files:
        malformed_on_purpose = name.startswith(FREE) and not name.endswith(".yaml")
        if name.endswith(TEXTS) and not malformed_on_purpose:
            _check(name, files[name], faults)


def _check(name: str, data: bytes, faults: Faults) -> None:
    if data.startswith(b"\xef\xbb\xbf"):
        faults.add(name, "expected no byte-order mark, found one", "line 1")
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        faults.expect(name, _line(data, error.start), expected="UTF-8", found=f"byte 0x{data[error.start]:02x}")
    if b"\r" in data:
        faults.add(name, "expected lines to end in LF only, found CR", _line(data, data.index(b"\r")))
    if data and not data.endswith(b"\n"):
        faults.add(name, "expected a newline at the end of the file, found none", _line(data, len(data)))


def _line(data: bytes, offset: int) -> str:
    line = data.count(b"\n", 0, offset) + 1
    return f"line {line}"
