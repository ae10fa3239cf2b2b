"""Setting a contest up: what kind of contest it is, when it is, how it is scored, and its start."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial

from anyio.to_thread import run_sync
from fastapi import Response
from fastapi.responses import HTMLResponse

from app.archive.service import views
from app.contests.queries import clock, contest_of
from app.contests.schemas import ContestBody, ContestChange, ContestCopy, ContestView, PerWindow
from app.contests.service import commands as service_commands
from app.contests.service.contests import view
from app.core.clics import format_reltime, format_time, format_time_or_none
from app.core.clock import utc_now
from app.core.http.errors import written
from app.core.messages import N_, BadRequest
from app.core.pages import forms
from app.core.pages.forms import made_of_values, whole_number
from app.core.pages.languages import _, refuse_outdated
from app.core.pages.visits import Change, ContestLook, Visit
from app.core.pages.wording import spoken
from app.domain import contests, participation
from app.tables import ContestRow

# From the button to the start: the rules want more than 30 seconds.
UNTIL_START = timedelta(seconds=60)
MORE_TIME = timedelta(minutes=10)
# The kinds of contests that a new one is chosen from: name, what it means, and the settings it begins with.
KINDS: Mapping[str, tuple[str, str, Mapping[str, object]]] = {
    "together": (N_("All teams at the same time"), N_("One start and one end for all. The scoreboard may freeze."), {}),
    "personal": (
        N_("Each team at its own time"),
        N_("Each team starts when it likes within a window, and has a fixed time. The scoreboard does not freeze."),
        {"personal_duration": True},
    ),
    "practice": (
        N_("Practice after the end"),
        N_("Like the first kind. After the end, teams may submit for practice and participate virtually."),
        {"practice": True, "virtual": True},
    ),
}
FLAGS = (
    ("show_best", N_("Show the best raw score of each case to everyone.")),
    ("show_others_answers", N_("Show the answers of all teams to everyone.")),
    ("share_tools", N_("Add each problem's generator, checker and viewer to the zip of its inputs.")),
    ("choose", N_("Teams choose which submission counts after the end.")),
    ("practice", N_("Judge submissions after the end. They do not change the scoreboard.")),
    ("virtual", N_("Teams may participate virtually after the end.")),
    ("staff_act_for_teams", N_("Staff accounts may submit for any team.")),
)
REJECTIONS = {
    "full": N_("full: where, expected and found"),
    "position": N_("position only"),
    "verdict": N_("verdict only"),
}
PARTLY = {"PC": N_("Partly correct"), "AC": N_("Accepted")}
VISIBILITIES = {
    "draft": N_("Draft: only organizers see the contest"),
    "private": N_("Private: organizers and its teams see it"),
    "public": N_("Public: everyone sees it"),
}
# Settings that the page of times has, too.
SHOWN = ("visibility", "description")
COUNTS = (
    ("max_submissions", N_("Submissions per team and problem")),
    ("interval_seconds", N_("Seconds between two submissions")),
)
# The limit on submissions in a period is one a day unless the contest has another period.
DAILY = PerWindow(count=1, seconds=86_400)


def new_contest(visit: Visit) -> HTMLResponse:
    """The first step: a form for the kind, the name and the times of a new contest."""
    return visit.page("organiser/new.html", kinds=KINDS, visibilities=VISIBILITIES)


def make_contest(change: Change) -> Response:
    """Make the contest and lead to its problems."""
    change.forget_accounts()
    body = made_of_values(ContestBody, _new_values(change.fields))
    made = service_commands.create(change.session, change.service, change.viewer, body)
    return change.see(f"/admin/contests/{made.id}/problems", done="made")


async def import_contest(visit: Visit) -> Response:
    """Import a contest package, and show the contest."""
    async with forms.open_form(visit.request, texts={"id", "replace"}, files={"package"}) as form:
        sent = form.file("package")
        if sent is None or not sent.name:
            raise BadRequest(N_("expected a zip file, found nothing"), where="package")
        new_id, replace = form.texts.get("id", "").strip() or None, "replace" in form.texts
        async with written(sent.stream) as path:
            contents = await run_sync(views.read, path, visit.service.settings, True)
            store = partial(views.bring_in, visit.service, contents, str(visit.viewer.account_id))
            made = await run_sync(partial(store, contest_id=new_id, replace=replace))
    visit.authenticator.forget()
    return visit.see(f"/admin/contests/{made['id']}", done="added")


def copy_contest(change: Change, contest_id: str) -> Response:
    """Copy the contest, and lead to the copy."""
    change.forget_accounts()
    names = {"id": change.fields.get("id") or None, "name": change.fields.get("name", "").strip()}
    values = {**names, "start_time": forms.moment(change.fields, "start"), "teams": "teams" in change.fields}
    body = made_of_values(ContestCopy, values)
    made = service_commands.copy(change.session, change.service, change.viewer.at(contest_id), contest_id, body)
    return change.see(f"/admin/contests/{made.id}", done="added")


def delete_contest(change: Change, contest_id: str) -> Response:
    """Delete the contest, once confirmed."""
    change.forget_accounts()
    change.confirm(
        _("Delete %(contest)s?", contest=contest_of(change.session, contest_id).name),
        _("Its settings, problem list, enrolled teams, messages, awards and roles are lost. Problems and teams stay."),
        _("Delete contest"),
    )
    service_commands.delete(change.session, change.service, contest_id)
    return change.see("/admin", done="deleted")


def times_page(visit: ContestLook) -> HTMLResponse:
    """The name and the times of a contest."""
    row = contest_of(visit.session, visit.snapshot.contest.id)
    return visit.framed(
        "organiser/times.html",
        "times",
        fields=_fields_of(view(row), forms.zone_of(visit.request)),
        has_started=clock(row).started(utc_now()),
        visibilities=VISIBILITIES,
    )


def set_times(change: Change, contest_id: str) -> Response:
    """Change the name and the times that the sender has changed."""
    row = contest_of(change.session, contest_id, for_update=True)
    before, clock_before, now = view(row), clock(row), utc_now()
    refuse_outdated(change.fields, _fields_of(before, change.fields.get(forms.ZONE, "")))
    if values := _changed_times(before, change.fields):
        change_contest(change, contest_id, values)
    return change.see(f"/admin/contests/{contest_id}/times", done=_outcome(clock_before, clock(row), now))


def _outcome(before: contests.Clock, after: contests.Clock, now: datetime) -> str:
    """Return the key of DONE for changed times."""
    if participation.opens_board(before, after, now):
        return "opened"
    return "reopened" if before.ended(now) and not after.ended(now) else "saved"


def rules_page(visit: ContestLook) -> HTMLResponse:
    """The settings of a contest as a form, each as the sentence that contestants read."""
    row = contest_of(visit.session, visit.snapshot.contest.id)
    return visit.framed(
        "organiser/rules.html",
        "rules",
        stored=rules_of(row),
        finals=finals_of(row, forms.zone_of(visit.request)),
        flags=FLAGS,
        rejections=REJECTIONS,
        partly=PARTLY,
        counts=COUNTS,
        period=spoken(timedelta(seconds=(row.settings.limits.per_window or DAILY).seconds)),
    )


def rules_of(row: ContestRow) -> dict[str, str]:
    """The fields of the form of rules, as a contest has them; a box that is not checked is empty."""
    settings = row.settings
    limits = settings.limits.model_dump()
    return {
        **{name: "on" if getattr(settings, name) else "" for name, _ in FLAGS},
        "open_to_all": "on" if row.open_to_all else "",
        "rejections": settings.rejections,
        "partly_correct_as": settings.partly_correct_as,
        **{name: "" if limits[name] is None else str(limits[name]) for name, _ in COUNTS},
        "per_window": "" if settings.limits.per_window is None else str(settings.limits.per_window.count),
    }


def finals_of(row: ContestRow, zone: str) -> dict[str, str]:
    """The fields of the form of final cases, as a contest has them, with times in a zone."""
    settings = row.settings
    return {
        "final_release": forms.moment_shown(format_time_or_none(settings.final_release), zone),
        "final_minutes": "" if settings.final_minutes is None else str(settings.final_minutes),
        "final_phase": settings.final_phase,
    }


def set_rules(change: Change, contest_id: str) -> Response:
    """Change the settings that the form has."""
    fields, row = change.fields, contest_of(change.session, contest_id, for_update=True)
    stored = rules_of(row)
    is_admin = change.viewer.is_admin
    refuse_outdated(fields, stored if is_admin else {**stored, "open_to_all": fields.get("open_to_all", "")})
    limits = row.settings.limits.model_dump()
    limits |= {name: whole_number(name, fields.get(name, "")) for name, _ in COUNTS}
    count, window = whole_number("per_window", fields.get("per_window", "")), row.settings.limits.per_window or DAILY
    limits["per_window"] = None if count is None else {"count": count, "seconds": window.seconds}
    settings: dict[str, object] = {name: bool(fields.get(name)) for name, _ in FLAGS}
    settings |= {name: fields.get(name) for name in ("rejections", "partly_correct_as")}
    values: dict[str, object] = {"settings": {**settings, "limits": limits}}
    if is_admin:
        values["open_to_all"] = bool(fields.get("open_to_all"))
    change_contest(change, contest_id, values)
    return change.see(f"/admin/contests/{contest_id}/rules", done="saved")


def start_soon(change: Change, contest_id: str) -> Response:
    """Let the contest start in one minute; ask first if another start is scheduled."""
    start = (utc_now() + UNTIL_START).replace(microsecond=0)
    if (planned := clock(contest_of(change.session, contest_id)).start) is not None:
        sentence = _("It is scheduled for %(time)s.", time=forms.in_zone(planned, forms.zone_of(change.request)))
        change.confirm(_("Start the contest in one minute?"), sentence, _("Start in one minute"))
    # CLICS wants the id in the body where the start changes, as a check of the address.
    values = {"id": contest_id, "start_time": format_time(start)}
    change_contest(change, contest_id, values)
    return change.see(f"/admin/contests/{contest_id}", done="started")


def publish(change: Change, contest_id: str) -> Response:
    """Show the contest to everyone."""
    change_contest(change, contest_id, {"settings": {"visibility": "public"}})
    return change.see(f"/admin/contests/{contest_id}", done="saved")


def pause(change: Change, contest_id: str) -> Response:
    """Let the contest's clock stand still."""
    service_commands.pause(change.session, change.service, contest_id)
    return change.see(f"/admin/contests/{contest_id}", done="paused")


