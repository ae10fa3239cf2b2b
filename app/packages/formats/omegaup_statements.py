"""Statements and solutions of omegaUp: Markdown with blocks of samples, which become test cases of `sample`."""

import re

from app.packages.formats import draft as drafts
from app.packages.markdown import parser
from app.packages.names import LANGUAGE
from checkers.doors import N_, Phrase

TEXT = re.compile(r"(statements|solutions)/([^/]+)\.(?:markdown|md)")
BLOCK = re.compile(r"^ {0,3}\|\| *(input|examplefile) *\n", re.MULTILINE)
END = re.compile(r"^ {0,3}\|\| *end *$\n?", re.MULTILINE)
MARK = re.compile(r"^ {0,3}\|\| *(input|output|description|examplefile) *$")
TAG = re.compile(r"^\{\{(libinteractive|output-only):download\}\}[ \t]*\n?", re.MULTILINE)
Sample = tuple[str, str]


def read_statements(source: drafts.Source, draft: drafts.Draft, taken: set[str]) -> None:
    """Put statements/ and solutions/ into the draft, with their images, and the samples of the first language.

    `taken`: names of cases, which samples keep off.
    """
    samples: dict[str, list[Sample]] = {}
    for name in [*source.below("statements"), *source.below("solutions")]:
        match = TEXT.fullmatch(name)
        folder, stem = ("statement", "problem") if name.startswith("statements/") else ("solution", "solution")
        if match is None:
            draft.files[f"{folder}/{name.partition('/')[2]}"] = source.keep(name)
        elif not LANGUAGE.match(match[2]):
            source.faults.expect(name, "", N_("a language, such as es.markdown"), match[2])
        else:
            text, shown = convert(source, name, source.take(name).decode("utf-8", "surrogateescape"))
            draft.files[f"{folder}/{stem}.{match[2]}.md"] = text.encode("utf-8", "surrogateescape")
            if folder == "statement":
                samples[match[2]] = shown
    draft.names = dict.fromkeys(sorted(samples), "")
    _add_samples(source, draft, samples, taken)


def convert(source: drafts.Source, name: str, text: str) -> tuple[str, list[Sample]]:
    """Turn omegaUp's Markdown into the package's: (text with places for samples, the samples)."""
    samples: list[Sample] = []
    pieces: list[str] = []
    text = text.replace("\r\n", "\n").removeprefix("\ufeff")
    at = 0
    while (begin := BLOCK.search(text, at)) is not None:
        end = END.search(text, begin.end())
        if end is None:
            line = text.count("\n", 0, begin.start()) + 1
            source.faults.expect(name, f"line {line}", N_("`||end` after `||input`"), N_("the end of the file"))
            break
        shown = _block(source, name, text[begin.start() : end.start()])
        pieces += [text[at : begin.start()], "{{nextsample}}\n\n" * len(shown)]
        samples += shown
        at = end.end()
    pieces.append(text[at:])
    return _demoted(TAG.sub("", "".join(pieces))), samples


def _block(source: drafts.Source, name: str, block: str) -> list[Sample]:
    """The samples of a block; descriptions have no place beside samples and are noted."""
    parts: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        match = MARK.match(line)
        if match is not None:
            parts.append((match[1], []))
        elif parts:
            parts[-1][1].append(line)
    samples: list[Sample] = []
    for at, (kind, lines) in enumerate(parts):
        text = "".join(f"{line}\n" for line in lines)
        if kind == "input":
            output = next((each for mark, each in parts[at + 1 : at + 2] if mark == "output"), [])
            samples.append((text, "".join(f"{line}\n" for line in output)))
        elif kind == "examplefile":
            samples += _example_file(source, name, text.strip())
        elif kind == "description" and text.strip():
            source.note(name, N_("descriptions of samples have no place here and have been left out"))
    return samples


def _example_file(source: drafts.Source, name: str, stem: str) -> list[Sample]:
    files = [f"examples/{stem}.in", f"examples/{stem}.out"]
    missing = [file for file in files if file not in source.files]
    if missing:
        source.faults.expect(name, "", N_("the file %(missing)s"), Phrase(N_("no such file")), missing=missing[0])
        return []
    given, answer = (source.take(file).decode("utf-8", "surrogateescape") for file in files)
    return [(given, answer)]


def _demoted(text: str) -> str:
    """One `#` more for each heading, where there is one of the first level: that is the problem's name here."""
    headings = [token for token in parser().parse(text) if token.type == "heading_open" and token.markup[0] == "#"]
    lines = text.split("\n")
    for heading in headings if any(each.tag == "h1" for each in headings) else ():
        if heading.map is not None and heading.tag != "h6":
            lines[heading.map[0]] = lines[heading.map[0]].replace("#", "##", 1)
    return "\n".join(lines)


def _add_samples(source: drafts.Source, draft: drafts.Draft, samples: dict[str, list[Sample]], taken: set[str]) -> None:
    shown = next((each for each in samples.values() if each), [])
    for file in source.below("examples"):
        stem = file.removesuffix(".in")
        if file in source.used or not file.endswith(".in") or f"{stem}.out" not in source.files:
            continue
        shown += _example_file(source, file, stem.removeprefix("examples/"))
    for number, (given, answer) in enumerate(shown, start=1):
        name = f"sample{number:02}"
        while name in taken:
            name = f"sample-{name}"
        data, expected = (text.encode("utf-8", "surrogateescape") for text in (given, answer))
        draft.samples.append(drafts.CaseDraft(name, data, expected))
