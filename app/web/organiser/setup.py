"""Setting a contest up: what kind of contest it is, when it is, how it is scored, and its start."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from fastapi import Request, Response
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from app.domain.clock import utc_now
from app.services.clics import format_time
from app.services.contests import commands
from app.services.contests.bodies import ContestBody, ContestChange, ContestView, view
from app.services.contests.contests import contest_of
from app.services.errors import BadRequest, ServiceError
from app.storage.scoring_input import clock
from app.web.forms import made_of_values, whole_number
from app.web.frames import frame
from app.web.languages import N_
from app.web.organiser.gate import Fields, WritingAccounts, faults_of, see
from app.web.organiser.home import DONE, Done, steps
from app.web.pages import page
from app.web.visitor import Reading, TheService, TheSnapshot, Visitor, Writing

UNTIL_START = timedelta(seconds=60)
"""From the button to the start: the rules want more than 30 seconds."""
KINDS: Mapping[str, tuple[str, str, Mapping[str, object]]] = {
    "together": (N_("Everybody at the same time"), N_("One start and one end for all; the board may freeze."), {}),
    "personal": (
        N_("Each team at its own time"),
        N_("A window in which each team begins when it likes and then has its hours. The board does not freeze."),
        {"personal_duration": True},
    ),
    "practice": (
        N_("Practice after the end"),
        N_("As the first kind; afterwards everybody may go on sending, and teams may take part virtually."),
        {"practice": True, "virtual": True},
    ),
}
"""The kinds of contests that a new one is chosen from: name, what it means, and the settings it begins with."""
FLAGS = (
    ("show_best", N_("Everybody sees the best raw score of each case.")),
    ("show_others_answers", N_("Everybody may read every team's answer files.")),
    ("choose", N_("Teams choose which submission counts after the end.")),
    ("practice", N_("Submissions after the end are judged, on no board.")),
    ("virtual", N_("After the end, teams may take part by a clock of their own.")),
    ("staff_act_for_teams", N_("Accounts of staff may submit for any team.")),
)
REJECTIONS = {
    "full": N_("everything: where, what was expected, what was found"),
    "position": N_("where the answer went wrong"),
    "verdict": N_("the verdict alone"),
}
PARTLY = {"PC": N_("Partly correct"), "AC": N_("Accepted")}
COUNTS = (
    ("max_submissions", N_("Submissions of a team to a problem")),
    ("interval_seconds", N_("Seconds between two")),
)


def new_contest(request: Request, viewer: Visitor) -> HTMLResponse:
    """The first step: a form for the kind, the name and the times of a new contest."""
    return _new(request, viewer, {"kind": "together", "duration": "5:00", "freeze": "1:00"})


def make_contest(
    request: Request, viewer: Visitor, service: TheService, fields: Fields, session: WritingAccounts
) -> Response:
    """Make the contest and lead to its problems; shows the form again with what is wrong with it."""
    try:
        body = made_of_values(ContestBody, _new_values(fields))
        made = commands.create(session, service, viewer, body)
    except ServiceError as refusal:
        session.rollback()
        return _new(request, viewer, fields, refusal)
    return see(request, f"/admin/contests/{made.id}/problems", done="made")


def times_page(
    request: Request, service: TheService, viewer: Visitor, snapshot: TheSnapshot, session: Reading, done: Done = ""
) -> HTMLResponse:
    """The name and the times of a contest."""
    return _times(request, service, viewer, snapshot, session, done=done)


def set_times(
    request: Request,
    service: TheService,
    viewer: Visitor,
    snapshot: TheSnapshot,
    fields: Fields,
    session: Writing,
) -> Response:
    """Change the name and the times that are different from before."""
    contest_id = snapshot.contest.id
    try:
        values = _changed_times(view(contest_of(session, contest_id)), fields)
        changed = None
        if values:
            changed = commands.change(session, service, viewer, contest_id, made_of_values(ContestChange, values))
    except ServiceError as refusal:
        session.rollback()
        return _times(request, service, viewer, snapshot, session, fields=fields, refusal=refusal)
    message = changed.times_change.message if changed is not None and changed.times_change is not None else None
    return see(request, f"/admin/contests/{contest_id}/times", done="saved", what=message)


def rules_page(
    request: Request, service: TheService, viewer: Visitor, snapshot: TheSnapshot, session: Reading, done: Done = ""
) -> HTMLResponse:
    """The settings of a contest as a form, each as the sentence that contestants read."""
    row = contest_of(session, snapshot.contest.id)
    return page(
        "organiser/rules.html",
        request,
        viewer=viewer,
        frame=frame(session, viewer, snapshot, "rules"),
        steps=_steps(session, service, snapshot.contest.id, "rules"),
        done=DONE.get(done),
        settings=view(row).settings,
        flags=FLAGS,
        rejections=REJECTIONS,
        partly=PARTLY,
        counts=COUNTS,
        open_to_all=row.open_to_all,
    )


def set_rules(
    request: Request, viewer: Visitor, service: TheService, contest_id: str, fields: Fields, session: Writing
) -> Response:
    """Change the settings that the form has."""
    limits = view(contest_of(session, contest_id)).settings.limits.model_dump()
    limits |= {name: whole_number(name, fields.get(name, "")) for name, _ in COUNTS}
    settings: dict[str, object] = {name: name in fields for name, _ in FLAGS}
    settings |= {"rejections": fields.get("rejections"), "partly_correct_as": fields.get("partly_correct_as")}
    values: dict[str, object] = {"settings": {**settings, "limits": limits}}
    if viewer.is_admin:
        values["open_to_all"] = "open_to_all" in fields
    commands.change(session, service, viewer, contest_id, made_of_values(ContestChange, values))
    return see(request, f"/admin/contests/{contest_id}/rules", done="saved")


def start_soon(request: Request, viewer: Visitor, service: TheService, contest_id: str, session: Writing) -> Response:
    """Let the contest begin in a minute."""
    start = utc_now() + UNTIL_START
    values = {"id": contest_id, "start_time": format_time(start)}
    commands.change(session, service, viewer, contest_id, made_of_values(ContestChange, values))
    return see(request, f"/admin/contests/{contest_id}", done="started")


def pause(request: Request, service: TheService, contest_id: str, session: Writing) -> Response:
    """Let the contest's clock stand still."""
    commands.pause(session, service, contest_id)
    return see(request, f"/admin/contests/{contest_id}", done="paused")


