"""Teams that come in numbers: all of them are kept, or none and every fault is listed."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy.orm import Session

from app.services import table_rows
from app.services.bodies import Document, Item, found, read_all, refuse, refuse_all
from app.services.errors import place
from app.services.people import tsv
from app.services.people.teams import Links, TeamBody, missing_links, put
from app.storage import directory
from app.storage import teams as stored
from app.storage.files import FileStore
from app.storage.tables import GroupRow, OrganizationRow, TeamRow


def bring_in(session: Session, files: FileStore, document: Document, *, replace: bool) -> list[TeamRow]:
    """Keep the teams of a document, all or none of them; raises BadRequest or Conflict with every fault."""
    places = _read(session, document, replace=replace)
    rows, faults = [], []
    old = stored.some(session, [body.id for body, _ in places])
    for body, where in places:
        row, wrong = put(session, files, body, old.get(body.id), where)
        rows.append(row)
        faults += wrong
    refuse(faults)
    return rows


def _read(session: Session, document: Document, *, replace: bool) -> Sequence[tuple[TeamBody, str]]:
    items = tsv.items(document, lambda text: _with_known_groups(session, tsv.teams(text)), table_rows.TEAMS)
    links = Links(directory.ids(session, GroupRow), directory.ids(session, OrganizationRow))
    seen: dict[str, str] = {}

    def check(body: TeamBody, where: str) -> list[dict[str, str]]:
        if body.id in seen:
            return [found(place(where, "id"), f"another id than {seen[body.id]}", repr(body.id))]
        seen[body.id] = where
        return missing_links(links, body, where)

    places, faults = read_all(items, TeamBody, check)
    known = set() if replace else stored.known(session, seen)
    old = [(id_, where) for id_, where in seen.items() if id_ in known]
    taken = [found(place(where, "id"), "a new team", f"{id_!r} of an old one") for id_, where in old]
    refuse_all(faults, taken, f"{len(taken)} of the teams exist already; replace=true replaces them")
    return places


def _with_known_groups(session: Session, items: list[Item]) -> list[Item]:
    """Every line of a teams.tsv names a group, also where there are none."""
    named = [group_id for item in items for group_id in item.value["group_ids"]]
    there = directory.known(session, GroupRow, named)
    for item in items:
        item.value["group_ids"] = [group_id for group_id in item.value["group_ids"] if group_id in there]
    return items
