"""Facts that a contest's board depends on and CLICS documents lack: `judging.json` of contest packages.

The moment the board is of; answers whose file name does not lead to their case, as a contest's pattern may have changed
since, and those that were too large to be kept; and submissions that were not judged yet.

- What an import reads of `scoreboard.json` and `state.json`.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby

from pydantic import BaseModel, Field
from sqlalchemy.orm import Session

from app.core import bodies, clics
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.submissions.queries import submission_context, submission_queries, submissions
from app.submissions.service.answer_files import base_name
from app.submissions.service.submissions import batches

FILE = "judging.json"


class SentFile(bodies.Body):
    """The case a submission's file is for; without a file the answer was refused, and only that is known of it."""

    submission_id: str
    case: str
    file: str | None = None


class Judging(bodies.Body):
    """The whole document."""

    time: clics.Time
    answers: list[SentFile] = Field(default_factory=list)
    unjudged: list[str] = Field(default_factory=list)

    def files_of(self) -> Mapping[str, Sequence[SentFile]]:
        """The answers that need to be told, by submission."""
        files: dict[str, list[SentFile]] = defaultdict(list)
        for each in self.answers:
            files[each.submission_id].append(each)
        return files


class PackageBoard(BaseModel):
    """The board as a package has it: its rows are objects, of which nothing more is known."""

    rows: list[dict[str, object]]
    time: object = None


class Interval(BaseModel):
    """An interval that was taken out of the contest's time; without an end it lasts still."""

    start: clics.Time
    end: clics.Time | None


class PackageState(BaseModel):
    """What an import takes over of the contest's state."""

    finalized: clics.Time | None = None
    removed_intervals: list[Interval] | None = None


def pieces(session: Session, snapshot: ContestSnapshot, time: datetime) -> Iterator[bytes]:
    """The whole document of a contest as it stands at a moment, in pieces: all answers may have to be told."""
    unjudged = [attempt.id for attempt in snapshot.attempts if attempt.scores is None]
    shown = submission_queries.shown_ids(session, unjudged)
    others = Judging.model_construct(time=time, unjudged=[shown[number] for number in unjudged])
    yield others.model_dump_json(exclude={"answers"}).removesuffix("}").encode() + b',"answers":['
    taken = _cases_by_file(session, snapshot)
    before = b"\n"
    for ids in batches(snapshot):
        for each in _answers(session, snapshot, taken, ids):
            yield before + each.model_dump_json().encode()
            before = b",\n"
    yield b"]}\n"


def _answers(
    session: Session, snapshot: ContestSnapshot, taken: Mapping[str, Mapping[str, frozenset[str]]], ids: Sequence[int]
) -> Iterator[SentFile]:
    """The answers that file names alone would lose, give to another case, or give to more cases than they were for.

    A file for all cases may have been sent before its final cases were open.
    """
    shown = submission_queries.shown_ids(session, ids)
    sent_files = submissions.sent_files(session, snapshot.contest.id, ids)
    for number, together in groupby(sent_files, key=lambda sent: sent.submission_id):
        sent = list(together)
        went: dict[str, set[str]] = defaultdict(set)
        for each in sent:
            went[base_name(each.file_name)].add(each.case_name)
        for each in sent:
            name = base_name(each.file_name)
            if each.refused or taken[each.problem_id].get(name, frozenset()) != went[name]:
                file = None if each.refused else each.file_name
                yield SentFile(submission_id=shown[number], case=each.case_name, file=file)


def _cases_by_file(session: Session, snapshot: ContestSnapshot) -> Mapping[str, Mapping[str, frozenset[str]]]:
    """The cases that a file of some name is for, by problem."""
    taken: dict[str, Mapping[str, frozenset[str]]] = {}
    for problem in snapshot.contest.problems:
        entry = submission_context.read_entry(session, snapshot.contest.id, problem.id)
        assert entry is not None, "the contest has it"
        names = entry.all_names.items()
        taken[problem.id] = {name: frozenset(case.name for case in those) for name, those in names}
    return taken