def resume(request: Request, service: TheService, contest_id: str, session: Writing) -> Response:
    """Let the contest's clock run on."""
    commands.resume(session, service, contest_id)
    return see(request, f"/admin/contests/{contest_id}", done="resumed")


def finalize(request: Request, viewer: Visitor, service: TheService, contest_id: str, session: Writing) -> Response:
    """Make the results final."""
    commands.change(session, service, viewer, contest_id, made_of_values(ContestChange, {"finalized": True}))
    return see(request, f"/admin/contests/{contest_id}", done="final")


def _new(
    request: Request, viewer: Visitor, fields: Mapping[str, str], refusal: ServiceError | None = None
) -> HTMLResponse:
    return page(
        "organiser/new.html",
        request,
        status=200 if refusal is None else 400,
        viewer=viewer,
        fields=fields,
        kinds=KINDS,
        faults=[] if refusal is None else faults_of(refusal),
    )


def _new_values(fields: Mapping[str, str]) -> dict[str, object]:
    """The document of a new contest, made of the form's fields."""
    kind = fields.get("kind", "")
    if kind not in KINDS:
        raise BadRequest(f"kind: expected one of {', '.join(KINDS)}, found {kind[:40]!r}")
    settings: dict[str, object] = {**KINDS[kind][2]}
    if "personal_duration" in settings:
        settings["personal_duration"] = hours(fields.get("own", ""), "own")
    values: dict[str, object] = {
        "id": fields.get("id") or None,
        "name": fields.get("name", "").strip(),
        "start_time": moment(fields.get("start", "")),
        "duration": hours(fields.get("duration", ""), "duration"),
        "open_to_all": "open_to_all" in fields,
        "settings": settings,
    }
    if kind != "personal":
        values["scoreboard_freeze_duration"] = hours(fields.get("freeze", ""), "freeze")
    return {name: value for name, value in values.items() if value is not None}


