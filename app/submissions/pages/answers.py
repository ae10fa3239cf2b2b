"""The pages of answers: a team's own submissions, sending, and the report on one submission."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Annotated, Literal, cast

from fastapi import Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests import queries as contests_queries
from app.contests.pages.taking_part import may_choose
from app.contests.service.visibility import is_official, is_own, may_see_answers, the_problem
from app.core.messages import N_, Forbidden, Unauthorized
from app.core.pages.frames import judged
from app.core.pages.languages import _, gettext, in_words, ngettext
from app.core.pages.visitor import TheService, visitor
from app.core.pages.visits import ContestLook
from app.core.pages.wording import AGGREGATIONS, plain, points, seconds, signed, uncounted, width
from app.core.service import Service
from app.domain.contests import Aggregation, Group, Kind, ScoringRule
from app.domain.counting import CaseVerdict
from app.domain.scoring import adds_up
from app.problems.pages.frames_of_boards import BOARDS, has_own_board
from app.problems.queries import pins
from app.problems.service.shown_statements import has_solution
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.pages.standing import standing_of
from app.submissions.queries import submission_queries
from app.submissions.service import judgements, submissions
from app.submissions.service.reports import (
    Report,
    ReportedCase,
    ReportedGroup,
    ReportedImage,
    report,
)
from app.submissions.service.submit import OpeningForm, submit
from app.tables import ProblemRow, SubmissionRow

MOST_LISTED = 200
JUDGED = {
    "AC": ("ac", N_("Accepted")),
    "PC": ("pc", N_("Partly correct")),
    "WA": ("wa", N_("Rejected")),
    "JE": ("je", N_("Judge error")),
    "CE": ("no", N_("No answer to judge")),
}
OWN = "own"
WAITING = ("wait", N_("Waiting to be judged"))
Verdict = Literal["", "AC", "PC", "WA", "JE", "CE", "waiting", "best"]
VERDICTS = {**JUDGED, "waiting": WAITING, "best": ("", N_("Each new best result"))}


@dataclass(frozen=True, slots=True)
class Listed:
    """A submission in a list: its row, and what its judgement says."""

    row: SubmissionRow
    label: str
    time: str
    mark: str
    verdict: str
    score: float | None


def verdict_of(kind: str | None) -> tuple[str, str]:
    """The mark and the words of a judgement's type; None: it is not judged yet."""
    return WAITING if kind is None else JUDGED.get(kind, ("no", kind))


def listed(viewer: Viewer, snapshot: ContestSnapshot, session: Session, rows: Sequence[SubmissionRow]) -> list[Listed]:
    """Submissions with their judgements, as the viewer may see them."""
    ids, labels = [row.id for row in rows], snapshot.contest.labels
    documents = judgements.numbered_judgements(viewer, snapshot, session, ids)
    judged = {number: document for number, document in documents if document.current}
    lines = []
    for row in rows:
        document = judged.get(row.id)
        mark, verdict = verdict_of(None if document is None else document.judgement_type_id)
        score = None if document is None else document.score
        time = seconds(timedelta(milliseconds=row.contest_time_ms))
        lines.append(Listed(row, labels.get(row.problem_id, row.problem_id), time, mark, verdict, score))
    return lines


def _improvements(lines: Sequence[Listed]) -> list[Listed]:
    """Return the submissions with more points than all earlier ones to their problems."""
    best, improvements = dict[str, float](), list[Listed]()
    for each in reversed(lines):
        if (each.score or 0.0) > best.get(each.label, 0.0):
            best[each.label] = each.score or 0.0
            improvements.append(each)
    return improvements[::-1]


