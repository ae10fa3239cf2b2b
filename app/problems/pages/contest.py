"""The pages of a contest: what it is and how it is scored, its problems, and one problem with its cases.

- The playground: any input and any answers from the reader's disk on a board. Nothing of it is sent to the server.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

from fastapi import Query
from fastapi.responses import HTMLResponse
from markupsafe import Markup
from sqlalchemy.orm import Session

from app.accounts.service import registration
from app.accounts.service.viewer import PUBLIC, Viewer
from app.contests import queries as contests_queries
from app.contests.pages.taking_part import choice_line, clock_offer, finals_shown, quota_line
from app.contests.service.visibility import the_problem
from app.core.clics import number
from app.core.messages import N_, Message, NotFound, did_you_mean
from app.core.pages.forms import accepted_languages
from app.core.pages.languages import LANGUAGES, gettext, named
from app.core.pages.visits import ContestLook, Visit
from app.core.pages.wording import contest_rules, limit_rules, points, problem_rules, rule_line, uncounted, width
from app.domain.contests import Carry, Counting, ScoredProblem
from app.domain.counting import Answers
from app.domain.scoring import adds_up
from app.packages.names import PATTERNS
from app.problems.queries import pins
from app.problems.service import problems, shown_cases
from app.problems.service.shown_statements import Reader, has_solution, solution_body, statement_body
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries.submission_context import answer_rules
from app.submissions.service.reports import own_answers, points_at_best
from app.submissions.service.submission_form import LONGEST_COMMENT
from games.catalog import names

# The boards by the checkers that they belong to, each with its name.
TITLES = {
    "comesolo": "Comesolo",
    "rollingballs": N_("Rolling Balls"),
    "lazypiglets": N_("Lazy Piglets"),
    "lasttreat": N_("The Last Treat"),
    "optimiza": "Optimiza",
    "netgame": N_("The Net Game"),
}


def playground(visit: Visit, slug: str) -> HTMLResponse:
    """The playground of one board."""
    if slug not in TITLES:
        raise NotFound(did_you_mean(Message(N_("no board %(board)r"), board=slug), slug, TITLES))
    return visit.page("playground.html", slug=slug, titles=TITLES)


# The kinds of cases that are named beside them.
CASE_KINDS = (N_("sample"), N_("final"))


def contest_page(visit: ContestLook) -> HTMLResponse:
    """A contest: when it is, how it is scored, what comes next."""
    session, viewer, snapshot = visit.session, visit.viewer, visit.snapshot
    contest_id, settings = snapshot.contest.id, snapshot.contest.settings
    has_registration = settings.visibility == "public" and registration.terms(session, PUBLIC, contest_id).open
    return visit.framed(
        "contest.html",
        "contest",
        description=Markup(problems.fragment(contest_id, settings.description or "", "")),
        clock=snapshot.contest.clock,
        state=snapshot.state,
        rules=contest_rules(snapshot.contest.clock, settings),
        problems=_listed(session, viewer, snapshot),
        teams=len(snapshot.main.teams),
        offer=clock_offer(session, viewer, snapshot),
        may_register=viewer.team_id is None and has_registration,
    )


def problems_page(visit: ContestLook) -> HTMLResponse:
    """The problems, with what the viewer has and could have."""
    return visit.framed(
        "problems.html",
        "problems",
        problems=_listed(visit.session, visit.viewer, visit.snapshot),
        clock=visit.snapshot.contest.clock,
        offer=clock_offer(visit.session, visit.viewer, visit.snapshot),
    )


def problem_page(
    visit: ContestLook, problem_id: str, lang: Annotated[str | None, Query(max_length=20)] = None
) -> HTMLResponse:
    """A problem: its statement, the form to send answers, and its cases with what the viewer has."""
    session, viewer, snapshot = visit.session, visit.viewer, visit.snapshot
    scored = the_problem(snapshot, named_problem(snapshot, problem_id))
    document = problems.problem(viewer, snapshot, session, scored.id)
    root = visit.request.scope.get("root_path", "")
    folder = f"{root}/api/contests/{snapshot.contest.id}/problems/{scored.id}"
    reader = Reader(lang, accepted_languages(visit.request), wants_markdown=False, address=f"{folder}/statement")
    html, language = None, None
    if document.languages:
        html, language = statement_body(visit.service, snapshot, session, scored.id, reader)
    answers = own_answers(viewer, snapshot, scored)
    playground, is_played = _boards(session, snapshot, scored.id)
    cases = _cases(viewer, snapshot, session, scored, answers)
    counted = [group for group in scored.groups if group.max_points > 0]
    entry = contests_queries.entry(session, snapshot.contest.id, scored.id)
    assert entry is not None, "the problem is in the contest"
    limits = entry.limits.over(snapshot.contest.settings.limits)
    return visit.framed(
        "problem.html",
        "problems",
        problem=document,
        line=rule_line(scored.rule, len(scored.cases), scored.groups),
        rules=[*problem_rules(scored.rule, counted), *limit_rules(limits)],
        statement=None if html is None else Markup(html),
        language=language,
        other=f"{folder}/statement?lang={language}" if html == "" else None,
        languages=[(each, LANGUAGES.get(each, each)) for each in document.languages],
        cases=cases,
        panel=panel(session, snapshot, scored, cases) if viewer.team_id is not None else None,
        mine=None if answers is None else points(points_at_best(snapshot, scored, answers).points),
        folder=folder,
        offer=clock_offer(session, viewer, snapshot),
        finals=finals_shown(session, viewer, snapshot, scored),
        quota=quota_line(session, viewer, snapshot, scored.id),
        choice=choice_line(session, viewer, snapshot, scored),
        has_solution=has_solution(session, viewer, snapshot, scored.id),
        shows_others=snapshot.contest.settings.show_others_answers,
        longest_comment=LONGEST_COMMENT,
        playground=playground,
        is_played=is_played,
    )


def solution_page(
    visit: ContestLook, problem_id: str, lang: Annotated[str | None, Query(max_length=20)] = None
) -> HTMLResponse:
    """Show the solution text of a problem, once its contests are over."""
    snapshot = visit.snapshot
    scored = the_problem(snapshot, named_problem(snapshot, problem_id))
    root = visit.request.scope.get("root_path", "")
    folder = f"{root}/api/contests/{snapshot.contest.id}/problems/{scored.id}"
    reader = Reader(lang, accepted_languages(visit.request), wants_markdown=False, address=f"{folder}/statement")
    html, language = solution_body(visit.service, visit.viewer, snapshot, visit.session, scored.id, reader)
    return visit.framed(
        "solution.html",
        "problems",
        problem_id=scored.id,
        label=snapshot.contest.labels.get(scored.id, scored.id),
        name=visit.names.problem(scored.id),
        html=Markup(html),  # rendered and sanitized by the service
        file=None if html else f"{folder}/solution?lang={language}",
        language=language,
    )


def _boards(session: Session, snapshot: ContestSnapshot, problem_id: str) -> tuple[str | None, bool]:
    """The playground of a problem's board, if it has one, and whether the problem can be played."""
    row = pins.row(session, snapshot.contest.id, problem_id)
    checker = row.settings["checker"]
    return checker if checker in TITLES else None, "game" in row.settings or checker in names()