def resume(change: Change, contest_id: str) -> Response:
    """Let the contest's clock run on."""
    service_commands.resume(change.session, change.service, contest_id)
    return change.see(f"/admin/contests/{contest_id}", done="resumed")


def extend(change: Change, contest_id: str) -> Response:
    """Let the contest end ten minutes later."""
    duration = clock(contest_of(change.session, contest_id, for_update=True)).duration + MORE_TIME
    change_contest(change, contest_id, {"duration": format_reltime(duration)})
    return change.see(f"/admin/contests/{contest_id}", done="extended")


def freeze(change: Change, contest_id: str) -> Response:
    """Freeze the scoreboard from now on."""
    times = clock(contest_of(change.session, contest_id, for_update=True))
    change.confirm(
        _("Freeze the scoreboard now?"),
        _("Contestants and the public see no new results until the ceremony. Teams still see their own."),
        _("Freeze scoreboard"),
    )
    left = format_reltime(times.duration - times.contest_time(utc_now()))
    change_contest(change, contest_id, {"scoreboard_freeze_duration": left})
    return change.see(f"/admin/contests/{contest_id}", done="frozen")


def finalize(change: Change, contest_id: str) -> Response:
    """Make the results final."""
    name = contest_of(change.session, contest_id).name
    change.confirm(
        _("Finalize the results of %(contest)s?", contest=name),
        _("After that, no one can submit, ask or change what counts. Awards and final results become public."),
        _("Finalize results"),
    )
    change_contest(change, contest_id, {"finalized": True})
    return change.see(f"/admin/contests/{contest_id}", done="final")


