"""A contest as a contest package: what the endpoints say, as files, with every file they refer to beside them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import IO, Any, TypeVar

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel
from sqlalchemy.orm import Session

from app.api import (
    access,
    accounts,
    awards,
    clarifications,
    commentary,
    contest_board,
    contest_judging,
    contest_own,
    contests,
    directory,
    judgements,
    judging,
    problems,
    sheets,
    statements,
    submissions_read,
    teams,
)
from app.api.auth import Viewer
from app.api.contests import contest_of
from app.api.deps import AdminOnly, TheService
from app.api.downloads import ARCHIVE, BYTES, ZIP, type_for
from app.api.errors import NotFound
from app.api.feed.kinds import ORDER
from app.api.gated import GatedRoute
from app.api.growing import GrowingFile, GrowingResponse, Sink
from app.api.statements import title_of
from app.domain.clock import utc_now
from app.grading.boards import Standing
from app.packages.zips import write_zip, zip_bytes
from app.service import Service
from app.storage import directory as stored_directory
from app.storage import events, judged, packing
from app.storage import problems as stored_problems
from app.storage import teams as stored_teams
from app.storage.files import UNREADABLE
from app.storage.tables import ProblemRow

router = APIRouter(route_class=GatedRoute, tags=["contests"])
Documents = Callable[[Viewer, Standing, Session], Iterable[Mapping[str, Any] | BaseModel]]
Load = Callable[[], bytes]
Pieces = Callable[[], Iterable[bytes]]


AT_ONCE = 500
T = TypeVar("T")
LINE_ENDS = b",\n"
FAULTS = "unreadable.json"
"""In a package that lacks files which the store could not give: their paths, and why."""


def batched(values: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Some values after the other, `size` of them at a time."""
    return (values[start : start + size] for start in range(0, len(values), size))


def _submissions(viewer: Viewer, standing: Standing, session: Session) -> Iterator[dict[str, Any]]:
    for ids in batched(events.submission_ids(session, standing.contest.id), AT_ONCE):
        for row in judged.submissions(session, standing.contest.id, ids):
            yield submissions_read.document(viewer, standing, row)


def _judgements(_viewer: Viewer, standing: Standing, session: Session) -> Iterator[dict[str, Any]]:
    contest_id = standing.contest.id
    for ids in batched(judged.visible_judgements(session, contest_id), AT_ONCE):
        pairs = judged.judgements(session, contest_id, only=ids)
        longest = judged.longest_runs(session, contest_id, among={owner.id for _, owner in pairs})
        for row, owner in pairs:
            yield judgements.judgement_document(standing, row, owner, longest.get(row.id))


def _runs(_viewer: Viewer, standing: Standing, session: Session) -> Iterator[dict[str, Any]]:
    for ids in batched(judged.visible_judgements(session, standing.contest.id), AT_ONCE):
        for run in judged.runs(session, standing.contest.id, judgements=ids):
            yield judgements.run_document(standing, run)


SINGLE: Mapping[str, Documents] = {"contest": contests.documents, "state": contests.state_documents}
COLLECTIONS: Mapping[str, Documents] = {
    "judgement-types": judging.type_documents,
    "languages": judging.language_documents,
    "problems": problems.documents,
    **{collection.name: collection.documents for collection in directory.COLLECTIONS},
    "teams": teams.documents,
    "accounts": accounts.documents,
    "submissions": _submissions,
    "judgements": _judgements,
    "runs": _runs,
    "clarifications": clarifications.documents,
    "awards": awards.documents,
    "commentary": commentary.documents,
}


@dataclass(frozen=True, slots=True)
class Parcel:
    """What a package is made of: its files by their paths, each read when it is written.

    lines   what has been shown of each kind, an object a line, in temporary files: for it and for the event feed
    faults  what lacks stored files that cannot be read: each path, and why
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

    def add_lines(self, name: str, documents: Iterable[Mapping[str, Any]], *, single: bool = False) -> None:
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


def _as_list(parcel: Parcel, name: str) -> Iterator[bytes]:
    """The lines of a kind as a JSON array."""
    before = b"[\n"
    for line in parcel.shown(name):
        yield before + line.removesuffix(b"\n")
        before = LINE_ENDS
    yield b"[]\n" if before != LINE_ENDS else b"\n]\n"


@router.get(
    "/contests/{contest_id}/package.zip",
    response_class=StreamingResponse,
    responses={**ARCHIVE},
    summary="The contest as a contest package",
)
def export_contest(request: Request, viewer: AdminOnly, service: TheService, contest_id: str) -> GrowingResponse:
    """All of it, with the problems' packages, the submissions' files and every image. No passwords are in it.

    Where the server's own files are damaged, all else is in it, and `unreadable.json` names what is not, and why.
    """
    made = GrowingFile(partial(write_package, viewer, service, contest_id))
    try:
        made.wait_for_first()
    except BaseException:
        made.close()
        raise
    return GrowingResponse(made, type_for(request, ZIP, BYTES), f"{contest_id}.zip")


def write_package(viewer: Viewer, service: Service, contest_id: str, target: Sink) -> None:
    """Write a contest's package, from one snapshot; raises NotFound, before anything is written."""
    with service.database.read() as session:
        standing, moment = standing_now(session, contest_id)
        parcel = Parcel()
        try:
            write_zip(target, _files(parcel, collect(parcel, viewer, session, service, standing, moment)))
        finally:
            parcel.close()


