"""CMS' Italian format: task.yaml, input/inputN.txt, output/outputN.txt, gen/GEN, check/checker, statement/, att/.

Test cases are called by their number, `000` on, as CMS calls them: contestants send `output_000.txt`, a name that is
taken here too. Without a score type in task.yaml the lines `# ST: POINTS` of gen/GEN begin the subtasks of a GroupMin;
without those every case has its share of `total_value`.

- Tell formats of packages apart by their files, and turn any of them into the files of a Jurado package.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from app.core import faults, parsing
from app.packages import contents, names
from app.packages.files import SLUG
from app.packages.formats import draft as drafts
from app.packages.formats import kattis, omegaup, polygon
from app.packages.formats.writing import write_draft
from checkers.doors import N_, Phrase

NUMBERED = re.compile(r"(input|output)/(input|output)(0|[1-9][0-9]{0,5})\.txt")
CHECKERS = ("check/checker", "cor/correttore")
SOLUTIONS = ("sol/solution", "sol/soluzione")
SOURCES = (".cpp", ".cc", ".c", ".py")
MANAGERS = ("check/manager", "cor/manager")


# What score_type_parameters are of Sum: the points of a case.
POINTS = TypeAdapter[float](Annotated[float, Field(gt=0, le=10**9)])
# And of the groups: their points, and how many of the cases that follow are theirs.
SUBTASKS = TypeAdapter[list[tuple[float, int]]](
    list[tuple[Annotated[float, Field(ge=0, le=10**9)], Annotated[int, Field(gt=0, le=10**6)]]]
)


class Task(BaseModel):
    """task.yaml, as far as answer files need it; both the English and the older Italian keys."""

    model_config = ConfigDict(coerce_numbers_to_str=True, frozen=True)

    name: str = ""
    nome_breve: str = ""
    title: str = ""
    nome: str = ""
    primary_language: str = "it"
    n_input: Annotated[int, Field(ge=0, le=100_000)] | None = None
    total_value: Annotated[float, Field(gt=0, le=10**9)] = 100.0
    output_only: bool = False
    score_type: Literal["Sum", "GroupMin", "GroupMul"] | None = None
    score_type_parameters: object = None


def read(source: drafts.Source) -> drafts.Draft:
    """Read a task folder into a draft; faults and notes go to `source`."""
    task = Task()
    if "task.yaml" in source.files:
        task = parsing.read_model(Task, source.take("task.yaml"), "task.yaml", source.faults) or task
    else:
        source.faults.add("task.yaml", Phrase(N_("missing file")))
    draft = drafts.Draft(slug=task.name or task.nome_breve)
    for name in MANAGERS:
        if name in source.files:
            source.faults.add(name, N_("expected answers that are files: a Communication task has none"))
    if not task.output_only:
        source.note("task.yaml", N_("the programs of a Batch task are not run here: contestants send their outputs"))
    draft.checker = _checker(source)
    draft.groups = _groups(source, task, _cases(source, task), draft.checker)
    title = task.title or task.nome or draft.slug
    for language in _statements(source, draft, task.primary_language):
        draft.names[language] = title
    for name in source.below("att"):
        draft.files[f"attachments/{name.removeprefix('att/')}"] = source.keep(name)
    _read_solution(source, draft)
    drafts.note_unused(source)
    return draft


def _cases(source: drafts.Source, task: Task) -> list[drafts.CaseDraft]:
    """The test cases in the order of their numbers, which go from 0 to n_input - 1."""
    inputs: dict[int, str] = {}
    outputs: dict[int, str] = {}
    for name in [*source.below("input"), *source.below("output")]:
        match = NUMBERED.fullmatch(name)
        if match is not None and match[1] == match[2]:
            (inputs if match[1] == "input" else outputs)[int(match[3])] = name
    count = task.n_input if task.n_input is not None else len(inputs)
    for at in range(count):
        if at not in inputs:
            source.faults.add(f"input/input{at}.txt", Phrase(N_("missing file")))
    if extra := sorted(name for names in (inputs, outputs) for at, name in names.items() if at >= count):
        source.note("task.yaml", N_("beyond n_input and left out: %(extra)s"), "n_input", extra=drafts.listed(extra))
    return [
        drafts.CaseDraft(f"{at:03}", source.keep(inputs[at]), source.keep(outputs[at]) if at in outputs else None)
        for at in range(count)
        if at in inputs
    ]


def _checker(source: drafts.Source) -> drafts.Standard | drafts.Program:
    """The comparison of white space (`white-diff`), or the task's own checker from its source."""
    for name in CHECKERS:
        sources = [f"{name}{extension}" for extension in SOURCES if f"{name}{extension}" in source.files]
        if sources:
            source.used.add(name)
            headers = [each for each in source.below(name.partition("/")[0]) if each.endswith((".h", ".hpp"))]
            return drafts.Program(
                "cms", "fraction", {_last(each): source.take(each) for each in (sources[0], *headers)}
            )
        if name in source.files and b"python" in source.files[name][:60].split(b"\n")[0]:
            return drafts.Program("cms", "fraction", {f"{_last(name)}.py": source.take(name)})
        if name in source.files:
            beside, actual = ", ".join(_last(name) + each for each in SOURCES), "a program in no language known here"
            source.faults.expect(name, "", N_("its source in the same folder (%(sources)s)"), actual, sources=beside)
    return drafts.Standard("lines")


