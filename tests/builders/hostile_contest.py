"""A contest in whose every text stands what would run as a script, load or restyle if it were not text.

The texts are put into the tables: what doors refuse today may be there from before, or come by an import.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from app.accounts.service.viewer import digest
from app.tables import (
    AccountRow,
    AuditRow,
    AwardRow,
    ClarificationRow,
    CommentaryRow,
    ContestProblemRow,
    ContestRoleRow,
    ContestRow,
    GroupRow,
    JobRow,
    JudgementRow,
    OrganizationRow,
    PersonRow,
    ProblemRow,
    ProblemVersionRow,
    RawScoreRow,
    RejudgingRow,
    SubmissionRow,
    TeamRow,
    TokenRow,
)
from tests.builders.boards_of_packages import DRAWING
from tests.builders.contests import FINAL, HOUR, add_contest, add_problem, add_submission
from tests.builders.games import GAME, PACKAGE, start
from tests.builders.hostile import PAYLOADS, packs, texts
from tests.builders.pages import RESET
from tests.builders.scoring import REJECTED, share
from tests.builders.service import HASH, Api

NOW = datetime.now(UTC)
STATEMENT = "# Echo\n\n$x^2$\n\n" + "\n\n".join(text for text in PAYLOADS.values() if text.isprintable()) + "\n"
CHANGES: Mapping[str, str | bytes | None] = {
    **FINAL,
    "statement/problem.en.md": STATEMENT,
    "solution/solution.en.md": STATEMENT,
    "board.js": DRAWING,
}


def fill(api: Api, turn: int = 0) -> dict[str, str]:
    """Make the contest `c` with its people, and put the texts of this turn into it; returns the ids of its games."""
    service = api.service
    add_problem(service, CHANGES)
    add_problem(service, PACKAGE, GAME)
    add_contest(service, started=3 * HOUR, freeze=HOUR, settings={"rejections": "full"})
    with service.database.write() as session:
        session.add(
            ContestProblemRow(contest_id="c", problem_id=GAME, label="B", ordinal=2, rgb="#0f0", rule={"max_points": 7})
        )
        _people(session)
    add_submission(service, {"02": share(1), "03": REJECTED}, minute=10)
    add_submission(service, {"02": share(1), "03": share(1)}, team="other", minute=20)
    add_submission(service, {"02": share(1), "03": share(1)}, minute=30)
    ids = _play(api)
    api.post("contests/c/rejudgings", user="admin", json={"reason": "why", "submissions": ["1"]})
    api.patch("contests/c/registration", user="admin", json={"open": True})
    set_texts(api, turn)
    return ids


def set_texts(api: Api, turn: int) -> None:
    """Put the texts of a turn into everything that shows some."""
    with api.service.database.write() as session:
        text = texts(turn)
        _rename_people(session, text)
        _rename_contest(session, text)
        _rename_submissions(session, text)
    api.service.boards.all_changed()


def _people(session: Session) -> None:
    session.add(GroupRow(id="g", name="group"))
    session.add(OrganizationRow(id="o", name="organization"))
    session.flush()
    for at in range(len(packs())):
        session.add(TeamRow(id=f"odd{at}", name=f"odd {at}", label=str(at), hidden=at == 0))
    session.add(PersonRow(id="p", name="person", role="contestant", team_ids=["team"]))
    session.add(AccountRow(id="boss", username="boss", password_hash=HASH, type="analyst", created=NOW))
    session.add(AccountRow(id="odd", username="odd", password_hash=HASH, type="team", team_id="team", created=NOW))
    session.flush()
    for account_id, role in (("staff", "judge"), ("boss", "owner")):
        session.add(ContestRoleRow(contest_id="c", account_id=account_id, role=role, granted=NOW))
    session.add(TokenRow(digest="0" * 64, account_id="team", label="label", created=NOW))
    reset = TokenRow(digest=digest(RESET), account_id="team", created=NOW, expires=NOW + timedelta(days=3))
    reset.issued_by = "admin"
    session.add(reset)
    job = {"kind": "reference_run", "state": "failed", "created": NOW, "account_id": "admin"}
    session.add(JobRow(id="1", params={"problem_id": "echo", "cases": []}, **job))
    session.add(JobRow(id="2", params={"problem_id": GAME}, **{**job, "kind": "verification", "state": "done"}))
    session.add(AwardRow(contest_id="c", id="odd", citation="award", team_ids=["team"]))
    for at in range(len(packs())):
        columns = {"contest_id": "c", "text": "asked", "time": NOW, "contest_time_ms": 1}
        session.add(ClarificationRow(id=f"m{at}", from_team_id="team" if at % 2 else None, **columns))
    session.add(CommentaryRow(id="1", contest_id="c", message="message", time=NOW, contest_time_ms=1))


def _play(api: Api) -> dict[str, str]:
    """Start a game against an opponent; returns its id."""
    game = start(api, parameters={"instance": "3 0 1\n"}, opponent="one").json()
    return {"game_id": str(game["id"])}


def _rename_people(session: Session, text: Iterator[str]) -> None:
    for team in session.scalars(select(TeamRow).order_by(TeamRow.id)):
        team.name, team.display_name = next(text), next(text) if team.id == "team" else None
        team.group_ids, team.organization_id = ["g"], "o"
    organization = session.get_one(OrganizationRow, "o")
    organization.name, organization.formal_name = next(text), next(text)
    session.get_one(GroupRow, "g").name = next(text)
    session.get_one(PersonRow, "p").name = next(text)
    for account_id in ("team", "judge", "admin", "staff"):
        session.get_one(AccountRow, account_id).name = next(text)
    session.get_one(AccountRow, "odd").username = next(text)
    session.get_one(TokenRow, "0" * 64).label = next(text)


def _rename_contest(session: Session, text: Iterator[str]) -> None:
    contest = session.get_one(ContestRow, "c")
    contest.name, contest.formal_name = next(text), next(text)
    for problem in session.scalars(select(ProblemRow)):
        problem.names = {"en": next(text), "es": next(text)}
        problem.metadata_ = {**problem.metadata_, "source": [{"name": next(text), "url": "javascript:window.__hit=1"}]}
    for version in session.scalars(select(ProblemVersionRow)):
        version.note = next(text)
    for message in session.scalars(select(ClarificationRow)):
        message.text = next(text)
    session.get_one(CommentaryRow, ("1", "c")).message = next(text)
    session.get_one(AwardRow, ("c", "odd")).citation = next(text)
    session.get_one(RejudgingRow, 1).reason = next(text)
    job = session.get_one(JobRow, "1")
    faults = [{"severity": "error", "file": next(text), "where": next(text), "message": next(text)}]
    report = {"errors": faults, "warnings": [], "notes": []}
    cases = {next(text): {"error": next(text)}}
    job.log, job.result = next(text), {"error": next(text), "cases": cases, "report": report}
    verification = session.get_one(JobRow, "2")
    verification.log, verification.result = next(text), {"report": report}
    for at in range(len(packs())):  # the log takes additions alone
        before, after = {"name": next(text)}, {next(text): next(text)}
        changed = {"table": "teams", "id": next(text), "what": "changed", "before": before, "after": after}
        changes = {"objects": [changed], "counts": {"teams": {next(text): 1}}}
        asked = {"method": "POST", "contest_id": "c", "changes": changes, "operation": "o", "role": "r"}
        words = {"username": next(text), "address": next(text), "path": next(text), "credential": next(text)}
        session.add(AuditRow(time=NOW, account_id=f"a{at}", **asked, **words))


def _rename_submissions(session: Session, text: Iterator[str]) -> None:
    for sent in session.scalars(select(SubmissionRow)):
        sent.comment = next(text)
        ignored = [{"name": next(text), "case": None, "ignored": {"source": next(text), "values": {}}} for _ in packs()]
        sent.files = [{"name": next(text), "case": "02", "ignored": None}, *ignored]
        sent.sources = [{"name": next(text), "size": 3, "sha256": "0" * 64}]
    for score in session.scalars(select(RawScoreRow)):
        score.message = {"key": "odd", "text": next(text), "args": {"name": next(text)}}
        score.judge_message = next(text)
    for judgement in session.scalars(select(JudgementRow)):
        judgement.error = next(text)
