"""The import of teams: all of them are stored, or none and every fault is listed."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from app.services import table_rows
from app.services.bodies import Document, Item, NewIds, mismatch, read_all, refuse, refuse_all
from app.services.errors import place
from app.services.people import tsv
from app.services.people.teams import Links, TeamBody, missing_links, put
from app.services.people.tsv import TeamLine
from app.storage import by_id
from app.storage.files import FileStore
from app.storage.tables import GroupRow, OrganizationRow, TeamRow


def bring_in(session: Session, files: FileStore, document: Document, *, replace: bool) -> list[TeamRow]:
    """Store the teams of a document, all or none of them; raises BadRequest or Conflict with every fault."""
    places = _read(session, document, replace=replace)
    rows, faults = [], []
    old = by_id.rows(session, TeamRow, [body.id for body, _ in places])
    for body, where in places:
        row, wrong = put(session, files, body, old.get(body.id), where)
        rows.append(row)
        faults += wrong
    refuse(faults)
    return rows


def _read(session: Session, document: Document, *, replace: bool) -> Sequence[tuple[TeamBody, str]]:
    items = tsv.items(document, lambda text: _with_known_groups(session, tsv.teams(text)), table_rows.TEAMS)
    links = Links(by_id.ids(session, GroupRow), by_id.ids(session, OrganizationRow))
    seen: dict[str, str] = {}

    def check(body: TeamBody, where: str) -> list[dict[str, str]]:
        if body.id in seen:
            return [mismatch(place(where, "id"), f"another id than {seen[body.id]}", repr(body.id))]
        seen[body.id] = where
        return missing_links(links, body, where)

    places, faults = read_all(items, TeamBody, check)
    new = NewIds("team", set() if replace else by_id.known(session, TeamRow, seen))
    taken = [fault for id_, where in seen.items() for fault in new.check(id_, where)]
    refuse_all(faults, taken, f"{len(taken)} of the teams exist already; replace=true replaces them")
    return places


def _with_known_groups(session: Session, lines: list[tuple[str, TeamLine]]) -> list[Item]:
    """Drop groups that do not exist: every line of a teams.tsv names one, also where there are none."""
    known_ids = by_id.known(session, GroupRow, [group_id for _, team in lines for group_id in team["group_ids"]])
    for _, team in lines:
        team["group_ids"] = [group_id for group_id in team["group_ids"] if group_id in known_ids]
    return [Item(where, team) for where, team in lines]
