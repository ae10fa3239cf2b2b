"""Catalogues of the pages' messages: takes new ones out of the sources, and says what is not translated.

`python scripts/messages.py` brings app/core/pages/translations/*.po up to the sources: new messages come in
empty, unused ones go. It prints what each language lacks, and its exit code is 1 then. `--check` changes nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from copy import deepcopy
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("app", "checkers", "games")
CATALOGUES = ROOT / "app/core/pages/translations"
METHODS = [
    ("core/pages/static/swagger-ui/**", "ignore"),
    ("**/templates/**.html", "jinja2"),
    ("**/static/**.js", "javascript"),
    ("**.py", "python"),
]
OPTIONS = {
    "**/templates/**.html": {
        "trimmed": "true",
        "trim_blocks": "true",
        "lstrip_blocks": "true",
        "silent": "false",
    },
    "**/static/**.js": {"parse_template_string": "true"},
}
KEYWORDS = {"_": None, "N_": None, "Phrase": None, "gettext": None, "ngettext": (1, 2)}
MARKS = re.compile(r"%\(\w+\)[sr]|%%|</?[a-z]+")
HEADER = "# Messages of Jurado's pages. docs/guides/translating.md tells how to work on them."


def main() -> int:
    """Bring every catalogue up to date, or with --check only compare; prints what lacks."""
    checks = "--check" in sys.argv[1:]
    source = extracted()
    faults = []
    for path in sorted(CATALOGUES.glob("*.po")):
        catalogue = read(path)
        text = path.read_bytes()
        update(catalogue, source)
        if written(catalogue) != text:
            if checks:
                faults.append(f"{path.name}: not as the sources have it; `make messages` brings it up to them")
            else:
                path.write_bytes(written(catalogue))
        faults += [f"{path.name}: {each}" for each in faults_of(catalogue)]
    print("\n".join(faults) or f"{len(source)} messages, translated in every language")
    return 1 if faults else 0


def extracted() -> Catalog:
    """All messages of the sources, with the files in which they stand."""
    source = Catalog(charset="utf-8")
    for folder in FOLDERS:
        # Phrases of app are faults of packages: those that pages translate are marked by N_, the others stay English.
        keywords = {name: at for name, at in KEYWORDS.items() if folder != "app" or name != "Phrase"}
        for name, line, message, _comments, context in extract_from_dir(
            ROOT / folder, METHODS, OPTIONS, keywords=keywords, comment_tags=()
        ):
            path = name if folder == "app" else f"{folder}/{name}"
            source.add(message, locations=[(path.replace("\\", "/"), line)], context=context)
    return source


def read(path: Path) -> Catalog:
    """A catalogue; its file is named after its language."""
    with path.open("rb") as file:
        return read_po(file, locale=path.stem, charset="utf-8")


def update(catalogue: Catalog, source: Catalog) -> None:
    """Take the messages of the sources in, without guesses, and drop those that are used no more."""
    catalogue.update(deepcopy(source), no_fuzzy_matching=True, update_creation_date=False)  # it takes the messages over
    catalogue.obsolete.clear()


def written(catalogue: Catalog) -> bytes:
    """A catalogue as its file has it: sorted by message, without lines of places or times."""
    file = BytesIO()
    write_po(file, catalogue, width=120, no_location=False, include_lineno=False, sort_output=True, omit_header=True)
    plural = f"nplurals={catalogue.num_plurals}; plural={catalogue.plural_expr};"
    head = (
        f'{HEADER}\nmsgid ""\nmsgstr ""\n"Language: {catalogue.locale_identifier}\\n"\n'
        f'"Plural-Forms: {plural}\\n"\n"MIME-Version: 1.0\\n"\n'
        '"Content-Type: text/plain; charset=utf-8\\n"\n"Content-Transfer-Encoding: 8bit\\n"\n\n'
    )
    return head.encode() + file.getvalue()


def faults_of(catalogue: Catalog) -> list[str]:
    """The messages that are not translated, are guesses, or whose placeholders or tags are others than the source's."""
    faults = []
    for message in catalogue:
        if not message.id:
            continue
        name = message.id[0] if isinstance(message.id, tuple | list) else message.id
        strings = message.string if isinstance(message.string, tuple | list) else (message.string,)
        if not all(strings):
            faults.append(f"{name!r}: not translated")
        elif message.fuzzy:
            faults.append(f"{name!r}: fuzzy")
        else:
            faults += [f"{name!r}: {each}" for each in _differences(message.id, strings)]
    return faults


def _differences(source: str | Sequence[str], strings: Sequence[str]) -> list[str]:
    """The placeholders and tags that a translation has and its source has not, or the other way round.

    A form of a count may leave the count out: "one case".
    """
    sources = [source] if isinstance(source, str) else source
    expected = {each for text in sources for each in MARKS.findall(text)}
    faults = []
    for text in strings:
        marks = set(MARKS.findall(text))
        if (marks ^ expected) - ({"%(num)s"} if len(sources) > 1 else set()):
            faults.append(f"expected {', '.join(sorted(expected)) or 'no placeholder'}, found {text!r}")
    return faults


if __name__ == "__main__":
    sys.exit(main())
