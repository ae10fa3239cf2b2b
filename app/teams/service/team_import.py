"""The import of teams: all of them are stored, or none and every fault is listed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from app.accounts.service import tsv
from app.accounts.service.reach import EVERYTHING, Reach
from app.accounts.service.tsv import ListedTeam
from app.core import table_rows
from app.core.bodies import Document, Item, NewIds, mismatch, read_all, refuse, refuse_all
from app.core.db import by_id
from app.core.errors import place
from app.core.files.files import FileStore
from app.core.messages import N_, Fault, Message
from app.tables import GroupRow, OrganizationRow, TeamRow
from app.teams.service.institutions import Institutions
from app.teams.service.teams import Links, TeamBody, missing_links, put


@dataclass(frozen=True, slots=True)
class TeamImport:
    """The options of an import of teams.

    replace     existing teams are replaced instead of refused
    contest_id  the contest that the teams and their organizations are made for
    reach       what whoever asks may change and name
    """

    replace: bool = False
    contest_id: str | None = None
    reach: Reach = field(default=EVERYTHING)


@dataclass(frozen=True, slots=True)
class Imported:
    """The teams of an import; `new_ids` are those that were not there before."""

    rows: list[TeamRow]
    new_ids: list[str]


def bring_in(session: Session, files: FileStore, document: Document, options: TeamImport) -> Imported:
    """Store the teams of a document, all or none of them; raises BadRequest or Conflict with every fault."""
    places, institutions = _read(session, document, options)
    if institutions is not None:
        institutions.keep(session, replace=options.replace, contest_id=options.contest_id)
    rows, faults = [], []
    old = by_id.rows(session, TeamRow, [body.id for body, _ in places])
    for body, where in places:
        row, wrong = put(session, files, body, old.get(body.id), where)
        rows.append(row)
        faults += wrong
    refuse(faults)
    return Imported(rows, [row.id for row in rows if row.id not in old])


def _read(
    session: Session, document: Document, options: TeamImport
) -> tuple[Sequence[tuple[TeamBody, str]], Institutions | None]:
    reach, lines = options.reach, _lines(document)
    groups = reach.within(by_id.ids(session, GroupRow), reach.groups)
    organizations = reach.within(by_id.ids(session, OrganizationRow), reach.organizations)
    institutions = None if lines is None else _institutions(session, reach)
    if lines is None or institutions is None:
        items = tsv.items(document, None, table_rows.TEAMS)
    else:
        items = [_item(line, groups, institutions) for line in lines]
        organizations |= institutions.ids
    links = Links(groups, organizations)
    seen: dict[str, str] = {}

    def check(body: TeamBody, where: str) -> list[Fault]:
        if body.id in seen:
            return [
                mismatch(place(where, "id"), Message(N_("another id than %(seen)s"), seen=seen[body.id]), repr(body.id))
            ]
        seen[body.id] = where
        return missing_links(links, body, where)

    places, faults = read_all(items, TeamBody, check)
    known_ids = by_id.known(session, TeamRow, seen)
    new = NewIds("team", known_ids - reach.within(known_ids, reach.teams) if options.replace else known_ids)
    taken = [fault for id_, where in seen.items() for fault in new.check(id_, where)]
    hint = (
        N_("%(count)s of the teams exist already")
        if options.replace
        else N_("%(count)s of the teams exist already; replace=true replaces them")
    )
    faults = [*(institutions.faults if institutions is not None else []), *faults]
    refuse_all(faults, taken, Message(hint, count=len(taken)))
    return places, institutions


def _lines(document: Document) -> list[ListedTeam] | None:
    """The lines of a teams.tsv; None for a document in another format."""
    return tsv.teams(document.lines) if document.lines is not None and tsv.is_versioned(document.lines) else None


def _institutions(session: Session, reach: Reach) -> Institutions:
    rows = by_id.rows(session, OrganizationRow, by_id.ids(session, OrganizationRow))
    return Institutions(
        (rows[id_] for id_ in sorted(reach.within(rows, reach.organizations))), rows, letters=not reach.whole
    )


def _item(line: ListedTeam, groups: set[str], institutions: Institutions) -> Item:
    """A line as an object: groups that do not exist are dropped, as every line names one, also where there are none."""
    body, institution = line.body, line.institution
    body["group_ids"] = [group_id for group_id in body["group_ids"] if group_id in groups]
    if institution is not None:
        body["organization_id"] = institutions.organization_id(institution, line.where)
    return Item(line.where, body)
