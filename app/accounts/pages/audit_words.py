"""The entries of the audit log in words: a sentence for each change of a row."""

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import cast

from app.core.db.audit import ADDED, CHANGED, DELETED
from app.core.json_documents import AuditObject
from app.core.messages import N_
from app.core.pages import forms, wording
from app.core.pages.languages import _
from app.core.pages.pages import type_word

# By table, change and column, "" for the whole row. `key` is what the row is about: its id, a team, a problem.
SENTENCES: Mapping[tuple[str, str, str], str] = {
    ("contests", ADDED, ""): N_("Created the contest %(name)s."),
    ("contests", DELETED, ""): N_("Deleted the contest %(name)s."),
    ("contests", CHANGED, "name"): N_("Renamed the contest from %(before)s to %(after)s."),
    ("contests", CHANGED, "start_time"): N_("Changed the start from %(before)s to %(after)s."),
    ("contests", CHANGED, "end"): N_("Changed the end from %(before)s to %(after)s."),
    ("contests", CHANGED, "duration_ms"): N_("Changed the duration from %(before)s to %(after)s."),
    ("contests", CHANGED, "freeze_ms"): N_("Changed the freeze before the end from %(before)s to %(after)s."),
    ("contests", CHANGED, "thaw_time"): N_("Changed the end of the freeze from %(before)s to %(after)s."),
    ("contests", CHANGED, "finalized"): N_("Changed the time of the final results from %(before)s to %(after)s."),
    ("contests", CHANGED, "pauses"): N_("Paused or resumed the contest."),
    ("contests", CHANGED, "revealed"): N_("Revealed results in the ceremony."),
    ("contest_problems", ADDED, ""): N_("Added the problem %(key)s to the contest."),
    ("contest_problems", DELETED, ""): N_("Removed the problem %(key)s from the contest."),
    ("contest_problems", CHANGED, "label"): N_("Changed the label of %(key)s from %(before)s to %(after)s."),
    ("contest_teams", ADDED, ""): N_("Added the team %(key)s to the contest."),
    ("contest_teams", DELETED, ""): N_("Removed the team %(key)s from the contest."),
    ("contest_teams", CHANGED, "disqualified"): N_(
        "Changed the disqualification of %(key)s from %(before)s to %(after)s."
    ),
    ("contest_teams", CHANGED, "extra_seconds"): N_(
        "Changed the extra time of %(key)s from %(before)s to %(after)s seconds."
    ),
    ("teams", ADDED, ""): N_("Created the team %(name)s."),
    ("teams", DELETED, ""): N_("Deleted the team %(name)s."),
    ("teams", CHANGED, "name"): N_("Renamed the team %(key)s from %(before)s to %(after)s."),
    ("accounts", ADDED, ""): N_("Created the account %(username)s."),
    ("accounts", DELETED, ""): N_("Deleted the account %(username)s."),
    ("accounts", CHANGED, "name"): N_("Renamed the account %(key)s from %(before)s to %(after)s."),
    ("accounts", CHANGED, "password_hash"): N_("Changed the password of %(key)s."),
    ("contest_roles", ADDED, ""): N_("Granted %(key)s a role in the contest: %(role)s."),
    ("contest_roles", DELETED, ""): N_("Revoked a role of %(key)s in the contest: %(role)s."),
    ("contest_roles", CHANGED, "role"): N_("Changed the role of %(key)s in the contest from %(before)s to %(after)s."),
    ("problem_roles", ADDED, ""): N_("Granted %(key)s a role in a problem: %(role)s."),
    ("problem_roles", DELETED, ""): N_("Revoked a role of %(key)s in a problem: %(role)s."),
    ("problem_roles", CHANGED, "role"): N_("Changed the role of %(key)s in a problem from %(before)s to %(after)s."),
    ("organisers", ADDED, ""): N_("Allowed %(key)s to create contests."),
    ("organisers", DELETED, ""): N_("Revoked the right of %(key)s to create contests."),
    ("registrations", CHANGED, "is_open"): N_("Changed open registration from %(before)s to %(after)s."),
    ("registrations", CHANGED, "until"): N_("Changed the end of registration from %(before)s to %(after)s."),
    ("registrations", CHANGED, "most"): N_("Changed the places for registration from %(before)s to %(after)s."),
    ("registrations", CHANGED, "code"): N_("Created a new registration code."),
    ("clarifications", ADDED, ""): N_("Sent a message: %(text)s"),
    ("awards", ADDED, ""): N_("Added the award %(key)s."),
    ("awards", DELETED, ""): N_("Removed the award %(key)s."),
    ("rejudgings", ADDED, ""): N_("Created the rejudging %(key)s."),
    ("rejudgings", CHANGED, "state"): N_("Changed the state of the rejudging %(key)s from %(before)s to %(after)s."),
    ("problems", ADDED, ""): N_("Created the problem %(key)s."),
    ("problems", DELETED, ""): N_("Deleted the problem %(key)s."),
    ("problem_versions", ADDED, ""): N_("Saved version %(key)s of a problem."),
    ("tokens", ADDED, ""): N_("Created an access token."),
    ("tokens", DELETED, ""): N_("Revoked an access token."),
}
# Settings of a contest, in words.
SETTINGS: Mapping[str, str] = {
    "show_best": N_("best raw scores shown to everyone"),
    "show_others_answers": N_("answers of all teams shown to everyone"),
    "share_tools": N_("generators and checkers in the zip of inputs"),
    "visibility": N_("visibility"),
    "description": N_("description"),
    "choose": N_("choice of the counting submission"),
    "practice": N_("practice after the end"),
    "virtual": N_("virtual participation"),
    "staff_act_for_teams": N_("submissions of staff for teams"),
    "rejections": N_("feedback on rejected answers"),
    "partly_correct_as": N_("name of partly correct answers"),
    "final_release": N_("release of the final inputs"),
    "final_minutes": N_("minutes for the final inputs"),
    "final_phase": N_("cases that count in the end"),
    "personal_duration": N_("time of each team"),
    "max_submissions": N_("submissions per team and problem"),
    "interval_seconds": N_("seconds between two submissions"),
}
TIMES = frozenset({"start_time", "end", "thaw_time", "finalized", "until", "final_release"})
# Columns that follow from others, or that no one reads.
SILENT = frozenset({"updated", "details", "applied", "granted", "granted_by"})
# What a row without an id is about.
KEYS = ("account_id", "team_id", "problem_id", "id", "name")


