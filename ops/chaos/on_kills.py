"""The server and its graders are killed with -9 while teams submit, and while everything is judged again."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import httpx
from sqlalchemy import select

from app.core.db.database import Database
from app.tables import AnswerRow, JudgementRow, RawScoreRow
from bench.stage import CONTEST
from ops.chaos.audit import audit
from ops.chaos.load import Load, under_load, wait_for
from ops.chaos.model import scenario
from ops.chaos.stage import PATIENCE, Server, Stage, wait_until


@scenario()
def kills(setting: Stage) -> str:
    """kill -9 of the server and its graders, under load and during a rejudging"""
    server, load = setting.serve(), Load(setting.size.submissions)

    def kill() -> None:
        for at in range(1, setting.size.kills + 1):
            wait_for(load, at / (setting.size.kills + 1))
            server.kill()
            began = time.monotonic()
            server.start()
            load.recovered()
            setting.recoveries.append(time.monotonic() - began)

    under_load(load, setting, server.url, kill)
    audit(setting, server, load)
    _judge_again(setting, server, load)
    audit(setting, server, load)
    _check_rows(setting, load)
    return f"{setting.size.kills + 1} kills, {load.broken} broken connections"


@scenario()
def kills_of_imports(setting: Stage) -> str:
    """kill -9 of the server while it brings in a contest: whole or not at all, and then with the same board"""
    server, load = setting.serve(), Load(setting.size.submissions)
    under_load(load, setting, server.url)
    audit(setting, server, load)
    with setting.client(server) as admin:
        package = admin.get(f"contests/{CONTEST}/package.zip").raise_for_status().content
        board = rows_of_board(admin, CONTEST)
        began = time.monotonic()
        bring_in(admin, package, "whole")
        whole = time.monotonic() - began
        wait_until(partial(is_board, admin, "whole", board), "the imported board is another one")
    left = 0
    for at in range(1, setting.size.kills + 1):
        with ThreadPoolExecutor(1) as pool, setting.client(server) as admin:
            bringing = pool.submit(bring_in, admin, package, f"copy{at}")
            time.sleep(whole * at / (setting.size.kills + 1))
            server.kill()
            began = time.monotonic()
            server.start()
            setting.recoveries.append(time.monotonic() - began)
            killed = isinstance(bringing.exception(), httpx.TransportError)
        with setting.client(server) as admin:
            is_there = f"copy{at}" in {each["id"] for each in admin.get("contests").raise_for_status().json()}
            assert is_there or killed, "an import was acknowledged and is not there"
            if not is_there:
                bring_in(admin, package, f"copy{at}")
            left += not is_there
            wait_until(partial(is_board, admin, f"copy{at}", board), "the imported board is another one")
    audit(setting, server, load)
    return f"{setting.size.kills} imports killed, {left} left nothing; brought in again they have the same board"


def bring_in(admin: httpx.Client, package: bytes, name: str) -> None:
    """Import the package as a contest of this name; waits until all is kept."""
    reply = admin.post(
        "contests/import",
        params={"id": name, "replace": True},
        content=package,
        headers={"Content-Type": "application/zip"},
        timeout=PATIENCE,
    )
    assert reply.status_code == 201, reply.text


def is_board(admin: httpx.Client, name: str, board: list[tuple[int, str, float]]) -> bool:
    """Whether an imported contest has this board by now: it is judged in the queue."""
    return rows_of_board(admin, name) == board


def rows_of_board(admin: httpx.Client, name: str) -> list[tuple[int, str, float]]:
    rows = admin.get(f"contests/{name}/scoreboard").raise_for_status().json()["rows"]
    return [(row["rank"], row["team_id"], row["score"]["score"]) for row in rows]


def _judge_again(setting: Stage, server: Server, load: Load) -> None:
    """Judge everything again, kill the service while it does, and apply what comes of it: that nothing changes."""
    with setting.client(server) as admin:
        made = admin.post(f"contests/{CONTEST}/rejudgings", json={"reason": "chaos"}).raise_for_status().json()
    server.kill_and_restart()
    with setting.client(server) as admin:
        wait_until(lambda: admin.get(made["href"]).json()["state"] != "judging", "the rejudging was not taken up")
        difference = admin.get(f"{made['href']}/difference").json()
        counts = difference["counts"]
        assert counts["submissions"] == load.acknowledged, f"judged again: {counts}"
        assert not difference["submissions"], f"judged otherwise: {difference['submissions'][:1]}"
        assert not difference["teams"], f"moved: {difference['teams'][:1]}"
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
