"""A contest as a contest package: what the endpoints say, as files, with every file they refer to beside them."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import FileResponse
from pydantic import BaseModel
from sqlalchemy.orm import Session
from starlette.background import BackgroundTask

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
from app.api.downloads import ARCHIVE, BYTES, PART, ZIP, type_for
from app.api.errors import NotFound
from app.api.feed.kinds import ORDER
from app.api.statements import title_of
from app.grading.boards import Standing
from app.packages.zips import kept_zip, zip_bytes
from app.service import Service
from app.storage import directory as stored_directory
from app.storage import judged, packing
from app.storage import problems as stored_problems
from app.storage import teams as stored_teams

router = APIRouter(tags=["contests"])
Documents = Callable[[Viewer, Standing, Session], Iterable[Mapping[str, Any] | BaseModel]]
Load = Callable[[], bytes]


def _runs(_viewer: Viewer, standing: Standing, session: Session) -> list[dict[str, Any]]:
    return [judgements.run_document(standing, run) for run in judged.runs(session, standing.contest.id)]


SINGLE: Mapping[str, Documents] = {"contest": contests.documents, "state": contests.state_documents}
COLLECTIONS: Mapping[str, Documents] = {
    "judgement-types": judging.type_documents,
    "languages": judging.language_documents,
    "problems": problems.documents,
    **{collection.name: collection.documents for collection in directory.COLLECTIONS},
    "teams": teams.documents,
    "accounts": accounts.documents,
    "submissions": submissions_read.documents,
    "judgements": judgements.judgement_documents,
    "runs": _runs,
    "clarifications": clarifications.documents,
    "awards": awards.documents,
    "commentary": commentary.documents,
}


@dataclass(frozen=True, slots=True)
class Parcel:
    """What a package is made of: its files by their paths, each read when it is written."""

    files: dict[str, Load] = field(default_factory=dict)

    def add(self, path: str, data: bytes) -> None:
        """A file that is at hand."""
        self.files[path] = lambda: data

    def add_json(self, path: str, value: object) -> None:
        """A document."""
        self.add(path, json.dumps(value, ensure_ascii=False, indent=1).encode() + b"\n")


@router.get(
    "/contests/{contest_id}/package.zip",
    response_class=FileResponse,
    responses={**ARCHIVE, **PART},
    summary="The contest as a contest package",
)
def export_contest(request: Request, viewer: AdminOnly, service: TheService, contest_id: str) -> FileResponse:
    """All of it, with the problems' packages, the submissions' files and every image. No passwords are in it."""
    folder = tempfile.TemporaryDirectory(prefix="jurado-export-")
    with service.database.read() as session:
        parcel = collect(viewer, session, service, contest_id)
        path = kept_zip(Path(folder.name) / "package.zip", parcel.files, lambda name: parcel.files[name]())
    return FileResponse(
        path,
        media_type=type_for(request, ZIP, BYTES),
        filename=f"{contest_id}.zip",
        background=BackgroundTask(folder.cleanup),
    )


def collect(viewer: Viewer, session: Session, service: Service, contest_id: str) -> Parcel:
    """Everything the viewer may read of the contest, as a package has it: all of it as of one moment."""
    now = datetime.now(UTC)
    moment = now.replace(microsecond=now.microsecond // 1000 * 1000)  # as the package says it
    standing = contest_board.standing_at(session, contest_id, moment)
    if standing is None:
        raise NotFound(f"no contest {contest_id!r}")
    parcel = Parcel()
    parcel.add_json("api.json", contests.information().model_dump())
    for name, documents in SINGLE.items():
        parcel.add_json(f"{name}.json", _shown(name, next(iter(documents(viewer, standing, session)))))
    for name, documents in COLLECTIONS.items():
        parcel.add_json(f"{name}.json", [_shown(name, each) for each in documents(viewer, standing, session)])
    parcel.files["event-feed.ndjson"] = lambda: b"".join(_notifications(parcel))
    parcel.add_json(contest_own.FILE, contest_own.document(session, contest_of(session, contest_id)))
    parcel.add(contest_board.FILE, sheets.dump(contest_board.document(standing)))
    parcel.add_json(contest_judging.FILE, contest_judging.document(session, standing, moment))
    _add_images(parcel, standing, session, service)
    _add_problems(parcel, standing, session, service)
    for row in judged.submissions(session, contest_id):
        parcel.files[f"submissions/{row.shown_id}/{row.shown_id}.zip"] = _answers(session, service, row.id)
    return parcel


def _notifications(parcel: Parcel) -> Iterator[bytes]:
    """The event feed as one reads it who comes now: every object once, each after those it refers to."""
    for type_ in ORDER:
        value = json.loads(parcel.files[f"{type_}.json"]())
        for each in value if isinstance(value, list) else [value]:
            told = {"type": type_, "id": each["id"] if type_ in COLLECTIONS else None, "data": each}
            yield json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _shown(name: str, document: Mapping[str, Any] | BaseModel) -> dict[str, Any]:
    """A document as its route answers it."""
    if isinstance(document, BaseModel):
        return document.model_dump(mode="json")
    return access.MODELS[name].model_validate(document).model_dump(mode="json", exclude_unset=True)


def _answers(session: Session, service: Service, row_id: int) -> Load:
    return lambda: zip_bytes(judged.answer_files(session, service.files, row_id))


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
        parcel.add(f"problems/{row.id}/{row.id}.zip", packing.packed(session, service.files, row, judged=True))
        for language, kept in row.statements.items():
            label = standing.contest.labels[row.id]
            data = service.files.load(kept["sha256"])
            if kept["kind"] == "md":
                text = statements.with_samples(data.decode(), problems.samples(session, service, row.id), language)
                data = statements.page(title_of(row.names, language), text, language).encode()
            suffix = "html" if kept["kind"] == "md" else kept["kind"]
            parcel.add(f"problems/{row.id}/{label}.{language}.{suffix}", data)
