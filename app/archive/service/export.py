"""A contest as a contest package: what the endpoints say, as files, with every file they refer to beside them."""

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import IO

from pydantic import BaseModel
from sqlalchemy import ColumnElement
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.archive.service import own
from app.contests.queries import contest_of
from app.contests.service.contests import api_information
from app.core import clics
from app.core.files.stored_bytes import UNREADABLE
from app.core.messages import N_, NotFound
from app.core.service import Service
from app.feed.service.collections import IN_REFERENCE_ORDER, Collection
from app.packages.zips import write_zip, zip_bytes
from app.problems.queries import packing, pins
from app.problems.service.shown_statements import Reader, statement
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.service.history import BoardRow
from app.scoreboard.service.pages import dump, head_of, row_document
from app.submissions.queries import submission_queries, submissions
from app.submissions.service.submissions import batches
from app.tables import ProblemRow, TestCaseRow, TestGroupRow
from app.teams import queries as teams_queries

# Gives a file in pieces, a list of them for a small one. What cannot be read or packed is raised before the first.
Read = Callable[[], Iterable[bytes]]
# What has been shown of each collection, an object a line, in temporary files: for it and for the event feed.
Lines = Mapping[str, IO[bytes]]
LINE_ENDS = b",\n"
# The document that lists what a package lacks: unreadable stored files, and problems that no package can hold.
FAULTS = "unreadable.json"


def export(viewer: Viewer, service: Service, contest_id: str) -> IO[bytes]:
    """A contest's package as of one moment, in a temporary file: a slow client holds no snapshot of the database.

    Raises NotFound.
    """
    snapshot = service.boards.snapshot(contest_id, public=False)
    if snapshot is None:
        raise NotFound(N_("no contest %(contest)r"), contest=contest_id)
    # What is computed for the package goes with it. Submissions that come now are left out.
    snapshot = replace(snapshot, memo={})
    with service.database.read() as session, ExitStack() as open_files, ExitStack() as unless_whole:
        target = unless_whole.enter_context(tempfile.TemporaryFile(prefix="jurado-reply-"))
        lines = {
            each.name: open_files.enter_context(tempfile.TemporaryFile(prefix="jurado-export-"))
            for each in IN_REFERENCE_ORDER
        }
        write_zip(target, _readable(_files(viewer, service, session, snapshot, lines)))
        target.seek(0)
        unless_whole.pop_all()
        return target


def _readable(files: Iterable[tuple[str, Read]]) -> Iterator[tuple[str, Iterable[bytes]]]:
    """The files that can be read; those that cannot are listed in the last one."""
    faults = []
    for path, read in files:
        try:
            pieces = read()
        except (*UNREADABLE, packing.NotPackable) as error:
            faults.append({"path": path, "error": str(error)})
        else:
            yield path, pieces
    if faults:
        yield FAULTS, [json.dumps(faults, indent=1).encode() + b"\n"]