def _files(parcel: Parcel, steps: Iterator[None]) -> Iterator[tuple[str, Iterable[bytes]]]:
    """The files of a package in the order in which they come to be, each once."""
    written: set[str] = set()
    for _ in steps:
        news = [path for path in (*parcel.files, *parcel.pieces) if path not in written]
        for path in sorted(news):
            try:
                pieces = parcel.read(path)
            except UNREADABLE as error:
                parcel.faults.append({"path": path, "error": str(error)})
            else:
                yield path, pieces
        written.update(news)
    if parcel.faults:
        yield FAULTS, [json.dumps(parcel.faults, indent=1).encode() + b"\n"]


def standing_now(session: Session, contest_id: str) -> tuple[Standing, datetime]:
    """A contest as it stands, and the moment of that; raises NotFound."""
    now = utc_now()
    moment = now.replace(microsecond=now.microsecond // 1000 * 1000)  # as the package says it
    standing = contest_board.standing_at(session, contest_id, moment)
    if standing is None:
        raise NotFound(f"no contest {contest_id!r}")
    return standing, moment


def collect(
    parcel: Parcel, viewer: Viewer, session: Session, service: Service, standing: Standing, moment: datetime
) -> Iterator[None]:
    """Put everything the viewer may read of the contest into a parcel, step by step: all of it as of one moment."""
    contest_id = standing.contest.id
    parcel.add_json("api.json", contests.information().model_dump())
    yield
    for name, documents in (*SINGLE.items(), *COLLECTIONS.items()):
        shown = (_shown(name, each) for each in documents(viewer, standing, session))
        parcel.add_lines(name, shown, single=name in SINGLE)
        yield
    parcel.pieces["event-feed.ndjson"] = partial(_notifications, parcel)
    parcel.add_json(contest_own.FILE, contest_own.document(session, contest_of(session, contest_id)))
    parcel.add(contest_board.FILE, sheets.dump(contest_board.document(standing)))
    parcel.add_json(contest_judging.FILE, contest_judging.document(session, standing, moment))
    _add_images(parcel, standing, session, service)
    _add_problems(parcel, standing, session, service)
    yield
    for ids in batched(events.submission_ids(session, contest_id), AT_ONCE):
        for number, shown_id in judged.shown_ids(session, ids).items():
            parcel.files[f"submissions/{shown_id}/{shown_id}.zip"] = _answers(session, service, number)
        yield


def _notifications(parcel: Parcel) -> Iterator[bytes]:
    """The event feed as one reads it who comes now: every object once, each after those it refers to."""
    for type_ in ORDER:
        for line in parcel.shown(type_):
            id_ = json.dumps(json.loads(line)["id"]) if type_ in COLLECTIONS else "null"
            yield f'{{"type":"{type_}","id":{id_},"data":'.encode() + line.removesuffix(b"\n") + b"}\n"


def _shown(name: str, document: Mapping[str, Any] | BaseModel) -> dict[str, Any]:
    """A document as its route answers it."""
    if isinstance(document, BaseModel):
        return document.model_dump(mode="json")
    return access.MODELS[name].model_validate(document).model_dump(mode="json", exclude_unset=True)


def _answers(session: Session, service: Service, row_id: int) -> Load:
    return lambda: zip_bytes(judged.answer_files(session, service.files, row_id))


def _statement(session: Session, service: Service, row: ProblemRow, language: str) -> Load:
    def load() -> bytes:
        kept = row.statements[language]
        data = service.files.load(kept["sha256"])
        if kept["kind"] != "md":
            return data
        text = statements.with_samples(data.decode(), problems.samples(session, service, row.id), language)
        return statements.page(title_of(row.names, language), text, language).encode()

    return load


def _add_images(parcel: Parcel, standing: Standing, session: Session, service: Service) -> None:
    contest = contest_of(session, standing.contest.id)
    owners: list[tuple[str, Mapping[str, Any]]] = [("contest", contest.details)]
    owners += [(f"organizations/{row.id}", row.details) for row in stored_directory.organizations(session, contest)]
    owners += [(f"persons/{row.id}", row.details) for row in stored_directory.persons(session, contest)]
    owners += [(f"teams/{row.id}", row.details) for row in stored_teams.taking_part(session, contest)]
    for folder, details in owners:
        for value in details.values():
            for file in value if isinstance(value, list) else ():
                if "sha256" in file:
                    parcel.files[f"{folder}/{file['filename']}"] = _kept(service, file["sha256"])


def _kept(service: Service, sha256: str) -> Load:
    return lambda: service.files.load(sha256)


def _add_problems(parcel: Parcel, standing: Standing, session: Session, service: Service) -> None:
    for problem in standing.problems:
        row = stored_problems.get(session, problem.id)
        assert row is not None, "a foreign key"
        package = partial(packing.packed, session, service.files, row, judged=True)
        parcel.files[f"problems/{row.id}/{row.id}.zip"] = package
        for language, kept in row.statements.items():
            label = standing.contest.labels[row.id]
            suffix = "html" if kept["kind"] == "md" else kept["kind"]
            parcel.files[f"problems/{row.id}/{label}.{language}.{suffix}"] = _statement(session, service, row, language)
