"""Write a draft as the files of a Jurado package: its metadata, settings, groups, cases and what else is required."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import lcm
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import yaml

from app.core.faults import NONE
from app.packages.contents import ChangedFile, ComposedFiles, Content, File, bytes_of
from app.packages.formats.draft import CaseDraft, Draft, GroupDraft, Program, Source, Standard, listed
from app.packages.texts import TEXTS
from checkers.doors import N_, Phrase

# Limits of files in bytes: other judges' packages have none, or those of programs.
LONGEST_ANSWER = 64 * 2**20
LONGEST_INPUT = 256 * 2**20
MOST_POINTS = 10**9
DEFAULT_TOTAL = 100
BOM = b"\xef\xbb\xbf"
EXPECTED = "submissions/accepted/expected"
VALIDATOR = Path(__file__).parents[1] / "skeletons/templates/any_text.py.jinja"


def write_draft(draft: Draft, slug: str, source: Source) -> ComposedFiles:
    """Give the files of the package `slug` by path; notes what was changed, and faults of points, in `source`.

    Each is read once here, one at a time, and again whenever someone asks for it.
    """
    files = dict(draft.files)
    given = any(name.startswith("data/secret/") for name in files)
    groups = [] if given else whole_points(draft.groups, draft.total, source)
    files["problem.yaml"] = to_yaml(_metadata(draft, slug))
    if isinstance(draft.checker, Program):
        files |= {f"output_validator/{name}": data for name, data in draft.checker.files.items()}
    if not given:
        files |= _test_data(draft, groups)
    files["jurado.yaml"] = to_yaml(_settings(draft, groups))
    if not any(name.startswith("input_validators/") for name in files):
        files["input_validators/text.py"] = VALIDATOR.read_bytes()
        message = "no input validator: one that takes any text has been put there, write a stricter one"
        source.note("input_validators/text.py", message)
    has_example = any(name.startswith("submissions/accepted/") and name.endswith((".out", ".ans")) for name in files)
    if not has_example and not _lacks_answers(files):
        files |= _expected(files)
    return ComposedFiles(dict(sorted(_plain_texts(files, source).items())))


def whole_points(groups: Sequence[GroupDraft], total: int | None, source: Source) -> list[GroupDraft]:
    """Scale the points of groups to whole numbers, and those of cases where they differ in a group that adds them."""
    if not groups or not (everything := sum((group.points for group in groups), Fraction(0))):
        if not source.faults.errors:
            source.faults.expect("data/secret", "", N_("test cases that give points"), NONE)
        return list(groups)
    whole = [group.points for group in groups]
    whole += [case.points for group in groups if group.is_uneven for case in group.cases]
    factor = _factor(whole, everything, total)
    if factor * everything > MOST_POINTS:
        points = Phrase(N_("a sum of %(factor)s"), factor=factor * everything)
        source.faults.expect("", "", N_("points with few digits"), points)
    elif factor != 1 and factor * everything != total:
        scaled = N_("points are whole numbers here: scaled to %(sum)s in all")
        source.note("data/secret", scaled, sum=factor * everything)
    return [
        replace(
            group,
            name=group.name or ("cases" if len(groups) > 1 else ""),
            points=group.points * factor,
            cases=tuple(replace(case, points=case.points * factor) for case in group.cases),
        )
        for group in groups
    ]


def _factor(points: Sequence[Fraction], everything: Fraction, total: int | None) -> Fraction:
    """The factor that makes all points whole: to `total` if it can be, otherwise 1, otherwise the smallest."""
    choices = [Fraction(total) / everything] if total is not None else []
    choices += [Fraction(1), Fraction(DEFAULT_TOTAL) / everything]
    whole = (factor for factor in choices if all((each * factor).denominator == 1 for each in points))
    return next(whole, Fraction(lcm(*(each.denominator for each in points))))


def to_yaml(document: object) -> bytes:
    """Write a document as YAML, its keys in their order."""
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=100)
    return text.encode()


def _metadata(draft: Draft, slug: str) -> dict[str, object]:
    fixed = {
        "problem_format_version": "2025-09",
        "type": ["scoring", "submit-answer"],
        "name": draft.names,
        "uuid": str(uuid5(NAMESPACE_URL, f"jurado:import:{slug}")),
    }
    return fixed | draft.metadata


def _settings(draft: Draft, groups: Sequence[GroupDraft]) -> dict[str, object]:
    points = {case.name: int(case.points) for group in groups if group.is_uneven for case in group.cases}
    checker = draft.checker
    judged: dict[str, object] = {"checker": checker.name} if isinstance(checker, Standard) else {}
    if isinstance(checker, Program):
        judged = {"program": {"protocol": checker.protocol, "points": checker.points}}
    return {
        **judged,
        "scoring": {"kind": "absolute", "direction": "maximise"},
        "answers": {"limit": LONGEST_ANSWER},
        "inputs": {"limit": LONGEST_INPUT},
        **({"testcases": {"points": points}} if points else {}),
        **draft.settings,
    }


def _lacks_answers(files: Mapping[str, Content]) -> bool:
    """Whether a judged case has no expected answer, which the solution makes later."""
    inputs = (name for name in files if name.startswith(("data/sample/", "data/secret/")) and name.endswith(".in"))
    return any(f"{name.removesuffix('.in')}.ans" not in files for name in inputs)


def _test_data(draft: Draft, groups: Sequence[GroupDraft]) -> dict[str, Content]:
    files: dict[str, Content] = {}
    common = draft.checker.args
    if draft.samples:
        files |= _cases("data/sample", draft.samples)
        if common:
            files["data/sample/test_group.yaml"] = to_yaml({"output_validator_args": list(common)})
    total = sum((group.points for group in groups), Fraction(0))
    top: dict[str, object] = {"max_score": int(total), "score_aggregation": "sum"}
    for group in groups:
        folder = f"data/secret/{group.name}" if group.name else "data/secret"
        files |= _cases(folder, group.cases)
        document: dict[str, object] = {"max_score": int(group.points), "score_aggregation": group.aggregation}
        if group.require:
            document["require_pass"] = [f"secret/{name}" for name in group.require]
        if args := (common if group.args is None else group.args):
            document["output_validator_args"] = list(args)
        if group.validator_args:
            document["input_validator_args"] = group.validator_args
        files[f"{folder}/test_group.yaml"] = to_yaml(document)
    if any(group.name for group in groups):
        files["data/secret/test_group.yaml"] = to_yaml(top)
    return files


def _expected(files: Mapping[str, Content]) -> dict[str, Content]:
    """The expected answers as the accepted submission that every package has."""
    judged = (name for name in files if name.endswith(".ans") and name.startswith(("data/sample/", "data/secret/")))
    return {f"{EXPECTED}/{name.rpartition('/')[2].removesuffix('.ans')}.out": files[name] for name in judged}


def _cases(folder: str, cases: Sequence[CaseDraft]) -> dict[str, Content]:
    files: dict[str, Content] = {}
    for case in cases:
        files[f"{folder}/{case.name}.in"] = case.input
        if case.answer is not None:
            files[f"{folder}/{case.name}.ans"] = case.answer
        files |= {f"{folder}/{case.name}{extension}": data for extension, data in case.extras.items()}
    return files


def _plain_texts(files: Mapping[str, Content], source: Source) -> dict[str, Content]:
    """End the lines of all texts as the format wants it; the test data that changes by that are noted."""
    plain = dict(files)
    for name, content in sorted(files.items()):
        if not name.endswith(TEXTS):
            continue
        data = bytes_of(content)
        if (text := plain_text(data)) != data:
            plain[name] = ChangedFile(content.path, content.files, plain_text) if isinstance(content, File) else text
    changed = [name for name in sorted(files) if name.startswith("data/") and plain[name] is not files[name]]
    if changed:
        source.note(
            "data", N_("line ends have been changed to LF, the last one included, in %(files)s"), files=listed(changed)
        )
    return plain


def plain_text(data: bytes) -> bytes:
    """End every line in LF, the last one too, and begin without a byte-order mark."""
    if data.endswith(b"\n") and b"\r" not in data and not data.startswith(BOM):
        return data
    data = data.removeprefix(BOM).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return data if not data or data.endswith(b"\n") else data + b"\n"
