"""accounts.tsv, groups.tsv, institutions.tsv and teams.tsv, as the ICPC's tools and DOMjudge write them, as objects.

The first line names the format and its version (`accounts<tab>1`, or `File_Version<tab>1`), every other one an object.
teams2.tsv and institutions2.tsv are the same formats with more fields.
"""

import re
from collections.abc import Sequence

from app.core import table_rows
from app.core.bodies import Document, Item, mismatch, refuse
from app.core.messages import MOST_LISTED, N_, NOTHING

# The fields of each format in their order, and how many of them each line has at least.
FIELDS = {
    "accounts": (4, ("type", "name", "username", "password", "ip")),
    "teams": (4, ("id", "icpc_id", "group_ids", "name", "institution", "short_name", "country", "number")),
    "groups": (2, ("id", "name")),
    "institutions": (3, ("id", "formal_name", "name", "group", "country", "url", "twitter_hashtag", "-", "-")),
}
VERSIONS = {"accounts": {"1"}, "teams": {"1", "2"}, "groups": {"1"}, "institutions": {"0.5", "1", "2"}}
NUMBER_AT_END = re.compile(r"[^0-9]*([0-9]+)")
VERSION = re.compile(r"[0-9]+(\.[0-9]+)?")
# What the ICPC writes before the number of an institution.
BEFORE_INSTITUTION = re.compile(r"^INST-(U-)?0*", re.ASCII)
LINE_END = re.compile(r"\r\n?|\n")
# Lines of a table; each takes a few hundred times the memory of its shortest text.
MOST_LINES = 100_000
Values = dict[str, object]


def items(document: Document, kind: str, columns: table_rows.Columns) -> Sequence[Item]:
    """The objects of a document: sent as such, in the ICPC's format of this kind, or as a table with column names.

    Raises BadRequest with every fault. Teams of the ICPC's format have the fields of their institutions.
    """
    if document.lines is None:
        return document.items
    if (lines := max(map(document.lines.count, "\n\r"))) > MOST_LINES:
        refuse([mismatch("body", N_("at most %(most)s lines"), str(lines), most=MOST_LINES)])
    if kind in FIELDS and is_versioned(document):
        return _read(document.lines, kind)
    return table_rows.read(document.lines, columns)


def is_versioned(document: Document) -> bool:
    """Whether the first line of a text names a format and its version."""
    first = LINE_END.split(document.lines or "", maxsplit=1)[0].split("\t", maxsplit=2)
    return len(first) == 2 and VERSION.fullmatch(first[1].strip()) is not None


def _read(text: str, kind: str) -> list[Item]:
    lines = LINE_END.split(text)  # as editors do: str.splitlines would part names at marks that no one sees
    least, names = FIELDS[kind]
    faults, made = [], []
    name, _, version = lines[0].partition("\t")
    if name.lower() not in {kind, f"{kind}2", "file_version"} or version.strip() not in VERSIONS[kind]:
        expected = f"{kind}<tab>{' or '.join(sorted(VERSIONS[kind]))}"
        faults.append(mismatch("line 1", expected, repr(lines[0][:80]) if text else NOTHING))
    for number, line in enumerate(lines[1:], start=2):
        if len(faults) >= MOST_LISTED:
            break
        cells = line.split("\t")
        if not line.strip():
            continue
        if least <= len(cells) <= len(names):
            pairs = zip(names, cells, strict=False)
            values = {name: cell if name == "password" else cell.strip() for name, cell in pairs if cell.strip()}
            made.append(Item(f"line {number}", _object(kind, values)))
        else:
            expected = N_("%(least)s to %(most)s fields between tabs")
            faults.append(mismatch(f"line {number}", expected, str(len(cells)), least=least, most=len(names)))
    refuse(faults)
    return made


def _object(kind: str, values: dict[str, str]) -> Values:
    """The object of a line, without what Jurado does not keep.

    The team of an account of type `team` is the number its username ends with.
    """
    made: Values = {name: value for name, value in values.items() if name not in {"group", "-"}}
    if kind == "accounts":
        made["type"] = "judge" if values.get("type") == "jury" else values.get("type")
        number = NUMBER_AT_END.fullmatch(values.get("username", ""))
        if made["type"] == "team":
            made["team_id"] = (number[1].lstrip("0") or "0") if number else values.get("username")
    if kind == "teams":
        made["group_ids"] = [values["group_ids"]] if "group_ids" in values else []
        made["number"] = _institution_number(values.get("number", ""))
    if kind == "institutions":
        made.setdefault("name", values.get("formal_name"))
        if (icpc_id := _institution_number(values.get("id", ""))) is not None:
            made["id"] = made["icpc_id"] = icpc_id
    return made


def _institution_number(text: str) -> str | None:
    """The number of an institution without what the ICPC writes before it."""
    return BEFORE_INSTITUTION.sub("", text, count=1) or None
