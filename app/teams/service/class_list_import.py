"""A class list compared with what exists: which accounts, teams, organizations and groups it makes and changes."""

import hashlib
from collections import Counter
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy.orm import Session

from app.accounts import queries as accounts_queries
from app.accounts.schemas import AccountBody, is_id
from app.accounts.service.reach import Reach
from app.accounts.service.registering import plain, username_of
from app.accounts.service.registration import put
from app.core import bodies, passwords
from app.core.clics import slug, slug_with_letters
from app.core.db import by_id
from app.core.messages import N_, Fault, Message, Text, place
from app.tables import AccountRow, GroupRow, OrganizationRow, TeamRow
from app.teams import queries as teams_queries
from app.teams.schemas import Change, PersonMade, PersonRowBody

DIGITS_OF_A_DIGEST = 4


class Names:
    """Objects that are meant by their id or their name; one that does not exist is made, with an id of its name.

    names      those that may be meant, by their ids; ids of new ones are none of these and none of `taken_ids`
    letters    new ids have random letters, and do not depend on hidden objects
    """

    def __init__(self, names: Mapping[str, str], taken_ids: Collection[str], noun: str, *, letters: bool) -> None:
        self.names = dict(names)
        self.letters = letters
        self._taken_ids = taken_ids
        self.new: list[str] = []
        self._noun = noun
        self._by_name: dict[str, list[str]] = {}
        for id_, name in names.items():
            self._by_name.setdefault(name, []).append(id_)

    def meant(self, text: str) -> str | None:
        """The id of the object that is meant; None where several have this name."""
        if text in self.names:
            return text
        ids = self._by_name.get(text, [])
        if len(ids) > 1:
            return None
        return ids[0] if ids else self.make(text)

    def make(self, name: str) -> str:
        """Note a new object to be made, with an id of its name."""
        make = slug_with_letters if self.letters else slug
        return self.add(make(plain(name), lambda id_: id_ in self.names or id_ in self._taken_ids, self._noun), name)

    def add(self, id_: str, name: str) -> str:
        """Note a new object to be made."""
        self.names[id_] = name
        self._by_name.setdefault(name, []).append(id_)
        self.new.append(id_)
        return id_


@dataclass(slots=True)
class Planned:
    """The account that a row asks for, and what it changes of an old one; None: the account is new."""

    where: str
    body: AccountBody
    changes: list[Change] | None = None


@dataclass(slots=True)
class TeamPlan:
    """What the rows of a list say of one team."""

    organization_id: str | None = None
    group_ids: list[str] = field(default_factory=list)

    def fill(self, row: TeamRow) -> bool:
        """Give a team its organization and groups; whether that changes it."""
        before = (row.organization_id, row.group_ids)
        row.organization_id = self.organization_id or row.organization_id
        row.group_ids = list(dict.fromkeys([*row.group_ids, *self.group_ids]))
        return before != (row.organization_id, row.group_ids)


