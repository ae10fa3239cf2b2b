"""Similarity of the answers of 1,000 teams to 100 cases: by hash, by fingerprints made first, by fingerprints kept."""

from __future__ import annotations

import random
import resource
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path

from sqlalchemy.orm import Session

from app.core.db.database import Database
from app.core.files.files import Files
from app.core.files.open_files import open_files
from app.core.settings import Settings
from app.domain.contests import ScoredProblem
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.queries.scoreboard_cache import ScoreboardCache
from app.similarity.service.comparing import Compared, Similarity
from app.submissions.queries.submissions import NewAnswer, NewSubmission, accept
from app.tables import ContestProblemRow, ProblemRow, TestCaseRow, TestGroupRow
from bench.stage import CONTEST, prepare

TEAMS, CASES, TOKENS = 1000, 100, 200
COPIES = 20
RATIO = 0.5
GOAL_SECONDS = 2.0
ENOUGH_SECONDS = 3600.0
PROBLEM = "alike"
PAIR = tuple[str, str]


def main() -> int:
    """Print seconds and memory; 1 if telling by hash takes longer than the goal, or a copy is missed."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as elsewhere:  # its memory is not ours
            copied = elsewhere.submit(fill, home).result()
        database, files = stores(home)
        snapshot = ScoreboardCache(database).snapshot(CONTEST, public=False)
        assert snapshot is not None  # it was made above
        similarity = Similarity(files)
        print(f"{TEAMS:,} teams x {CASES} cases of {TOKENS} tokens; half of the answers are the expected ones")
        print(f"{'':40}{'s':>8}{'pairs':>8}{'MB more':>9}")
        with database.read() as session:
            problem = snapshot.contest.problems[0]
            by_hash, _ = timed("by hash", similarity, session, snapshot, problem, near=False)
            timed("near too, every fingerprint made first", similarity, session, snapshot, problem, near=True)
            _, near = timed("near too, fingerprints kept", similarity, session, snapshot, problem, near=True)
        database.close()
    pairs = {pair.teams for pair in near.pairs if pair.ratio >= RATIO}
    copies, others = len(pairs & copied), len(pairs - copied)
    print(f"with a ratio of {RATIO} or more: {copies} of {len(copied)} copies; {others} with the common mistake")
    return 0 if by_hash < GOAL_SECONDS and copied <= pairs else 1


def timed(
    name: str,
    similarity: Similarity,
    session: Session,
    snapshot: ContestSnapshot,
    problem: ScoredProblem,
    *,
    near: bool,
) -> tuple[float, Compared]:
    """Compare once, and print how long it took and how much the most memory of the process has grown."""
    before, started = most_memory(), time.monotonic()
    compared = similarity.compare(session, snapshot, problem, started + ENOUGH_SECONDS if near else None)
    seconds = time.monotonic() - started
    print(f"{name:40}{seconds:8.2f}{len(compared.pairs):8,}{most_memory() - before:9.0f}", flush=True)
    return seconds, compared


def most_memory() -> float:
    """The most memory this process has ever had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def stores(home: Path) -> tuple[Database, Files]:
    """The database and the files of a home."""
    settings = Settings(home=home, database_url="", files_url="")
    return Database(settings.database), open_files(settings)


def fill(home: Path) -> set[PAIR]:
    """Every team sends all cases: half of them as expected, half of its own; the last teams copy from the first ones.

    Of what a team copies a third is the same file, a third has other white space, a third a few other tokens; and in
    every tenth case thirty teams share a mistake.
    """
    prepare(home, teams=TEAMS, problems=())
    database, files = stores(home)
    draw = random.Random(1)
    expected = [text(draw) for _ in range(CASES)]
    add_problem(database, files, expected)
    sent: list[list[bytes]] = []
    copied: set[PAIR] = set()
    for team in range(TEAMS):
        answers = [expected[case] if (case + team) % 2 else text(draw) for case in range(CASES)]
        if team >= TEAMS - COPIES:
            victim = team - TEAMS + COPIES + 1
            answers = [copy_of(answer, case) for case, answer in enumerate(sent[victim])]
            first, second = sorted((f"team{victim + 1}", f"team{team + 1}"))
            copied.add((first, second))
        elif team % 33 == 0:
            for case in range(0, CASES, 10):
                answers[case] = f"a mistake at {case} ".encode() * 10
        sent.append(answers)
    with database.engine.execution_options(write=True).begin() as connection:
        now = datetime.now(UTC)
        for start in range(0, TEAMS, 100):
            news = [
                NewSubmission(CONTEST, PROBLEM, team, team, now + timedelta(seconds=at), at * 1000, files_of(sent[at]))
                for at, team in ((at, f"team{at + 1}") for at in range(start, start + 100))
            ]
            accept(connection, news)
    database.close()
    return copied


def text(draw: random.Random) -> bytes:
    """An answer of its own: numbers in lines of ten."""
    words = [str(draw.randrange(1000)) for _ in range(TOKENS)]
    return "\n".join(" ".join(words[at : at + 10]) for at in range(0, TOKENS, 10)).encode()


def copy_of(answer: bytes, case: int) -> bytes:
    """The same file, the same tokens, or all tokens but two."""
    if case % 3 == 0:
        return answer
    if case % 3 == 1:
        return answer.replace(b" ", b"  ")
    words = answer.split()
    words[50] = words[150] = b"0"
    return b" ".join(words)


def files_of(answers: list[bytes]) -> list[NewAnswer]:
    """One file a case."""
    return [NewAnswer(at, f"{at}.out", len(data), None, data) for at, data in enumerate(answers, start=1)]


def add_problem(database: Database, files: Files, expected: list[bytes]) -> None:
    """A problem with a case for each expected answer, in the contest."""
    now = datetime.now(UTC)
    settings = {"checker": "tokens", "scoring": {"kind": "absolute", "direction": "maximise"}}
    with database.write() as session:
        facts = {"uuid": "u", "names": {"en": "Alike"}, "metadata_": {}, "statements": {}, "package_sha256": ""}
        session.add(ProblemRow(id=PROBLEM, settings=settings, created=now, updated=now, **facts))
        session.flush()
        group = {"problem_id": PROBLEM, "name": "secret", "ordinal": 1, "kind": "provisional"}
        session.add(TestGroupRow(**group, max_points_num=100, max_points_den=1, aggregation="sum", require_pass=[]))
        session.add(ContestProblemRow(contest_id=CONTEST, problem_id=PROBLEM, label="A", ordinal=1, rule={}))
        for at, answer in enumerate(expected, start=1):
            row = TestCaseRow(problem_id=PROBLEM, group_name="secret", name=f"{at:03}", ordinal=at, id=at)
            row.points_num, row.points_den = 100, len(expected)
            row.input_sha256 = row.answer_sha256 = files.keep(answer)
            row.input_size = row.answer_size = len(answer)
            session.add(row)
