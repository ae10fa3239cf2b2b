"""A contest as a contest package: what the endpoints say, as files, with every file they refer to beside them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import IO, Any

from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.accounts.service.viewer import Viewer
from app.archive.service import board, judging, own
from app.contests.service.contests import api_information, contest_of
from app.core.clics import JsonObject
from app.core.clock import utc_now
from app.core.errors import NotFound
from app.core.files.stored_bytes import UNREADABLE
from app.core.growing import GrowingFile, Sink
from app.core.service import Service
from app.feed.queries import events
from app.feed.service.collections import IN_REFERENCE_ORDER, Collection
from app.packages.zips import write_zip, zip_bytes
from app.problems.queries import packing, pins
from app.problems.queries.packing import NotPackable
from app.problems.service import problems, statements
from app.problems.service.statements import title_of
from app.scoreboard.queries.contest_snapshot import ContestSnapshot
from app.scoreboard.service.row_renderer import dump
from app.submissions.queries import submission_queries
from app.submissions.service.whole import batched
from app.tables import ProblemRow, TestCaseRow, TestGroupRow
from app.teams.queries import directory as stored_directory
from app.teams.queries import teams as stored_teams

Load = Callable[[], bytes]
Pieces = Callable[[], Iterable[bytes]]
LINE_ENDS = b",\n"
FAULTS = "unreadable.json"
"""The document that lists what a package lacks: unreadable stored files, and problems that no package can hold."""


@dataclass(frozen=True, slots=True)
class PackageParts:
    """The files of a package by their paths, each read when it is written.

    lines   what has been shown of each kind, an object a line, in temporary files: for it and for the event feed
    faults  files that are missing because they cannot be read or written: each path, and why
    """

    faults: list[dict[str, str]] = field(default_factory=list)
    files: dict[str, Load] = field(default_factory=dict)
    pieces: dict[str, Pieces] = field(default_factory=dict)
    lines: dict[str, IO[bytes]] = field(default_factory=dict)

    def add(self, path: str, data: bytes) -> None:
        """A file that is at hand."""
        self.files[path] = lambda: data

    def add_json(self, path: str, value: object) -> None:
        """A document."""
        self.add(path, json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n")

    def add_lines(self, name: str, documents: Iterable[JsonObject], *, single: bool = False) -> None:
        """A collection (or one object), of which one is in memory at a time; it is the file of that name."""
        lines = self.lines[name] = tempfile.TemporaryFile(prefix="jurado-export-")  # noqa: SIM115 - closed by `close`
        for each in documents:
            lines.write(json.dumps(each, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        self.pieces[f"{name}.json"] = partial(self.shown, name) if single else partial(_as_list, self, name)

    def shown(self, name: str) -> Iterator[bytes]:
        """The lines of a kind."""
        lines = self.lines[name]
        lines.seek(0)
        yield from lines

    def read(self, path: str) -> Iterable[bytes]:
        """A file in pieces."""
        return self.pieces[path]() if path in self.pieces else [self.files[path]()]

    def close(self) -> None:
        """Take the temporary files away."""
        for lines in self.lines.values():
            lines.close()


def _as_list(parts: PackageParts, name: str) -> Iterator[bytes]:
    """The lines of a kind as a JSON array."""
    before = b"[\n"
    for line in parts.shown(name):
        yield before + line.removesuffix(b"\n")
        before = LINE_ENDS
    yield b"[]\n" if before != LINE_ENDS else b"\n]\n"


def growing_package(viewer: Viewer, service: Service, contest_id: str) -> GrowingFile:
    """A contest's package while it is made; raises NotFound before anything of it is there."""
    file = GrowingFile(partial(_write_package, viewer, service, contest_id))
    try:
        file.wait_for_first()
    except BaseException:
        file.close()
        raise
    return file


def _write_package(viewer: Viewer, service: Service, contest_id: str, target: Sink) -> None:
    """Write a contest's package, from one snapshot; raises NotFound, before anything is written."""
    with service.database.read() as session:
        snapshot, moment = _snapshot_now(session, contest_id)
        parts = PackageParts()
        try:
            write_zip(target, _files_of(parts, _collect(parts, viewer, session, service, snapshot, moment)))
        finally:
            parts.close()


def _collect(
    parts: PackageParts, viewer: Viewer, session: Session, service: Service, snapshot: ContestSnapshot, moment: datetime
) -> Iterator[None]:
    """Add everything the viewer may read of the contest, step by step: all of it as of one moment."""
    contest_id = snapshot.contest.id
    parts.add_json("api.json", api_information().model_dump())
    yield
    for collection in IN_REFERENCE_ORDER:
        documents = collection.documents(viewer, snapshot, session)
        shown = (_shown_document(collection, each) for each in documents)
        parts.add_lines(collection.name, shown, single=collection.single)
        yield
    parts.pieces["event-feed.ndjson"] = partial(_notifications, parts)
    own_objects = own.document(session, contest_of(session, contest_id))
    parts.add_json(own.FILE, {name: [_written(each) for each in those] for name, those in own_objects.items()})
    parts.add(board.FILE, dump(board.document(snapshot)))
    parts.add_json(judging.FILE, judging.document(session, snapshot, moment).model_dump(mode="json"))
    _add_images(parts, snapshot, session, service)
    _add_problems(parts, snapshot, session, service)
    yield
    for ids in batched(events.submission_ids(session, contest_id)):
        for number, shown_id in submission_queries.shown_ids(session, ids).items():
            parts.files[f"submissions/{shown_id}/{shown_id}.zip"] = _answers(session, service, number)
        yield


