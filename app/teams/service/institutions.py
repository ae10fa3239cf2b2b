"""Institutions that a teams.tsv names beside its teams, as organizations: those that are here, and those to be made."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from sqlalchemy.orm import Session

from app.accounts.schemas.account_bodies import is_id
from app.accounts.service.names import plain
from app.accounts.service.tsv import Institution
from app.contests.service.contests import slug, slug_with_letters
from app.core.bodies import Item, mismatch, read_all
from app.core.messages import N_, Fault, Message
from app.tables import OrganizationRow
from app.teams.schemas.directory_bodies import OrganizationBody


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