@dataclass(frozen=True, slots=True)
class CaseLine:
    """A case of a report: its mark, its verdict as a message, its numbers, and where its answer is from.

    where    the place in the answer that a rejection names, in the checker's own words, which boards read
    uncounted  why the case gives no points, as a message; None where it gives some
    change   the points that the case has more than in the submission before, as text; empty: as many
    """

    name: str
    mark: str
    verdict: str
    raw: str
    best: str
    reference: str
    points: str
    most: str
    bar: int
    source: str | None
    message: str
    where: str
    is_rejected: bool
    has_answer: bool
    images: Sequence[ReportedImage] = ()
    uncounted: str | None = None
    change: str = ""


def answers_page(
    visit: ContestLook,
    problem: Annotated[str, Query(max_length=36)] = "",
    verdict: Verdict = "",
    before: Annotated[int | None, Query(ge=1, le=10**15)] = None,
) -> HTMLResponse:
    """Show the team's own submissions, newest first: all, or those to a problem or with a verdict."""
    session, viewer, snapshot = visit.session, visit.viewer, visit.snapshot
    if not viewer.logged_in:
        raise Unauthorized(N_("log in to see your answers"))
    if viewer.team_id is None:
        raise Forbidden(N_("only teams have answers here; judges find all submissions in the API"))
    contest = snapshot.contest
    problem_id = the_problem(snapshot, problem).id if problem else None
    most = 10 * MOST_LISTED if verdict == "best" else MOST_LISTED
    rows = submission_queries.of_team(session, contest.id, viewer.team_id, most, problem_id, before)
    lines = listed(viewer, snapshot, session, rows)
    choices = [contests_queries.choice(session, contest.id, viewer.team_id, each.id) for each in snapshot.problems]
    chosen = {each.submission_id for each in choices if each is not None}
    choosing = may_choose(viewer, snapshot)
    return visit.framed_read(
        "answers.html",
        "answers",
        before=before,
        reads_verdicts=True,
        submissions=_improvements(lines)
        if verdict == "best"
        else [each for each in lines if not verdict or (each.mark, each.verdict) == VERDICTS[verdict]],
        problems=[(each.id, f"{each.label} {each.name}") for each in visit.names.columns],
        problem=problem,
        verdict=verdict,
        verdicts=VERDICTS,
        older=rows[-1].id if len(rows) == most else None,
        choosing=choosing or bool(chosen),
        chosen=chosen,
        choosable={row.id for row in rows if choosing and is_official(snapshot, row)},
    )


def report_page(visit: ContestLook, submission_id: str) -> HTMLResponse:
    """The report on a submission, case by case, and what was in the archive."""
    session, viewer, snapshot = visit.session, visit.viewer, visit.snapshot
    if not viewer.logged_in and not snapshot.contest.settings.show_others_answers:
        raise Unauthorized(N_("log in to see the report"))
    shown = report(viewer, snapshot, session, submission_id)
    sent = submissions.readable(viewer, snapshot, session, submission_id)
    row = pins.row(session, snapshot.contest.id, shown.problem_id)
    chosen = contests_queries.choice(session, snapshot.contest.id, sent.team_id or "", shown.problem_id)
    mark, verdict = verdict_of(shown.judgement.judgement_type_id)
    since = submissions.gain(viewer, snapshot, session, submission_id)
    changes = {} if since is None else since.cases
    problem = snapshot.contest.problem(shown.problem_id)
    assert problem is not None, "its report was found"
    lines = [replace(line, change=signed(changes.get(line.name, 0.0), 2)) for line in case_lines(snapshot, shown)]
    return visit.framed_read(
        "report.html",
        "answers",
        reads_verdicts=sent.id >= max((each.id for each in judged(viewer, snapshot)), default=0),
        report=shown,
        label=snapshot.contest.labels.get(shown.problem_id, shown.problem_id),
        board=board_of(visit.service, row),
        name=visit.names.problem(shown.problem_id),
        mark=mark,
        verdict=verdict,
        lines=lines,
        groups=[group_lines(snapshot, shown)],
        standing=standing_of(session, viewer, snapshot, problem, sent),
        comment=sent.comment or "",
        shows_others=snapshot.contest.settings.show_others_answers,
        has_solution=has_solution(session, viewer, snapshot, shown.problem_id),
        choosable=may_choose(viewer, snapshot) and is_own(viewer, sent) and is_official(snapshot, sent),
        is_chosen=chosen is not None and chosen.submission_id == sent.id,
        has_references=any(line.reference for line in lines),
        since=None if since is None else since.since,
        change="" if since is None else signed(since.points),
        counts=Counter(line.verdict for line in lines),
        carried=sum(case.carried_over_from is not None for case in shown.cases),
        missing=sum(line.verdict == "No file" and line.uncounted is None for line in lines),
        rejected=sum(line.is_rejected for line in lines),
        ignored=sum(file.ignored is not None for file in shown.files),
    )


