"""Kattis packages of all versions that are no package of Jurado yet: legacy, 2023-07-draft, and 2025-09 of other types.

Problems for programs become problems whose outputs are uploaded: pass-fail is all or nothing, for 100 points; scoring
keeps its groups (`kattis_data`). Statements, validators, credits and test data keep their places.
"""

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from app.core.faults import NONE, Faults
from app.core.parsing import place, read_model
from app.packages.formats.draft import Draft, Program, Source, Standard, note_unused
from app.packages.formats.kattis_data import Words, read_data
from checkers.doors import N_, Phrase

FILE = "problem.yaml"
STATEMENT = re.compile(r"(?:problem_statement|statement)/problem(?:\.([^./]+))?\.(tex|md|pdf)")
TITLE = re.compile(r"\\problemname\{([^{}]{1,300})\}")
PLAIN_TITLE = re.compile(r"^%%[ \t]*plainproblemname:[ \t]*(\S.{0,300})$", re.MULTILINE)
AUTHORS = re.compile(r",|\band\b")
COPIED = ("uuid", "version", "credits", "license", "rights_owner", "embargo_until", "constants")
# Limits that example submissions and checkers have here, too.
KEPT_LIMITS = ("validation_time", "validation_memory", "validation_output", "time_limit", "time_resolution")
INTERACTIVE = frozenset({"interactive", "multi-pass", "multipass"})
KEPT_FOLDERS = ("attachments", "generators", "include", "input_validators", "input_visualizer", "output_visualizer",
                "solution", "data/invalid_input", "data/invalid_output", "data/valid_output")  # fmt: skip
# What takes too long for other judges need not do so here.
TOO_SLOW = "submissions/time_limit_exceeded/"


def _text(value: object) -> object:
    """YAML reads a title such as 2048 as a number."""
    return str(value) if isinstance(value, int | float) else value


class Grading(BaseModel):
    """How a scoring problem of the older format is graded."""

    objective: Literal["max", "min"] = "max"


class Metadata(BaseModel):
    """problem.yaml of any version, as far as answer files need it."""

    model_config = ConfigDict(extra="allow", frozen=True)

    problem_format_version: Literal[
        "legacy", "legacy-icpc", "icpc", "2023-07", "2023-07-draft", "2025-09", "2025-09-draft", "draft"
    ] = "legacy"
    name: dict[str, str] | Annotated[str, BeforeValidator(_text)] = ""
    type: Words = ()
    validation: Words = ()
    author: str = ""
    source: object = None
    source_url: str = ""
    keywords: Words = ()
    validator_flags: Words = ()
    output_validator_flags: Words = ()
    grading: Grading = Grading()
    limits: dict[str, object] = {}

    @model_validator(mode="before")
    @classmethod
    def _given(cls, values: dict[str, object]) -> dict[str, object]:
        """Keys without a value count as left out."""
        return {key: value for key, value in values.items() if value is not None}


def read(source: Source) -> Draft:
    """Read a Kattis package into a draft; faults and notes go to `source`."""
    draft = Draft()
    metadata = Metadata()
    if FILE in source.files:
        metadata = read_model(Metadata, source.take(FILE), FILE, source.faults) or metadata
    else:
        source.faults.add(FILE, Phrase(N_("missing file")))
    kinds = _kinds(source, metadata)
    _copy_metadata(source, draft, metadata)
    _read_statements(source, draft, metadata)
    draft.checker = _checker(source, metadata, kinds)
    if metadata.grading.objective == "min":
        draft.settings["scoring"] = {"kind": "relative", "direction": "minimise"}
        message = "objective: min: raw scores count relative to the best one here, the least is the best"
        source.note(FILE, message, place(source.files, FILE, ("grading", "objective")))
    modern = metadata.problem_format_version.startswith("2025")
    read_data(source, draft, scoring="scoring" in kinds, modern=modern)
    _copy_folders(source, draft)
    note_unused(source)
    return draft


def is_for_answers(files: Mapping[str, bytes]) -> bool:
    """Whether problem.yaml is of today's format and of Jurado's type: only jurado.yaml is missing then."""
    metadata = read_model(Metadata, files[FILE], FILE, Faults())
    return (
        metadata is not None
        and metadata.problem_format_version == "2025-09"
        and set(metadata.type) == {"scoring", "submit-answer"}
    )


def _kinds(source: Source, metadata: Metadata) -> set[str]:
    """The words of `type` and `validation`; refuses problems that have no answer files."""
    kinds = {*metadata.type, *metadata.validation}
    where = place(source.files, FILE, ("type" if metadata.type else "validation",))
    for kind in sorted(kinds & INTERACTIVE):
        actual = Phrase(N_("a problem that is %(kind)s"), kind=kind)
        source.faults.expect(FILE, where, N_("answers that are files"), actual)
    if "submit-answer" not in kinds:
        source.note(FILE, N_("a problem for programs: contestants send the outputs here"))
    return kinds


def _copy_metadata(source: Source, draft: Draft, metadata: Metadata) -> None:
    values = metadata.model_extra or {}
    draft.metadata = {key: values[key] for key in COPIED if key in values}
    if authors := [name.strip() for name in AUTHORS.split(metadata.author) if name.strip()]:
        draft.metadata["credits"] = {"authors": authors}
    if metadata.source:
        url = metadata.source_url
        draft.metadata["source"] = {"name": metadata.source, "url": url} if url else metadata.source
    if metadata.keywords:
        draft.metadata["keywords"] = list(metadata.keywords)
    limits = metadata.limits
    if own := {key: limits[key] for key in KEPT_LIMITS if isinstance(limits.get(key), int | float)}:
        draft.metadata["limits"] = own
    left = [*(key for key in values if key not in COPIED), *(["limits"] if limits.keys() != own.keys() else [])]
    if left:
        source.note(FILE, N_("without a meaning for answer files and left out: %(left)s"), left=", ".join(left))


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
    """The title in problem.yaml, otherwise in the statement; empty where there is none."""
    if isinstance(metadata.name, dict):
        return metadata.name.get(language, "")
    text = tex.decode("utf-8", "replace")
    match = PLAIN_TITLE.search(text) or TITLE.search(text)
    return match[1].strip() if match is not None else metadata.name


def _checker(source: Source, metadata: Metadata, kinds: set[str]) -> Standard | Program:
    args = (*metadata.validator_flags, *metadata.output_validator_flags)
    files = _validator_files(source)
    if "default" in metadata.validation and files:
        source.note("output_validators", N_("not used, as problem.yaml has `validation: default`"))
        files = {}
    if "custom" in kinds and not files:
        where = place(source.files, FILE, ("validation",))
        source.faults.expect(FILE, where, N_("one program in output_validators/"), NONE)
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
    """Keep what has the same place here, and the example submissions."""
    if source.below("graders"):
        source.faults.expect("graders", "", N_("the default grader"), N_("a program: nothing here runs one"))
    for name in source.below("input_format_validators"):
        draft.files[f"input_validators/{name.partition('/')[2]}"] = source.keep(name)
    for folder in KEPT_FOLDERS:
        draft.files |= {name: source.keep(name) for name in source.below(folder)}
    for name in source.below("submissions"):
        if name.count("/") > 1 and not name.startswith(TOO_SLOW):
            draft.files[name] = source.keep(name)
