"""The cached boards equal boards from scratch, whatever is changed, read, forgotten, and however late it is."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sqlalchemy import delete, select, update

from app.core.service import Service
from app.domain.counting import RawScore
from app.problems.queries import problems
from app.problems.queries.scoring_input import scored_contest
from app.scoreboard.queries.contest_snapshot import BoardPair, ContestSnapshot
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache, make_snapshot
from app.submissions.queries.attempts import attempts
from app.tables import ContestProblemRow, ContestRow, JudgementRow, RawScoreRow, SubmissionRow
from tests.builders.contests import FINAL, add_contest, add_problem, change_contest
from tests.builders.examples import examples
from tests.builders.scoring import raw
from tests.builders.service import open_service

DURATION, FREEZE = timedelta(minutes=60), timedelta(minutes=30)
NUMBERS = count(1)
PROBLEMS = {"echo": None, "echo2": FINAL}
"""Without final cases both boards show the same ones before the freeze; with them everyone's lacks some."""
scores = st.dictionaries(st.sampled_from(["02", "03"]), st.builds(raw, st.integers(1, 9), st.just(1)), min_size=1)


@pytest.fixture(autouse=True)
def service(sqlite_url: str, tmp_path: Path) -> Iterator[None]:
    """One service for all examples, each of which has a contest of its own."""
    with open_service(sqlite_url, tmp_path / "home") as opened:
        for slug, changes in PROBLEMS.items():
            add_problem(opened, changes, slug)
        Cache.service = opened
        yield


def failing(*_arguments: object) -> BoardPair:
    """A reading that takes what has been touched, and fails."""
    raise OSError("no disk")


