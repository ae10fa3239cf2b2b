"""Pages of judging: the stream of submissions and single ones with all that is known, and rejudgings."""

from datetime import timedelta
from typing import Annotated, Literal
from urllib.parse import urlencode

from fastapi import Query, Response
from fastapi.responses import HTMLResponse

from app.core.messages import N_, BadRequest
from app.core.pages.forms import made_of_values
from app.core.pages.languages import gettext
from app.core.pages.visitor import Fields
from app.core.pages.visits import Change, ContestLook, Visit
from app.judging.service import rejudging_difference, rejudgings
from app.judging.service.rejudgings import ApplyBody, RejudgingBody
from app.submissions.pages.answers import JUDGED, WAITING, case_lines, group_lines, listed, verdict_of
from app.submissions.queries.submission_context import StreamFilter, stream
from app.submissions.service.reports import report
from app.submissions.service.submissions import sources

PER_PAGE = 50
Kind = Literal["", "AC", "PC", "WA", "JE", "waiting"]
WORDS: dict[str | None, str] = {kind: JUDGED[kind][1] for kind in ("AC", "PC", "WA", "JE")}
KINDS = {"": N_("any"), **WORDS, "waiting": WAITING[1]}


def live_page(
    visit: ContestLook,
    problem: Annotated[str, Query(max_length=255)] = "",
    team: Annotated[str, Query(max_length=36)] = "",
    kind: Kind = "",
    before: Annotated[int | None, Query(ge=1, lt=2**63)] = None,
) -> HTMLResponse:
    """The submissions, newest first, those that the filter picks; the first page follows by itself."""
    contest = visit.snapshot.contest
    labels = {label: problem_id for problem_id, label in contest.labels.items()}
    wanted = StreamFilter(labels.get(problem, problem) or None, team or None, kind or None, before)
    rows, freeze = stream(visit.session, contest.id, wanted, PER_PAGE + 1), contest.clock.freeze_time
    asked = {"problem": problem, "team": team, "kind": kind}
    known = {name: value for name, value in asked.items() if value}
    return visit.framed(
        "organiser/live.html",
        "live",
        lines=listed(visit.viewer, visit.snapshot, visit.session, rows[:PER_PAGE]),
        names=dict(visit.teams),
        freeze=None if freeze is None else freeze / timedelta(milliseconds=1),
        later=urlencode({**known, "before": rows[PER_PAGE - 1].id}) if len(rows) > PER_PAGE else None,
        newest=urlencode(known) if before is not None else None,
        asked=asked,
        kinds=KINDS,
        problems=visit.problems,
        teams=visit.teams,
    )


def submission_page(visit: ContestLook, submission_id: str) -> HTMLResponse:
    """A submission as judges see it: every case with the checker's words for judges and images, files, sources."""
    shown = report(visit.viewer, visit.snapshot, visit.session, submission_id)
    contest = visit.snapshot.contest
    mark, verdict = verdict_of(shown.judgement.judgement_type_id)
    team = next((each for each in contest.teams if each.id == shown.team_id), None)
    return visit.framed(
        "organiser/submission.html",
        "live",
        report=shown,
        label=contest.labels.get(shown.problem_id, shown.problem_id),
        name=visit.names.problem(shown.problem_id),
        team=team,
        mark=mark,
        verdict=verdict,
        cases=list(zip(shown.cases, case_lines(visit.snapshot, shown), strict=True)),
        groups=[group_lines(visit.snapshot, shown)],
        sources=list(sources(visit.viewer, visit.snapshot, visit.session, submission_id).values()),
    )


def rejudge_one(change: Change, contest_id: str, submission_id: str) -> Response:
    """Judge a submission again, silently; the rejudging is shown then."""
    body = RejudgingBody(reason=f"submission {submission_id}, looked at by a judge", submissions=[submission_id])
    opened = rejudgings.create(change.session, change.service, change.viewer, contest_id, body)
    return change.see(f"/admin/contests/{contest_id}/rejudgings/{opened.id}")


MOST_LISTED = 200
TYPES = {**WORDS, None: N_("Not judged")}
STATES = {
    "judging": N_("is being judged"),
    "ready": N_("is ready to be applied"),
    "applied": N_("is applied"),
    "undone": N_("was applied and undone"),
    "cancelled": N_("was cancelled"),
}


