"""Tables of what an import has made and changed, or would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table

from app.core.commands.output import JsonMapping, table

NOT_COMPARED = frozenset({"password", "has_password"})


def class_list_tables(imported: JsonMapping) -> list[Table]:
    """The accounts of a class list, and the teams, organizations and groups that are new or change."""
    people = [
        [each["where"], each["username"], each["name"], each["team"], each["account"], changes_text(each["changes"])]
        for each in imported["people"]
    ]
    tables = [table("accounts", ["where", "username", "name", "team", "account", "changes"], people)]
    others = [[kind, id_, "made", ""] for kind in ("teams", "organizations", "groups") for id_ in imported[kind]]
    others += [
        ["teams", each["team_id"], "changed", changes_text(each["changes"])] for each in imported["changed_teams"]
    ]
    if others:
        tables.append(table("teams, organizations and groups", ["kind", "id", "", "changes"], others))
    return tables


def changes_text(changes: Sequence[JsonMapping]) -> str:
    """Write changes as `team: red → blue`; a secret is only named."""
    return "; ".join(
        each["property"]
        if each["before"] is None and each["after"] is None
        else f"{each['property']}: {shown(each['before'])} → {shown(each['after'])}"
        for each in changes
    )


def objects_table(path: str, before: Mapping[str, JsonMapping], after: Sequence[JsonMapping]) -> Table:
    """JsonMappings that an import has made or changed, held against those that were there."""
    rows = []
    for each in after:
        id_ = str(each.get("id"))
        old = before.get(id_)
        changes = [] if old is None else differences(old, each)
        state = "made" if old is None else "changed" if changes else "unchanged"
        rows.append([id_, each.get("name"), state, "; ".join(changes)])
    return table(path.rpartition("/")[2], ["id", "name", "", "changes"], rows)


def differences(old: JsonMapping, new: JsonMapping) -> list[str]:
    """The properties in which two objects differ, each as `name: A → B`."""
    names = [name for name in {**old, **new} if name not in NOT_COMPARED]
    changed = [name for name in names if (old.get(name) or None) != (new.get(name) or None)]
    changed += ["password"] if "password" in new else []
    return [
        name if name == "password" else f"{name}: {shown(old.get(name))} → {shown(new.get(name))}" for name in changed
    ]


def shown(value: object) -> str:
    """A value in a few words."""
    if value is None or value in ("", []):
        return "nothing"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
