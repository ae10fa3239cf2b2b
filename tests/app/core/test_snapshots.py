"""What one reply or one look of the feed tells was true at one moment, whatever is written while it is read."""

from __future__ import annotations

import io
import json
import re
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, event, func, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.orm import Session

import app
from app.accounts.service.viewer import Viewer
from app.contests.schemas import Rule
from app.contests.service.visibility import know_points, points_of
from app.core.db.database import Database
from app.core.service import Service
from app.domain.counting import RawScore
from app.submissions.service.judgements import judgements_of
from app.tables import ContestProblemRow, JudgementRow, SubmissionRow, TeamRow
from tests.builders.contests import PROBLEM, add_contest, add_problem, add_submission
from tests.builders.examples import sqlite_first
from tests.builders.scoring import raw
from tests.builders.service import Api
from tests.builders.streams import read_feed

MOST_WRITTEN = 6


@contextmanager
def writing_between_reads(service: Service) -> Iterator[list[int]]:
    """After a query that reads submissions, judgements or runs, another judged submission is committed; yields ids."""
    written: list[int] = []
    busy = []

    def write(_connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        reads = statement.startswith("SELECT") and ("FROM submissions" in statement or "JOIN submissions" in statement)
        if reads and not busy and len(written) < MOST_WRITTEN:
            busy.append(True)
            written.append(add_submission(service, {"02": raw(7, 1), "03": raw(3, 1)}, minute=2))
            busy.clear()

    engines = (service.database.engine, service.database.readers)
    for engine in engines:
        event.listen(engine, "after_cursor_execute", write)
    try:
        yield written
    finally:
        for engine in engines:
            event.remove(engine, "after_cursor_execute", write)


def prepare(api: Api) -> None:
    """A contest with one judged submission."""
    add_problem(api.service)
    add_contest(api.service)
    add_submission(api.service, {"02": raw(5, 1)})


def test_a_reading_transaction_sees_nothing_that_was_committed_after_its_first_query(api: Api) -> None:
    prepare(api)
    with api.service.database.read() as session:
        assert session.scalar(select(func.count()).select_from(SubmissionRow)) == 1
        add_submission(api.service, {"02": raw(6, 1)})
        assert session.scalar(select(func.count()).select_from(JudgementRow)) == 1
    with api.service.database.read() as session:
        assert session.scalar(select(func.count()).select_from(JudgementRow)) == 2


@pytest.mark.parametrize("how", ["read", "read for a request", "look at many rows"])
def test_each_way_to_read_is_one_snapshot_that_writes_nothing_on_postgresql(postgresql_url: str, how: str) -> None:
    """From its first query on it sees no later commit, by whichever of the pools it goes."""
    database = Database(postgresql_url)
    ways: dict[str, Callable[[], AbstractContextManager[Session | Connection]]] = {
        "read": database.read,
        "read for a request": partial(database.read, for_request=True),
        "look at many rows": database.snapshot,
    }
    count = select(func.count()).select_from(TeamRow)
    with ways[how]() as reading:
        shown = [reading.execute(text(f"SHOW transaction_{what}")).scalar() for what in ("isolation", "read_only")]
        assert shown == ["repeatable read", "on"]
        assert reading.execute(count).scalar() == 0
        with database.write() as session:
            session.add(TeamRow(id="t", name="T", label="1", hidden=False))
        assert reading.execute(count).scalar() == 0
    with ways[how]() as reading:
        assert reading.execute(count).scalar() == 1
    database.close()


def test_services_and_routes_read_by_these_ways_alone() -> None:
    """Connections of other kinds are opened where a database is moved, copied, locked, heard, migrated or rewritten."""
    root = Path(app.__file__).parent
    opening = re.compile(r"\bSession\(|engine\.(?:connect|begin)\(")
    found = {path.relative_to(root).as_posix() for path in root.rglob("*.py") if opening.search(path.read_text())}
    database = {f"core/db/{name}.py" for name in ("commits", "database", "listener", "locks", "migrate", "serving")}
    archive = {f"archive/queries/{name}.py" for name in ("backup", "database_copy")}
    assert found == database | archive


def test_a_row_that_was_changed_meanwhile_is_read_without_an_error(api: Api) -> None:
    prepare(api)
    with api.service.database.read() as session:
        before = session.scalar(select(TeamRow.name).where(TeamRow.id == "team"))
        with api.service.database.write() as other:
            other.get_one(TeamRow, "team").name = "Other"
        assert session.scalar(select(TeamRow.name).where(TeamRow.id == "team")) == before


def test_a_postgresql_transaction_that_reads_may_not_write(postgresql_url: str) -> None:
    database = Database(postgresql_url)
    with database.read() as session:
        session.add(TeamRow(id="t", name="T", label="1", hidden=False))
        with pytest.raises(DBAPIError, match="read-only"):
            session.flush()
    with database.write() as session:  # the very same connection may write again
        session.add(TeamRow(id="t", name="T", label="1", hidden=False))
    database.close()


def test_an_export_under_writes_has_the_submission_of_each_judgement_and_the_judgement_of_each_run(api: Api) -> None:
    prepare(api)
    with writing_between_reads(api.service) as written:
        reply = api.get("contests/c/package.zip", user="admin")
    assert written
    assert reply.status_code == 200, reply.text
    with zipfile.ZipFile(io.BytesIO(reply.content)) as archive:
        objects = {name: json.loads(archive.read(f"{name}.json")) for name in ("submissions", "judgements", "runs")}
    ids = {name: {each["id"] for each in found} for name, found in objects.items()}
    assert {each["submission_id"] for each in objects["judgements"]} == ids["submissions"]
    assert {each["judgement_id"] for each in objects["runs"]} == ids["judgements"]


def test_the_feed_tells_every_object_after_those_it_refers_to_also_under_writes(api: Api) -> None:
    prepare(api)
    with writing_between_reads(api.service) as written:
        events = [*read_feed(api, user="admin"), *read_feed(api, user="admin")]
    assert written
    known: set[tuple[str, str]] = set()
    for each in events:
        document = each["data"] or {}
        for kind, name in (("submissions", "submission_id"), ("judgements", "judgement_id")):
            if each["type"] in {"judgements", "runs"} and name in document:
                assert (kind, document[name]) in known, each
        known.add((each["type"], each["id"]))


def test_a_judgement_is_finished_only_together_with_its_score(api: Api) -> None:
    """A verdict that is committed after the scores were read is shown as unfinished: clients stop at `end_time`."""
    prepare(api)
    viewer = Viewer("team", "team", "team", "team")
    before = api.service.boards.snapshot("c", public=True)
    sent = str(add_submission(api.service, {"02": raw(6, 1)}, minute=3))
    after = api.service.boards.snapshot("c", public=True)
    assert before is not None
    assert after is not None
    with api.service.database.read() as session:
        (unfinished,) = judgements_of(viewer, before, sent, None, session)
        (finished,) = judgements_of(viewer, after, sent, None, session)
    assert (unfinished.judgement_type_id, unfinished.end_time, unfinished.score) == (None, None, None)
    assert finished.end_time is not None
    assert finished.score is not None


def test_a_judge_error_is_finished_without_a_score(api: Api) -> None:
    prepare(api)
    before = api.service.boards.snapshot("c", public=True)
    sent = str(add_submission(api.service, {}, minute=3, judgement_type="JE"))
    assert before is not None
    with api.service.database.read() as session:
        (found,) = judgements_of(Viewer("team", "team", "team", "team"), before, sent, None, session)
    assert (found.judgement_type_id, found.score) == ("JE", None)


def calls_of(function: Callable[[], object]) -> int:
    """How many functions of Python a call of one calls."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(None)
    return calls


@sqlite_first
@pytest.mark.parametrize("counting", ["last", "best-case"])
@pytest.mark.parametrize("last", [{"02": raw(8, 3), "03": raw(7, 3)}, {"02": raw(8, 3)}])
def test_the_points_of_a_teams_last_submission_take_no_look_at_its_earlier_ones(
    api: Api, counting: str, last: dict[str, RawScore]
) -> None:
    """Otherwise a verdict would take longer the more a team has submitted; the points are those of all ways."""
    prepare(api)
    with api.service.database.write() as session:
        session.get_one(ContestProblemRow, ("c", PROBLEM)).rule = Rule.model_validate({"counting": counting})
    calls = []
    for count in (5, 50):
        for at in range(count):
            add_submission(api.service, {"02": raw(5 + at % 7, 1), "03": raw(7 + at % 5, 3)}, minute=3 + at)
        sent = add_submission(api.service, last, minute=3 + count)
        snapshot = api.service.boards.snapshot("c", public=True)
        assert snapshot is not None
        with api.service.database.read() as session:
            row = session.get_one(SubmissionRow, sent)
        points_of(replace(snapshot, memo={}), row)  # computes the weights of the problem
        calls.append(calls_of(partial(know_points, snapshot, [row])))
        known = points_of(snapshot, row)
        assert known == points_of(replace(snapshot, memo={}), row)
    assert calls[1] <= calls[0] + 20
