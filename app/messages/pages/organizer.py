"""Questions of teams with answers that are ready to use, and announcements."""

from __future__ import annotations

from fastapi import Request, Response
from fastapi.responses import HTMLResponse

from app.contests.pages.home import DONE, Done, unanswered
from app.core.pages.forms import made_of_values
from app.core.pages.frames import frame
from app.core.pages.gate import Fields, see
from app.core.pages.pages import page
from app.core.pages.visitor import Reading, TheSnapshot, Visitor, Writing
from app.messages.pages.questions import recipient_of, refuse_unseen_answers, threads
from app.messages.service.clarifications import ClarificationBody, documents, send

CANNED = (
    "Read the statement again: it says so.",
    "No comment.",
    "Yes.",
    "No.",
    "We are looking at it, and will tell everybody.",
    "The statement has been corrected; see the announcement.",
)
"""Answers that juries give again and again."""


def questions_page(
    request: Request, viewer: Visitor, snapshot: TheSnapshot, session: Reading, done: Done = ""
) -> HTMLResponse:
    """What waits for an answer first, then everything that was asked and announced, newest first."""
    messages = documents(viewer, snapshot, session)
    waiting = set(unanswered(messages))
    listed = threads(messages, viewer, snapshot)
    contest = snapshot.contest
    return page(
        "organiser/questions.html",
        request,
        viewer=viewer,
        frame=frame(session, viewer, snapshot, "questions"),
        done=DONE.get(done),
        waiting=[thread for thread in listed if thread.message.id in waiting],
        others=[thread for thread in listed if thread.message.id not in waiting],
        canned=CANNED,
        problems=[(each.id, contest.labels.get(each.id, each.id)) for each in contest.problems],
        teams=sorted(((each.id, each.name) for each in contest.teams), key=lambda pair: pair[1].casefold()),
    )


def send_message(
    request: Request, viewer: Visitor, snapshot: TheSnapshot, fields: Fields, session: Writing
) -> Response:
    """Send an answer, to its team or to everybody, or an announcement."""
    contest_id = snapshot.contest.id
    refuse_unseen_answers(session, snapshot, viewer, fields)
    values: dict[str, object] = {"text": fields.get("text", "").strip() or fields.get("canned", "")}
    for name in ("problem_id", "reply_to_id"):
        if fields.get(name):
            values[name] = fields[name]
    recipient = recipient_of(fields, documents(viewer, snapshot, session))
    if recipient is not None:
        values["to_team_ids"] = [recipient]
    send(viewer, snapshot, session, made_of_values(ClarificationBody, values))
    return see(request, f"/admin/contests/{contest_id}/questions", done="sent")