def named_problem(snapshot: ContestSnapshot, name: str) -> str:
    """The id of a problem that is asked for by its id or its label."""
    labels = {label: problem_id for problem_id, label in snapshot.contest.labels.items()}
    shown = {problem.id for problem in snapshot.problems}
    return name if name in shown or labels.get(name) not in shown else labels[name]


def _listed(session: Session, viewer: Viewer, snapshot: ContestSnapshot) -> list[dict[str, object]]:
    documents = problems.documents(viewer, snapshot, session)
    scored = {problem.id: problem for problem in snapshot.problems}
    board = snapshot.main
    tops = {each.id: float(scores.max(initial=0.0)) for each, scores in zip(board.problems, board.scores, strict=True)}
    listed = []
    for document in documents:
        problem = scored[document.id]
        answers = own_answers(viewer, snapshot, problem)
        mine = None if answers is None else points_at_best(snapshot, problem, answers).points
        most = float(problem.rule.max_points)
        listed.append(
            {
                "id": problem.id,
                "label": document.label,
                "name": named(document.names, document.id),
                "line": rule_line(problem.rule, len(problem.cases), problem.groups),
                "most": most,
                "mine": None if mine is None else points(mine),
                "bar": 0 if mine is None or not most else width(mine / most),
                "best": points(tops.get(problem.id, 0.0)),
                "missing": None if answers is None else sum(case.name not in answers for case in problem.cases),
                "finals": finals_shown(session, viewer, snapshot, problem),
            }
        )
    return listed


def _cases(
    viewer: Viewer, snapshot: ContestSnapshot, session: Session, problem: ScoredProblem, answers: Answers | None
) -> list[dict[str, object]]:
    worth = points_at_best(snapshot, problem, answers or {})
    given = worth.case_points
    names = {group.name: [case.name for case in problem.cases if case.group == group.name] for group in problem.groups}
    apart = {
        name
        for each in worth.groups
        if adds_up(each.group.aggregation, each.points, (given.get(name) for name in names[each.group.name]))
        for name in names[each.group.name]
    }
    shown = []
    for case in shown_cases.list_cases(viewer, snapshot, session, problem.id):
        counted = None if answers is None else answers.get(case.name)
        has_points = case.max_points >= 0.005
        shown.append(
            {
                "name": case.name,
                "kind": case.kind,
                "size": case.size,
                "href": case.href,
                "mine": None if counted is None else number(counted.score.raw),
                "best": case.best_raw,
                "points": points(given.get(case.name, 0.0), 2),
                "most": points(case.max_points, 2),
                "counts": has_points and case.name in apart,
                "uncounted": N_("with its group") if has_points else uncounted(case.kind, snapshot.phase),
            }
        )
    return shown


# What becomes of a case without a file.
KEPT = {
    Carry.BEST: N_("your best answer so far stays in force"),
    Carry.LATEST: N_("your latest answer stays in force"),
    Carry.NONE: N_("an earlier answer does not count with this submission"),
}


def panel(
    session: Session, snapshot: ContestSnapshot, problem: ScoredProblem, cases: Sequence[Mapping[str, object]]
) -> dict[str, object]:
    """The facts by which the panel looks at files before they are sent; the server goes by the same ones.

    `has`: an answer to the case counts already.
    """
    row = pins.row(session, snapshot.contest.id, problem.id)
    limit, pattern = answer_rules(row, snapshot.contest.settings)
    rule = problem.rule
    return {
        "label": snapshot.contest.labels.get(problem.id, problem.id),
        "limit": limit,
        "patterns": [pattern] if pattern else PATTERNS,
        "cases": [{"name": case["name"], "has": case["mine"] is not None} for case in cases],
        "kept": gettext(KEPT[Carry.BEST if rule.counting is Counting.BEST_CASE else rule.carry]),
    }