def _read_solution(source: drafts.Source, draft: drafts.Draft) -> None:
    """Put the official solution among the example submissions; of others in sol/ no one says what they earn."""
    for name in source.below("sol"):
        if name.rpartition(".")[0] in SOLUTIONS:
            draft.files[f"submissions/accepted/{_last(name)}"] = source.keep(name)


def _last(name: str) -> str:
    return name.rpartition("/")[2]


def _statements(source: drafts.Source, draft: drafts.Draft, primary: str) -> list[str]:
    """Put the PDFs of statement/ or testo/ into the draft; gives their languages."""
    languages: list[str] = []
    for name in [*source.below("statement"), *source.below("testo")]:
        folder, _, last = name.partition("/")
        stem = last.removesuffix(".pdf")
        language = primary if stem == folder else polygon.language_of(stem) or stem
        if not last.endswith(".pdf") or not names.LANGUAGE.match(language):
            continue
        if language in languages:
            source.faults.add(name, N_("two statements have the language %(language)s"), language=language)
            continue
        languages.append(language)
        draft.files[f"statement/problem.{language}.pdf"] = source.keep(name)
    if not languages:
        source.faults.expect("statement", "", N_("statement.pdf or LANGUAGE.pdf"), faults.NONE)
    return languages


GEN = "gen/GEN"
WHOLE = re.compile("[0-9]{1,9}")


def _groups(
    source: drafts.Source, task: Task, cases: Sequence[drafts.CaseDraft], checker: drafts.Standard | drafts.Program
) -> list[drafts.GroupDraft]:
    """The groups that a task scores by; without any the cases share `total_value`."""
    if GEN in source.files:
        source.used.add(GEN)
    kind, parameters = task.score_type, task.score_type_parameters
    if kind is not None and parameters is not None:
        return _by_parameters(source, kind, parameters, cases, checker)
    if kind is not None or parameters is not None:
        message = faults.mismatch(N_("score_type and score_type_parameters together"), N_("one: gen/GEN counts"))
        source.note("task.yaml", message, "score_type")
    subtasks = _read_gen(source, len(cases)) if GEN in source.files else []
    if not subtasks:
        return [_flat(cases, Fraction(str(task.total_value)) / len(cases))] if cases else []
    return _following([(Fraction(points), count) for points, count in subtasks], cases)


def _flat(cases: Sequence[drafts.CaseDraft], points: Fraction) -> drafts.GroupDraft:
    return drafts.GroupDraft("", "sum", points * len(cases), tuple(replace(case, points=points) for case in cases))


def _read_gen(source: drafts.Source, cases: int) -> list[tuple[int, int]]:
    """The subtasks of gen/GEN, points and number of cases each; empty where it has none."""
    subtasks: list[tuple[int, int]] = []
    loose = 0
    text = source.take(GEN).decode("utf-8", "replace")
    for number, line in enumerate(text.splitlines(), start=1):
        command, _, comment = (part.strip() for part in line.partition("#"))
        if not command and comment.startswith("ST:"):
            points = WHOLE.fullmatch(comment.removeprefix("ST:").strip())
            if points is None:
                source.faults.expect(GEN, f"line {number}", N_("`# ST: POINTS`"), repr(line[:60]))
            subtasks.append((int(points[0]) if points else 0, 0))
        elif (command or comment.startswith("COPY:")) and subtasks:
            subtasks[-1] = (subtasks[-1][0], subtasks[-1][1] + 1)
        elif command or comment.startswith("COPY:"):
            loose += 1
    if subtasks and loose:
        before = Phrase(N_("%(loose)s before the first"), loose=loose)
        source.faults.expect(GEN, "", N_("every case after a line `# ST: POINTS`"), before)
    count = loose + sum(each for _, each in subtasks)
    if count != cases:
        source.faults.expect(GEN, "", N_("a line for each of the %(cases)s test cases"), str(count), cases=cases)
    return subtasks


