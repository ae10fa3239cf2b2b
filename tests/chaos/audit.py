"""What must hold after every fault, asked through the API: nothing lost, nothing doubled, the board as from scratch."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any

import httpx

from app.domain.contests import Team
from app.domain.scoreboard import Board, scoreboard
from app.domain.scoring import Attempt, RawScore
from app.domain.verdicts import CaseVerdict
from app.packages.catalog import bundled
from app.storage.database import Database
from app.storage.scored import scored_contest
from bench.stage import CONTEST
from checkers.doors import Rejected, open_checker
from tests.chaos.load import Load, Sent
from tests.chaos.stage import TEAMS, Server, Stage

JUDGING_SECONDS = 300
TOLD_SECONDS = 60
IN_ORDER = ("submissions", "judgements", "runs")
"""Endpoints whose objects the feed has too, each kind after the one it refers to."""


def audit(setting: Stage, server: Server, load: Load) -> None:
    """Hold what a server shows against what was acknowledged; raises AssertionError naming the first difference."""
    headers = {"Authorization": f"Bearer {setting.admin}"}
    with httpx.Client(base_url=f"{server.url}/api/contests/{CONTEST}/", headers=headers, timeout=60) as admin:
        ids = Counter(str(sent.id) for sent in load.sent)
        assert max(ids.values(), default=1) == 1, "one submission was acknowledged twice"
        stored = Counter(each["id"] for each in _objects(admin, "submissions"))
        assert stored >= ids, f"lost {ids - stored}"
        assert (stored - ids).total() <= load.unsure, f"never acknowledged {stored - ids}, {load.unsure} in doubt"
        judgements = _judged(admin, stored.total())
        judged = Counter(each["submission_id"] for each in judgements if each.get("current", True))
        assert judged == stored, f"not judged {stored - judged}, judged twice {judged - stored}"
        errors = [each for each in judgements if each["judgement_type_id"] == "JE"]
        assert not errors, f"judge errors: {errors[:1]}"
        if stored == ids:
            _check_board(setting, load.sent, admin.get("scoreboard").raise_for_status().json())
        _check_feed(admin)


def _objects(admin: httpx.Client, kind: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = admin.get(kind).raise_for_status().json()
    return found


def _judged(admin: httpx.Client, count: int) -> list[dict[str, Any]]:
    """All judgements, once as many submissions are judged."""
    until = time.monotonic() + JUDGING_SECONDS
    while True:
        judgements = _objects(admin, "judgements")
        done = [each for each in judgements if each.get("judgement_type_id")]
        if len(done) >= count and len(done) == len(judgements):
            return done
        assert time.monotonic() < until, f"{count - len(done)} submissions are not judged"
        time.sleep(0.1)


def _check_feed(admin: httpx.Client) -> None:
    """The feed tells each object after what it refers to, and in the end all that the endpoints show."""
    until = time.monotonic() + TOLD_SECONDS
    expected = {kind: {each["id"]: each for each in _objects(admin, kind)} for kind in IN_ORDER}
    while True:
        objects: dict[str, dict[str, Any]] = {kind: {} for kind in IN_ORDER}
        for event in _events(admin):
            _take(objects, event)
        if objects == expected:
            return
        if time.monotonic() >= until:
            for kind in IN_ORDER:
                differ = [key for key in expected[kind] if objects[kind].get(key) != expected[kind][key]]
                extra = objects[kind].keys() - expected[kind].keys()
                assert not differ, f"{kind} of the feed and the endpoint differ: {differ[:3]} of {len(differ)}"
                assert not extra, f"only the feed has {kind} {sorted(extra)[:3]}"
        time.sleep(0.2)


def _events(admin: httpx.Client) -> list[dict[str, Any]]:
    """All events there are now."""
    text = admin.get("event-feed?stream=false").raise_for_status().text
    return [json.loads(line) for line in text.splitlines() if line]


def _take(objects: dict[str, dict[str, Any]], event: dict[str, Any]) -> None:
    kind, data = event["type"], event["data"]
    if kind not in objects:
        return
    if isinstance(data, list):
        objects[kind] = {each["id"]: each for each in data}
    elif data is None:
        objects[kind].pop(event["id"], None)
    else:
        parent = {"judgements": ("submissions", "submission_id"), "runs": ("judgements", "judgement_id")}.get(kind)
        if parent is not None:
            assert data[parent[1]] in objects[parent[0]], f"{kind} {data['id']} was told before its {parent[0][:-1]}"
        objects[kind][data["id"]] = data


def _check_board(setting: Stage, sent: Sequence[Sent], shown: dict[str, Any]) -> None:
    """The board shown is the one that follows from what the clients sent."""
    rows = [(row.rank, row.team.id, row.points) for row in board_from_scratch(setting, sent).rows]
    found = [(row["rank"], row["team_id"], row["score"]["score"]) for row in shown["rows"]]
    assert found == rows, f"expected the board {rows}, found {found}"


def board_from_scratch(setting: Stage, sent: Sequence[Sent]) -> Board:
    """Check every answer again, here, and compute the board."""
    attempts = [
        Attempt(
            s.id, s.team, s.problem, s.time, {case: score(s.problem, case, data) for case, data in s.answers.items()}
        )
        for s in sent
    ]
    database = Database(setting.database)
    with database.read() as session:
        contest = scored_contest(session, CONTEST)
    database.close()
    assert contest is not None
    teams = [Team(f"team{at}", f"Team {at}") for at in range(1, TEAMS + 1)]
    return scoreboard(contest.problems, teams, attempts)


def score(problem: str, case: str, data: bytes) -> RawScore:
    """One answer's raw score, by the checker itself."""
    checker = open_checker(problem)
    given = next((bundled()[problem] / "data").rglob(f"{case}.in"))
    instance = checker.read_instance(given.read_bytes())
    try:
        found = checker.score_answer(
            instance, checker.read_answer(data, instance), given.with_suffix(".ans").read_bytes()
        )
    except Rejected:
        return RawScore(CaseVerdict.REJECTED)
    return RawScore(CaseVerdict.ACCEPTED, found.raw, found.multiplier)
