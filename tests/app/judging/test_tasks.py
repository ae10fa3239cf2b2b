"""What judgements need is read for many at once."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import event, select

from app.core.service import Service
from app.judging.queries import judging_tasks
from app.problems.queries import testcases
from app.tables import ProblemRow, TestCaseRow
from tests.builders.contests import PROBLEM, add_contest, add_problem, add_submission
from tests.builders.service import open_service


def statements_for(service: Service, judgements: int) -> list[str]:
    """The queries that are needed to load so many of the judgements that wait."""
    statements: list[str] = []

    def note(*arguments: object) -> None:
        statements.append(str(arguments[2]))

    event.listen(service.database.engine, "before_cursor_execute", note)
    with service.database.read() as session:
        found = judging_tasks.load_tasks(session, dict.fromkeys(range(1, judgements + 1), 1))
    event.remove(service.database.engine, "before_cursor_execute", note)
    assert [task.judgement_id for task in found] == list(range(1, judgements + 1))
    return statements


def test_many_judgements_of_one_problem_are_loaded_by_as_many_queries_as_one(database_url: str, tmp_path: Path) -> None:
    with open_service(database_url, tmp_path / "home") as service:
        add_problem(service)
        add_contest(service)
        for _ in range(10):
            add_submission(service, None, files={"02": b"2\n"})
        assert len(statements_for(service, 10)) == len(statements_for(service, 1))


def test_a_problem_is_read_again_once_it_has_changed(database_url: str, tmp_path: Path) -> None:
    with open_service(database_url, tmp_path / "home") as service:
        add_problem(service)
        add_contest(service)
        add_submission(service, None, files={"02": b"2\n"})

        def wanted() -> tuple[str, frozenset[int]]:
            with service.database.read() as session:
                (task,) = judging_tasks.load_tasks(session, {1: 1})
                return task.settings["checker"], task.counted_cases

        before = wanted()
        assert wanted() == before
        with service.database.write() as session:
            row = session.get_one(ProblemRow, PROBLEM)
            row.settings = {**row.settings, "checker": "other"}
            testcases.touch(session, PROBLEM)
        assert wanted() == ("other", before[1])
        with service.database.write() as session:
            for case in session.scalars(select(TestCaseRow)):
                case.removed = True
            testcases.touch(session, PROBLEM)
        assert wanted() == ("other", frozenset())
