"""What must hold after every fault, asked through the API: nothing lost, nothing doubled, the board as from scratch."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

import httpx

from app.core.db.database import Database
from app.domain.contests import Team
from app.domain.counting import Attempt, CaseVerdict, RawScore
from app.packages.catalog import bundled
from app.problems.queries.scoring_input import scored_contest
from bench.stage import CONTEST
from checkers.doors import Rejected, open_checker
from ops.chaos.audit_result import Audit
from ops.chaos.feed import IN_ORDER, Folded, Follower
from ops.chaos.load import Load, Sent
from ops.chaos.stage import TEAMS, Server, Stage
from tests.builders.slow_board import SlowBoard, scoreboard

JUDGING_SECONDS = 300
TOLD_SECONDS = 60
Objects = dict[str, dict[str, Any]]


def audit(setting: Stage, server: Server, load: Load, *, until: int | None = None) -> None:
    """Hold what a server shows against what was acknowledged; raises AssertionError naming what is not as promised.

    `until` is for a restored backup: the first so many must be there, of the others any may be missing.
    """
    tally = Audit()
    setting.audits.append(tally)
    with setting.client(server) as admin:
        admin.base_url = admin.base_url.join(f"contests/{CONTEST}/")
        stored = _count_stored(tally, admin, load, until)
        _count_judged(tally, _judged(admin, stored.total()), stored)
        sent = [each for each in load.sent if str(each.id) in stored]
        if len(sent) == stored.total():
            _check_board(tally, setting, sent, admin.get("scoreboard").raise_for_status().json())
        _check_feed(tally, admin, load.follower if until is None else None)
    assert not tally.faults, "; ".join(tally.faults)


def _count_stored(tally: Audit, admin: httpx.Client, load: Load, until: int | None) -> Counter[str]:
    """Count what is lost and doubled; returns the ids of what is stored."""
    sent = Counter(str(each.id) for each in load.sent)
    needed = Counter(str(each.id) for each in load.sent[:until])
    stored = Counter(each["id"] for each in _objects(admin, "submissions"))
    tally.acknowledged = needed.total()
    twice = [id_ for id_, times in sent.items() if times > 1]
    tally.count("doubled", len(twice), f"acknowledged twice: {twice[:3]}")
    lost = needed - stored
    tally.count("lost", lost.total(), f"lost: {list(lost)[:3]} of {lost.total()}")
    others = stored - sent
    extra = max(0, others.total() - (load.unsure if until is None else stored.total()))
    tally.count("doubled", extra, f"stored and never acknowledged: {list(others)[:3]} with {load.unsure} in doubt")
    return stored


def _count_judged(tally: Audit, judgements: Sequence[dict[str, Any]], stored: Counter[str]) -> None:
    judged = Counter(each["submission_id"] for each in judgements if each.get("current", True))
    twice = judged - stored
    tally.count("judged_twice", twice.total(), f"judged twice: {list(twice)[:3]}")
    missing = stored - judged
    tally.expect(not missing, f"not judged: {list(missing)[:3]} of {missing.total()}")
    errors = [each["id"] for each in judgements if each["judgement_type_id"] == "JE"]
    tally.expect(not errors, f"judge errors: {errors[:3]} of {len(errors)}")


def _objects(admin: httpx.Client, kind: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = admin.get(kind).raise_for_status().json()
    return rows


def _judged(admin: httpx.Client, count: int) -> list[dict[str, Any]]:
    """All judgements, once as many submissions are judged."""
    until = time.monotonic() + JUDGING_SECONDS
    while True:
        judgements = _objects(admin, "judgements")
        done = [each for each in judgements if each.get("judgement_type_id")]
        if (len(done) >= count and len(done) == len(judgements)) or time.monotonic() >= until:
            return done
        time.sleep(0.1)


def _check_feed(tally: Audit, admin: httpx.Client, follower: Follower | None) -> None:
    """Both a feed read now and one followed all the time tell objects in order, and in the end what endpoints show."""
    until = time.monotonic() + TOLD_SECONDS
    expected = {kind: {each["id"]: each for each in _objects(admin, kind)} for kind in IN_ORDER}
    while True:
        read = _read(admin)
        feeds = [(read, "read")] if follower is None else [(read, "read"), (follower.folded, "followed")]
        equal = read.objects == expected and (follower is None or follower.knows(expected))
        if equal or time.monotonic() >= until:
            break
        time.sleep(0.2)
    for folded, how in feeds:
        tally.count("feed_faults", len(folded.faults), f"the feed {how}: {folded.faults[:1]}")
        for kind in IN_ORDER:
            known = folded.objects[kind]
            differ = [key for key in expected[kind] | known if known.get(key) != expected[kind].get(key)]
            tally.count("feed_faults", len(differ), f"{kind} of the feed {how} and the endpoint differ: {differ[:3]}")


def _read(admin: httpx.Client) -> Folded:
    """What a feed tells now, from its beginning."""
    folded = Folded()
    for line in admin.get("event-feed?stream=false").raise_for_status().text.splitlines():
        if line:
            folded.take(json.loads(line))
    return folded


def _check_board(tally: Audit, setting: Stage, sent: Sequence[Sent], shown: dict[str, Any]) -> None:
    """The board shown is the one that follows from what the clients sent."""
    expected = [(row.rank, row.team.id, row.points) for row in board_from_scratch(setting, sent).rows]
    rows = [(row["rank"], row["team_id"], row["score"]["score"]) for row in shown["rows"]]
    tally.expect(rows == expected, f"expected the board {expected}, found {rows}")


def board_from_scratch(setting: Stage, sent: Sequence[Sent]) -> SlowBoard:
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


@cache
def score(problem: str, case: str, data: bytes) -> RawScore:
    """One answer's raw score, by the checker itself."""
    checker = open_checker(problem)
    given = next((bundled()[problem] / "data").rglob(f"{case}.in"))
    instance = checker.read_instance(given.read_bytes())
    try:
        measured = checker.score_answer(
            instance, checker.read_answer(data, instance), given.with_suffix(".ans").read_bytes()
        )
    except Rejected:
        return RawScore(CaseVerdict.REJECTED)
    return RawScore(CaseVerdict.ACCEPTED, measured.raw, measured.multiplier)
