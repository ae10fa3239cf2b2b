"""A home with everything in it: at least one row of every table, large files, games in play, an open rejudging."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import httpx
from sqlalchemy import func, select

from app.core.clock import utc_now
from app.core.db.database import Database
from app.core.db.locks import SERVER, Work, write_signs
from app.submissions.queries.submissions import INLINE_LIMIT
from app.tables import (
    Base,
    ChosenSubmissionRow,
    ClockRow,
    ContestProblemRow,
    ContestRoleRow,
    InputRequestRow,
    JobRow,
    KeptTeamRow,
    LastBackupRow,
    OrganiserRow,
    ParticipationRow,
    ProblemRoleRow,
    RegisteredRow,
    RegistrationRow,
)
from tests.builders import games, lively
from tests.builders.contests import add_problem, with_checkers
from tests.builders.described import document
from tests.builders.judging import judge
from tests.builders.processes import sign
from tests.builders.service import Api
from tests.builders.streams import read_feed

Answers = dict[tuple[str, str | None], tuple[int, bytes]]
"""What is answered, its status and its body, by address and reader."""
READERS = ("admin", "team", None)
MADE_ANEW = re.compile(r"^/(health|metrics|api/daily|api/status)|/package\.zip$|/stream$|/similarity")
"""What depends on the process, the date or the moment and on no row alone."""
MOMENT = re.compile(rb'"contest_time":"[^"]*",(?="running")')
"""How far a team's own clock is."""
LISTS = ("", "/teams", "/organizations", "/persons", "/problems")


def fill(api: Api) -> None:
    """Put everything in, over HTTP where that is how it comes."""
    add_problem(api.service)
    games.add_games(api.service)
    with_checkers(api)
    _change_case(api, "sample/01", b"2\n", 200)  # another version
    with api.service.database.write() as session:
        session.add(ContestProblemRow(contest_id="c", problem_id="echo", label="B", ordinal=2, rule={}))
    ask = _asking(api)
    start = lively.begin(ask)
    lively.submit(ask, start)
    lively.talk(ask)
    for at, user in enumerate(("team", "other", "team")):
        answer = b"2\n" * (1 if at else INLINE_LIMIT)
        form: dict[str, Any] = {"data": {"problem_id": "echo"}, "files": {"files": ("02.out", answer)}}
        _done(api.post("contests/c/submissions", user=user, **form))
    judge(api.service)
    _change_case(api, "secret/02", b"22\n", 202)  # a rejudging that is previewed, and not applied
    judge(api.service)
    game = _done(games.start(api, testcase="03"))
    _done(games.move(api, game["id"], 1))
    games.win(api, "other")
    _done(api.post("webhooks", user="admin", json={"id": "hook", "url": "http://127.0.0.1:9/", "token": "a-secret"}))
    _done(api.patch("webhooks/hook", user="admin", json={"active": False}))
    _done(api.post("account/tokens", user="team", json={"label": "mine"}))
    _rows(api)
    read_feed(api, user="admin")
    api.service.writer.submit(write_signs, sign("me", SERVER, utc_now(), utc_now(), Work(1))).result()


def _asking(api: Api) -> lively.Ask:
    """Sends requests as people of the lively contest."""

    def ask(method: str, path: str, *, user: str | None = None, json: Any = None) -> httpx.Response:
        return api.request(method, path, user=user, json=json)

    return ask


def _change_case(api: Api, name: str, answer: bytes, code: int) -> None:
    """Give a case another expected answer."""
    files = {"input": ("in", b"2\n"), "answer": ("ans", answer)}
    reply = api.put(f"problems/echo/testcases/{name}", user="admin", files=files)
    assert reply.status_code == code, reply.text


def _done(reply: httpx.Response) -> Any:
    assert reply.is_success, reply.text
    return reply.json()