def _files(
    viewer: Viewer, service: Service, session: Session, snapshot: ContestSnapshot, lines: Lines
) -> Iterator[tuple[str, Read]]:
    """The files of a package by their paths: all that the viewer may read of the contest."""
    yield "api.json", _json(api_information().model_dump())
    for collection in IN_REFERENCE_ORDER:
        name = collection.name
        for document in collection.documents(viewer, snapshot, session):
            shown = _shown_document(collection, document)
            lines[name].write(json.dumps(shown, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        yield f"{name}.json", partial(_shown if collection.single else _as_list, lines[name])
    yield "event-feed.ndjson", partial(_notifications, lines)
    document = own.document(session, contest_of(session, snapshot.contest.id))
    yield own.FILE, _json(document.model_dump(mode="json", exclude_unset=True))
    yield "scoreboard.json", lambda: [dump({**head_of(snapshot), "rows": _rows(snapshot)})]
    yield from _images(snapshot, session, service).items()
    yield from _problems(snapshot, session, service)
    cases = submission_queries.cases_of(session, snapshot.contest.id).condition
    for ids in batches(snapshot):
        for number, shown_id in submission_queries.shown_ids(session, ids).items():
            yield f"submissions/{shown_id}/{shown_id}.zip", partial(_answers, session, service, number, cases)


def _rows(snapshot: ContestSnapshot) -> list[BoardRow]:
    return [row_document(snapshot.main.row(at), cases=True) for at in range(len(snapshot.main.teams))]


def _json(value: object) -> Read:
    return lambda: [json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n"]


def _shown(lines: IO[bytes]) -> Iterator[bytes]:
    """What has been shown of a kind, an object a line."""
    lines.seek(0)
    yield from lines


def _as_list(lines: IO[bytes]) -> Iterator[bytes]:
    """What has been shown of a kind as a JSON array."""
    before = b"[\n"
    for line in _shown(lines):
        yield before + line.removesuffix(b"\n")
        before = LINE_ENDS
    yield b"[]\n" if before != LINE_ENDS else b"\n]\n"


def _notifications(lines: Lines) -> Iterator[bytes]:
    """The event feed as one reads it who comes now: every object once, each after those it refers to."""
    for each in IN_REFERENCE_ORDER:
        for line in _shown(lines[each.name]):
            id_ = "null" if each.single else json.dumps(json.loads(line)["id"])
            yield f'{{"type":"{each.name}","id":{id_},"data":'.encode() + line.removesuffix(b"\n") + b"}\n"


def _shown_document(collection: Collection, document: clics.JsonObject | BaseModel) -> clics.JsonObject:
    """A document as its route answers it."""
    if isinstance(document, BaseModel):
        return document.model_dump(mode="json", exclude_unset=collection.sparse)
    return collection.parsed(document).model_dump(mode="json", exclude_unset=True)


def _answers(session: Session, service: Service, row_id: int, cases: ColumnElement[bool]) -> list[bytes]:
    """A submission's answer files as a zip, called as their cases are."""
    answers = submissions.answers_by_case(session, service.files, row_id, cases)
    return [zip_bytes({f"{name}.out": data for name, data in answers.items()})]


def _images(snapshot: ContestSnapshot, session: Session, service: Service) -> dict[str, Read]:
    """The images of the contest, its organizations, persons and teams, each once."""
    contest = contest_of(session, snapshot.contest.id)
    owners: list[tuple[str, Mapping[str, object]]] = [("contest", contest.details)]
    owners += [(f"organizations/{row.id}", row.details) for row in teams_queries.organizations(session, contest)]
    owners += [(f"persons/{row.id}", row.details) for row in teams_queries.persons(session, contest)]
    owners += [(f"teams/{row.id}", row.details) for row in teams_queries.taking_part(session, contest)]
    return {
        f"{folder}/{file['filename']}": partial(_loaded, service, file["sha256"])
        for folder, details in owners
        for value in details.values()
        for file in (value if isinstance(value, list) else ())
        if "sha256" in file
    }


def _statement(
    service: Service, snapshot: ContestSnapshot, session: Session, problem_id: str, language: str
) -> list[bytes]:
    reader = Reader(language, "", wants_markdown=False, address="")
    return [statement(service, snapshot, session, problem_id, reader).data]


def _loaded(service: Service, sha256: str) -> list[bytes]:
    return [service.files.load(sha256)]


def _package(
    service: Service, row: ProblemRow, groups: Sequence[TestGroupRow], cases: Sequence[TestCaseRow]
) -> Iterator[bytes]:
    """A problem's package in pieces; raises NotPackable before the first."""
    return packing.pieces_of(packing.packed(service.files, row, groups, cases))


def _problems(snapshot: ContestSnapshot, session: Session, service: Service) -> Iterator[tuple[str, Read]]:
    """The packages and statements of all problems."""
    contest_id = snapshot.contest.id
    for problem in snapshot.problems:
        row = pins.row(session, contest_id, problem.id)
        cases, groups = pins.cases(session, contest_id, problem.id), pins.groups(session, contest_id, problem.id)
        yield f"problems/{row.id}/{row.id}.zip", partial(_package, service, row, groups, cases)
        for language, file in row.statements.items():
            label = snapshot.contest.labels[row.id]
            suffix = "html" if file["kind"] == "md" else file["kind"]
            read = partial(_statement, service, snapshot, session, row.id, language)
            yield f"problems/{row.id}/{label}.{language}.{suffix}", read
