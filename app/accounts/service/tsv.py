"""accounts.tsv, groups.tsv, institutions.tsv and teams.tsv, as the ICPC's tools and DOMjudge write them, as objects.

The first line names the format and its version (`accounts<tab>1`, or `File_Version<tab>1`), every other one an object.
teams2.tsv and institutions2.tsv are the same formats with more fields.
"""

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypedDict, TypeVar

from app.core import table_rows
from app.core.bodies import Document, Item, mismatch, refuse
from app.core.messages import MOST_LISTED, N_, NOTHING

HEADERS = {"accounts": {"1"}, "teams": {"1", "2"}, "groups": {"1"}, "institutions": {"0.5", "1", "2"}}
# Formats whose first line may name them with a 2 behind: `teams2`.
NAMED_TWICE = frozenset({"teams", "institutions"})
TYPES = {"team": "team", "judge": "judge", "admin": "admin", "analyst": "analyst", "staff": "staff", "jury": "judge"}
T = TypeVar("T")
NUMBER_AT_END = re.compile(r"[^0-9]*([0-9]+)")
VERSION = re.compile(r"[0-9]+(\.[0-9]+)?")
# What the ICPC writes before the number of an institution.
BEFORE_INSTITUTION = re.compile(r"^INST-(U-)?0*", re.ASCII)
LINE_END = re.compile(r"\r\n?|\n")
# Lines of a table; each takes a few hundred times the memory of its shortest text.
MOST_LINES = 100_000


class TeamLine(TypedDict):
    """A line of teams.tsv as a body of a team."""

    id: str
    icpc_id: str | None
    group_ids: list[str]
    name: str
    organization_id: str | None


class Institution(NamedTuple):
    """A university as a line names it. Of its names there is at least one, which stands for the other."""

    icpc_id: str | None
    formal_name: str
    name: str


class ListedTeam(NamedTuple):
    """A line of teams.tsv: its place, its team without the organization, and the institution that it is."""

    where: str
    body: TeamLine
    institution: Institution | None


def accounts(text: str) -> list[Item]:
    """Read accounts.tsv: type, full name, username, password, and optionally an address, which must be empty.

    The team of an account of type `team` is the number its username ends with. Raises BadRequest with every fault.
    """
    return [Item(*line) for line in _read(text, "accounts", (4, 5), _account)]


def teams(text: str) -> list[ListedTeam]:
    """Read teams.tsv: number, external id, group, name, institution, its short name, country, and in version 2 its id.

    Raises BadRequest with every fault.
    """
    return [ListedTeam(where, *line) for where, line in _read(text, "teams", (4, 8), _team)]


def groups(text: str) -> list[Item]:
    """Read groups.tsv: number and name. Raises BadRequest with every fault."""
    return [Item(*line) for line in _read(text, "groups", (2, 2), _group)]


def institutions(text: str) -> list[Item]:
    """Read institutions.tsv: id, formal name, name, group, country, URL, hashtag, latitude, longitude.

    The group is a team's and is left out. Raises BadRequest with every fault.
    """
    return [Item(*line) for line in _read(text, "institutions", (3, 9), _institution)]


def items(document: Document, read: Callable[[str], list[Item]] | None, columns: table_rows.Columns) -> Sequence[Item]:
    """The objects of a document: sent as such, in the ICPC's tab-separated format, or as a table with column names."""
    if document.lines is None:
        return document.items
    if read is not None and is_versioned(document.lines):
        return read(document.lines)
    _refuse_long(document.lines)
    return table_rows.read(document.lines, columns)


def is_versioned(text: str) -> bool:
    """Whether the first line of a text names a format and its version."""
    first = LINE_END.split(text, maxsplit=1)[0].split("\t", maxsplit=2)
    return len(first) == 2 and VERSION.fullmatch(first[1].strip()) is not None


def _refuse_long(text: str) -> None:
    if (lines := max(map(text.count, "\n\r"))) > MOST_LINES:
        refuse([mismatch("body", N_("at most %(most)s lines"), str(lines), most=MOST_LINES)])


def _read(text: str, kind: str, fields: tuple[int, int], build: Callable[[Sequence[str]], T]) -> list[tuple[str, T]]:
    """The lines of a format, each with its place."""
    _refuse_long(text)
    lines = LINE_END.split(text)  # as editors do: str.splitlines would part names at marks that nobody sees
    faults = []
    if not _is_header(lines[0].split("\t", maxsplit=2), kind):
        expected = f"{kind}<tab>{' or '.join(sorted(HEADERS[kind]))}"
        faults.append(mismatch("line 1", expected, repr(lines[0][:80]) if text else NOTHING))
    made = []
    least, most = fields
    for number, line in enumerate(lines[1:], start=2):
        if len(faults) >= MOST_LISTED:
            break
        if not line.strip():
            continue
        cells = line.split("\t")
        if not least <= len(cells) <= most:
            faults.append(
                mismatch(
                    f"line {number}",
                    N_("%(least)s to %(most)s fields between tabs"),
                    str(len(cells)),
                    least=least,
                    most=most,
                )
            )
        else:
            made.append((f"line {number}", build(cells)))
    refuse(faults)
    return made


def _is_header(cells: Sequence[str], kind: str) -> bool:
    if len(cells) != 2:
        return False
    name, version = cells[0].lower(), cells[1].strip()
    names = {kind, "file_version"} | ({f"{kind}2"} if kind in NAMED_TWICE else set())
    return name in names and version in HEADERS[kind]


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


def _team(cells: Sequence[str]) -> tuple[TeamLine, Institution | None]:
    body: TeamLine = {
        "id": cells[0],
        "icpc_id": cells[1] or None,
        "group_ids": [cells[2]] if cells[2] else [],
        "name": cells[3],
        "organization_id": None,
    }
    formal_name, name, _, id_ = (each.strip() for each in (*cells[4:], "", "", "", "")[:4])
    icpc_id = _institution_number(id_)
    if not (formal_name or name):
        return body, None
    return body, Institution(icpc_id, formal_name or name, name or formal_name)


def _institution(cells: Sequence[str]) -> dict[str, object]:
    names = ("id", "formal_name", "name", "", "country", "url", "twitter_hashtag", "latitude", "longitude")
    values = {name: cell.strip() for name, cell in zip(names, cells, strict=False) if name and cell.strip()}
    number = _institution_number(values.get("id", ""))
    made: dict[str, object] = {**values, **({} if number is None else {"id": number, "icpc_id": number})}
    made.setdefault("name", values.get("formal_name", ""))
    if "latitude" in values or "longitude" in values:
        made["location"] = {name: _degrees(str(made.pop(name, ""))) for name in ("latitude", "longitude")}
    return made


def _institution_number(text: str) -> str | None:
    """The number of an institution without what the ICPC writes before it."""
    return BEFORE_INSTITUTION.sub("", text, count=1) or None


def _degrees(text: str) -> float | str:
    """A number of degrees; a text that is none, for the reader to refuse."""
    try:
        return float(text)
    except ValueError:
        return text