def change_contest(change: Change, contest_id: str, values: Mapping[str, object]) -> None:
    """Change these values of a contest; raises BadRequest with what is wrong with them."""
    body = made_of_values(ContestChange, values)
    service_commands.change(change.session, change.service, change.viewer, contest_id, body)


def _new_values(fields: Mapping[str, str]) -> dict[str, object]:
    """The document of a new contest, made of the form's fields."""
    kind = fields.get("kind", "")
    if kind not in KINDS:
        raise BadRequest(
            N_("expected one of %(names)s, found %(found)r"), where="kind", names=", ".join(KINDS), found=kind[:40]
        )
    settings: dict[str, object] = {**KINDS[kind][2], "visibility": fields.get("visibility", "public")}
    if "personal_duration" in settings:
        settings["personal_duration"] = hours(fields.get("own", ""), "own")
    values: dict[str, object] = {
        "id": fields.get("id") or None,
        "name": fields.get("name", "").strip(),
        "start_time": forms.moment(fields, "start"),
        "duration": hours(fields.get("duration", ""), "duration"),
        "open_to_all": "open_to_all" in fields,
        "settings": settings,
    }
    if kind != "personal":
        values["scoreboard_freeze_duration"] = hours(fields.get("freeze", ""), "freeze")
    return {name: value for name, value in values.items() if value is not None}


