"""The encodings in which spreadsheets save tables: UTF-8, UTF-16 by its mark, and older ones that the sender names.

Which of the older ones a file has cannot be told from its bytes: a guess would store José under another name.
"""

from __future__ import annotations

import codecs
import re

from app.core.bodies import mismatch, refuse
from app.core.errors import MOST_LISTED, BadRequest
from app.core.messages import N_, Fault, Message, Text

# Python's codecs by the names that a charset may have.
CODECS = {
    "utf-8": "utf-8-sig",
    "utf-16": "utf-16",
    "utf-16le": "utf-16-le",
    "utf-16be": "utf-16-be",
    "windows-1250": "cp1250",
    "windows-1251": "cp1251",
    "windows-1252": "cp1252",
    "iso-8859-1": "latin-1",
    "iso-8859-2": "iso8859-2",
    "iso-8859-15": "iso8859-15",
    "macintosh": "mac-roman",
}
MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
NOT_UTF8 = Message(N_("UTF-8, or an encoding that is named (Excel's plain CSV is mostly windows-1252)"))
CHARSET = re.compile(r"""charset\s*=\s*["']?([^"';\s]+)""", re.IGNORECASE)


def charset_of(content_type: str) -> str | None:
    """The charset that a Content-Type names, in small letters; None for none."""
    match = CHARSET.search(content_type)
    return None if match is None else match[1].lower()


def table_text(data: bytes, charset: str | None) -> str:
    """The text of a table; raises BadRequest with every line that is not of its encoding."""
    if charset is not None and charset not in CODECS:
        raise BadRequest(
            N_("expected one of %(names)s, found %(found)r"),
            where="charset",
            names=", ".join(CODECS),
            found=charset[:80],
        )
    if data.startswith(MARKS) and charset in {None, "utf-16"}:
        charset = "utf-16"
    name = charset or "utf-8"
    try:
        return data.decode(CODECS[name]).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        if name.startswith("utf-16"):
            refuse(
                [
                    mismatch(
                        "body",
                        Message(N_("UTF-16")),
                        Message(N_("%(reason)s at byte %(byte)s"), reason=error.reason, byte=error.start),
                    )
                ]
            )
        refuse(bad_bytes(data, CODECS[name], NOT_UTF8 if charset is None else name))
        raise


def bad_bytes(data: bytes, codec: str = "utf-8", expected: Text = NOT_UTF8) -> list[Fault]:
    """The lines that are not of an encoding of single bytes or UTF-8, as faults: the first ones of very many."""
    faults: list[Fault] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if len(faults) >= MOST_LISTED:
            break
        try:
            line.decode(codec)
        except UnicodeDecodeError as error:
            before = line[: error.start].decode(codec)[-30:]
            faults.append(
                mismatch(
                    f"line {number}",
                    expected,
                    Message(N_("byte %(byte)s after %(before)r"), byte=f"{line[error.start]:#04x}", before=before),
                )
            )
    return faults
