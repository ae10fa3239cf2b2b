"""What a class list makes: objects meant by their id or name, and the planned accounts and teams."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal

from app.accounts.schemas import AccountBody
from app.accounts.service.registering import plain
from app.core.clics import slug, slug_with_letters
from app.tables import TeamRow
from app.teams.schemas import Change

State = Literal["made", "changed", "unchanged"]


class Names:
    """Objects that are meant by their id or their name; one that is not there is made, with an id of its name.

    names      those that may be meant, by their ids; beside them `taken_ids` are no ids of new ones
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
    """The account that a row asks for."""

    where: str
    body: AccountBody
    state: State
    email: str | None
    changes: list[Change] = field(default_factory=list)


@dataclass(slots=True)
class TeamPlan:
    """What the rows of a list say of one team."""

    organization_id: str | None = None
    group_ids: list[str] = field(default_factory=list)

    def changes(self, old: TeamRow) -> list[Change]:
        """The changes of a team that is there already."""
        changes = []
        if self.organization_id is not None and self.organization_id != old.organization_id:
            changes.append(Change(property="organization", before=old.organization_id, after=self.organization_id))
        changes += [
            Change(property="group", before=None, after=group_id)
            for group_id in self.group_ids
            if group_id not in old.group_ids
        ]
        return changes
