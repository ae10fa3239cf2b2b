"""The list of all problems, asked directly."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import event

from app.accounts.service.viewer import Viewer
from app.authoring.service.packages import listed
from tests.builders.contests import add_problem
from tests.builders.service import open_service


def test_the_list_of_problems_asks_as_often_for_three_as_for_one(sqlite_url: str, tmp_path: Path) -> None:
    asked: list[int] = []
    with open_service(sqlite_url, tmp_path / "home") as service:
        for slugs in (["one"], ["two", "three"]):
            for slug in slugs:
                add_problem(service, slug=slug)
            with service.database.read() as session:
                statements: list[object] = []
                event.listen(session.get_bind(), "before_cursor_execute", lambda *call, to=statements: to.append(call))
                views = listed(session, Viewer("admin"))
            asked.append(len(statements))
        assert [(view.id, view.test_data_count, view.max_score) for view in views] == [
            (slug, 3, 100.0) for slug in ("one", "three", "two")
        ]
    assert asked[0] == asked[1]
    assert asked[0] > 0