def _times(
    request: Request,
    service: TheService,
    viewer: Visitor,
    snapshot: TheSnapshot,
    session: Session,
    *,
    done: str = "",
    fields: Mapping[str, str] | None = None,
    refusal: ServiceError | None = None,
) -> HTMLResponse:
    row = contest_of(session, snapshot.contest.id)
    shown = _fields_of(view(row)) if fields is None else fields
    return page(
        "organiser/times.html",
        request,
        status=200 if refusal is None else 400,
        viewer=viewer,
        frame=frame(session, viewer, snapshot, "times"),
        steps=_steps(session, service, snapshot.contest.id, "times"),
        done=DONE.get(done),
        what=request.query_params.get("what", "")[:500],
        fields=shown,
        has_started=clock(row).started(utc_now()),
        faults=[] if refusal is None else faults_of(refusal),
    )


def _steps(session: Session, service: TheService, contest_id: str, here: str) -> list[Any]:
    return list(steps(session, service, contest_id, here))


def _fields_of(contest: ContestView) -> dict[str, str]:
    """The fields of the form of times, as a contest has them."""
    return {
        "name": contest.name,
        "formal_name": contest.formal_name if contest.formal_name != contest.name else "",
        "start": "" if contest.start_time is None else contest.start_time[:16],
        "duration": _short(contest.duration),
        "freeze": "" if contest.scoreboard_freeze_duration is None else _short(contest.scoreboard_freeze_duration),
    }


def _changed_times(contest: ContestView, fields: Mapping[str, str]) -> dict[str, object]:
    """The values of a change: those fields alone that are not as the contest has them."""
    before = _fields_of(contest)
    named = {name for name, value in before.items() if fields.get(name, value).strip() != value}
    values: dict[str, object] = {}
    if "name" in named:
        values["name"] = fields["name"].strip()
    if "formal_name" in named:
        values["formal_name"] = fields["formal_name"].strip() or None
    if "start" in named:
        values |= {"id": contest.id, "start_time": moment(fields["start"])}
    if "duration" in named:
        values["duration"] = hours(fields["duration"], "duration")
    if "freeze" in named:
        values["scoreboard_freeze_duration"] = hours(fields["freeze"], "freeze")
    if "move_freeze" in fields and "freeze" in named:
        values["move_freeze"] = True
    return values


def moment(text: str) -> str | None:
    """A moment of a form (2026-11-22T09:00, UTC) as documents have it; None for an empty field."""
    text = text.strip().replace(" ", "T")
    if not text:
        return None
    return f"{text}:00Z" if text.count(":") == 1 else f"{text}Z"


def hours(text: str, name: str) -> str | None:
    """A duration of a form (5:00, hours and minutes, perhaps with seconds) as documents have it; None for nothing."""
    text = text.strip()
    if not text:
        return None
    parts = text.split(":")
    if not all(part.isdecimal() for part in parts) or not 1 <= len(parts) <= 3:
        raise BadRequest(f"{name}: expected hours and minutes such as 5:00, found {text[:40]!r}")
    return ":".join([parts[0], *(part.zfill(2) for part in parts[1:]), *["00"] * (3 - len(parts))])


def _short(duration: str) -> str:
    """A duration as the form has it: 5:00, with seconds where there are some."""
    whole = duration.partition(".")[0]
    return whole.removesuffix(":00") if whole.count(":") == 2 else whole
