"""The import of teams: all of them are stored, or none and every fault is listed.

- Institutions that a teams.tsv names beside its teams, as organizations: those that are here, and those to be made.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from app.accounts.schemas import is_id
from app.accounts.service import tsv
from app.accounts.service.reach import EVERYTHING, Reach
from app.accounts.service.registering import plain
from app.accounts.service.tsv import Institution, ListedTeam
from app.contests.service.contests import slug, slug_with_letters
from app.core import table_rows
from app.core.bodies import Document, Item, NewIds, mismatch, read_all, refuse, refuse_all
from app.core.db import by_id
from app.core.errors import place
from app.core.files.files import FileStore
from app.core.messages import N_, Fault, Message
from app.tables import GroupRow, OrganizationRow, TeamRow
from app.teams.schemas import OrganizationBody
from app.teams.service.teams import Links, TeamBody, missing_links, put


class Institutions:
    """The institutions of one file, each an organization that has its number, or its name and no other number.

    One that is here stays as it is, unless the import replaces; one that is not is made. `faults` are what is wrong
    with them: a country that is none, a line that contradicts an earlier one.

    rows       the organizations that teams may have
    taken_ids  the ids that a new one may not get
    letters    new ids have random letters, and do not depend on hidden organizations
    """

    def __init__(self, rows: Iterable[OrganizationRow], taken_ids: Collection[str], *, letters: bool) -> None:
        self.faults: list[Fault] = []
        self._rows = {row.id: row for row in rows}
        self._by_number = {number: row.id for row in self._rows.values() for number in (row.icpc_id, row.id) if number}
        self._by_name = {name: row for row in self._rows.values() for name in (row.name, row.formal_name) if name}
        self._taken_ids = set(taken_ids)
        self._letters = letters
        self._lines: dict[str, tuple[Institution, str]] = {}
        self._ids: dict[str, str] = {}
        self._bodies: dict[str, OrganizationBody] = {}

    @property
    def ids(self) -> set[str]:
        """The ids of the organizations that teams may have, new ones too."""
        return {*self._rows, *self._ids.values()}

    def organization_id(self, given: Institution, where: str) -> str:
        """The id of the organization that a line names."""
        key = given.icpc_id or given.formal_name
        first, line = self._lines.setdefault(key, (given, where))
        if first != given:
            self.faults.append(
                mismatch(
                    where,
                    Message(N_("institution %(key)r as in %(line)s"), key=key, line=line),
                    ", ".join(filter(None, given)),
                )
            )
        if key not in self._ids:
            self._ids[key] = self._known_id(given) or self._free_id(given)
            self._read(self._ids[key], given, where)
        return self._ids[key]

    def keep(self, session: Session, *, replace: bool, contest_id: str | None) -> None:
        """Make the new organizations, for a contest if one is given; change the others if they are to be replaced."""
        for id_, body in self._bodies.items():
            row = self._rows.get(id_) or OrganizationRow(id=id_, contest_id=contest_id, details={})
            if id_ not in self._rows or replace:
                row.name, row.formal_name, row.country = body.name, body.formal_name, body.country
                row.icpc_id = body.icpc_id or row.icpc_id
                session.add(row)
        session.flush()

    def _known_id(self, given: Institution) -> str | None:
        if given.icpc_id in self._by_number:
            return self._by_number[given.icpc_id]
        for name in (given.formal_name, given.name):
            row = self._by_name.get(name)
            if row is not None and (given.icpc_id is None or row.icpc_id is None):
                return row.id
        return None

    def _free_id(self, given: Institution) -> str:
        id_ = given.icpc_id
        if self._letters or id_ is None or not is_id(id_) or id_ in self._taken_ids:
            make = slug_with_letters if self._letters else slug
            id_ = make(plain(given.name), self._taken_ids.__contains__, "organization")
        self._taken_ids.add(id_)
        return id_

    def _read(self, id_: str, given: Institution, where: str) -> None:
        value = {"id": id_, **{name: each for name, each in given._asdict().items() if each}}
        if given.name == given.formal_name:
            del value["formal_name"]
        read, faults = read_all([Item(where, value)], OrganizationBody, lambda _body, _where: [])
        self.faults += faults
        for body, _ in read:
            self._bodies[id_] = body


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