def _fields_of(contest: ContestView, zone: str) -> dict[str, str]:
    """The fields of the form of times, as a contest has them, in a zone."""
    return {
        "name": contest.name,
        "formal_name": contest.formal_name if contest.formal_name != contest.name else "",
        "start": forms.moment_shown(contest.start_time, zone),
        "duration": _short(contest.duration),
        "freeze": "" if contest.scoreboard_freeze_duration is None else _short(contest.scoreboard_freeze_duration),
        **{name: getattr(contest.settings, name) or "" for name in SHOWN},
    }


def _changed_times(contest: ContestView, fields: Mapping[str, str]) -> dict[str, object]:
    """The values of a change: those fields alone that are not as the contest has them."""
    before = _fields_of(contest, fields.get(forms.ZONE, ""))
    sent = {name: fields.get(name, value).strip() for name, value in before.items()}
    read = {
        "name": ("name", sent["name"]),
        "formal_name": ("formal_name", sent["formal_name"] or None),
        "start": ("start_time", forms.moment({**fields, **sent}, "start")),
        "duration": ("duration", hours(sent["duration"], "duration")),
        "freeze": ("scoreboard_freeze_duration", hours(sent["freeze"], "freeze")),
    }
    values: dict[str, object] = dict(read[name] for name in read if sent[name] != before[name])
    if settings := {name: sent[name] or None for name in SHOWN if sent[name] != before[name]}:
        values["settings"] = settings
    if "start_time" in values:
        values["id"] = contest.id  # which CLICS wants as a check of the address
    if "move_freeze" in fields and "scoreboard_freeze_duration" in values:
        values["move_freeze"] = True
    return values


def hours(text: str, name: str) -> str | None:
    """A duration of a form (5:00, hours and minutes, perhaps with seconds) as documents have it; None for nothing."""
    text = text.strip()
    if not text:
        return None
    parts = text.split(":")
    if not all(part.isdecimal() for part in parts) or not 2 <= len(parts) <= 3:
        raise BadRequest(N_("expected hours and minutes such as 5:00, found %(found)r"), where=name, found=text[:40])
    return ":".join([parts[0], *(part.zfill(2) for part in parts[1:]), *["00"] * (3 - len(parts))])


def _short(duration: str) -> str:
    """A duration as the form has it: 5:00, with seconds where there are some."""
    whole = duration.partition(".")[0]
    return whole.removesuffix(":00") if whole.count(":") == 2 else whole
