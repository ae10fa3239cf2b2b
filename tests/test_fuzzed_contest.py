"""A contest is played at random through its API: whatever happens, its boards equal a computation from scratch.

So do the tables for spreadsheets, the end of the points over time, and the reports on what counts. The contest's life,
from a pause to its end, its length, its freeze, the opening of its frozen board and its being final, is played against
a model of it: what is refused in which state, and with which code, and from when on the public board stands still. The
board of a final contest never moves.

The judge is played by hand: an answer `7` is accepted with the raw score 7, `x` is rejected, `!` makes the judge fail,
and a judge whose mind has changed doubles what it finds and rejects what is odd.
"""

from __future__ import annotations

import base64
import csv
import io
import re
import tempfile
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from math import floor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from sqlalchemy import select

from app.core.clics import format_reltime, format_time
from app.domain.contests import OPEN, Freeze
from app.domain.counting import Attempt, CaseVerdict, RawScore, exact
from app.domain.documents import FoundScore
from app.judging.queries import judging_tasks
from app.judging.queries.judging_tasks import Task
from app.judging.service.judging import outcome
from app.problems.queries.scoring_input import scored_contest
from app.submissions.queries import judgements
from app.submissions.queries.judgements import Outcome
from app.tables import ContestTeamRow, JudgementRow, RawScoreRow, SubmissionRow, TestCaseRow
from tests.builders.contests import HOUR, PROBLEM, add_contest, add_problem, change_contest, pass_time
from tests.builders.examples import examples
from tests.builders.judging import begin, queued
from tests.builders.read_pages import differences
from tests.builders.service import Api, open_api
from tests.builders.slow_board import SlowBoard, scoreboard
from tests.builders.verdicts import ACCEPTED
from tests.conftest import migrated_sqlite

CASES = ("02", "03")
ENTRANTS = ("team", "other")
BEGUN = 4 * HOUR
DURATION = 5 * HOUR
answers = st.sampled_from(["0", "1", "2", "3", "7", "8", "x", "!"])
RULES = (
    {"kind": "relative", "counting": "last", "carry": "best"},
    {"kind": "relative", "direction": "minimise", "counting": "best-case"},
    {"kind": "relative", "counting": "best", "carry": "none"},
    {"kind": "rank", "counting": "last", "carry": "latest"},
    {"kind": "absolute", "counting": "best-case"},
)


