"""A package that someone has sent, read and compared with the rules: whatever can be said without running anything.

- The rules for a package that reads, as far as they show without running anything.
- The rules for a package that is played: its game, the cases of that game, and points for winning them.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from time import process_time

from app.core.faults import NONE, Faults, PackageError, Severity, mismatch
from app.core.parsing import place
from app.packages import catalog, markdown, model, read, settings
from app.packages.files import LARGEST, LIMITS, Limits, archive_files, folder_files
from app.packages.formats.cms import format_of, import_files
from app.packages.names import Format
from checkers.doors import N_, Phrase
from games.catalog import names

FILE = "jurado.yaml"


def _in_settings(package: model.Package, key: str, message: str, severity: Severity = "error") -> PackageError:
    """A fault at a key of jurado.yaml, such as `game.name`."""
    return PackageError(FILE, place(package.files, FILE, tuple(key.split("."))), message, severity)


def _unknown(expected: str, name: str, *, names: Sequence[str]) -> Phrase:
    """An unknown name, and the nearest known one; `expected` has a place for `names`."""
    near = get_close_matches(name, names, 1)
    named = Phrase("%(name)r%(hint)s", name=name, hint=f" (did you mean {near[0]}?)" if near else "")
    return mismatch(expected, named, names=", ".join(names))


def check_played(package: model.Package) -> Iterator[PackageError]:
    """Yield where `game:` and the checker, the cases and the groups do not fit each other.

    What the rules of the game say of a case is for the checker to say, when it is asked about each of them.
    """
    game, checker = package.settings.game, package.settings.checker
    if game is None:
        if checker == settings.GAME:
            yield _in_settings(package, "checker", mismatch(N_("`game: {name: ...}` with the checker game"), NONE))
        return
    if checker != settings.GAME:
        yield _in_settings(package, "checker", mismatch(N_("the checker game with `game`"), repr(checker)))
    if game.name not in names():
        text = _unknown(N_("a game of this installation, one of %(names)s"), game.name, names=names())
        yield _in_settings(package, "game.name", text)
    yield from _check_cases(package, f"game {game.name}")
    yield from _check_groups(package)


def _check_cases(package: model.Package, expected: str) -> Iterator[PackageError]:
    for case in package.cases:
        first = case.input.read().split(b"\n", 1)[0].decode("utf-8", "backslashreplace")
        if first != expected:
            text = mismatch(N_("`%(wanted)s`, the game that jurado.yaml names"), repr(first[:60]), wanted=expected)
            yield PackageError(case.input.path, "line 1", text)


def _check_groups(package: model.Package) -> Iterator[PackageError]:
    for group in package.groups:
        if group.max_score == 0:
            file = f"data/{group.name}/test_group.yaml"
            text = mismatch(N_("points for the games of this group"), "0")
            yield PackageError(file, place(package.files, file, ("max_score",)), text)


LONGEST_QUOTE = 60
# Formulas of one text that are named.
MOST_FORMULAS = 20
# Bytes of a request by default, as the setting `max_upload` has them.
MOST_UPLOAD = 64 * 2**20
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


def check_rules(package: model.Package) -> Iterator[PackageError]:
    """Yield what is wrong with a package, short of running its checker and its programs."""
    yield from _check_checker(package)
    yield from check_played(package)
    yield from _check_folders(package)
    yield from _check_examples(package)
    for statement in package.statements.values():
        yield from _check_statement(package, statement)
    for written in (*package.statements.values(), *package.solutions.values()):
        yield from _check_formulas(written)
    yield from _check_answer_limit(package)
    yield from catalog.check_board(package)


def _check_checker(package: model.Package) -> Iterator[PackageError]:
    name = package.settings.checker
    if package.program is None and name not in catalog.checkers():
        text = _unknown(N_("a checker that is bundled, one of %(names)s"), name, names=catalog.checkers())
        yield _in_settings(package, "checker", text)


def _check_answer_limit(package: model.Package) -> Iterator[PackageError]:
    """Answers larger than a request may be cannot be sent, whatever the package allows."""
    limit = package.settings.answers.limit
    if limit > MOST_UPLOAD:
        most = N_("servers accept answers of at most %(most)s bytes by default (JURADO_MAX_UPLOAD), found %(limit)s")
        yield _in_settings(package, "answers.limit", Phrase(most, most=MOST_UPLOAD, limit=limit), "warning")


def _check_folders(package: model.Package) -> Iterator[PackageError]:
    """Programs and files that Jurado does not use."""
    tops: dict[str, str] = {}
    for name in package.files:
        tops.setdefault(name.partition("/")[0], name)
    own = tops.get("output_validator", tops.get("checker.py"))
    if own is not None and package.program is None:
        message = mismatch(
            N_("no `checker` in jurado.yaml, as the package has its own"), repr(package.settings.checker)
        )
        yield PackageError(own, "", message)
    for top, text in NOT_USED.items():
        if top in tops:
            yield PackageError(tops[top], "", text, "warning")


def _check_examples(package: model.Package) -> Iterator[PackageError]:
    """Warn of a package without a sample, or without good and bad files that try its validators and its checker."""
    if not any(case.group == "sample" for case in package.cases):
        yield PackageError("data/sample", "", mismatch(N_("a sample for contestants"), NONE), "warning")
    kinds = {case.room for case in package.validation_cases}
    for kind, what in EXAMPLES.items():
        if kind not in kinds:
            yield PackageError(f"data/{kind}", "", mismatch(what, NONE), "warning")


def _check_statement(package: model.Package, statement: model.Statement) -> Iterator[PackageError]:
    file = statement.file.path
    if statement.kind == "tex":
        yield PackageError(file, "", N_("contestants get LaTeX source: expected Markdown or a PDF"), "warning")
    if statement.kind != "md":
        return
    text = statement.text
    if TITLE.match(text):
        yield PackageError(file, "line 1", N_("expected no title, as Jurado puts the problem's name there"), "warning")
    for number, line in enumerate(text.splitlines(), start=1):
        if tag := SCRIPT.search(line):
            message = mismatch(N_("Markdown alone, as HTML is shown as text"), f"`{tag[0]}`")
            yield PackageError(file, f"line {number}", message, "warning")
    for at, address in markdown.image_links(text):
        if (fault := _image_fault(package, address)) is not None:
            yield PackageError(file, f"line {at}", fault)


def _check_formulas(written: model.Statement) -> Iterator[PackageError]:
    if written.kind == "md":
        shown = N_("%(reason)s: `%(source)s` is shown unchanged")
        for line, source, reason in islice(markdown.formula_faults(written.text), MOST_FORMULAS):
            text = Phrase(shown, reason=reason, source=source[:LONGEST_QUOTE])
            yield PackageError(written.file.path, f"line {line}", text, "warning")


def _image_fault(package: model.Package, address: str) -> str | None:
    name = markdown.local_image(address)
    if name is None:
        wanted = Phrase(N_("an image below %(folder)s/, as pages show no others"), folder=markdown.FOLDER)
        return mismatch(wanted, f"`{address}`")
    if markdown.image_type(name) is None:
        return mismatch(N_("an image (%(types)s)"), f"`{address}`", types=", ".join(markdown.IMAGE_TYPES))
    if f"{markdown.FOLDER}/{name}" not in package.files:
        return mismatch(N_("the image %(path)s"), Phrase(N_("no such file")), path=f"{markdown.FOLDER}/{name}")
    return None


# Processor time for rendering one statement; twice as much is given when contestants ask for it with its samples.
STATEMENT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Arrival:
    """A package that reads, the rules that it breaks, and what was mapped where it came in another format."""

    package: model.Package
    broken: tuple[PackageError, ...]


def read_arrival(
    source: bytes | Path,
    slug: str | None,
    stem: str | None,
    format: Format | None = None,
    *,
    limits: Limits = LIMITS,
    spool: Path | None = None,
) -> Arrival:
    """Read an archive; its top folder names the problem, otherwise `slug`, otherwise `stem`. Raises PackageErrors.

    An archive of another judge is turned into a package, its format told by its files where `format` does not. The
    files are in memory, or in the new file `spool`.
    """
    top, files = archive_files(source, limits, spool=spool)
    if (foreign := format or format_of(files)) is not None:
        return _foreign(files, foreign, slug, top or stem)
    faults = Faults()
    return _arrival(read.assemble(read.package_name(top, slug, stem, faults), files, faults))


def read_place(
    place: Path, spool: Path | None = None, slug: str | None = None, format: Format | None = None
) -> Arrival:
    """Read a package of any judge from a folder or a zip, named by its folder or file. Raises PackageErrors.

    A zip inflates in memory, or into the new file `spool`, and is good while that is there.
    """
    if not place.is_dir():
        limits = LIMITS if spool is None else LARGEST
        return read_arrival(place, slug, place.stem, format, limits=limits, spool=spool)
    faults = Faults()
    name, files = place.resolve().name, folder_files(place, faults)
    if (foreign := format or format_of(files)) is None:
        return _arrival(read.assemble(name, files, faults))
    faults.settle()
    return _foreign(files, foreign, slug, name)


def read_member(source: bytes | Path, slug: str, limits: Limits = LIMITS, spool: Path | None = None) -> Arrival:
    """Read a package that lies in a larger one, where its place names it. Raises PackageErrors."""
    return _arrival(read.assemble(slug, archive_files(source, limits, spool=spool)[1]))


def _foreign(files: Mapping[str, bytes], format: Format, slug: str | None, name: str | None) -> Arrival:
    """A package of another judge as one of Jurado."""
    imported = import_files(files, format, slug, name)
    return _arrival(read.assemble(imported.slug, imported.files), imported.notes)


def _arrival(package: model.Package, notes: Iterable[PackageError] = ()) -> Arrival:
    return Arrival(package, (*notes, *check_rules(package), *slow_statements(package)))


def slow_statements(package: model.Package, seconds: float = STATEMENT_SECONDS) -> Iterator[PackageError]:
    """The statements that take too long to markdown.render, by their processor time here."""
    for statement in package.statements.values():
        # Processor time, so that a busy server refuses nothing that a quiet one takes.
        began = process_time()
        if statement.kind == "md":
            markdown.render(statement.text, markdown.FOLDER)
        if (taken := process_time() - began) > seconds:
            slow, most = Phrase(N_("%(taken)s s"), taken=f"{taken:.0f}"), f"{seconds:g}"
            message = mismatch(N_("a statement that is rendered within %(seconds)s s"), slow, seconds=most)
            yield PackageError(statement.file.path, "", message)
