"""The server and its graders are killed with -9 while teams submit, and while everything is judged again."""

from __future__ import annotations

import time
from collections import Counter

import httpx
from sqlalchemy import select

from app.storage.database import Database
from app.storage.tables import AnswerRow, JudgementRow, RawScoreRow
from bench.stage import CONTEST
from tests.chaos.audit import JUDGING_SECONDS, audit
from tests.chaos.load import Load, under_load, wait_for
from tests.chaos.model import SQLITE, scenario
from tests.chaos.stage import Server, Stage


@scenario(in_suite=(SQLITE,))
def kills(setting: Stage) -> str:
    """kill -9 of the server and its graders, under load and during a rejudging"""
    server, load = setting.serve(), Load(setting.size.submissions)

    def kill() -> None:
        for at in range(1, setting.size.kills + 1):
            wait_for(load, at / (setting.size.kills + 1))
            server.kill_and_restart()

    under_load(load, server.url, setting.tokens, kill)
    audit(setting, server, load)
    _judge_again(setting, server, load)
    audit(setting, server, load)
    _check_rows(setting, load)
    return (
        f"{load.acknowledged} submissions acknowledged, {setting.size.kills + 1} kills, {load.broken} broken"
        " connections: 0 lost, 0 doubled, 0 judged twice; the board equals one computed from scratch"
    )


def _judge_again(setting: Stage, server: Server, load: Load) -> None:
    """Judge everything again, kill the service while it does, and apply what comes of it: that nothing changes."""
    headers = {"Authorization": f"Bearer {setting.admin}"}
    with httpx.Client(base_url=f"{server.url}/api/", headers=headers, timeout=60) as admin:
        made = admin.post(f"contests/{CONTEST}/rejudgings", json={"reason": "chaos"}).raise_for_status().json()
    server.kill_and_restart()
    with httpx.Client(base_url=f"{server.url}/api/", headers=headers, timeout=60) as admin:
        until = time.monotonic() + JUDGING_SECONDS
        while admin.get(made["href"]).json()["state"] == "judging":
            assert time.monotonic() < until, "the rejudging was not taken up"
            time.sleep(0.1)
        found = admin.get(f"{made['href']}/difference").json()
        counts = found["counts"]
        assert counts["submissions"] == load.acknowledged, f"judged again: {counts}"
        assert not found["submissions"], f"judged otherwise: {found['submissions'][:1]}"
        assert not found["teams"], f"moved: {found['teams'][:1]}"
        admin.post(f"{made['href']}/apply").raise_for_status()


def _check_rows(setting: Stage, load: Load) -> None:
    """What no endpoint shows: each is judged once and once again, each time with one score for each answer."""
    database = Database(setting.database)
    with database.read() as session:
        done = select(JudgementRow.submission_id).where(JudgementRow.state == "done")
        judged = Counter(session.scalars(done.where(JudgementRow.rejudging_id.is_(None))))
        again = Counter(session.scalars(done.where(JudgementRow.rejudging_id.is_not(None), JudgementRow.current)))
        answers = Counter(session.scalars(select(AnswerRow.submission_id)))
        of_score = select(JudgementRow.submission_id).join(RawScoreRow, RawScoreRow.judgement_id == JudgementRow.id)
        scored = Counter(session.scalars(of_score))
    database.close()
    ids = Counter(sent.id for sent in load.sent)
    assert judged == ids, f"not judged {ids - judged}, judged twice {judged - ids}"
    assert again == ids, f"not judged again {ids - again}, twice {again - ids}"
    assert scored == answers + answers, "some answers were scored twice or not at all"
    assert answers == Counter({sent.id: len(sent.answers) for sent in load.sent})
