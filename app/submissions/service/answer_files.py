"""From uploaded files to one answer a case: which file is for which case.

What refuses one file refuses the whole submission, before anything is stored; a single answer that is too large only
rejects its case.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from zipfile import ZipInfo

from app.core.json_documents import FileNoteDocument
from app.core.messages import N_
from app.domain.documents import PhraseDocument
from app.submissions.queries.submission_context import Names, OpenCase
from app.submissions.service import archives

# Looking for the nearest name costs a comparison with every name there is, so only so many files get one.
MOST_SUGGESTIONS = 20
# Ignored files with a note each; the others are counted by their reasons, in one note.
MOST_IGNORED = 100
UNKNOWN = N_("no test case of this name")
NEAR = N_("no test case of this name; did you mean %(name)s?")
LITTER = N_("left by the operating system")
MORE = "(+{})"


@dataclass(frozen=True, slots=True)
class Answer:
    """One case's file: its bytes, or None where it is larger than the case allows (`size` is then the limit + 1)."""

    case: OpenCase
    file_name: str
    data: bytes | None
    size: int


@dataclass
class Collected:
    """The answers taken from an upload, and a note on each file: taken, or one of the first that were ignored."""

    answers: dict[str, Answer] = field(default_factory=dict)
    suggested: int = 0
    _notes: list[FileNoteDocument] = field(default_factory=list)
    _ignored: int = 0
    _more: Counter[str] = field(default_factory=Counter)

    @property
    def notes(self) -> list[FileNoteDocument]:
        """Notes on the files in order; at the end the numbers of further ignored ones, by reason."""
        if not self._more:
            return self._notes
        more = [_note(MORE.format(count), None, _reason(reason)) for reason, count in sorted(self._more.items())]
        return [*self._notes, *more]

    def take(self, answer: Answer) -> None:
        """Note the answer of a case that has none yet."""
        self.answers[answer.case.name] = answer
        self._notes.append(_note(answer.file_name, answer.case.name))

    def ignore(self, name: str, reason: str, names: Names | None = None) -> None:
        """Note a file that is not taken, with the nearest of the `names` that may have been meant."""
        if self._ignored >= MOST_IGNORED:
            self._more[reason] += 1
            return
        self._ignored += 1
        nearest: Sequence[str] = ()
        if names is not None and self.suggested < MOST_SUGGESTIONS:
            self.suggested += 1
            nearest = get_close_matches(base_name(name), list(names), n=1)
        self._notes.append(_note(name, None, _reason(NEAR, name=nearest[0]) if nearest else _reason(reason)))


def collect(
    uploads: Sequence[archives.Upload],
    cases: Sequence[OpenCase],
    names: Names,
    limits: archives.Limits,
    *,
    testcase: str | None = None,
    may_be_empty: bool = False,
) -> Collected:
    """Sort uploaded files to cases by `file_names`. Raises UploadRefused with a sentence that says where and why.

    `may_be_empty`: files of no case are no reason to refuse, as when cases have been removed since they were sent.
    """
    collected, budget = Collected(), archives.Budget(limits)
    if not uploads:
        raise archives.UploadRefused(N_("expected at least one file, found none"), where="files")
    for upload in uploads:
        archives.check_name(upload)
        kind = archives.archive_kind(upload.stream)
        if kind == "zip":
            _take_archive(upload, names, budget, collected)
        elif kind is not None:
            raise archives.UploadRefused(
                N_("expected a zip archive or plain answer files, found a %(kind)s archive"),
                where=upload.name,
                kind=kind,
            )
        else:
            budget.add_files(upload.name, 1)
            _take_plain(upload, names, cases, testcase if len(uploads) == 1 else None, len(uploads) == 1, collected)
    if not collected.answers and not may_be_empty:
        raise _nothing_taken(collected, names)
    return collected


def base_name(path: str) -> str:
    """A file's name without its folders."""
    return path.rsplit("/", 1)[-1]


def _take_plain(
    upload: archives.Upload,
    names: Names,
    cases: Sequence[OpenCase],
    testcase: str | None,
    alone: bool,
    collected: Collected,
) -> None:
    wanted = names.get(base_name(upload.name), ())
    if testcase is not None:
        wanted = [case for case in cases if case.name == testcase]
        if not wanted:
            close = get_close_matches(testcase, list(names), n=1)
            near = N_("expected the name of a test case, found %(found)r; did you mean %(name)s?")
            unknown = near if close else N_("expected the name of a test case, found %(found)r")
            raise archives.UploadRefused(unknown, where="testcase", found=testcase, name="".join(close))
    elif not wanted and alone:
        wanted = _only(names, cases)
    if not wanted:
        collected.ignore(upload.name, UNKNOWN, names)
        return
    _take(collected, wanted, upload.name, upload.stream.read(_limit(wanted) + 1))


def _only(names: Names, cases: Sequence[OpenCase]) -> Sequence[OpenCase]:
    """The cases of a file that is sent alone, whatever its name: the only case, or those of the only name."""
    if len(cases) == 1:
        return cases
    return next(iter(names.values())) if len(names) == 1 else ()


def _limit(cases: Sequence[OpenCase]) -> int:
    return max(case.limit for case in cases)


def _take(collected: Collected, cases: Sequence[OpenCase], file_name: str, data: bytes) -> None:
    for case in cases:
        earlier = collected.answers.get(case.name)
        if earlier is not None:
            raise archives.UploadRefused(
                N_("expected one file for case %(case)s, found a second one next to %(file)s"),
                where=file_name,
                case=case.name,
                file=earlier.file_name,
            )
        within_limit = data if len(data) <= case.limit else None
        collected.take(Answer(case, file_name, within_limit, len(data)))


def _take_archive(upload: archives.Upload, names: Names, budget: archives.Budget, collected: Collected) -> None:
    with archives.open_archive(upload, budget) as archive:
        for entry in archive.entries:
            if not entry.filename.endswith("/"):  # is_dir() fails on an empty name
                _take_entry(archive, entry, names, collected)


def _take_entry(archive: archives.Archive, entry: ZipInfo, names: Names, collected: Collected) -> None:
    name = base_name(entry.filename)
    wanted = names.get(name, ())
    if archives.is_litter(entry.filename):
        collected.ignore(entry.filename, LITTER)
    elif not wanted:
        collected.ignore(entry.filename, UNKNOWN, names)
    else:
        _take(collected, wanted, entry.filename, archive.read(entry, _limit(wanted) + 1))


def _note(name: str, case: str | None, ignored: PhraseDocument | None = None) -> FileNoteDocument:
    return {"name": name, "case": case, "ignored": ignored}


def _reason(source: str, **values: str) -> PhraseDocument:
    return {"source": source, "values": values}


def _nothing_taken(collected: Collected, names: Names) -> archives.UploadRefused:
    example = next(iter(names), None)
    if example is None:
        return archives.UploadRefused(N_("the problem has no open test case"), where="files")
    if not collected.notes:
        empty = N_("expected files named after test cases, such as %(example)s, found an empty archive")
        return archives.UploadRefused(empty, where="files", example=example)
    return archives.UploadRefused(
        N_("expected files named after test cases, such as %(example)s, found %(sent)s"),
        where="files",
        example=example,
        sent=", ".join(note["name"] for note in collected.notes[:3]),
    )
