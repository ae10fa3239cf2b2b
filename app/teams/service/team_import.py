"""The import of teams: all of them are stored, or none and every fault is listed.

- Institutions that a teams.tsv names are organizations that exist.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from app.accounts.service import tsv
from app.accounts.service.reach import EVERYTHING, Reach
from app.accounts.service.tsv import Institution, ListedTeam
from app.core import table_rows
from app.core.bodies import Document, Item, NewIds, mismatch, read_all, refuse, refuse_all
from app.core.db import by_id
from app.core.errors import place
from app.core.files.files import FileStore
from app.core.messages import N_, Fault, Message
from app.tables import GroupRow, OrganizationRow, TeamRow
from app.teams.service.teams import Links, TeamBody, missing_links, put


@dataclass(frozen=True, slots=True)
class Imported:
    """The teams of an import; `new_ids` are those that were not there before."""

    rows: list[TeamRow]
    new_ids: list[str]


def bring_in(
    session: Session, files: FileStore, document: Document, *, replace: bool, reach: Reach = EVERYTHING
) -> Imported:
    """Store the teams of a document, all or none of them; raises BadRequest or Conflict with every fault.

    `replace`: existing teams are replaced instead of refused. What is out of `reach` cannot be named.
    """
    places = _read(session, document, replace=replace, reach=reach)
    rows, faults = [], []
    old = by_id.rows(session, TeamRow, [body.id for body, _ in places])
    for body, where in places:
        row, wrong = put(session, files, body, old.get(body.id), where)
        rows.append(row)
        faults += wrong
    refuse(faults)
    return Imported(rows, [row.id for row in rows if row.id not in old])


def _read(session: Session, document: Document, *, replace: bool, reach: Reach) -> Sequence[tuple[TeamBody, str]]:
    groups = reach.within(by_id.ids(session, GroupRow), reach.groups)
    organizations = reach.within(by_id.ids(session, OrganizationRow), reach.organizations)
    if document.lines is not None and tsv.is_versioned(document.lines):
        rows = by_id.rows(session, OrganizationRow, organizations).values()
        items: Sequence[Item] = [_item(line, groups, rows) for line in tsv.teams(document.lines)]
    else:
        items = tsv.items(document, None, table_rows.TEAMS)
    links = Links(groups, organizations)
    seen: dict[str, str] = {}

    def check(body: TeamBody, where: str) -> list[Fault]:
        if body.id in seen:
            other = Message(N_("another id than %(seen)s"), seen=seen[body.id])
            return [mismatch(place(where, "id"), other, repr(body.id))]
        seen[body.id] = where
        return missing_links(links, body, where)

    places, faults = read_all(items, TeamBody, check)
    known_ids = by_id.known(session, TeamRow, seen)
    new = NewIds("team", known_ids - reach.within(known_ids, reach.teams) if replace else known_ids)
    taken = [fault for id_, where in seen.items() for fault in new.check(id_, where)]
    hint = (
        N_("%(count)s of the teams exist already")
        if replace
        else N_("%(count)s of the teams exist already; replace=true replaces them")
    )
    refuse_all(faults, taken, Message(hint, count=len(taken)))
    return places


def _item(line: ListedTeam, groups: set[str], organizations: Collection[OrganizationRow]) -> Item:
    """A line as an object: groups that do not exist are dropped, as every line names one, also where there are none."""
    line.body["group_ids"] = [group_id for group_id in line.body["group_ids"] if group_id in groups]
    if (given := line.institution) is not None:
        line.body["organization_id"] = _organization_id(given, organizations)
    return Item(line.where, line.body)


def _organization_id(given: Institution, organizations: Collection[OrganizationRow]) -> str:
    """The organization with this number, or with this name and no other number; the number or name if none exists."""
    for row in organizations:
        if given.icpc_id is not None and given.icpc_id in {row.icpc_id, row.id}:
            return row.id
    for row in organizations:
        if {given.name, given.formal_name} & {row.name, row.formal_name} and None in {given.icpc_id, row.icpc_id}:
            return row.id
    return given.icpc_id or given.name