class Contest(RuleBasedStateMachine):
    """What admins, teams and the judge do, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.home = Path(self.folder.name)
        self.url = migrated_sqlite(self.home / "contest.db")
        self.opened = open_api(self.url, self.home)
        self.api: Api = self.opened.__enter__()
        self.mind_changed = False
        self.sent = 0
        self.run, self.duration = BEGUN, DURATION
        self.freeze_at: timedelta | None = None
        self.paused = self.thawed = self.revealed = False
        self.final: list[Any] | None = None

    @initialize(chosen=st.sampled_from(RULES))
    def begin(self, chosen: dict[str, Any]) -> None:
        add_problem(self.api.service)
        add_contest(self.api.service, started=BEGUN, duration=DURATION, rule=chosen)
        change_contest(self.api.service, open_to_all=False)
        with self.api.service.database.write() as session:
            session.add_all(ContestTeamRow(contest_id="c", team_id=team) for team in ENTRANTS)
        self.counting = chosen["counting"]

    @rule(
        team=st.sampled_from(ENTRANTS),
        minute=st.integers(0, 239),
        files=st.dictionaries(st.sampled_from(CASES), answers, min_size=1),
    )
    def submit(self, team: str, minute: int, files: dict[str, str]) -> None:
        self.sent += 1
        with self.api.service.database.read() as session:
            found = scored_contest(session, "c")
            assert found is not None
            assert found.clock.start is not None
            time = found.clock.start + timedelta(minutes=minute)
        body = {
            "language_id": "answers",
            "problem_id": PROBLEM,
            "team_id": team,
            "time": format_time(time),
            "files": [{"data": zipped(files)}],
        }
        reply = self.api.post("contests/c/submissions", user="admin", json=body)
        assert reply.status_code == (403 if self.final is not None else 201), reply.text

    @rule()
    def judge(self) -> None:
        service = self.api.service
        with service.database.read() as session:
            ids = queued(session) + queued(session, rejudging=True)
        attempts = {id_: begin(service.writer, id_) for id_ in ids}
        with service.database.read() as session:
            found = judging_tasks.load_tasks(session, {id_: at for id_, at in attempts.items() if at is not None})
        for task in found:
            assert service.writer.submit(judgements.record_many, self.found(task)).result()
            if task.rejudging_id is None:
                service.boards.changed(task.contest_id, task.submission_id)

    @rule()
    def change_of_mind(self) -> None:
        """Everything is judged again by a judge who sees it otherwise; refused while another rejudging is open."""
        self.mind_changed = not self.mind_changed
        reply = self.api.post("contests/c/rejudgings", user="admin", json={"reason": "a change of mind"})
        assert reply.status_code in {201, 400, 409}, reply.text

    @rule(points=st.sampled_from([10, 90]))
    def change_points(self, points: int) -> None:
        """Another maximum waits to be applied, or changes at once where no one has submitted."""
        entry = self.api.get("contests/c/problems/echo", user="admin").json()
        body = {"rule": {**entry["rule"], "max_points": points}}
        reply = self.api.patch("contests/c/problems/echo", user="admin", json=body)
        assert reply.status_code in ({403} if self.final is not None else {200, 202, 409}), reply.text

    @rule(deed=st.sampled_from(["apply", "apply", "cancel", "undo"]), at=st.integers(0, 3))
    def decide(self, deed: str, at: int) -> None:
        """Apply, cancel or undo one of the last rejudgings; what that contradicts is refused."""
        known = self.api.get("contests/c/rejudgings", user="admin").json()
        if at < len(known):
            body = {"judge_errors": True} if deed == "apply" else None
            reply = self.api.post(f"{known[-1 - at]['href']}/{deed}", user="admin", json=body)
            assert reply.status_code in ({409} if self.final is not None and deed != "cancel" else {200, 409}), (
                reply.text
            )

    def found(self, task: Task) -> Outcome:
        """What the judge finds of one submission, in its present mind."""
        scores = []
        for answer in task.answers:
            assert answer.data is not None
            verdict, raw = self.verdict(answer.data.decode())
            share = None if raw is None else min(raw, 8)
            scores.append(
                FoundScore(
                    answer.test_case_id, verdict, raw, None, None if share is None else exact(share, 8), ACCEPTED, 1
                )
            )
        return outcome(task, scores)

    def verdict(self, text: str) -> tuple[CaseVerdict, int | None]:
        if text == "!":
            return CaseVerdict.JUDGE_ERROR, None
        if text == "x" or (self.mind_changed and int(text) % 2):
            return CaseVerdict.REJECTED, None
        return CaseVerdict.ACCEPTED, int(text) * (2 if self.mind_changed else 1)

    @rule(confirmed=st.booleans())
    def freeze(self, confirmed: bool) -> None:
        """Moves a freeze that has begun only where the request confirms it."""
        at = self.duration - 2 * HOUR
        refused = 403 if self.begun and at != self.freeze_at and not confirmed else 200
        body = {"scoreboard_freeze_duration": "2:00:00", "move_freeze": confirmed}
        self.freeze_at = at if self.patch("contests/c", body, refused) == 200 else self.freeze_at

    @rule(confirmed=st.booleans())
    def unfreeze(self, confirmed: bool) -> None:
        """Refused where the board has been thawed: that would be a thaw of nothing; and where it is not confirmed."""
        refused = 400 if self.thawed else 403 if self.begun and not confirmed else 200
        body = {"scoreboard_freeze_duration": None, "move_freeze": confirmed}
        self.freeze_at = None if self.patch("contests/c", body, refused) == 200 else self.freeze_at

    @rule(ahead=st.sampled_from([-1.0, -0.25, 0.25, 0.75, 2.0]))
    def change_length(self, ahead: float) -> None:
        """Longer and shorter, also after the end; a freeze that has begun stays where it is, one ahead moves along."""
        duration = self.run + ahead * HOUR
        decided = self.ended and (self.freeze_at is None or self.thawed)
        closed = decided or (self.ended and self.revealed) or duration <= self.run
        expected = 403 if closed and duration != self.duration else 200
        if self.patch("contests/c", {"duration": format_reltime(duration)}, expected) == 200:
            if self.freeze_at is not None and not self.begun:
                self.freeze_at += duration - self.duration
            self.duration = duration

    @rule(team=st.sampled_from(ENTRANTS), ahead=st.sampled_from([0.25, 2.0]))
    def go_on_behind_the_freeze(self, team: str, ahead: float) -> None:
        """Someone sends something behind the freeze, and the contest gets longer; so few steps seldom come to it."""
        if self.final is None and not self.thawed:
            self.freeze(confirmed=True)
            self.submit(team, 239, {"02": "8"})
            self.judge()
            self.change_length(ahead)

    @rule()
    def move_start(self) -> None:
        start = format_time(datetime.now(UTC) + HOUR)
        for body in ({"start_time": start}, {"start_time": None, "countdown_pause_time": "0:10:00"}):
            self.patch("contests/c", {"id": "c", **body}, 403)

    @rule()
    def thaw(self) -> None:
        possible = self.ended and self.freeze_at is not None and not self.thawed
        body = {"id": "c", "scoreboard_thaw_time": format_time(datetime.now(UTC))}
        self.thawed = self.patch("contests/c", body, 200 if possible else 403) == 200 or self.thawed

    @rule(hidden=st.booleans(), team=st.sampled_from(ENTRANTS))
    def hide(self, hidden: bool, team: str) -> None:
        before = self.api.get(f"teams/{team}", user="admin").json()["hidden"]
        self.patch(f"teams/{team}", {"hidden": hidden}, same=hidden == before)

    @rule(disqualified=st.booleans(), team=st.sampled_from(ENTRANTS))
    def disqualify(self, disqualified: bool, team: str) -> None:
        self.patch(f"contests/c/teams/{team}", {"disqualified": disqualified})

    @property
    def ended(self) -> bool:
        return self.run >= self.duration

    @property
    def begun(self) -> bool:
        """Has the freeze begun?"""
        return self.freeze_at is not None and self.run >= self.freeze_at

    def unjudged(self) -> list[str]:
        """The teams of the submissions without a verdict."""
        with self.api.service.database.read() as session:
            sent = session.scalars(select(SubmissionRow))
            return [str(each.team_id) for each in sent if raw_scores(session, each.id) is None]

    @rule()
    def pause(self) -> None:
        expected = 403 if self.final is not None else 409 if self.paused or self.ended else 200
        self.paused = self.life("post", "/pause", None, expected) or self.paused

    @rule()
    def resume(self) -> None:
        expected = 403 if self.final is not None else 200 if self.paused else 409
        self.paused = self.paused and not self.life("post", "/resume", None, expected)

    @rule(hours=st.sampled_from([0.5, 2]))
    def let_time_pass(self, hours: float) -> None:
        pass_time(self.api.service, hours * HOUR)
        self.run += timedelta(0) if self.paused else hours * HOUR

    @rule(step=st.sampled_from(["cell", "row", "all"]))
    def reveal(self, step: str) -> None:
        """Possible after the end, while something is frozen and everything that is seen is judged."""
        shown = {row["team_id"] for row in self.api.get("contests/c/scoreboard", user="admin").json()["rows"]}
        waiting = not shown.isdisjoint(self.unjudged())
        expected = 200 if self.ended and self.begun and not self.thawed and not waiting else 409
        if self.life("post", "/reveal", {"step": step}, expected):
            left = self.api.get("contests/c/reveal", user="admin").json()
            assert (left["left"] == 0) == (left["thawed"] is not None) or step != "all"
            self.thawed, self.revealed = left["thawed"] is not None, True

    @rule()
    def finalize(self) -> None:
        possible = self.ended and (self.thawed or self.freeze_at is None) and not self.unjudged()
        if self.life("patch", "", {"finalized": True}, 200 if possible else 409):
            self.final = shown(self.api.get("contests/c/scoreboard", user="admin").json())

    @rule()
    def open_again(self) -> None:
        assert self.life("patch", "", {"finalized": False}, 200)
        self.final = None

    @rule()
    def end_it_all(self) -> None:
        """What the jury does in the end, in order; so few steps at random seldom come to it."""
        if self.final is None:
            self.judge()
            self.resume()
            self.let_time_pass(2)
            self.reveal("all")
            self.finalize()

    def life(self, method: str, what: str, body: Any, expected: int) -> bool:
        """Ask for something in the contest's life, to be answered as expected; True where it was done."""
        reply = self.api.request(method.upper(), f"contests/c{what}", user="admin", json=body)
        assert reply.status_code == expected, reply.text
        return expected == 200

    @rule()
    def restart(self) -> None:
        self.opened.__exit__(None, None, None)
        self.opened = open_api(self.url, self.home)
        self.api = self.opened.__enter__()

    def patch(self, path: str, body: dict[str, Any], expected: int = 200, *, same: bool = False) -> int:
        """Change something; refused in a final contest, unless `same`: then it changes nothing."""
        reply = self.api.patch(path, user="admin", json=body)
        assert reply.status_code == (403 if self.final is not None and not same else expected), reply.text
        return reply.status_code

    @invariant()
    def its_state_is_that_of_the_model(self) -> None:
        if not hasattr(self, "counting"):
            return  # not begun
        state = self.api.get("contests/c/state").json()
        happened = [state[name] is not None for name in ("started", "frozen", "ended", "thawed", "finalized")]
        assert happened == [True, self.begun, self.ended, self.thawed, self.final is not None]
        assert any(each["end"] is None for each in state["removed_intervals"]) == self.paused

    @invariant()
    def a_final_board_stays(self) -> None:
        if self.final is not None:
            assert shown(self.api.get("contests/c/scoreboard", user="admin").json()) == self.final
            assert shown(self.api.get("contests/c/scoreboard").json()) == self.final

    @invariant()
    def boards_are_as_from_scratch(self) -> None:
        for user, public in (("admin", False), (None, True)):
            reply = self.api.get("contests/c/scoreboard", user=user)
            if reply.status_code == 404:
                return  # not begun
            whose = "public" if public else "judges"
            assert shown(reply.json()) == expected(self.from_scratch(public=public)), whose
            assert self.exported(user) == [[*row[:3], row[3][0]] for row in shown(reply.json())], whose

    @invariant()
    def pages_show_what_the_board_shows(self) -> None:
        """To each viewer, and to no one more."""
        for user in (None, "team", "admin"):
            board = self.api.get("contests/c/scoreboard", user=user).json()
            if "rows" not in board:
                return  # not begun
            assert on_page(self.api.get("/c/c/scoreboard", user=user).text) == cut(board)

    @invariant()
    def no_page_shows_a_number_that_the_api_does_not_show(self) -> None:
        """A frozen page leaks nothing: neither by the best of all, by best raw scores, nor through what a team was."""
        for user in (None, "team") if hasattr(self, "counting") else ():
            assert differences(self.api, user, "other", PROBLEM) == []

    @invariant()
    def reports_are_as_the_board(self) -> None:
        board = self.api.get("contests/c/scoreboard", user="admin").json()
        sent = self.api.get("contests/c/submissions", user="admin").json()
        sent.sort(key=lambda each: (each["time"], int(each["id"])))  # the last one is that of the latest time
        for row in board.get("rows", ()):
            mine = [each["id"] for each in sent if each["team_id"] == row["team_id"]]
            reports = [self.api.get(f"contests/c/submissions/{id_}/report", user="admin").json() for id_ in mine]
            judged = [report for report in reports if report["points"] is not None]
            assert row["problems"][0]["score"] == pytest.approx(self.counted(judged))

    def counted(self, reports: Sequence[Any]) -> float:
        """What a team has by the reports on its submissions: the last, the best, or the best of each case."""
        if self.counting != "best-case":
            counts = max if self.counting == "best" else last
            return float(counts([report["points"] for report in reports], default=0.0))
        cases = [(case["name"], case["points"] or 0.0) for report in reports for case in report["cases"]]
        return sum(dict(sorted(cases)).values())

    def exported(self, user: str | None) -> list[Any]:
        """Ranks and points as the table in CSV has them; the last points over time are the same."""
        text = self.api.get("contests/c/scoreboard.csv", user=user).text
        rows = [
            [int(line["rank"]), line["team_id"], float(line["points"]), float(line["A"])]
            for line in csv.DictReader(io.StringIO(text))
        ]
        told = self.api.get("contests/c/scores/history", user=user).json()["teams"]
        ends = {each["team_id"]: each["points"][-1] for each in told if each["points"]}
        assert all((ends[row[1]]["rank"], ends[row[1]]["score"]) == (row[0], row[2]) for row in rows if row[1] in ends)
        return rows

    def from_scratch(self, *, public: bool) -> SlowBoard:
        """The board by the slow rules, from rows read here and by nothing the service keeps."""
        with self.api.service.database.read() as session:
            contest = scored_contest(session, "c")
            assert contest is not None
            tries = []
            for row in session.scalars(select(SubmissionRow).order_by(SubmissionRow.id)):
                time = timedelta(milliseconds=row.contest_time_ms)
                tries.append(Attempt(row.id, str(row.team_id), row.problem_id, time, raw_scores(session, row.id)))
        # The freeze is that of the model: one that moves by itself is seen at once.
        frozen = public and self.begun and not self.thawed
        freeze = Freeze(self.freeze_at, contest.revealed) if frozen else OPEN
        return scoreboard(contest.problems, contest.teams, tries, freeze=freeze, references=contest.references)

    def teardown(self) -> None:
        self.opened.__exit__(None, None, None)
        self.folder.cleanup()