def board_of(service: Service, row: ProblemRow | None) -> str | None:
    """The module that draws answers of a problem, OWN for the one that its package brings; None: there is none."""
    if has_own_board(service, row):
        return OWN
    checker = None if row is None else row.settings.get("checker")
    return checker if checker in BOARDS else None


def case_lines(snapshot: ContestSnapshot, shown: Report) -> list[CaseLine]:
    """Return the lines of a report's cases; without points if a group does not add the points of its cases."""
    adding = summed(shown)
    return [_case_line(snapshot, shown.problem_id, case, adds=case.group in adding) for case in shown.cases]


def _case_line(snapshot: ContestSnapshot, problem_id: str, case: ReportedCase, *, adds: bool) -> CaseLine:
    problem = snapshot.contest.problem(problem_id)
    shows_best = not snapshot.public or snapshot.contest.settings.show_best
    best = snapshot.bests(problem).best.get(case.name) if problem is not None and shows_best else None
    references = snapshot.contest.references.get(problem_id, {}) if shows_best and case.group is not None else {}
    reference = references.get(case.name)
    mark, verdict = _verdict(case, None if best is None else float(best), None if problem is None else problem.rule)
    unpaid = None if adds else N_("with its group")
    if unpaid and verdict == "Full points":
        verdict = "Accepted"
    share = (case.points or 0.0) / case.max_points if case.max_points else 0.0
    return CaseLine(
        case.name,
        mark,
        verdict,
        plain(case.raw),
        plain(None if best is None else float(best)),
        "" if reference is None or reference.raw is None else plain(float(reference.raw)),
        "" if case.points is None else points(case.points, 2),
        points(case.max_points, 2),
        width(share),
        case.carried_over_from,
        in_words(case.message),
        str(case.message["args"].get("where", "")),
        case.verdict == CaseVerdict.REJECTED,
        case.file is not None or case.carried_over_from is not None,
        tuple(case.images or ()),
        unpaid if case.max_points > 0 else uncounted(case.kind, snapshot.phase),
    )


def _verdict(case: ReportedCase, best: float | None, rule: ScoringRule | None) -> tuple[str, str]:
    if case.verdict == CaseVerdict.REJECTED:
        return "wa", N_("Rejected")
    if case.verdict == CaseVerdict.JUDGE_ERROR:
        return "je", N_("Judge error")
    if case.verdict is None:
        return ("no", N_("No file")) if case.file is None and case.carried_over_from is None else WAITING
    if case.points is not None and case.max_points > 0 and case.points >= case.max_points:
        is_absolute = rule is None or rule.kind is Kind.ABSOLUTE  # otherwise a better answer may still come
        return "ac", N_("Full points") if is_absolute else N_("Best so far")
    if case.raw is not None and best is not None and float(case.raw) == best:
        return "no", N_("Best so far")
    return ("pc", N_("Below best")) if case.max_points else ("ac", N_("Accepted"))


