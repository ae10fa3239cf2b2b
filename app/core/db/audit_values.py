"""What entries of the audit log show of rows: values before and after, cut to a readable length, without secrets."""

import re
from collections.abc import Mapping
from datetime import datetime

from pydantic import BaseModel
from sqlalchemy import inspect

from app.core.json_documents import AuditObject
from app.domain.documents import JsonValue
from app.tables import Base, ContestRoleRow, ProblemRoleRow

LONGEST_VALUE = 200
MOST_VALUES = 40
DEEPEST = 3
# Columns and keys whose values are never written down; the log only says that they changed.
SECRET = re.compile(r"password|token|secret|digest|code|key")
HIDDEN = "(hidden)"
ADDED, CHANGED, DELETED = "added", "changed", "deleted"
Shown = dict[str, JsonValue]


def object_change(row: Base, what: str) -> AuditObject | None:
    """The change of a row that a session flushes; None where it is as it was."""
    before, after = _values(row, what)
    if what == CHANGED and before == after:
        return None
    keys = list(inspect(type(row)).primary_key_from_instance(row))
    if isinstance(row, ContestRoleRow | ProblemRoleRow) and row.pending is not None:
        # Until the account accepts, the contest's owner knows it only by what they typed.
        keys[-1] = row.pending
        before, after = (
            {**each, "account_id": row.pending} if "account_id" in each else each for each in (before, after)
        )
    row_id, table, was, is_now = "/".join(map(str, keys)), row.__tablename__, readable(before), readable(after)
    return {"table": table, "id": row_id, "what": what, "before": was, "after": is_now}


def joined(old: AuditObject, new: AuditObject) -> AuditObject:
    """Two changes of one object in one transaction as one."""
    what = old["what"] if new["what"] == CHANGED else new["what"]
    before, after = {**new["before"], **old["before"]}, {**old["after"], **new["after"]}
    return {**old, "what": what, "before": before, "after": after}


def readable(values: Mapping[str, object]) -> Shown:
    """Values by name as JSON; empty ones are left out."""
    shown = {name: _shown(name, value) for name, value in values.items()}
    return {name: value for name, value in shown.items() if value not in (None, {}, [], "")}


def _values(row: Base, what: str) -> tuple[dict[str, object], dict[str, object]]:
    before: dict[str, object] = {}
    after: dict[str, object] = {}
    for attribute in inspect(row).mapper.column_attrs:
        name = attribute.key
        history = inspect(row).attrs[name].history
        old = _document(next(iter(history.deleted or history.unchanged or ()), None))
        new = _document(getattr(row, name))
        if what == CHANGED and (not history.has_changes() or old == new):
            continue
        if what == CHANGED and isinstance(old, dict) and isinstance(new, dict):
            names = [key for key in {**old, **new} if old.get(key) != new.get(key)]
            old, new = ({key: each[key] for key in names if key in each} for each in (old, new))
        if what != ADDED:
            before[name] = old
        if what != DELETED:
            after[name] = new
    return before, after


def _document(value: object) -> object:
    """Give the value of a column as it is stored: models are JSON."""
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else value


def _shown(name: str, value: object, depth: int = 0) -> JsonValue:
    if value is None or isinstance(value, bool):
        return value
    if SECRET.search(name):
        return HIDDEN
    if isinstance(value, int | float):
        return value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if depth < DEEPEST and isinstance(value, dict):
        first = list(value.items())[:MOST_VALUES]
        return {_cut(str(key)): _shown(str(key), each, depth + 1) for key, each in first}
    if depth < DEEPEST and isinstance(value, list | tuple):
        return [_shown("", each, depth + 1) for each in value[:MOST_VALUES]]
    return _cut(str(value))


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"