def rejudgings_page(visit: ContestLook) -> HTMLResponse:
    """The rejudgings of the contest, newest first, and the form for another one."""
    return visit.framed(
        "organiser/rejudgings.html",
        "rejudgings",
        rejudgings=rejudgings.listed(visit.session, visit.snapshot.contest.id)[::-1],
        states={key: gettext(text) for key, text in STATES.items()},
        problems=visit.problems,
        teams=visit.teams,
    )


def make_rejudging(change: Change, contest_id: str) -> Response:
    """Open a rejudging of what the form selects."""
    named = change.fields.get("submissions", "").replace(",", " ").split()
    values = {name: change.fields[name] for name in ("reason", "problem", "team") if change.fields.get(name)}
    if not (named or values.keys() & {"problem", "team"}):
        raise BadRequest(N_("expected a problem, a team or submissions, found nothing"), where="the selection")
    body = made_of_values(RejudgingBody, {**values, **({"submissions": named} if named else {})})
    opened = rejudgings.create(change.session, change.service, change.viewer, contest_id, body)
    return change.see(f"/admin/contests/{contest_id}/rejudgings/{opened.id}")


def rejudging_page(visit: ContestLook, rejudging_id: str) -> HTMLResponse:
    """What a rejudging changes: the matrix of verdicts, the teams that move, every submission that differs."""
    contest, state = visit.snapshot.contest, visit.snapshot.state
    difference = rejudgings.preview(visit.session, contest.id, rejudging_id, everything=True)
    changed = [each for each in difference.submissions if each.is_changed]
    heads, matrix = _matrix(difference)
    return visit.framed(
        "organiser/rejudging.html",
        "rejudgings",
        rejudging=difference.rejudging,
        state=gettext(STATES.get(difference.rejudging.state, difference.rejudging.state)),
        counts=difference.counts,
        version=difference.version,
        newcomers=len(difference.newcomers),
        heads=[gettext(TYPES[head]) if head in TYPES else head for head in heads],
        matrix=matrix,
        moves=[team for team in difference.teams if team.is_moved],
        changed=changed[:MOST_LISTED],
        left_off=max(0, len(changed) - MOST_LISTED),
        labels=contest.labels,
        names={team.id: team.name for team in contest.teams},
        types={key: gettext(text) for key, text in TYPES.items()},
        is_frozen=contest.clock.freeze is not None and state.frozen is not None and state.thawed is None,
    )


def apply_rejudging(visit: Visit, fields: Fields, contest_id: str, rejudging_id: str) -> Response:
    """Apply a rejudging, as long as its difference is the one that was looked at."""
    values = {"judge_errors": "judge_errors" in fields, "version": fields.get("version") or None}
    body = made_of_values(ApplyBody, values)
    rejudgings.apply(visit.service, visit.viewer, contest_id, rejudging_id, body)
    return visit.see(f"/admin/contests/{contest_id}/rejudgings/{rejudging_id}")


def undo_rejudging(visit: Visit, contest_id: str, rejudging_id: str) -> Response:
    """Take an applied rejudging back."""
    rejudgings.undo(visit.service, visit.viewer, contest_id, rejudging_id)
    return visit.see(f"/admin/contests/{contest_id}/rejudgings/{rejudging_id}")


def cancel_rejudging(visit: Visit, contest_id: str, rejudging_id: str) -> Response:
    """Give a rejudging up."""
    rejudgings.cancel(visit.service, visit.viewer, contest_id, rejudging_id)
    return visit.see(f"/admin/contests/{contest_id}/rejudgings/{rejudging_id}")


def _matrix(
    difference: rejudging_difference.DifferenceView,
) -> tuple[list[str | None], list[tuple[str, list[tuple[int, bool]]]]]:
    """The verdicts that occur, and for each before a row: how many have each after, and whether it is the same."""
    counts = {(each.before, each.after): each.count for each in difference.counts.types}
    known = {kind for pair in counts for kind in pair}
    heads = [kind for kind in TYPES if kind in known] + sorted(str(kind) for kind in known if kind not in TYPES)
    rows = [
        (
            gettext(TYPES[before]) if before in TYPES else str(before),
            [(counts.get((before, after), 0), before == after) for after in heads],
        )
        for before in heads
    ]
    return heads, rows
