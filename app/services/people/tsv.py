"""accounts.tsv, groups.tsv, teams.tsv and teams2.tsv, as the ICPC's tools and DOMjudge write them, as our objects.

The first line names the format and its version (`accounts<tab>1`, or `File_Version<tab>1`), every other one an object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TypedDict, TypeVar

from app.services import table_rows
from app.services.bodies import Document, Item, mismatch, refuse
from app.services.errors import MOST_LISTED
from app.services.table_rows import Columns

HEADERS = {"accounts": {"1"}, "teams": {"1", "2"}, "groups": {"1"}}
TYPES = {"team": "team", "judge": "judge", "admin": "admin", "analyst": "analyst", "staff": "staff", "jury": "judge"}
T = TypeVar("T")
NUMBER_AT_END = re.compile(r"[^0-9]*([0-9]+)")
LINE_END = re.compile(r"\r\n?|\n")
MOST_LINES = 100_000
"""Lines of a table; each takes a few hundred times the memory of its shortest text."""


class TeamLine(TypedDict):
    """A line of teams.tsv as a body of a team."""

    id: str
    icpc_id: str | None
    group_ids: list[str]
    name: str


def accounts(text: str) -> list[Item]:
    """Read accounts.tsv: type, full name, username, password, and optionally an address, which must be empty.

    The team of an account of type `team` is the number its username ends with. Raises BadRequest with every fault.
    """
    return [Item(*line) for line in _read(text, "accounts", (4, 5), _account)]


def teams(text: str) -> list[tuple[str, TeamLine]]:
    """Read teams.tsv: number, external id, group, name, institution, its short name, country, and in version 2 its id.

    A group is kept where there is one of that id; institutions and countries are not. Raises BadRequest with every
    fault.
    """
    return _read(text, "teams", (4, 8), _team)


def groups(text: str) -> list[Item]:
    """Read groups.tsv: number and name. Raises BadRequest with every fault."""
    return [Item(*line) for line in _read(text, "groups", (2, 2), _group)]


def items(document: Document, read: Callable[[str], list[Item]] | None, columns: Columns) -> Sequence[Item]:
    """The objects of a document: sent as such, in the ICPC's tab-separated format, or as a table with column names."""
    if document.lines is None:
        return document.items
    if (lines := max(map(document.lines.count, "\n\r"))) > MOST_LINES:
        refuse([mismatch("body", f"at most {MOST_LINES} lines", str(lines))])
    first = LINE_END.split(document.lines, maxsplit=1)[0].split("\t", maxsplit=2)
    if read is not None and len(first) == 2 and first[1].strip().isdigit():
        return read(document.lines)
    return table_rows.read(document.lines, columns)


def _read(text: str, kind: str, fields: tuple[int, int], build: Callable[[Sequence[str]], T]) -> list[tuple[str, T]]:
    """The lines of a format, each with its place."""
    lines = LINE_END.split(text)  # as editors do: str.splitlines would part names at marks that nobody sees
    faults = []
    if not _is_header(lines[0].split("\t", maxsplit=2), kind):
        expected = f"{kind}<tab>{' or '.join(sorted(HEADERS[kind]))}"
        faults.append(mismatch("line 1", expected, repr(lines[0][:80]) if text else "nothing"))
    made = []
    least, most = fields
    for number, line in enumerate(lines[1:], start=2):
        if len(faults) >= MOST_LISTED:
            break
        if not line.strip():
            continue
        cells = line.split("\t")
        if not least <= len(cells) <= most:
            faults.append(mismatch(f"line {number}", f"{least} to {most} fields between tabs", str(len(cells))))
        else:
            made.append((f"line {number}", build(cells)))
    refuse(faults)
    return made


def _is_header(cells: Sequence[str], kind: str) -> bool:
    if len(cells) != 2:
        return False
    name, version = cells[0].lower(), cells[1].strip()
    return name in {kind, f"{kind}2" if kind == "teams" else kind, "file_version"} and version in HEADERS[kind]


def _account(cells: Sequence[str]) -> dict[str, str | None]:
    type_, name, username, password = cells[:4]
    made: dict[str, str | None] = {
        "type": TYPES.get(type_, type_),
        "name": name or None,
        "username": username,
        "password": password or None,
    }
    if made["type"] == "team":
        number = NUMBER_AT_END.fullmatch(username)
        made["team_id"] = (number[1].lstrip("0") or "0") if number else username
    if len(cells) > 4:
        made["ip"] = cells[4] or None
    return made


def _group(cells: Sequence[str]) -> dict[str, str]:
    return {"id": cells[0], "name": cells[1]}


def _team(cells: Sequence[str]) -> TeamLine:
    return {"id": cells[0], "icpc_id": cells[1] or None, "group_ids": [cells[2]] if cells[2] else [], "name": cells[3]}