def _written(body: BaseModel) -> JsonObject:
    return body.model_dump(mode="json", exclude_unset=True)


def _files_of(parts: PackageParts, steps: Iterator[None]) -> Iterator[tuple[str, Iterable[bytes]]]:
    """The files of a package in the order in which they come to be, each once."""
    written: set[str] = set()
    for _ in steps:
        news = [path for path in (*parts.files, *parts.pieces) if path not in written]
        for path in sorted(news):
            try:
                pieces = parts.read(path)
            except (*UNREADABLE, NotPackable) as error:
                parts.faults.append({"path": path, "error": str(error)})
            else:
                yield path, pieces
        written.update(news)
    if parts.faults:
        yield FAULTS, [json.dumps(parts.faults, indent=1).encode() + b"\n"]


def _snapshot_now(session: Session, contest_id: str) -> tuple[ContestSnapshot, datetime]:
    """A contest as it stands, and the moment of that; raises NotFound."""
    now = utc_now()
    moment = now.replace(microsecond=now.microsecond // 1000 * 1000)  # as the package says it
    snapshot = board.standing_at(session, contest_id, moment)
    if snapshot is None:
        raise NotFound(f"no contest {contest_id!r}")
    return snapshot, moment


def _notifications(parts: PackageParts) -> Iterator[bytes]:
    """The event feed as one reads it who comes now: every object once, each after those it refers to."""
    for each in IN_REFERENCE_ORDER:
        for line in parts.shown(each.name):
            id_ = "null" if each.single else json.dumps(json.loads(line)["id"])
            yield f'{{"type":"{each.name}","id":{id_},"data":'.encode() + line.removesuffix(b"\n") + b"}\n"


def _shown_document(collection: Collection, document: JsonObject | BaseModel) -> JsonObject:
    """A document as its route answers it."""
    if isinstance(document, BaseModel):
        return document.model_dump(mode="json")
    return collection.parsed(document).model_dump(mode="json", exclude_unset=True)


def _answers(session: Session, service: Service, row_id: int) -> Load:
    """A submission's answer files as a zip, made when it is written."""
    return lambda: zip_bytes(submission_queries.answer_files(session, service.files, row_id))


def _statement(session: Session, service: Service, contest_id: str, row: ProblemRow, language: str) -> Load:
    def load() -> bytes:
        file = row.statements[language]
        data = service.files.load(file["sha256"])
        if file["kind"] != "md":
            return data
        text = statements.with_samples(data.decode(), problems.samples(session, service, contest_id, row.id), language)
        return statements.page(title_of(row.names, language), text, language).encode()

    return load


def _add_images(parts: PackageParts, snapshot: ContestSnapshot, session: Session, service: Service) -> None:
    """Add the images of the contest, its organizations, persons and teams."""
    contest = contest_of(session, snapshot.contest.id)
    owners: list[tuple[str, Mapping[str, Any]]] = [("contest", contest.details)]
    owners += [(f"organizations/{row.id}", row.details) for row in stored_directory.organizations(session, contest)]
    owners += [(f"persons/{row.id}", row.details) for row in stored_directory.persons(session, contest)]
    owners += [(f"teams/{row.id}", row.details) for row in stored_teams.taking_part(session, contest)]
    for folder, details in owners:
        for value in details.values():
            for file in value if isinstance(value, list) else ():
                if "sha256" in file:
                    parts.files[f"{folder}/{file['filename']}"] = _loading(service, file["sha256"])


def _loading(service: Service, sha256: str) -> Load:
    return lambda: service.files.load(sha256)


def _package(
    service: Service, row: ProblemRow, groups: Sequence[TestGroupRow], cases: Sequence[TestCaseRow]
) -> Iterator[bytes]:
    """A problem's package in pieces; raises NotPackable before the first."""
    return packing.pieces_of(packing.packed(service.files, row, groups, cases))


def _add_problems(parts: PackageParts, snapshot: ContestSnapshot, session: Session, service: Service) -> None:
    """Add the packages and statements of all problems."""
    for problem in snapshot.problems:
        row = pins.row(session, snapshot.contest.id, problem.id)
        assert row is not None, "a foreign key"
        cases = pins.cases(session, snapshot.contest.id, problem.id)
        groups = pins.groups(session, snapshot.contest.id, problem.id)
        parts.pieces[f"problems/{row.id}/{row.id}.zip"] = partial(_package, service, row, groups, cases)
        for language, file in row.statements.items():
            label = snapshot.contest.labels[row.id]
            suffix = "html" if file["kind"] == "md" else file["kind"]
            parts.files[f"problems/{row.id}/{label}.{language}.{suffix}"] = _statement(
                session, service, snapshot.contest.id, row, language
            )
