"""Through a contest's whole life, each list says to each viewer what a fresh look says, with a tag of that content."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from app.accounts.service.viewer import PUBLIC, Viewer
from app.contests.service.visibility import seen_by
from app.feed.service.collections import COLLECTIONS, Collection
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.submissions.routes.submissions import JUDGEMENTS, RUNS, SUBMISSIONS
from tests.builders.contests import (
    FINAL,
    HOUR,
    add_contest,
    add_problem,
    add_submission,
    change_contest,
    pass_time,
    with_checkers,
)
from tests.builders.examples import sqlite_first
from tests.builders.judging import judge
from tests.builders.scoring import raw
from tests.builders.service import Api, open_api

VIEWERS = {
    None: PUBLIC,
    "admin": Viewer("admin", "admin", None, "admin"),
    "judge": Viewer("judge", "judge", None, "judge"),
    "staff": Viewer("public", "staff", None, "staff"),
    "team": Viewer("team", "team", "team", "team"),
    "other": Viewer("team", "other", "other", "team"),
}


@dataclass(frozen=True)
class Listed:
    """One list: its collection, and how its objects are made."""

    collection: Collection
    documents: Callable[..., Any]
    by_submission: bool = False

    def fresh(self, viewer: Viewer, snapshot: Any, session: Any) -> list[Any]:
        """What a viewer sees, read now."""
        if self.by_submission:
            pairs = sorted(self.documents(viewer, snapshot, session, None), key=lambda pair: pair[0])
            return [self._answered(document) for _, document in pairs]
        return [self._answered(each) for each in self.documents(viewer, snapshot, session)]

    def _answered(self, document: Any) -> Any:
        model = self.collection.parsed(document)
        return json.loads(model.model_dump_json(exclude_unset=self.collection.sparse))


OTHERWISE_LISTED = {"contest", "state", "judgement-types", "languages"}
"""Single objects, and lists that are never kept."""
LISTS = [
    *(Listed(each.collection, each.documents, True) for each in (SUBMISSIONS, JUDGEMENTS, RUNS)),
    *(Listed(each, each.documents) for each in COLLECTIONS if not (each.large or each.name in OTHERWISE_LISTED)),
]


@dataclass
class Walk:
    """A contest in which something happens, step by step, and what everyone was told of it."""

    api: Api
    draw: random.Random
    minute: int = 0
    rejudging: str = ""
    told: dict[Any, dict[str, str]] = field(default_factory=dict)

    def check(self, step: str) -> None:
        """Each list for each viewer: the fresh one, under a tag that no other content had, if it has one."""
        boards = ScoreboardCache(self.api.service.database)  # of its own, so that nothing kept is believed
        for user, viewer in VIEWERS.items():
            snapshot = boards.snapshot("c", public=not viewer.sees_all)
            assert snapshot is not None
            with self.api.service.database.read() as session:
                expected = {
                    each.collection.name: each.fresh(viewer, seen_by(viewer, snapshot), session)
                    for each in LISTS
                    if viewer.logged_in or each.collection.name != "accounts"
                }
            for name, rows in expected.items():
                reply = self.api.get(f"contests/c/{name}", user=user)
                assert (reply.status_code, reply.json()) == (200, rows), (step, name, user)
                texts, tag = self.told.setdefault((name, user), {}), reply.headers.get("etag", reply.text)
                assert texts.setdefault(tag, reply.text) == reply.text, (step, name, user)
                assert len(set(texts.values())) == len(texts), (step, name, user)

    def admin(self, method: str, path: str, body: Any) -> Any:
        """What an admin does, and may do at this moment."""
        reply = self.api.request(method, path, user="admin", json=body)
        assert reply.is_success, (method, path, reply.text)
        return reply.json() if reply.content else None

    def submit_judged(self) -> None:
        """A verdict with its submission."""
        self.minute += 1
        scores = {"02": raw(self.draw.randrange(1, 9)), "03": raw(self.draw.randrange(1, 9))}
        add_submission(self.api.service, scores, team=self.draw.choice(("team", "other")), minute=self.minute)

    def submit(self) -> None:
        """A submission that waits."""
        self.minute += 1
        files = {"02": b"2\n", "03": b"no\n"}
        add_submission(
            self.api.service, None, files=files, team=self.draw.choice(("team", "other")), minute=self.minute
        )

    def judge_all(self) -> None:
        """Everything that waits, silent rejudgings too."""
        judge(self.api.service)

    def rejudge(self) -> None:
        """A silent rejudging, judged but not applied."""
        self.rejudging = self.admin("POST", "contests/c/rejudgings", {"reason": "why"})["href"]
        judge(self.api.service)

    def apply(self) -> None:
        """Its verdicts take the place of the others."""
        self.admin("POST", f"{self.rejudging}/apply", {})

    def undo(self) -> None:
        """And are taken back."""
        self.admin("POST", f"{self.rejudging}/undo", {})

    def hide(self) -> None:
        """A team is hidden."""
        self.admin("PUT", "teams/other", {"id": "other", "name": "Other", "hidden": True, "group_ids": ["g"]})

    def show(self) -> None:
        """And shown."""
        self.admin("PUT", "teams/other", {"id": "other", "name": "Other", "hidden": False, "group_ids": ["g"]})

    def withdraw(self) -> None:
        """A team that has sent nothing leaves."""
        self.admin("DELETE", "contests/c/teams/late", None)

    def enrol(self) -> None:
        """And comes back."""
        self.admin("POST", "contests/c/teams", {"team_ids": ["team", "other", "late"]})

    def talk(self) -> None:
        """A question, an answer to all, a comment on the first submission."""
        asked = self.api.post("contests/c/clarifications", user="team", json={"text": "Why?", "problem_id": "echo"})
        assert asked.status_code == 201, asked.text
        self.admin("POST", "contests/c/clarifications", {"text": "Because."})
        self.admin("POST", "contests/c/commentary", {"message": "Look.", "submission_ids": ["1"]})

    def reward(self) -> None:
        """An award that an admin gives."""
        self.admin("POST", "contests/c/awards", {"citation": "For all.", "team_ids": ["other"]})

    def extend(self) -> None:
        """Half an hour more."""
        self.admin("PATCH", "contests/c", {"duration": "5:30:00"})

    def show_answers(self) -> None:
        """Everyone may see the answers of others."""
        settings = {"final_minutes": 60, "show_others_answers": True}
        change_contest(self.api.service, settings=settings)

    def close(self) -> None:
        """All is judged, and the results are final."""
        judge(self.api.service)
        self.admin("PATCH", "contests/c", {"finalized": True})

    def reopen(self) -> None:
        """They are not final any longer."""
        self.admin("PATCH", "contests/c", {"finalized": False})


W = Walk
LIFE = (
    ("running", 2.0, 10, (W.submit_judged, W.talk, W.submit, W.submit_judged)),
    ("frozen", 3.2, 245, (W.submit_judged, W.rejudge, W.submit, W.extend)),
    ("in the extension", 0.9, 305, (W.withdraw, W.judge_all, W.apply)),
    ("ended", 1.0, 400, (W.undo, W.hide, W.show_answers, W.reward)),
    ("unfrozen", 1.0, 400, (W.close, W.reopen, W.show)),
)
"""What comes about, hours passing before, the minute that submissions are sent at, and what happens then."""


@pytest.fixture
def api(database_url: str, tmp_path: Path) -> Iterator[Api]:
    """A service that reads lists three submissions at a time."""
    with open_api(database_url, tmp_path / "home", list_slice=3) as opened:
        yield opened


@sqlite_first
def test_each_list_is_the_fresh_one_for_every_viewer_through_a_whole_contest(api: Api) -> None:
    """Before the start, running, frozen, extended, ended, final cases given out, unfrozen, final, and opened again."""
    add_problem(api.service, FINAL)
    rule = {"kind": "relative", "counting": "best-case"}
    start = add_contest(api.service, started=-HOUR, freeze=HOUR, rule=rule, settings={"final_minutes": 60})
    change_contest(api.service, open_to_all=False, thaw_time=start + 6.5 * HOUR)
    with_checkers(api)
    walk = Walk(api, random.Random(7))
    walk.admin("POST", "teams", {"id": "late", "name": "Late"})
    walk.enrol()
    walk.admin("POST", "contests/c/groups", [{"id": "g", "name": "Group"}])
    person = {"id": "p", "name": "Person", "role": "contestant", "team_ids": ["team"]}
    walk.admin("POST", "contests/c/persons", [person])
    walk.check("before the start")
    for milestone, hours, minute, steps in LIFE:
        pass_time(api.service, hours * HOUR)
        walk.minute = minute
        walk.check(milestone)
        for step in steps:
            step(walk)
            walk.check(f"{milestone}: {step.__name__}")
    seen_by_all = {
        name: len(set(walk.told[name, None].values())) for name in ("submissions", "judgements", "teams", "problems")
    }
    assert all(count > 1 for count in seen_by_all.values()), seen_by_all
