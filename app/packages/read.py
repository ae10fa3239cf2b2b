"""Read a problem package, from a folder or a zip, and list everything that is wrong with it at once."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeVar, cast

from pydantic import BaseModel

from app.core.faults import Faults, PackageError, PackageErrors, mismatch
from app.core.parsing import read_model
from app.packages import contents, metadata, model, names, testdata, tools
from app.packages.files import LARGEST, LIMITS, SLUG, Limits, archive_files, folder_files
from app.packages.settings import JuradoSettings
from app.packages.submissions import read_rules, read_submissions
from app.packages.texts import check_texts
from checkers.doors import N_, Phrase

M = TypeVar("M", bound=BaseModel)

ROOT_FILES = frozenset({"problem.yaml", "jurado.yaml", "README.md", "board.js", "checker.py", "solver.py"})
PROGRAMS = ("input_validators", "output_validator", "input_visualizer", "output_visualizer", "solver")
ROOT_FOLDERS = frozenset(
    ("statement", "attachments", "solution", "data", "generators", "include", "submissions", *PROGRAMS)
)
# Bytes of Markdown or LaTeX: whoever asks for the page waits until it is made.
LONGEST_STATEMENT = 256 * 1024
STATEMENT = re.compile(r"(statement|solution)/(problem|solution)(?:\.([^./]+))?\.(md|tex|pdf)")


def read_package(folder: Path, limits: Limits = LARGEST) -> model.Package:
    """Read the package in `folder`, whose name is the slug; raises PackageErrors listing every fault."""
    if not folder.is_dir():
        raise PackageErrors(
            [PackageError("", "", mismatch(N_("a folder"), Phrase(N_("none at %(folder)s"), folder=folder)))]
        )
    faults = Faults()
    files = folder_files(folder, faults, limits)
    return assemble(folder.resolve().name, files, faults)


def read_archive(
    source: bytes | Path, slug: str | None = None, limits: Limits = LIMITS, spool: Path | None = None
) -> model.Package:
    """Read a package from a zip: its bytes or its path.

    The slug is the archive's one top folder, otherwise `slug`, otherwise the name of the archive's file. Inflates in
    memory, or into the new file `spool`, and never more than `limits`. Raises PackageErrors listing every fault.
    """
    top, files = archive_files(source, limits, spool=spool)
    faults = Faults()
    name = package_name(top, slug, source.stem if isinstance(source, Path) else None, faults)
    return assemble(name, files, faults)


def package_name(top: str | None, slug: str | None, stem: str | None, faults: Faults) -> str:
    """The name of a package in an archive: its one top folder, else the name it is to have, else that of its file."""
    if top is not None and slug is not None and top != slug:
        faults.expect("", "", N_("the top folder %(slug)s"), top, slug=slug)
    name = top or slug or stem
    if name is None:
        faults.expect("", "", N_("one top folder named as the problem's slug"), Phrase(N_("files at the root")))
    return name or ""


def assemble(slug: str, files: Mapping[str, bytes], faults: Faults | None = None) -> model.Package:
    """Build the package from its files; raises PackageErrors listing every fault, those in `faults` included."""
    faults = faults or Faults()
    if files and not {name.partition("/")[0] for name in files} & (ROOT_FILES | ROOT_FOLDERS):
        # A folder of packages, or anything else: hundreds of faults about its files would not say so.
        faults.add("problem.yaml", Phrase(N_("missing file: expected a problem package, which has it at its top")))
        faults.settle()
    if slug and not SLUG.fullmatch(slug):
        faults.expect("", "", N_("a package named by lowercase letters and digits (at most 36)"), repr(slug))
    _check_layout(files, faults)
    check_texts(files, faults)
    problem = _read(metadata.Problem, "problem.yaml", files, faults)
    settings = _read(JuradoSettings, "jurado.yaml", files, faults)
    constants = problem.constants if problem else {}
    texts = model.with_constants(files, constants)
    known = (None, None) if settings is None else tools.resolve(settings, texts, faults)
    settings, program = known
    settings = settings and tools.resolve_solver(settings, files, faults)
    statements = _statements("statement", files, constants, faults)
    solutions = _statements("solution", files, constants, faults)
    submissions = read_submissions(files, faults)
    rules = read_rules(files, faults)
    configs = {name: texts[name] for name in files if name.endswith(f"/{contents.GROUP_FILE}")}
    groups, cases, validation_cases = testdata.read_test_data(files, settings or FALLBACK, configs, faults)
    if problem is not None:
        _check_languages(set(problem.name), set(statements), faults)
    if settings is not None:
        _check_sizes(cases, settings, faults)
    faults.settle()
    if problem is None or settings is None:
        raise AssertionError("a file that does not read has left a fault, and settle() has raised it")
    return model.Package(
        slug=slug,
        problem=problem,
        settings=settings,
        statements=statements,
        solutions=solutions,
        groups=groups,
        cases=cases,
        validation_cases=validation_cases,
        submissions=submissions,
        submission_rules=rules,
        files=files,
        program=program and replace(program, limits=tools.own_limits(problem)),
    )


# Stands in for a jurado.yaml that does not read, so that the faults of the test data are found too.
FALLBACK = JuradoSettings.model_validate({"checker": "exact", "scoring": {"kind": "absolute"}})


def _read(model: type[M], name: str, files: Mapping[str, bytes], faults: Faults) -> M | None:
    if name not in files:
        faults.add(name, Phrase(N_("missing file")))
        return None
    return read_model(model, files[name], name, faults)


def _check_layout(files: Mapping[str, bytes], faults: Faults) -> None:
    """Note files that lie where the format has no place for them, and folders that it requires and that are missing."""
    for name in files:
        top, _, rest = name.partition("/")
        if not rest and top not in ROOT_FILES:
            known = ", ".join(sorted(ROOT_FILES))
            faults.expect(name, "", N_("one of %(names)s at the top"), Phrase(N_("another file")), names=known)
        elif rest and top not in ROOT_FOLDERS:
            faults.expect(name, "", N_("one of the folders %(names)s"), top, names=", ".join(sorted(ROOT_FOLDERS)))
        elif top == "attachments" and rest.count("/") and not rest.startswith("templates/"):
            faults.expect(name, "", N_("attachments as files"), N_("a folder"))
    tops = {name.partition("/")[0] for name in files if "/" in name}
    for folder in ("statement", "input_validators"):
        if folder not in tops:
            faults.add(folder, Phrase(N_("missing folder, or nothing in it")))


def _statements(
    folder: str, files: Mapping[str, bytes], constants: Mapping[str, Mapping[str, int | float | str]], faults: Faults
) -> dict[str, model.Statement]:
    """Collect `statement/problem.<lang>.<kind>`, or `solution/solution[.<lang>].<kind>`, by language."""
    stem = "problem" if folder == "statement" else "solution"
    statements: dict[str, model.Statement] = {}
    for name in sorted(n for n in files if n.startswith(f"{folder}/{stem}.")):
        match = STATEMENT.fullmatch(name)
        language = match[3] if match and (match[3] or folder == "statement") else "en"
        if match is None or language is None or not names.LANGUAGE.match(language):
            faults.expect(name, "", N_("%(stem)s.<language>.md, .tex or .pdf"), name.rpartition("/")[2], stem=stem)
        elif language in statements:
            other = Phrase(N_("also %(other)s"), other=statements[language].file.name)
            faults.expect(name, "", N_("one file for the language %(language)s"), other, language=language)
        else:
            kind = cast(Literal["md", "tex", "pdf"], match[4])
            statements[language] = model.Statement(language, kind, contents.File(name, files), constants)
            if kind != "pdf" and len(files[name]) > LONGEST_STATEMENT:
                size = str(len(files[name]))
                faults.expect(name, "", N_("at most %(most)s bytes"), size, most=LONGEST_STATEMENT)
    return statements


def _check_languages(named: set[str], written: set[str], faults: Faults) -> None:
    """The languages of `name` are exactly those of the statements."""
    for language in sorted(named - written):
        missing = N_("missing file: problem.yaml names the problem in %(language)s")
        faults.add(f"statement/problem.{language}.md", missing, language=language)
    for language in sorted(written - named):
        missing = N_("missing name in %(language)s: there is a statement in that language")
        faults.add("problem.yaml", missing, "name", language=language)


def _check_sizes(cases: tuple[model.Case, ...], settings: JuradoSettings, faults: Faults) -> None:
    """Inputs and reference answers stay within what jurado.yaml allows."""
    for case in cases:
        size = case.input.size
        if size > settings.inputs.limit:
            faults.expect(case.input.path, "", N_("at most %(limit)s bytes"), str(size), limit=settings.inputs.limit)
