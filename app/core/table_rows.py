"""Tables with a line of column names, as spreadsheets write them: commas, semicolons or tabs between the cells.

Columns may stand in any order; cells may be in double quotes; empty cells say nothing, empty lines are skipped.
Files are UTF-8, UTF-16 by its mark, or in an older encoding that the sender names. The bytes of a file do not tell
which older one it is: a guess would store José under another name.
"""

import codecs
import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from app.core.bodies import Item, mismatch, refuse
from app.core.messages import MOST_LISTED, N_, NOTHING, BadRequest, Fault, Message

DELIMITERS = ",;\t"
SEPARATOR_LINE = re.compile(r"sep=.\r?\n")  # which Excel reads and some programs write for it
BETWEEN_IDS = re.compile(r"[\s,;|]+")
Cell = str | bool | list[str]
TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True, slots=True)
class Columns:
    """The columns a table may have. Cells of `lists` hold ids with spaces or commas between them, `flags` yes or no.

    `others` are further spellings of names.
    """

    names: Sequence[str]
    lists: frozenset[str] = frozenset()
    flags: frozenset[str] = frozenset()
    others: Mapping[str, str] = field(default_factory=dict)

    def value(self, name: str, cell: str) -> Cell:
        """The value of a cell with text in it; the reader of the value refuses what is neither yes nor no."""
        if name in self.lists:
            return [part for part in BETWEEN_IDS.split(cell.strip()) if part]
        if name in self.flags:
            return TRUTHS.get(cell.strip().lower(), cell)
        return cell if name == "password" else cell.strip()


ACCOUNTS = Columns(("id", "username", "password", "name", "type", "team_id", "person_id"))
TEAMS = Columns(
    ("id", "name", "label", "display_name", "icpc_id", "organization_id", "group_ids", "hidden"),
    lists=frozenset({"group_ids"}),
    flags=frozenset({"hidden"}),
    others={"organisation_id": "organization_id"},
)
GROUPS = Columns(("id", "name", "icpc_id", "type"))
ABOUT_ORGANIZATIONS = ("id", "name", "formal_name", "icpc_id", "country", "country_subdivision", "url")
ORGANIZATIONS = Columns((*ABOUT_ORGANIZATIONS, "twitter_hashtag", "twitter_account"))
PERSONS = Columns(("id", "name", "role", "team_ids", "icpc_id", "title", "email", "sex"), lists=frozenset({"team_ids"}))
PEOPLE = Columns(
    ("name", "username", "password", "team", "organization", "group"),
    others={"organisation": "organization"},
)


def read(text: str, columns: Columns) -> list[Item]:
    """Read a table; raises BadRequest with every fault of its form: unknown columns, too few or too many cells."""
    skipped = SEPARATOR_LINE.match(text)
    first_line = 2 if skipped else 1
    body = text[skipped.end() :] if skipped else text
    head = body.partition("\n")[0]
    delimiter = max(DELIMITERS, key=head.count)
    rows = list(_rows(body, delimiter, first_line))
    if not rows:
        refuse(
            [mismatch("line 1", N_("the names of columns, some of %(names)s"), NOTHING, names=", ".join(columns.names))]
        )
    (line, cells), *others = rows
    spelled = [cell.strip().lower() for cell in cells]
    names = [columns.others.get(name, name) for name in spelled]
    faults = _header_faults(names, columns, line)
    for at, row in others:
        if len(faults) >= MOST_LISTED:
            break
        if len(row) != len(names):
            faults.append(
                mismatch(f"line {at}", N_("%(count)s cells, as in the first line"), str(len(row)), count=len(names))
            )
    refuse(faults)
    return [Item(f"line {at}", _object(names, row, columns)) for at, row in others]


def _rows(text: str, delimiter: str, first_line: int) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not empty, each with the number of the line it begins in."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = first_line
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield line, cells
            line = first_line + reader.line_num
    except csv.Error as error:
        refuse(
            [mismatch(f"line {line}", N_("cells whose quotes are closed, with quotes inside them doubled"), str(error))]
        )


def _header_faults(names: Sequence[str], columns: Columns, line: int) -> list[Fault]:
    expected = Message(N_("one of the columns %(names)s"), names=", ".join(columns.names))
    faults: list[Fault] = []
    seen: set[str] = set()
    for name in names:
        if len(faults) >= MOST_LISTED:
            break
        if name not in columns.names:
            actual = repr(name[:40]) if name else Message(N_("a column without a name"))
            faults.append(mismatch(f"line {line}", expected, actual))
        elif name in seen:
            faults.append(mismatch(f"line {line}", N_("each column once"), Message(N_("%(name)r twice"), name=name)))
        seen.add(name)
    return faults


def _object(names: Sequence[str], row: Sequence[str], columns: Columns) -> dict[str, Cell]:
    pairs = zip(names, row, strict=True)
    return {name: columns.value(name, cell) for name, cell in pairs if cell.strip()}


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
    """The text of a table; raises BadRequest with the first line that is not of its encoding."""
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
            cut = Message(N_("%(reason)s at byte %(byte)s"), reason=error.reason, byte=error.start)
            refuse([mismatch("body", N_("UTF-16"), cut)])
        before, wrong = error.object[: error.start], error.object[error.start]
        start = before.rpartition(b"\n")[2].decode(CODECS[name], "replace")[-30:]
        actual = Message(N_("byte %(byte)s after %(before)r"), byte=f"{wrong:#04x}", before=start)
        line = before.count(b"\n") + 1
        refuse([mismatch(f"line {line}", NOT_UTF8 if charset is None else name, actual)])
        raise
