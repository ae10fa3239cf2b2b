"""A submission as it is sent and shown: a form with files, or the CLICS Contest API's JSON. Nothing is decided here."""

import base64
import binascii
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import IO

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from app.core import bodies, clics, load
from app.core.messages import MOST_LISTED, N_, BadRequest, Message, all_in_words, describe_pattern, fault
from app.submissions.queries.submissions import NewSubmission
from app.submissions.service.archives import Upload, archive_kind
from app.tables import SubmissionRow

# A file with the name it was sent under.
NamedFile = tuple[str, IO[bytes]]
LONGEST_COMMENT = 10_000
# The values of a JSON body, which is one long text: more would take far more memory than their bytes.
MOST_VALUES = 5_000
WITHOUT_NUL = r"^[^\x00]*$"


class SubmittedFile(BaseModel):
    """The one archive of a CLICS submission."""

    model_config = ConfigDict(extra="forbid")

    data: str = Field(description="base64 of a zip archive of answer files")
    mime: str | None = None
    filename: str | None = None


@clics.example(
    {
        "problem_id": "comesolo",
        "language_id": "answers",
        "files": [{"data": "UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA==", "mime": "application/zip"}],
    }
)
class SubmissionRequest(BaseModel):
    """A submission as the CLICS Contest API has it. `time` and `contest_time` are for admins, `id` is for their PUT."""

    model_config = ConfigDict(extra="forbid")

    language_id: bodies.Line
    problem_id: bodies.Line
    files: list[SubmittedFile] = Field(min_length=1, max_length=1)
    id: clics.Id | None = None
    team_id: bodies.Line | None = None
    account_id: bodies.Line | None = None
    time: clics.Time | None = None
    contest_time: clics.Reltime | None = None
    entry_point: None = None
    reaction: list[object] | None = Field(None, description="not kept")
    comment: str | None = Field(
        None,
        max_length=LONGEST_COMMENT,
        pattern=describe_pattern(WITHOUT_NUL, Message(N_("text without NUL characters"))),
    )


@dataclass
class SubmissionForm:
    """A request's submission, whatever its form."""

    problem_id: str
    uploads: list[Upload]
    sources: list[Upload] = field(default_factory=list)
    team_id: str | None = None
    testcase: str | None = None
    comment: str | None = None
    time: datetime | None = None
    contest_time: timedelta | None = None
    id: str | None = None
    account_id: str | None = None

    @property
    def is_light(self) -> bool:
        """Whether its files are sorted sooner than a thread starts: a few plain ones, small enough for rows."""
        streams = [upload.stream for upload in self.uploads]
        is_small = sum(stream.seek(0, io.SEEK_END) for stream in streams) <= load.LIGHT
        return is_small and not self.sources and all(archive_kind(stream) is None for stream in streams)


def read_texts(texts: Mapping[str, str], uploads: Sequence[NamedFile], sources: Sequence[NamedFile]) -> SubmissionForm:
    """Read a submission from the texts and files of a form; raises BadRequest."""
    if "problem_id" not in texts:
        raise BadRequest(N_("expected the problem submitted for, found nothing"), where="problem_id")
    for name, text in texts.items():
        if len(text) > LONGEST_COMMENT:
            raise BadRequest(
                N_("expected at most %(most)s characters, found %(found)s"),
                where=name,
                most=LONGEST_COMMENT,
                found=len(text),
            )
    _check_language(texts.get("language_id", clics.LANGUAGE))
    return SubmissionForm(
        texts["problem_id"],
        [Upload(*each) for each in uploads],
        [Upload(*each) for each in sources],
        texts.get("team_id"),
        texts.get("testcase"),
        texts.get("comment"),
    )


def read_json(body: bytes) -> SubmissionForm:
    """Read a submission in the JSON of the CLICS Contest API; raises BadRequest."""
    load.check_values(body, MOST_VALUES)
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequest(N_("expected JSON, found %(found)s"), where="body", found=error) from None
    try:
        asked = SubmissionRequest.model_validate(document)
    except ValidationError as error:
        given = error.errors(include_url=False)
        faults = [fault(each) for each in given[:MOST_LISTED]]
        raise BadRequest(all_in_words(faults, len(given)), errors=faults) from None
    _check_language(asked.language_id)
    file = asked.files[0]
    if file.mime not in {None, "application/zip"}:
        raise BadRequest(N_("expected application/zip, found %(found)r"), where="files[0].mime", found=file.mime)
    try:
        data = base64.b64decode(file.data, validate=True)
    except (binascii.Error, ValueError):
        raise BadRequest(N_("expected base64 of a zip archive, found something else"), where="files[0].data") from None
    upload = Upload(file.filename or "files[0]", io.BytesIO(data))
    if archive_kind(upload.stream) != "zip":
        raise BadRequest(N_("expected base64 of a zip archive, found something else"), where="files[0].data")
    others = {name: getattr(asked, name) for name in ("team_id", "comment", "time", "contest_time", "id", "account_id")}
    return SubmissionForm(asked.problem_id, [upload], **others)


def _check_language(language: str) -> None:
    """Raise BadRequest for any language but that of answer files."""
    if language != clics.LANGUAGE:
        raise BadRequest(
            N_("expected %(expected)s, found %(found)r"), where="language_id", expected=clics.LANGUAGE, found=language
        )


class FileReference(BaseModel):
    """A file and where it can be had."""

    href: str
    filename: str
    mime: str


@clics.example(
    {
        "id": "1",
        "language_id": "answers",
        "problem_id": "comesolo",
        "team_id": "ants",
        "time": clics.EXAMPLES_TIME,
        "contest_time": clics.CONTEST_TIME,
        "entry_point": None,
        "files": [{"href": "contests/spring/submissions/1/files", "filename": "1.zip", "mime": "application/zip"}],
        "practice": False,
    }
)
class Submission(BaseModel):
    """A CLICS submission; `files` is empty if the account may not read them. `practice`: after the end, on no board."""

    id: str
    language_id: str
    problem_id: str
    team_id: str | None
    account_id: str | None = None
    time: str
    contest_time: str
    entry_point: None = None
    files: list[FileReference]
    practice: bool
    comment: str | None = None


def view(
    id_: str, submission: SubmissionRow | NewSubmission, *, files: bool = True, practice: bool = False
) -> Submission:
    """A submission, stored or about to be; `files` False leaves out files and account."""
    href = f"contests/{submission.contest_id}/submissions/{id_}/files"
    link = FileReference(href=href, filename=f"{id_}.zip", mime="application/zip")
    return Submission(
        id=id_,
        language_id=clics.LANGUAGE,
        problem_id=submission.problem_id,
        team_id=submission.team_id,
        account_id=submission.account_id if files else None,
        time=clics.format_time(submission.time),
        contest_time=clics.format_reltime(timedelta(milliseconds=submission.contest_time_ms)),
        entry_point=None,
        files=[link] if files else [],
        practice=practice,
    )