class People:
    """The rows of one class list: `plan` reads and refuses, `keep` writes what was planned."""

    def __init__(self, session: Session, reach: Reach, *, replace: bool) -> None:
        self._session = session
        self._replace = replace
        self._reach = reach
        rows, team_rows = accounts_queries.accounts(session), teams_queries.teams(session)
        self._old = {row.username: row for row in rows if reach.within([row.id], reach.accounts)}
        # A hidden id counts as a username, so that a generated id never has a suffix because of it.
        foreign = {name for row in rows if row.username not in self._old for name in (row.username, row.id)}
        self._foreign = foreign - set(self._old)
        self._account_ids = {row.id for row in rows}
        self._teams = {row.id: row for row in team_rows if reach.within([row.id], reach.teams)}
        names = {row.id: row.name for row in self._teams.values()}
        self.teams = Names(names, {row.id for row in team_rows}, "team", letters=not reach.whole)
        self.organizations = self._names(OrganizationRow, reach.organizations, "organization")
        self.groups = self._names(GroupRow, reach.groups, "group")
        self._planned: list[Planned] = []
        self._team_plans: dict[str, TeamPlan] = {}
        self._given: set[str] = set()
        self._named: Counter[str] = Counter()
        self.changed_teams: list[str] = []
        self.faults: list[Fault] = []
        self.taken: list[Fault] = []

    def _names(self, table: type[OrganizationRow | GroupRow], reached: Container[str], noun: str) -> Names:
        names = by_id.names(self._session, table)
        meant = {id_: names[id_] for id_ in self._reach.within(names, reached)}
        return Names(meant, names, noun, letters=not self._reach.whole)

    @property
    def accounts(self) -> list[AccountBody]:
        """The accounts of all rows, in their order."""
        return [each.body for each in self._planned]

    @property
    def team_ids(self) -> list[str]:
        """The teams of all rows, each once."""
        return list(self._team_plans)

    def plan(self, rows: Sequence[tuple[PersonRowBody, str]], faults: Sequence[Fault]) -> None:
        """Say what each row makes; raises BadRequest or Conflict with every fault, those that are known already too."""
        self.faults.extend(faults)
        for row, where in rows:
            self._plan_row(row, where)
        bodies.refuse_all(self.faults, self.taken, replace=self._replace)

    def keep(self, hashes: Mapping[str, str | None], contest_id: str | None) -> None:
        """Write all that was planned, the accounts with these hashes of passwords.

        What an owner makes beside teams is of the contest, which lets the owner change it.
        """
        of = None if self._reach.whole else contest_id
        for names, table in ((self.organizations, OrganizationRow), (self.groups, GroupRow)):
            for id_ in names.new:
                self._session.add(table(id=id_, contest_id=of, name=names.names[id_], details={}))
        # Teams refer to organizations, and accounts to teams: each kind is inserted before the next.
        self._session.flush()
        for id_, plan in self._team_plans.items():
            row = self._teams.get(id_)
            if row is None:
                row = TeamRow(id=id_, name=self.teams.names[id_], label=id_, group_ids=[], details={})
                self._session.add(row)
            if plan.fill(row) and id_ in self._teams:
                self.changed_teams.append(id_)
        self._session.flush()
        known = {row.id: row for row in self._old.values()}
        for each in self._planned:
            account = put(self._session, each.body, hashes.get(str(each.body.id)), known)
            self._old[account.username] = account

    def shown(self, passwords: Mapping[str, str]) -> list[PersonMade]:
        """The rows as they were kept, with the passwords that were made for them."""
        return [self._shown(each, passwords) for each in self._planned]

    def _plan_row(self, row: PersonRowBody, where: str) -> None:
        username = row.username or self._username_of(row)
        if username in self._given:
            self._fault(where, "username", N_("each username once"), repr(username))
            return
        if username in self._foreign:
            self._take(where, "username", N_("a username that is free"), repr(username))
            return
        self._given.add(username)
        if row.password is not None and (expected := passwords.weakness(row.password, username)):
            self.faults.append(bodies.mismatch(place(where, "password"), expected, Message(N_("a secret"))))
            return
        old = self._old.get(username)
        account_id = old.id if old is not None else self._new_account_id(username, where)
        team_id = self._team(row, account_id, old, where)
        if team_id is None:
            return
        body = AccountBody(
            id=account_id,
            username=username,
            password=row.password,
            name=row.name,
            type="team",
            team_id=team_id,
            person_id=None if old is None else old.person_id,
        )
        planned = Planned(where, body)
        if old is not None:
            planned.changes = self._compared(old, body, where, derived=row.username is None)
        self._planned.append(planned)

    def _username_of(self, row: PersonRowBody) -> str:
        """The username of a row without one: the same for the same names in the same order, each time."""
        base = username_of(row.name)
        if base not in self._given | self._foreign:
            return base
        self._named[row.name] += 1
        return f"{base}-{_digest(f'{row.name} {self._named[row.name]}')}"

    def _compared(self, old: AccountRow, body: AccountBody, where: str, *, derived: bool) -> list[Change]:
        """Compare a row with the account that exists, and return what it changes."""
        changes = [
            Change(property=name, before=before, after=after)
            for name, before, after in (("name", old.name, body.name), ("team", old.team_id, body.team_id))
            if before != after
        ]
        whose = Message(
            N_("%(username)r of the %(type)s account %(account)r, %(name)s"),
            username=body.username,
            type=old.type,
            account=old.id,
            name=old.name or Message(N_("without a name")),
        )
        if old.type != "team":
            self._fault(where, "username", N_("the username of a team's account, or a new one"), whose)
        elif derived and changes:
            expected = N_("a username, as the one made of the name is of an account with another name or team")
            self._fault(where, "username", expected, whose)
        elif changes and not self._replace:
            expected = N_("the existing account, %(name)r of team %(team)r")
            wanted = Message(N_("%(name)r of team %(team)r"), name=body.name, team=body.team_id)
            self._take(where, "username", expected, wanted, name=old.name, team=old.team_id)
        elif body.password is not None and not self._replace:
            self._take(where, "password", N_("nothing, as the account exists"), Message(N_("a secret")))
        if body.password is not None:
            changes.append(Change(property="password", before=None, after=None))
        return changes

    def _team(self, row: PersonRowBody, account_id: str, old: AccountRow | None, where: str) -> str | None:
        if row.team is not None:
            team_id = self.teams.meant(row.team)
        elif old is not None and self.teams.names.get(str(old.team_id)) == row.name:
            team_id = old.team_id
        elif self.teams.names.get(account_id) == row.name:
            team_id = account_id
        elif account_id not in self.teams.names:
            team_id = self.teams.make(row.name) if self.teams.letters else self.teams.add(account_id, row.name)
        else:
            whose = Message(N_("team %(team)r, %(name)r"), team=account_id, name=self.teams.names[account_id])
            self._fault(where, "team", N_("a team, as a new one would have the id of another"), whose)
            return None
        if team_id is None:
            self._fault(where, "team", N_("the id of one of the teams of this name"), repr(row.team))
            return None
        self._link(row, team_id, where)
        return team_id

    def _link(self, row: PersonRowBody, team_id: str, where: str) -> None:
        old = self._teams.get(team_id)
        plan = self._team_plans.setdefault(team_id, TeamPlan())
        if row.organization is not None:
            meant = self.organizations.meant(row.organization)
            if meant is None:
                expected = N_("the id of one of the organizations of this name")
                self._fault(where, "organization", expected, row.organization)
                return
            plan.organization_id = plan.organization_id or meant
            if plan.organization_id != meant:
                expected = N_("%(organization)r, as in the team's other rows")
                self._fault(where, "organization", expected, repr(meant), organization=plan.organization_id)
            elif old is not None and old.organization_id not in {None, meant} and not self._replace:
                expected = N_("%(organization)r, as the team has it")
                self._take(where, "organization", expected, repr(meant), organization=old.organization_id)
        if row.group is not None:
            group = self.groups.meant(row.group)
            if group is None:
                self._fault(where, "group", N_("the id of one of the groups of this name"), row.group)
            elif group not in plan.group_ids:
                plan.group_ids.append(group)

    def _new_account_id(self, username: str, where: str) -> str:
        """The username, or an id that is made of it alone: it depends on no hidden account, and not on the moment."""
        id_ = username
        if not is_id(id_) or id_ in self._account_ids:
            id_ = f"{slug(plain(username), lambda _: False, 'account')}-{_digest(username)}"
        if id_ in self._account_ids:
            self._take(where, "username", N_("a username that is free"), repr(username))
        self._account_ids.add(id_)
        return id_

    def _shown(self, each: Planned, passwords: Mapping[str, str]) -> PersonMade:
        body = each.body
        made = PersonMade(
            where=each.where,
            name=str(body.name),
            username=body.username,
            account_id=str(body.id),
            account="made" if each.changes is None else "changed" if each.changes else "unchanged",
            changes=each.changes or [],
            team_id=str(body.team_id),
            team=self.teams.names[str(body.team_id)],
            has_password=body.password is not None or self._old[body.username].password_hash is not None,
        )
        if str(body.id) in passwords:
            made.password = passwords[str(body.id)]
        return made

    def _fault(self, where: str, column: str, expected: str, what: Text, **values: object) -> None:
        self.faults.append(bodies.mismatch(place(where, column), Message(expected, **values), what))

    def _take(self, where: str, column: str, expected: str, what: Text, **values: object) -> None:
        self.taken.append(bodies.mismatch(place(where, column), Message(expected, **values), what))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:DIGITS_OF_A_DIGEST]
