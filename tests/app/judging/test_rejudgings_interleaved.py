"""Submissions between the steps of rejudgings, in any order: the board is the one of a judge from scratch."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.app.judging.test_rejudgings import prepared
from tests.builders.examples import examples
from tests.builders.judging import judge
from tests.builders.service import Api, open_api

TEAMS = ("team", "other")
Version = dict[str, bytes]
"""The expected answer of each secret case."""

answers = st.sampled_from([b"2\n", b"3\n", b"22\n"])
steps = st.one_of(
    st.tuples(st.just("submit"), st.sampled_from(TEAMS), st.fixed_dictionaries({"02": answers, "03": answers})),
    st.tuples(st.just("judge"), st.integers(1, 3), st.none()),
    st.tuples(st.just("put"), st.sampled_from(["02", "03"]), answers),
    st.tuples(st.just("delete"), st.sampled_from(["02", "03"]), st.none()),
    st.tuples(st.sampled_from(["apply", "apply", "undo", "cancel"]), st.none(), st.none()),
)


class Story:
    """A contest with the echo problem, and what is known of it: who sent what, and the versions of the problem."""

    def __init__(self, api: Api) -> None:
        self.api = prepared(api)
        self.sent: list[tuple[str, dict[str, bytes]]] = []
        self.live: Version = {"02": b"2\n", "03": b"3\n"}
        self.open: tuple[str, Version] | None = None
        self.applied: list[tuple[str, Version]] = []

    def take(self, kind: str, one: Any, other: Any) -> None:
        """Take one step."""
        if kind == "submit":
            self.submit(one, other)
        elif kind == "judge":
            judge(self.api.service, most=one)
        elif kind == "put":
            files = {"input": ("in", other), "answer": ("ans", other)}
            self.change(
                self.api.put(f"problems/echo/testcases/secret/{one}", user="admin", files=files), {one: other}, None
            )
        elif kind == "delete":
            self.change(self.api.delete(f"problems/echo/testcases/secret/{one}", user="admin"), {}, one)
        else:
            self.decide(kind)

    def submit(self, team: str, files: dict[str, bytes]) -> None:
        """Send answers for both cases; one for a case that is gone is ignored."""
        parts = [("files", (f"{name}.out", data)) for name, data in files.items()]
        reply = self.api.post("contests/c/submissions", user=team, data={"problem_id": "echo"}, files=parts)
        assert reply.status_code == 201, reply.text
        self.sent.append((team, {name: data for name, data in files.items() if name in self.live}))

    def change(self, reply: Any, put: Version, deleted: str | None) -> None:
        """Know what a change has become: made at once, a rejudging, or refused."""
        assert reply.status_code in {200, 201, 202, 204, 404, 409}, reply.text
        wanted = {name: data for name, data in (self.live | put).items() if name != deleted}
        if reply.status_code == 202:
            self.open = (reply.json()["href"], wanted)
        elif reply.status_code in {200, 201, 204}:
            self.live = wanted

    def decide(self, deed: str) -> None:
        """Apply or cancel what is open, or undo what was applied last; a refusal changes nothing."""
        if deed == "undo":
            if self.applied and self.api.post(f"{self.applied[-1][0]}/undo", user="admin").status_code == 200:
                self.live = self.applied.pop()[1]
        elif self.open is not None:
            href, wanted = self.open
            reply = self.api.post(f"{href}/{deed}", user="admin")
            if reply.status_code != 200:
                assert (deed, reply.status_code) == ("apply", 409)
                assert "judgements are not done yet" in reply.text or "changed since" in reply.text, reply.text
                return
            self.open = None
            if deed == "apply":
                self.applied.append((href, self.live))
                self.live = wanted

    def check(self) -> None:
        """The board, and the preview of what is open, are those of a judge from scratch."""
        while judge(self.api.service):
            pass
        rows = self.api.get("contests/c/scoreboard", user="judge").json()["rows"]
        assert {row["team_id"]: row["score"]["score"] for row in rows} == self.scratch(self.live)
        if self.open is not None:
            found = self.api.get(f"{self.open[0]}/difference?all=true", user="judge").json()
            assert found["counts"]["submissions"] == len(self.sent)
            assert {each["team_id"]: each["after"]["points"] for each in found["teams"]} == self.scratch(self.open[1])

    def scratch(self, version: Version) -> dict[str, float]:
        """Points of each team: 100 shared among the cases, for each that one of its submissions has right."""
        right = {(team, name) for team, files in self.sent for name, data in files.items() if version.get(name) == data}
        return {team: sum(100 / len(version) for name in version if (team, name) in right) for team in TEAMS}


@settings(
    max_examples=examples(3, 60), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(story=st.lists(steps, min_size=6, max_size=16))
def test_whatever_teams_submit_between_the_steps_the_board_is_one_from_scratch(
    sqlite_url: str, story: list[tuple[str, Any, Any]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(sqlite_url.removeprefix("sqlite:///"), Path(folder) / "db.sqlite")
        with open_api(f"sqlite:///{folder}/db.sqlite", Path(folder) / "home") as api:
            told = Story(api)
            for step in [("submit", "team", {"02": b"2\n", "03": b"3\n"}), *story]:
                told.take(*step)
            told.check()
            told.decide("apply")
            told.check()
