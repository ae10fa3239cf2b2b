"""Kattis packages of all versions that are no package of Jurado yet: legacy, 2023-07-draft, and 2025-09 of other types.

Problems for programs become problems whose outputs are uploaded: pass-fail is all or nothing, for 100 points; scoring
keeps its groups (`kattis_data`). Statements, validators, credits and test data keep their places.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from app.core.faults import NONE, Faults
from app.core.parsing import Document, read_document
from app.packages.formats.draft import Draft, Program, Source, Standard, keep_solution, note_unused
from app.packages.formats.kattis_data import Plan, read_data
from checkers.doors import N_, Phrase

STATEMENT = re.compile(r"(?:problem_statement|statement)/problem(?:\.([^./]+))?\.(tex|md|pdf)")
TITLE = re.compile(r"\\problemname\{([^{}]{1,300})\}")
PLAIN_TITLE = re.compile(r"^%%[ \t]*plainproblemname:[ \t]*(\S.{0,300})$", re.MULTILINE)
AUTHORS = re.compile(r",|\band\b")
COPIED = ("uuid", "version", "credits", "license", "rights_owner", "embargo_until", "constants")
VALIDATION = ("validation_time", "validation_memory", "validation_output")
# Limits that example submissions and checkers have here, too.
KEPT_LIMITS = (*VALIDATION, "time_limit", "time_resolution")
LEFT_OUT = ("limits", "languages", "allow_file_writing", "libraries")
READ = ("problem_format_version", "name", "type", "author", "source", "source_url", "keywords", "validation",
        "validator_flags", "output_validator_flags", "grading")  # fmt: skip
VERSIONS = ("legacy", "legacy-icpc", "icpc", "2023-07", "2023-07-draft", "2025-09", "2025-09-draft", "draft")
INTERACTIVE = frozenset({"interactive", "multi-pass", "multipass"})
KEPT_FOLDERS = ("attachments", "generators", "include", "input_validators", "input_visualizer", "output_visualizer",
                "solution", "data/invalid_input", "data/invalid_output", "data/valid_output")  # fmt: skip
ANSWERS = (".out", ".ans")


@dataclass(frozen=True, slots=True)
class Metadata:
    """problem.yaml as it stands: its values by key, and where they stand."""

    values: Mapping[str, object]
    document: Document

    def text(self, key: str) -> str:
        """A value as text; empty where there is none."""
        value = self.values.get(key)
        return value if isinstance(value, str) else ""

    def words(self, key: str) -> list[str]:
        """A value that is a list, or words of a text."""
        value = self.values.get(key)
        return [str(each) for each in value] if isinstance(value, list) else self.text(key).split()


def read(source: Source) -> Draft:
    """Read a Kattis package into a draft; faults and notes go to `source`."""
    draft = Draft()
    metadata = _read_metadata(source)
    kinds = _kinds(source, metadata)
    _copy_metadata(source, draft, metadata)
    _read_statements(source, draft, metadata)
    draft.checker = _checker(source, metadata, kinds)
    minimise = isinstance(grading := metadata.values.get("grading"), dict) and grading.get("objective") == "min"
    if minimise:
        draft.settings["scoring"] = {"kind": "relative", "direction": "minimise"}
        message = "objective: min: raw scores count relative to the best one here, the least is the best"
        source.note("problem.yaml", message, metadata.document.where(("grading", "objective")))
    version = metadata.text("problem_format_version")
    plan = Plan(
        scoring="scoring" in kinds, modern=version.startswith("2025"), custom=isinstance(draft.checker, Program)
    )
    read_data(source, draft, plan)
    _copy_folders(source, draft)
    note_unused(source)
    return draft


def is_for_answers(files: Mapping[str, bytes]) -> bool:
    """Whether problem.yaml is of today's format and of Jurado's type: only jurado.yaml is missing then."""
    document = read_document(files["problem.yaml"], "problem.yaml", Faults())
    value = document.value if document is not None else None
    if not isinstance(value, dict):
        return True
    kinds = value.get("type")
    return str(value.get("problem_format_version")) == "2025-09" and (
        isinstance(kinds, list) and set(map(str, kinds)) == {"scoring", "submit-answer"}
    )


def _read_metadata(source: Source) -> Metadata:
    if "problem.yaml" not in source.files:
        source.faults.add("problem.yaml", Phrase(N_("missing file")))
        return Metadata({}, Document({}, {}))
    document = read_document(source.take("problem.yaml"), "problem.yaml", source.faults)
    value = document.value if document is not None else {}
    if document is None or not isinstance(value, dict):
        if document is not None:
            source.faults.expect("problem.yaml", "", N_("a map of keys to values"), type(value).__name__)
        return Metadata({}, Document({}, {}))
    metadata = Metadata({str(key): each for key, each in value.items()}, document)
    for key in metadata.values:
        if key not in (*COPIED, *LEFT_OUT, *READ):
            source.note("problem.yaml", N_("unknown key, left out"), document.where((key,)))
    version = value.get("problem_format_version", "legacy")
    if version not in VERSIONS:
        where = document.where(("problem_format_version",))
        source.faults.expect(
            "problem.yaml", where, N_("one of %(versions)s"), repr(version)[:60], versions=", ".join(VERSIONS)
        )
    return metadata


def _kinds(source: Source, metadata: Metadata) -> set[str]:
    """The words of `type` and `validation`; refuses problems that have no answer files."""
    kinds = set(metadata.words("type")) | set(metadata.words("validation"))
    where = metadata.document.where(("type",) if "type" in metadata.values else ("validation",))
    for kind in sorted(kinds & INTERACTIVE):
        source.faults.expect(
            "problem.yaml", where, N_("answers that are files"), Phrase(N_("a problem that is %(kind)s"), kind=kind)
        )
    if "submit-answer" not in kinds:
        source.note("problem.yaml", N_("a problem for programs: contestants send the outputs here"))
    return kinds


def _copy_metadata(source: Source, draft: Draft, metadata: Metadata) -> None:
    values = metadata.values
    draft.metadata = {key: values[key] for key in COPIED if values.get(key) is not None}
    if author := metadata.text("author"):
        draft.metadata["credits"] = {"authors": [name.strip() for name in AUTHORS.split(author) if name.strip()]}
    if values.get("source"):
        url = metadata.text("source_url")
        draft.metadata["source"] = {"name": values["source"], "url": url} if url else values["source"]
    if keywords := metadata.words("keywords"):
        draft.metadata["keywords"] = keywords
    limits = values.get("limits")
    given = limits if isinstance(limits, dict) else {}
    if own := {key: given[key] for key in KEPT_LIMITS if isinstance(given.get(key), int | float) and given[key] > 0}:
        draft.metadata["limits"] = own
    if left := [key for key in LEFT_OUT if key in values and (key != "limits" or given.keys() != own.keys())]:
        source.note(
            "problem.yaml", N_("without a meaning for answer files and left out: %(left)s"), left=", ".join(left)
        )


def _read_statements(source: Source, draft: Draft, metadata: Metadata) -> None:
    """Put the statements into `statement/`, and give each language its title."""
    for name in [*source.below("problem_statement"), *source.below("statement")]:
        match = STATEMENT.fullmatch(name)
        path = f"statement/{name.partition('/')[2]}"
        if match is not None:
            language = match[1] or "en"
            path = f"statement/problem.{language}.{match[2]}"
            tex = source.take(name) if match[2] == "tex" else b""
            draft.names[language] = _title(metadata, language, tex)
        if path in draft.files:
            source.faults.expect(name, "", N_("one file for %(path)s"), N_("another one"), path=path)
        draft.files[path] = source.keep(name)


def _title(metadata: Metadata, language: str, tex: bytes) -> str:
    """The title in problem.yaml, else in the statement; empty where there is none."""
    named = metadata.values.get("name")
    if isinstance(named, dict):
        return str(named.get(language, ""))
    text = tex.decode("utf-8", "replace")
    match = PLAIN_TITLE.search(text) or TITLE.search(text)
    return match[1].strip() if match is not None else str(named or "")


def _checker(source: Source, metadata: Metadata, kinds: set[str]) -> Standard | Program:
    args = (*metadata.words("validator_flags"), *metadata.words("output_validator_flags"))
    files = _validator_files(source)
    where = metadata.document.where(("validation",))
    if metadata.text("validation").startswith("default") and files:
        source.note("output_validators", N_("not used, as problem.yaml has `validation: default`"))
        files = {}
    if "custom" in kinds and not files:
        source.faults.expect("problem.yaml", where, N_("one program in output_validators/"), NONE)
    if not files:
        return Standard("tokens", args)
    return Program("kattis", "absolute" if "scoring" in kinds else "fraction", files, args)


def _validator_files(source: Source) -> dict[str, bytes]:
    """The files of the one output validator, as they lie in its folder."""
    names = [*source.below("output_validators"), *source.below("output_validator")]
    if not names:
        return {}
    folder = names[0].partition("/")[0]
    programs = {name.split("/")[1] for name in names}
    nested = len(programs) == 1 and all(name.count("/") > 1 for name in names)
    if folder == "output_validators" and len(programs) > 1:
        source.faults.expect(folder, "", N_("one program"), ", ".join(sorted(programs)))
    depth = 2 if nested else 1
    return {"/".join(name.split("/")[depth:]): source.take(name) for name in names}


def _copy_folders(source: Source, draft: Draft) -> None:
    """Keep what has the same place here, and example submissions that are answer files."""
    if source.below("graders"):
        source.faults.expect("graders", "", N_("the default grader"), N_("a program: nothing here runs one"))
    for name in source.below("input_format_validators"):
        draft.files[f"input_validators/{name.partition('/')[2]}"] = source.keep(name)
    for folder in KEPT_FOLDERS:
        draft.files |= {name: source.keep(name) for name in source.below(folder)}
    submissions: dict[str, list[str]] = {}
    for name in source.below("submissions"):
        submissions.setdefault("/".join(name.split("/")[:3]), []).append(name)
    for path, names in submissions.items():
        if path.count("/") > 1 and all(name.endswith(ANSWERS) for name in names):
            draft.files |= {name: source.keep(name) for name in names}
        elif path.count("/") > 1:
            folder = path.split("/")[1]
            keep_solution(source, draft, {name.removeprefix(f"submissions/{folder}/"): name for name in names}, folder)
