"""The page of questions: announcements, a team's own questions with their answers, and the form to ask.

- Questions of teams with answers that are ready to use, and announcements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from fastapi import Response
from fastapi.responses import HTMLResponse
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.contests.pages.home import unanswered
from app.core.messages import N_, Unauthorized
from app.core.pages.forms import made_of_values
from app.core.pages.languages import Answer, AskFirst, _
from app.core.pages.visitor import TheSnapshot
from app.core.pages.visits import Change, ContestLook
from app.messages.service.clarifications import ClarificationBody, ClarificationView, documents, lock_messages, send
from app.scoreboard.queries.contest_snapshot import ContestSnapshot

FIELDS = ("text", "problem_id", "reply_to_id")


@dataclass(slots=True)
class Thread:
    """A message, with the answers to it in order; `who` is its sender, in the reader's language."""

    message: ClarificationView
    who: str
    is_jurys: bool
    label: str | None
    answers: list[Thread] = field(default_factory=list)

    @property
    def answered(self) -> str:
        """The ids of its answers, which the form to answer carries: its sender has seen them."""
        return _ids(answer.message for answer in self.answers)

    @property
    def time(self) -> str:
        """The contest time, in seconds."""
        return self.message.contest_time.partition(".")[0]


def questions_page(visit: ContestLook) -> HTMLResponse:
    """What the viewer may read, newest first."""
    problems = [(each.id, f"{each.label} {each.name}") for each in visit.names.columns]
    return visit.framed_read(
        "questions.html",
        "questions",
        reads_messages=True,
        threads=threads(documents(visit.viewer, visit.snapshot, visit.session), visit.viewer, visit.snapshot),
        problems=problems,
    )


def ask(snapshot: TheSnapshot, change: Change) -> Response:
    """Send a question to the jury, or as a judge an answer or an announcement."""
    if not change.viewer.logged_in:
        raise Unauthorized(N_("log in to ask the jury"))
    _send(change, snapshot, change.fields)
    return change.see(f"/c/{snapshot.contest.id}/questions")


def _send(change: Change, snapshot: TheSnapshot, fields: Mapping[str, str]) -> None:
    """Send what a form says, as a judge to the chosen team or to the one that asked."""
    session, viewer = change.session, change.viewer
    refuse_unseen_answers(session, snapshot, viewer, fields)
    values: dict[str, object] = {name: fields[name] for name in FIELDS if fields.get(name)}
    if viewer.sees_all and (recipient := recipient_of(fields, documents(viewer, snapshot, session))) is not None:
        values["to_team_ids"] = [recipient]
    send(viewer, snapshot, session, made_of_values(ClarificationBody, values))


def refuse_unseen_answers(
    session: Session, snapshot: ContestSnapshot, viewer: Viewer, fields: Mapping[str, str]
) -> None:
    """Raise AskFirst if a question has answers that the sender of another one has not seen.

    Of two judges who answer at the same moment, the second one waits for the first one's transaction.
    """
    asked = fields.get("reply_to_id")
    if not asked or "answers" not in fields or not viewer.sees_all:
        return
    lock_messages(session, snapshot.contest.id)
    answers = [each for each in documents(viewer, snapshot, session) if each.reply_to_id == asked]
    if _ids(answers) != fields["answers"]:
        raise AskFirst(
            _("This question has another answer"),
            _("Your answer was not sent yet. In the meantime, another judge answered:"),
            [Answer(_("Send my answer as well"), "answers", _ids(answers))],
            texts=[each.text for each in answers],
            status=409,
        )


def _ids(messages: Iterable[ClarificationView]) -> str:
    return ",".join(each.id for each in messages)


def recipient_of(fields: Mapping[str, str], messages: Sequence[ClarificationView]) -> str | None:
    """The team that a judge's message goes to alone: the chosen one, or the one that asked; None: everyone."""
    asked = fields.get("reply_to_id")
    if not asked:
        return fields.get("team_id") or None
    if "everybody" in fields:
        return None
    return next((each.from_team_id for each in messages if each.id == asked), None)


def threads(messages: Sequence[ClarificationView], viewer: Viewer, snapshot: ContestSnapshot) -> list[Thread]:
    """The messages as threads, newest first, each with its answers in order."""
    names = {team.id: team.name for team in snapshot.contest.teams}
    by_id: dict[str, Thread] = {}
    first: list[Thread] = []
    for message in messages:
        sender = message.from_team_id
        is_jurys = sender is None
        who = _("Jury") if sender is None else _("You") if sender == viewer.team_id else names.get(sender, sender)
        problem = message.problem_id
        label = None if problem is None else snapshot.contest.labels.get(problem, problem)
        thread = by_id[message.id] = Thread(message, who, is_jurys, label)
        above = by_id.get(message.reply_to_id or "")
        (first if above is None else above.answers).append(thread)
    return first[::-1]


# Answers that juries give again and again.
CANNED = (
    "Read the statement again: it says so.",
    "No comment.",
    "Yes.",
    "No.",
    "We are looking at it, and will tell everybody.",
    "The statement has been corrected; see the announcement.",
)


def questions_page_organizer(visit: ContestLook) -> HTMLResponse:
    """What waits for an answer first, then everything that was asked and announced, newest first."""
    messages = documents(visit.viewer, visit.snapshot, visit.session)
    waiting = set(unanswered(messages))
    listed = threads(messages, visit.viewer, visit.snapshot)
    return visit.framed(
        "organiser/questions.html",
        "questions",
        waiting=[thread for thread in listed if thread.message.id in waiting],
        others=[thread for thread in listed if thread.message.id not in waiting],
        canned=CANNED,
        problems=visit.problems,
        teams=visit.teams,
    )


def send_message(snapshot: TheSnapshot, change: Change) -> Response:
    """Send an answer, to its team or to everyone, or an announcement."""
    # The judge's own words come before the canned answer that is selected.
    text = change.fields.get("text", "").strip() or change.fields.get("canned", "")
    _send(change, snapshot, {**change.fields, "text": text})
    return change.see(f"/admin/contests/{snapshot.contest.id}/questions", done="sent")