def _by_parameters(
    source: drafts.Source,
    kind: str,
    parameters: object,
    cases: Sequence[drafts.CaseDraft],
    checker: drafts.Standard | drafts.Program,
) -> list[drafts.GroupDraft]:
    """The groups of score_type_parameters."""
    where = "score_type_parameters"
    try:
        if kind == "Sum":
            points = POINTS.validate_python(parameters)
            return [_flat(cases, Fraction(str(points)))] if cases else []
        subtasks = SUBTASKS.validate_python(parameters)
    except ValidationError:
        expected = "points of a case, above 0" if kind == "Sum" else "a list of [points, number of cases]"
        source.faults.expect("task.yaml", where, expected, str(parameters)[:60])
        return []
    if kind == "GroupMul" and isinstance(checker, drafts.Program):
        message = "GroupMul multiplies the outcomes of a group's cases; here the worst one counts (GroupMin)"
        source.note("task.yaml", message, "score_type")
    if (count := sum(each for _, each in subtasks)) != len(cases):
        source.faults.expect("task.yaml", where, f"{len(cases)} test cases in all groups", str(count))
    return _following([(Fraction(str(points)), each) for points, each in subtasks], cases)


def _following(entries: Sequence[tuple[Fraction, int]], cases: Sequence[drafts.CaseDraft]) -> list[drafts.GroupDraft]:
    """Groups that follow each other, each with its points and so many cases."""
    groups: list[drafts.GroupDraft] = []
    at, width = 0, len(str(len(entries) - 1))
    for number, (points, count) in enumerate(entries):
        groups.append(drafts.GroupDraft(f"subtask{number:0{width}}", "min", points, tuple(cases[at : at + count])))
        at += count
    return [group for group in groups if group.cases]


READERS: Mapping[names.Format, Callable[[drafts.Source], drafts.Draft]] = {
    "kattis": kattis.read,
    "omegaup": omegaup.read,
    "cms": read,
    "polygon": polygon.read,
}


@dataclass(frozen=True, slots=True)
class Imported:
    """A package of another judge as a Jurado package: its slug, its files, and how things were mapped."""

    slug: str
    files: contents.ComposedFiles
    notes: tuple[faults.PackageError, ...]


def format_of(files: Mapping[str, bytes]) -> names.Format | None:
    """The foreign format of some files; None for a Jurado package, whole or not, and for what is no package."""
    if "jurado.yaml" in files:
        return None
    if "problem.yaml" in files:
        return None if kattis.is_for_answers(files) else "kattis"
    if any(name.startswith("cases/") and name.endswith(".in") for name in files):
        return "omegaup"
    if "problem.xml" in files:
        return "polygon"
    return "cms" if "task.yaml" in files else None


def import_files(files: Mapping[str, bytes], format: names.Format, slug: str | None, name: str | None) -> Imported:
    """Turn the files of a foreign package into those of a Jurado package.

    `slug` is the id it must have; otherwise its own name gives it, or `name`, that of its folder or file. Raises
    PackageErrors with every fault.
    """
    source = drafts.Source(files)
    draft = READERS[format](source)
    chosen = slug or drafts.slug_of(draft.slug) or drafts.slug_of(name or "")
    if not SLUG.fullmatch(chosen):
        source.faults.expect(
            "", "", N_("an id of lowercase letters and digits"), repr(slug or draft.slug or name or "")
        )
    _name(draft, draft.slug or name or chosen, source)
    written = write_draft(draft, chosen, source)
    source.faults.settle()
    return Imported(chosen, written, tuple(dict.fromkeys(source.notes)))


def _name(draft: drafts.Draft, name: str, source: drafts.Source) -> None:
    """Give every language of the statements a title; formats without titles get the package's name."""
    nameless = [language for language, title in draft.names.items() if not title]
    draft.names |= dict.fromkeys(nameless, name)
    if nameless:
        source.note("problem.yaml", N_("the format has no title: the problem is called %(name)r"), "name", name=name)