def last(values: Sequence[float], *, default: float) -> float:
    """The last of them, as `max` gives the greatest."""
    return values[-1] if values else default


def zipped(files: dict[str, str]) -> str:
    """Answer files as the API takes them: a zip in base64."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for case, text in files.items():
            archive.writestr(f"{case}.out", text)
    return base64.b64encode(stream.getvalue()).decode()


def raw_scores(session: Any, submission_id: int) -> dict[str, RawScore] | None:
    """What the judgement that stands found; None while there is none."""
    query = select(JudgementRow.id).where(JudgementRow.submission_id == submission_id)
    current = session.scalars(query.where(JudgementRow.current, JudgementRow.state == "done")).one_or_none()
    if current is None:
        return None
    rows = session.execute(
        select(RawScoreRow, TestCaseRow.name)
        .join(TestCaseRow, TestCaseRow.id == RawScoreRow.test_case_id)
        .where(RawScoreRow.judgement_id == current)
    )
    return {
        name: RawScore(
            CaseVerdict(row.verdict), exact(row.raw_num, row.raw_den), exact(row.multiplier_num, row.multiplier_den)
        )
        for row, name in rows
    }


def shown(board: Any) -> list[Any]:
    """What a board over HTTP says of ranks and points, to the last bit."""
    return [
        [
            row["rank"],
            row["team_id"],
            row["score"]["score"],
            *((c["score"], c["num_judged"], c["num_pending"]) for c in row["problems"]),
        ]
        for row in board["rows"]
    ]


def expected(board: SlowBoard) -> list[Any]:
    """The same of a board of the domain."""
    return [
        [row.rank, row.team.id, row.points, *((c.points.points, c.num_judged, c.num_pending) for c in row.cells)]
        for row in board.rows
    ]


def cut(board: Any) -> list[Any]:
    """Ranks, points and what waits of a board over HTTP, points cut to tenths as pages show them."""
    return [
        [row["rank"], row["team_id"], tenths(row["score"]["score"]), *(c["num_pending"] for c in row["problems"])]
        for row in board["rows"]
    ]


def on_page(html: str) -> list[Any]:
    """The same of a page."""
    rows = re.findall(r'<tr data-team="([^"]+)".*?class="rk">(\d+)<.*?class="tot">([\d.]+)<(.*?)</tr>', html, re.DOTALL)
    cells = [re.findall(r'<td class="h [^>]*>(?:<span class="w">\+(\d+))?', rest) for *_, rest in rows]
    return [
        [int(rank), team, total, *(int(each or 0) for each in waiting)]
        for (team, rank, total, _), waiting in zip(rows, cells, strict=True)
    ]


def tenths(points: float) -> str:
    """Points cut to tenths, 99.96 to 99.9."""
    return str(floor(points * 10 + 1e-9) / 10)


TestContest = Contest.TestCase
TestContest.settings = settings(
    max_examples=examples(2, 50), stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
