"""A contest played at random: whoever folds the feed, from any token and over any restart, knows what GET answers."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from app.accounts.service.viewer import digest
from app.contests.schemas import ContestSettings
from app.core.settings import Settings
from app.domain.counting import CaseVerdict
from app.domain.documents import FoundScore
from app.submissions.queries import judgements, submissions
from app.submissions.queries.judgements import Outcome
from app.submissions.queries.submissions import NewAnswer, NewSubmission
from app.tables import (
    AccountRow,
    ClarificationRow,
    CommentaryRow,
    ContestRow,
    GroupRow,
    JudgementRow,
    TeamRow,
    TokenRow,
)
from tests.builders.contests import HOUR, PROBLEM, add_contest, add_problem
from tests.builders.examples import examples
from tests.builders.judging import begin, queued
from tests.builders.service import Api, open_api
from tests.builders.streams import Who, fold, read_feed, shown
from tests.conftest import migrated_sqlite

TEAMS = ("team", "other")
USERS = ("team", "other", "judge", "staff")
RULES = {
    "absolute": ({"kind": "absolute"}, 10.0),
    "last": ({"kind": "absolute", "counting": "last", "carry": "latest"}, 10.0),
    "relative": ({"kind": "relative", "counting": "last", "carry": "best"}, 0.0),
}
TIMES = {"before": -HOUR, "running": HOUR, "frozen": 4 * HOUR, "over": 6 * HOUR}
VERDICTS = {"AC": CaseVerdict.ACCEPTED, "WA": CaseVerdict.REJECTED, "JE": CaseVerdict.JUDGE_ERROR}


@dataclass
class Known:
    """What one client has received: events in order, with the tokens it may come back with."""

    events: list[dict[str, Any]] = field(default_factory=list)

    def read(self, api: Api, who: Who) -> None:
        """Come back with the last token, or for the first time."""
        token = next((each["token"] for each in reversed(self.events) if "token" in each), None)
        news = read_feed(api, user=who, token=token)
        tokens = [each["token"] for each in news if "token" in each]
        assert len(tokens) == len(set(tokens))
        assert not news or "token" in news[-1]
        self.events += news


class Play(RuleBasedStateMachine):
    """Teams submit, the judge judges, admins change their minds, the clock goes, the server stops and starts."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        self.clients: dict[str, Known] = {}
        self.waiting: list[int] = []
        self.applied: list[str] = []
        self.extra = 0
        self.asked = 0

    @initialize(kind=st.sampled_from(sorted(RULES)), slice_=st.sampled_from([1, 2, Settings.most_swept]))
    def begin(self, kind: str, slice_: int) -> None:
        """`slice_`: how many submissions a look takes where all are to be looked at."""
        self.slice = slice_
        migrated_sqlite(self.folder / "db.sqlite")
        scoring, self.coalesce = RULES[kind]
        self.open(again=False)
        add_problem(self.api.service)
        add_contest(self.api.service, started=HOUR, freeze=2 * HOUR, rule=scoring)
        now = datetime.now(UTC)
        with self.api.service.database.write() as session:
            for user in USERS:
                session.add(TokenRow(digest=digest(user), account_id=user, created=now, expires=None, label=""))

    def open(self, *, again: bool) -> None:
        self.running = self.stack.enter_context(ExitStack())
        url = f"sqlite:///{self.folder / 'db.sqlite'}"
        self.api = self.running.enter_context(
            open_api(url, self.folder / "home", again=again, feed_coalesce_seconds=self.coalesce, most_swept=self.slice)
        )

    def who(self, user: str) -> Who:
        return None if user == "nobody" else {"Authorization": f"Bearer {user}"}

    @rule(
        team=st.sampled_from(TEAMS), minute=st.integers(0, 290), judged=st.booleans(), cases=st.sets(st.integers(2, 3))
    )
    def submit(self, team: str, minute: int, judged: bool, cases: set[int]) -> None:
        service = self.api.service
        new = NewSubmission(
            "c",
            PROBLEM,
            team,
            team,
            datetime.now(UTC),
            minute * 60_000,
            [NewAnswer(case, f"0{case}.out", 2, None, b"1\n") for case in sorted(cases)],
            [],
            [],
            None,
            None,
        )
        accepted = service.writer.submit(submissions.accept, new).result()
        assert accepted.judgement_id is not None
        service.boards.changed("c")
        self.waiting.append(accepted.judgement_id)
        if judged:
            self.judge(accepted.judgement_id, cases, "AC", 1)

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), verdict=st.sampled_from(sorted(VERDICTS)), raw=st.integers(0, 9))
    def judge_one(self, data: st.DataObject, verdict: str, raw: int) -> None:
        self.judge(data.draw(st.sampled_from(self.waiting)), {2, 3}, verdict, raw)

    def judge(self, judgement: int, cases: set[int], verdict: str, raw: int) -> None:
        service = self.api.service
        attempt = begin(service.writer, judgement)
        assert attempt is not None
        found = VERDICTS[verdict]
        exact = raw if found is CaseVerdict.ACCEPTED else None
        share = min(1, raw) if found is CaseVerdict.ACCEPTED else None
        message = {"key": "k", "text": "t", "args": {}}
        scores = [FoundScore(case, found, exact, None, share, message, 7) for case in sorted(cases)]
        outcome = Outcome(judgement, attempt, verdict, scores, datetime.now(UTC))
        assert service.writer.submit(judgements.record_many, outcome).result()
        service.boards.changed("c")
        self.waiting.remove(judgement)

    @rule(time=st.sampled_from(sorted(TIMES)), thawed=st.booleans())
    def set_the_clock(self, time: str, thawed: bool) -> None:
        now = datetime.now(UTC)
        with self.api.service.database.write() as session:
            contest = session.get_one(ContestRow, "c")
            contest.start_time = now - TIMES[time]
            contest.thaw_time = now - timedelta(minutes=1) if thawed and time == "over" else None

    @rule(show=st.booleans(), shown_as=st.sampled_from(["AC", "PC"]), rejections=st.sampled_from(["verdict", "full"]))
    def change_settings(self, show: bool, shown_as: str, rejections: str) -> None:
        with self.api.service.database.write() as session:
            contest = session.get_one(ContestRow, "c")
            settings = {"show_others_answers": show, "partly_correct_as": shown_as, "rejections": rejections}
            contest.settings = ContestSettings.model_validate(settings)

    @rule(team=st.sampled_from(TEAMS), hidden=st.booleans())
    def hide(self, team: str, hidden: bool) -> None:
        with self.api.service.database.write() as session:
            session.get_one(TeamRow, team).hidden = hidden

    @rule()
    def let_a_team_come(self) -> None:
        self.extra += 1
        with self.api.service.database.write() as session:
            name = f"late-{self.extra}"
            session.add(TeamRow(id=name, name=name, label=name, hidden=False))
            session.flush()
            session.add(
                AccountRow(id=name, username=name, type="team", team_id=name, created=datetime.now(UTC), name=None)
            )

    @precondition(lambda self: self.extra)
    @rule()
    def let_a_team_go(self) -> None:
        with self.api.service.database.write() as session:
            session.delete(session.get_one(AccountRow, f"late-{self.extra}"))
            session.flush()
            session.delete(session.get_one(TeamRow, f"late-{self.extra}"))
        self.extra -= 1

    @rule(sender=st.sampled_from([None, *TEAMS]), to=st.sampled_from([None, ["team"], ["other", "team"]]))
    def ask_or_announce(self, sender: str | None, to: list[str] | None) -> None:
        self.asked += 1
        with self.api.service.database.write() as session:
            row = ClarificationRow(
                id=f"clar{self.asked}",
                contest_id="c",
                from_team_id=sender,
                to_team_ids=None if sender is not None else to,
                reply_to_id=f"clar{self.asked - 1}" if self.asked > 1 else None,
                text="?",
                time=datetime.now(UTC),
                contest_time_ms=0,
            )
            session.add(row)

    @precondition(lambda self: self.asked)
    @rule(to=st.sampled_from([None, ["team"], ["other"]]))
    def send_it_to_others(self, to: list[str] | None) -> None:
        with self.api.service.database.write() as session:
            for row in session.query(ClarificationRow):
                row.from_team_id, row.to_team_ids = None, to

    @rule(about=st.sampled_from(TEAMS), group=st.booleans())
    def comment(self, about: str, group: bool) -> None:
        self.asked += 1
        with self.api.service.database.write() as session:
            now = datetime.now(UTC)
            row = CommentaryRow(
                id=f"com{self.asked}", contest_id="c", message="!", details={"team_ids": [about]}, time=now
            )
            row.contest_time_ms = 0
            session.add(row)
            if group:
                session.add(GroupRow(id=f"g{self.asked}", contest_id="c", name="A group"))
                session.flush()
                session.get_one(TeamRow, about).group_ids = [f"g{self.asked}"]

    @rule()
    def judge_again(self) -> None:
        """Every finished judgement is replaced by one that rejects."""
        now = datetime.now(UTC)
        with self.api.service.database.write() as session:
            done = session.query(JudgementRow).filter(JudgementRow.current, JudgementRow.state == "done").all()
            for row in done:
                row.current = False
                again = JudgementRow(
                    submission_id=row.submission_id,
                    state="done",
                    attempt=1,
                    type="WA",
                    current=True,
                    start_time=now,
                    end_time=now,
                )
                session.add(again)
        self.api.service.boards.changed("c")

    @rule(applied=st.booleans())
    def rejudge(self, applied: bool) -> None:
        """Everything is judged again beside, and rejected; that is applied, or given up."""
        begun = self.api.post("contests/c/rejudgings", user="admin", json={"reason": "why not"})
        if begun.status_code == 400:  # nothing is judged yet
            return
        assert begun.status_code == 201, begun.text
        with self.api.service.database.read() as session:
            again = queued(session, rejudging=True)
        for judgement in again:
            self.waiting.append(judgement)
            self.judge(judgement, {2, 3}, "WA", 0)
        self.compare("team")
        place, deed = begun.json()["href"], "apply" if applied else "cancel"
        assert self.api.post(f"{place}/{deed}", user="admin").status_code == 200
        if applied:
            self.applied.append(place)

    @precondition(lambda self: self.applied)
    @rule()
    def undo(self) -> None:
        """Refused where the judge has changed his mind since by other means."""
        reply = self.api.post(f"{self.applied.pop()}/undo", user="admin")
        assert reply.status_code in {200, 409}, reply.text

    @rule()
    def restart(self) -> None:
        self.running.close()
        self.open(again=True)

    @rule(user=st.sampled_from(["nobody", *USERS]))
    def read(self, user: str) -> None:
        self.clients.setdefault(user, Known()).read(self.api, self.who(user))

    @rule(user=st.sampled_from(["nobody", *USERS]), data=st.data())
    def come_back_with_an_older_token(self, user: str, data: st.DataObject) -> None:
        known = self.clients.setdefault(user, Known())
        places = [at for at, each in enumerate(known.events) if "token" in each]
        if places:
            del known.events[data.draw(st.sampled_from(places)) + 1 :]
        self.compare(user)

    @rule(user=st.sampled_from(["nobody", *USERS]))
    def compare(self, user: str) -> None:
        known = self.clients.setdefault(user, Known())
        known.read(self.api, self.who(user))
        expected = shown(self.api, "c", self.who(user))
        assert fold(known.events) == expected
        assert fold(read_feed(self.api, user=self.who(user))) == expected

    def teardown(self) -> None:
        try:
            if hasattr(self, "api"):
                for user in ["nobody", *USERS]:
                    self.compare(user)
        finally:
            self.stack.close()


TestPlay = Play.TestCase
TestPlay.settings = settings(max_examples=examples(3, 60), stateful_step_count=25, deadline=None)