def _rows(api: Api) -> None:
    """Write the rows that come by weeks of use."""
    now = utc_now()
    place = {"contest_id": "c", "team_id": "team", "problem_id": "echo"}
    with api.service.database.write() as session:
        number = session.scalar(select(func.min(Base.metadata.tables["submissions"].c.id)))
        by = {"account_id": "staff", "granted": now}
        for row in (
            ChosenSubmissionRow(**place, submission_id=number, time=now),
            InputRequestRow(**place, time=now),
            ParticipationRow(contest_id="lively", team_id="blue", kind="virtual", start_time=now - timedelta(hours=1)),
            KeptTeamRow(team_id="other", contest_id="c"),
            RegistrationRow(contest_id="c", is_open=False, code="come", most=5),
            RegisteredRow(contest_id="c", account_id="team", time=now),
            OrganiserRow(**by),
            ContestRoleRow(contest_id="c", role="judge", **by),
            ProblemRoleRow(problem_id="echo", role="owner", **by),
            JobRow(id="j", kind="reference-run", state="done", params={"problem_id": "echo"}, log="", created=now),
            LastBackupRow(id=1, made=now, place="/backup", files=1, size=1, faulty=0),
        ):
            session.merge(row)
        if session.get(ClockRow, 1) is None:
            session.add(ClockRow(id=1, time=now))


def empty_tables(database: Database) -> set[str]:
    """The tables of which nothing is there."""
    with database.read() as session:
        tables = Base.metadata.tables
        return {name for name, table in tables.items() if not session.scalar(select(func.count()).select_from(table))}


def walked(api: Api) -> Answers:
    """What every route with GET answers about all that there is, to an admin, a team and no one."""
    answers: Answers = {}
    for address, user in itertools.product(addresses(api), READERS):
        reply = api.get(address, user=user)
        answers[address, user] = (reply.status_code, MOMENT.sub(b"", reply.content))
    return answers


def addresses(api: Api) -> Iterator[str]:
    """Every path with GET, for each of what its parameters may name."""
    names = _names(api)
    for path, operations in sorted(document()["paths"].items()):
        if "get" not in operations or MADE_ANEW.search(path):
            continue
        fields = re.findall(r"\{([^}]*)\}", path)
        for values in itertools.product(*(names.get(field, ["x"]) for field in fields)):
            address = path.format(**dict(zip(fields, values, strict=True)))
            yield address + "?stream=false" if path.endswith("/event-feed") else address
    for name in LISTS:
        text = api.get(f"contests/{lively.CONTEST}{name}", user="admin").text
        for link in re.findall(r'"href":"(contests[^"]+)"', text):
            if not MADE_ANEW.search(link):
                yield f"/api/{link}"


def _names(api: Api) -> dict[str, Sequence[str]]:
    """The values of each parameter of a path; others are names of nothing."""

    def ids(path: str) -> list[str]:
        """The first of them: the lists have all."""
        return [str(each["id"]) for each in _done(api.get(path, user="admin"))][:1]

    submissions = [*ids("contests/c/submissions"), *ids("contests/lively/submissions")]
    return {
        "contest_id": ["c", "lively"],
        "problem_id": ["echo", games.GAME],
        "submission_id": submissions,
        "judgement_id": ids("contests/c/judgements"),
        "run_id": ids("contests/c/runs"),
        "rejudging_id": ids("contests/c/rejudgings"),
        "game_id": ids("contests/c/games"),
        "clarification_id": ids("contests/lively/clarifications"),
        "commentary_id": ids("contests/lively/commentary"),
        "award_id": ids("contests/lively/awards"),
        "object_id": ["north", "kth.se", "ada"],
        "team_id": ["team", "red"],
        "account_id": ["team", "red"],
        "webhook_id": ["hook"],
        "job_id": ["j"],
        "number": ["1", "2"],
        "case_name": ["02"],
        "name": ["02"],
        "type_id": ["AC"],
        "language_id": ["answers"],
    }
