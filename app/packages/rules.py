"""The rules for a package that reads, as far as they show without running anything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import islice

from app.core.faults import PackageError, Severity
from app.core.parsing import place
from app.packages.board_module import check_board
from app.packages.catalog import checkers
from app.packages.ladder import check_ladder
from app.packages.markdown import FOLDER, IMAGE_TYPES, ImageLink, formula_faults, image_links, image_type, local_image
from app.packages.model import Package, Statement
from app.packages.played import check_played

LONGEST_ID = 36
LONGEST_QUOTE = 60
MOST_FORMULAS = 20
"""Formulas of one text that are named."""
MOST_UPLOAD = 64 * 2**20
"""Bytes of a request by default, as the setting `max_upload` has them."""
NOT_USED = {
    "input_visualizer": "Jurado does not run visualizers: this folder is only kept with the package",
    "output_visualizer": "Jurado does not run visualizers: this folder is only kept with the package",
    "attachments": "Jurado does not hand out attachments: this folder is only kept with the package",
}
EXAMPLES = {
    "invalid_input": "inputs that the input validators must refuse",
    "invalid_output": "answers that the checker must reject",
    "valid_output": "answers that the checker must accept",
}
SCRIPT = re.compile(r"<(?:script|img|iframe|div|span|table|style)\b", re.IGNORECASE)
TITLE = re.compile(r"# ")


def check_rules(package: Package) -> Iterator[PackageError]:
    """Yield what is wrong with a package, short of running its checker and its programs."""
    yield from _check_slug(package)
    yield from _check_checker(package)
    yield from check_played(package)
    yield from _check_folders(package)
    yield from _check_examples(package)
    for statement in package.statements.values():
        yield from _check_statement(package, statement)
    for written in (*package.statements.values(), *package.solutions.values()):
        yield from _check_formulas(written)
    source = package.settings.languages.source
    if source is not None and source not in package.statements:
        text = f"expected a statement in the source language, found only {', '.join(package.statements)}"
        yield PackageError("jurado.yaml", place(package.files, "jurado.yaml", ("languages", "source")), text, "warning")
    yield from _check_answer_limit(package)
    yield from check_ladder(package)
    yield from check_board(package)


def _check_slug(package: Package) -> Iterator[PackageError]:
    if len(package.slug) > LONGEST_ID:
        text = f"expected an id of at most {LONGEST_ID} characters, found {package.slug!r}"
        yield PackageError("", "", text)


def _check_checker(package: Package) -> Iterator[PackageError]:
    name = package.settings.checker
    if package.program is None and name not in checkers():
        near = get_close_matches(name, checkers(), 1)
        hint = f" (did you mean {near[0]}?)" if near else ""
        text = f"expected a checker that is bundled, one of {', '.join(checkers())}, found {name!r}{hint}"
        yield PackageError("jurado.yaml", place(package.files, "jurado.yaml", ("checker",)), text)


def _check_answer_limit(package: Package) -> Iterator[PackageError]:
    """Answers larger than a request may be cannot be sent, whatever the package allows."""
    limit = package.settings.answers.limit
    if limit > MOST_UPLOAD:
        text = f"servers accept answers of at most {MOST_UPLOAD} bytes by default (JURADO_MAX_UPLOAD), found {limit}"
        yield PackageError("jurado.yaml", place(package.files, "jurado.yaml", ("answers", "limit")), text, "warning")


def _check_folders(package: Package) -> Iterator[PackageError]:
    """Programs and files that Jurado does not use."""
    tops: dict[str, str] = {}
    for name in package.files:
        tops.setdefault(name.partition("/")[0], name)
    own = tops.get("output_validator", tops.get("checker.py"))
    if own is not None and package.program is None:
        message = f"expected no `checker` in jurado.yaml beside the package's own, found {package.settings.checker!r}"
        yield PackageError(own, "", f"{message}: leave one of them out")
    for top, text in NOT_USED.items():
        if top in tops:
            yield PackageError(tops[top], "", text, "warning")


def _check_examples(package: Package) -> Iterator[PackageError]:
    """Warn of a package without a sample, or without good and bad files that try its validators and its checker."""
    if not any(case.group == "sample" for case in package.cases):
        yield PackageError("data/sample", "", "expected a sample for contestants, found none", "warning")
    kinds = {case.kind for case in package.validation_cases}
    for kind, what in EXAMPLES.items():
        if kind not in kinds:
            yield PackageError(f"data/{kind}", "", f"expected {what}, found none", "warning")


def _check_statement(package: Package, statement: Statement) -> Iterator[PackageError]:
    file = statement.file.path
    if statement.kind == "tex":
        yield PackageError(file, "", "contestants get LaTeX as it is written: expected Markdown or a PDF", "warning")
    if statement.kind != "md":
        return
    text = statement.text
    if TITLE.match(text):
        yield PackageError(file, "line 1", "expected no title, as Jurado puts the problem's name there", "warning")
    for number, line in enumerate(text.splitlines(), start=1):
        if tag := SCRIPT.search(line):
            message = f"expected Markdown alone, as HTML is shown as text, found `{tag[0]}`"
            yield PackageError(file, f"line {number}", message, "warning")
    for link in image_links(text):
        if (fault := _image_fault(package, link)) is not None:
            severity, message = fault
            yield PackageError(file, f"line {link.line}", message, severity)


def _check_formulas(written: Statement) -> Iterator[PackageError]:
    if written.kind == "md":
        for fault in islice(formula_faults(written.text), MOST_FORMULAS):
            message = f"{fault.reason}: `{fault.source[:LONGEST_QUOTE]}` is shown as it is written"
            yield PackageError(written.file.path, f"line {fault.line}", message, "warning")


def _image_fault(package: Package, link: ImageLink) -> tuple[Severity, str] | None:
    name = local_image(link.address)
    if name is None:
        return "error", f"expected an image below {FOLDER}/, as pages show no others, found `{link.address}`"
    if image_type(name) is None:
        return "error", f"expected an image ({', '.join(IMAGE_TYPES)}), found `{link.address}`"
    if f"{FOLDER}/{name}" not in package.files:
        return "error", f"expected the image {FOLDER}/{name}, found no such file"
    return None