def others_page(visit: ContestLook, problem_id: str) -> HTMLResponse:
    """Show the answers of all teams to a problem, the most points first, where the contest shows them."""
    session, viewer, snapshot = visit.session, visit.viewer, visit.snapshot
    problem, board = the_problem(snapshot, problem_id), snapshot.main
    if not viewer.sees_all and not snapshot.contest.settings.show_others_answers:
        raise Forbidden(N_("this contest does not show other teams' answers"))
    at = [each.id for each in board.problems].index(problem.id)
    cells = [(team, board.cell(place, at)) for place, team in enumerate(board.teams)]
    best = sorted((each for each in cells if each[1].answers), key=lambda each: -each[1].score)[:MOST_LISTED]
    newest = {team.id: max(each.submission_id for each in cell.answers.values()) for team, cell in best}
    rows = {row.id: row for row in submission_queries.submissions(session, snapshot.contest.id, newest.values())}
    return visit.framed(
        "others.html",
        "problems",
        problem=problem,
        label=snapshot.contest.labels.get(problem.id, problem.id),
        name=visit.names.problem(problem.id),
        lines=[
            (team, points(cell.score), rows[newest[team.id]].shown_id)
            for team, cell in best
            if may_see_answers(viewer, snapshot, rows[newest[team.id]])
        ],
    )


async def send_answers(request: Request, service: TheService, contest_id: str) -> Response:
    """Take the files as the API does, and go to the report of the submission."""
    viewer = await visitor(request)
    if not viewer.logged_in:
        raise Unauthorized(N_("log in to send answers"))
    opening = cast(OpeningForm, request.app.state.open_submission_form(request))
    taken = await submit(service, viewer, contest_id, opening)
    return RedirectResponse(f"/c/{contest_id}/submissions/{taken.id}", 303)


@dataclass(frozen=True, slots=True)
class GroupLine:
    """A group of a report: its rule, its points, and why it has none."""

    name: str
    rule: str
    points: str
    most: str
    bar: int
    why: str


def group_lines(snapshot: ContestSnapshot, report: Report) -> list[GroupLine]:
    """Return the groups of a report; empty if the points are those of the cases of a single group."""
    problem = snapshot.contest.problem(report.problem_id)
    groups = {} if problem is None else {group.name: group for group in problem.groups}
    shown = [(each, groups[each.name]) for each in report.groups if each.max_points > 0 and each.name in groups]
    if len(shown) < 2 and all(of.aggregation is Aggregation.SUM and not of.require_pass for _each, of in shown):
        return []
    return [_line(each, group, [case for case in report.cases if case.group == each.name]) for each, group in shown]


def summed(report: Report) -> set[str]:
    """Return the groups whose points are the sum of the points shown for their cases."""
    return {
        each.name
        for each in report.groups
        if adds_up(each.aggregation, each.points, (case.points for case in report.cases if case.group == each.name))
    }


def _line(each: ReportedGroup, group: Group, cases: Sequence[ReportedCase]) -> GroupLine:
    rules = [gettext(AGGREGATIONS[group.aggregation])]
    if group.require_pass:
        needed = ", ".join(name.removeprefix("secret/") for name in group.require_pass)
        rules.append(_("It requires full points in: %(groups)s.", groups=needed))
    return GroupLine(
        each.name.removeprefix("secret/"),
        " ".join(rules),
        points(each.points, 2),
        points(each.max_points, 2),
        width(each.points / each.max_points),
        _why(each, group, cases),
    )


def _why(each: ReportedGroup, group: Group, cases: Sequence[ReportedCase]) -> str:
    """Return why a group has no points; empty if it has some."""
    if each.points > 0 or each.why is None:
        return ""
    if each.why.startswith("needs "):
        return _("A required group does not have full points.")
    if group.aggregation is Aggregation.PASS_FAIL:
        short = sum((case.points or 0.0) < case.max_points for case in cases)
        return ngettext(
            "%(num)s of %(all)s cases is not right.", "%(num)s of %(all)s cases are not right.", short, all=len(cases)
        )
    short = sum(not case.points for case in cases)
    return ngettext(
        "%(num)s of %(all)s cases gives nothing.", "%(num)s of %(all)s cases give nothing.", short, all=len(cases)
    )