def sentences(changes: Mapping[str, object], zone: str) -> list[str]:
    """The sentences of an entry's changes, each once."""
    rows = cast("list[AuditObject]", changes.get("objects", []))
    return list(dict.fromkeys(sentence for each in rows for sentence in _sentences(each, zone)))


def _sentences(row: AuditObject, zone: str) -> Iterator[str]:
    table, what, before, after = row["table"], row["what"], row["before"], row["after"]
    values = {**before, **after}
    key = (row["id"] or "").rpartition("/")[2] or next((str(values[name]) for name in KEYS if name in values), "")
    if what != CHANGED:
        sentence = SENTENCES.get((table, what, ""))
        if sentence is not None:
            shown = {name: _value(name, value, zone) for name, value in values.items()}
            names = dict.fromkeys(("name", "username", "role", "text"), key)
            yield _(sentence, **{**names, **shown, "key": key})
        return
    if "end" in values:
        values.pop("duration_ms", None)
    for name in values:
        old, new = before.get(name), after.get(name)
        if name == "settings":
            yield from (_sentence("", part, key, *shown) for part, *shown in _differences(old, new, zone))
        elif name not in SILENT:
            yield _sentence(table, name, key, _value(name, old, zone), _value(name, new, zone))


def _differences(old: object, new: object, zone: str) -> Iterator[tuple[str, str, str]]:
    """The parts of two documents that differ, with both values."""
    before, after = (each if isinstance(each, dict) else {} for each in (old, new))
    for part in {**before, **after}:
        was, is_now = before.get(part), after.get(part)
        if isinstance(was, dict) and isinstance(is_now, dict):
            yield from _differences(was, is_now, zone)
        elif was != is_now:
            yield part, _value(part, was, zone), _value(part, is_now, zone)


def _sentence(table: str, name: str, key: str, before: str, after: str) -> str:
    sentence = SENTENCES.get((table, CHANGED, name)) or N_("Changed %(name)s from %(before)s to %(after)s.")
    shown = f"{name.replace('_', ' ')} ({table} {key})" if table else _(SETTINGS.get(name, name.replace("_", " ")))
    return _(sentence, name=shown, key=key, before=before, after=after)


def _value(name: str, value: object, zone: str) -> str:
    """A value of a column, as readers write it."""
    if value is None:
        return _("none")
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if name.endswith("_ms") and isinstance(value, int):
        return wording.length(timedelta(milliseconds=value))
    if name in TIMES:
        return forms.in_zone(datetime.fromisoformat(str(value)), zone)
    return type_word(value) if isinstance(value, str) and name in {"role", "state"} else str(value)