class Cache(RuleBasedStateMachine):
    """Changes are committed without a new generation of the database, as those of the writer are."""

    service: Service

    @initialize(slug=st.sampled_from(sorted(PROBLEMS)))
    def begin(self, slug: str) -> None:
        self.slug, self.contest_id = slug, f"c{next(NUMBERS)}"
        self.add_contest()
        self.cache = ScoreboardCache(self.service.database, lambda: self.now)

    def add_contest(self) -> None:
        start = add_contest(self.service, self.contest_id, duration=DURATION, freeze=FREEZE, problem_id=self.slug)
        self.start = self.now = start

    def commit(self, team: str, judged: Mapping[str, RawScore] | None) -> int:
        with self.service.database.write(quiet=True) as session:
            passed = self.now - self.start
            row = SubmissionRow(
                contest_id=self.contest_id,
                problem_id=self.slug,
                team_id=team,
                account_id=team,
                time=self.now,
                contest_time_ms=passed // timedelta(milliseconds=1),
                files=[],
                sources=[],
            )
            session.add(row)
            session.flush()
            id_ = row.id
        if judged is not None:
            self.commit_verdict(id_, judged)
        return id_

    def commit_verdict(self, submission_id: int, judged: Mapping[str, RawScore]) -> None:
        """A new judgement that stands in place of the one there is, as after a rejudging."""
        with self.service.database.write(quiet=True) as session:
            old = JudgementRow.submission_id == submission_id
            session.execute(update(JudgementRow).where(old).values(current=False))
            row = JudgementRow(submission_id=submission_id, current=True, state="done", type="PC")
            row.start_time = row.end_time = self.now
            session.add(row)
            session.flush()
            for case, score in judged.items():
                case_row = problems.test_case(session, self.slug, case)
                assert case_row is not None
                said = {"key": "score", "text": "1", "args": {}}
                values = RawScoreRow(judgement_id=row.id, test_case_id=case_row.id, verdict=score.verdict.value)
                values.raw_num, values.raw_den, values.multiplier_num, values.multiplier_den = score.raw, 1, 1, 1
                values.message, values.run_time_ms, values.time = said, 1, self.now
                session.add(values)

    def ids(self) -> list[int]:
        with self.service.database.read() as session:
            return sorted(session.scalars(select(SubmissionRow.id).where(SubmissionRow.contest_id == self.contest_id)))

    @rule(team=st.sampled_from(["team", "other"]), judged=st.one_of(st.none(), scores))
    def submit(self, team: str, judged: Mapping[str, RawScore] | None) -> None:
        self.cache.changed(self.contest_id, self.commit(team, judged))

    @rule(data=st.data(), judged=scores)
    def judge(self, data: st.DataObject, judged: Mapping[str, RawScore]) -> None:
        if ids := self.ids():
            id_ = data.draw(st.sampled_from(ids))
            self.commit_verdict(id_, judged)
            self.cache.changed(self.contest_id, id_)

    @rule(minutes=st.integers(1, 25))
    def let_time_pass(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @rule(minutes=st.integers(0, 60))
    def move_the_freeze(self, minutes: int) -> None:
        change_contest(self.service, self.contest_id, freeze_ms=minutes * 60_000)

    @rule(minutes=st.integers(1, 90))
    def set_the_thaw(self, minutes: int) -> None:
        change_contest(self.service, self.contest_id, thaw_time=self.now + timedelta(minutes=minutes))

    @rule()
    def let_the_clock_strike(self) -> None:
        """A board is at hand until the next moment of the contest, and not from then on."""
        pair = self.cache._contests[self.contest_id].pair if self.contest_id in self.cache._contests else None
        if pair is not None and pair.good_until is not None and pair.good_until > self.now:
            self.now = pair.good_until - timedelta(microseconds=1)
            assert self.cache.snapshot(self.contest_id, public=True) is pair.public
            self.now = pair.good_until
            assert self.cache.ready(self.contest_id, public=True) is None

    @rule(public=st.booleans())
    def fail_to_read(self, public: bool) -> None:
        """A reading that fails leaves nothing half known: the invariant holds after it."""
        compute, self.cache._compute = self.cache._compute, failing  # type: ignore[method-assign]
        self.cache.changed(self.contest_id, self.commit("team", None))
        with pytest.raises(OSError, match="no disk"):
            self.cache.snapshot(self.contest_id, public=public)
        self.cache._compute = compute  # type: ignore[method-assign]

    @rule(judged=scores, team=st.sampled_from(["team", "other"]))
    def change_while_many_read(self, judged: Mapping[str, RawScore], team: str) -> None:
        """Whoever reads meanwhile gets the board of before or of after; who asks once it is said, that of after."""
        before = len(self.ids())
        with ThreadPoolExecutor(4) as pool:
            readers = [pool.submit(self.cache.snapshot, self.contest_id, public=bool(at % 2)) for at in range(4)]
            self.cache.changed(self.contest_id, self.commit(team, judged))
            later = [pool.submit(self.cache.snapshot, self.contest_id, public=bool(at % 2)) for at in range(4)]
            sizes = [len(self.shown(each.result()).attempts) for each in readers]
            assert set(sizes) <= {before, before + 1}
            assert {len(self.shown(each.result()).attempts) for each in later} == {before + 1}

    @rule(public=st.booleans())
    def ask_from_the_event_loop(self, public: bool) -> None:
        """All who wait share one computation."""
        computed = self.cache.computed
        self.cache.changed(self.contest_id)

        async def ask() -> list[ContestSnapshot | None]:
            asked = [self.cache.snapshot_soon(self.contest_id, public=public) for _ in range(5)]
            return list(await asyncio.gather(*asked))

        snapshots = asyncio.run(ask())
        assert all(each is snapshots[0] for each in snapshots)
        assert self.cache.computed == computed + 1

    @precondition(lambda self: self.cache.ready(self.contest_id, public=True) is not None)
    @rule()
    def delete_and_begin_again(self) -> None:
        with self.service.database.write() as session:
            for table, column in (
                (SubmissionRow, SubmissionRow.contest_id),
                (ContestProblemRow, ContestProblemRow.contest_id),
                (ContestRow, ContestRow.id),
            ):
                session.execute(delete(table).where(column == self.contest_id))
        assert self.cache.snapshot(self.contest_id, public=True) is None
        assert self.cache.snapshot("none", public=True) is None
        assert not self.cache._contests, "nothing is held of what is gone, nor of names of nothing"
        self.add_contest()

    def shown(self, snapshot: ContestSnapshot | None) -> ContestSnapshot:
        assert snapshot is not None
        return snapshot

    @invariant()
    def equals_boards_from_scratch(self) -> None:
        if not hasattr(self, "cache"):
            return
        with self.service.database.read() as session:
            contest = scored_contest(session, self.contest_id)
            assert contest is not None
            reads = attempts(session, self.contest_id)
        for public in (True, False):
            mine = self.shown(self.cache.snapshot(self.contest_id, public=public))
            fresh = make_snapshot(contest, reads, self.now, public=public)
            assert list(mine.board.rows) == list(fresh.board.rows)
            assert dict(mine.board.bests) == dict(fresh.board.bests)
            assert (mine.moment, mine.state, mine.view) == (fresh.moment, fresh.state, fresh.view)
            assert mine.attempts == fresh.attempts


TestCache = Cache.TestCase
TestCache.settings = settings(max_examples=examples(5, 100), stateful_step_count=12, deadline=None)
