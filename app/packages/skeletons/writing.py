"""Write a new package: templates with the choices put in, test data by its own generator, answers by its own solver.

- The problems that new packages begin as: one for each kind of checker, with test data from easy to hard.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import uuid4

import yaml
from jinja2 import Environment, StrictUndefined

from app.packages.skeletons.choices import COMPARING, CheckerKind, Choices

Params = Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Theme:
    """A problem to begin with.

    name      of its folder of templates
    params    parameters of its generator, by difficulty from 0 to 1
    sample    the name of its sample; `sample_params` where the generator makes it too
    """

    name: str
    params: Callable[[float], Params]
    sample: str
    sample_params: Params | None = None


def _between(least: int, most: int, share: float) -> int:
    return round(least + (most - least) * share)


TOUR = Theme("tour", lambda share: {"cities": _between(8, 100, share)}, "1-square")
SUM = Theme(
    "sum", lambda share: {"numbers": _between(5, 200, share), "largest": 10 ** _between(2, 9, share)}, "1-three"
)
EMPTY = Theme("empty", lambda _share: {}, "")
THEMES: Mapping[CheckerKind, Theme] = {
    "python": TOUR,
    "c++": TOUR,
    **dict.fromkeys(COMPARING, SUM),
    "metric": Theme("houses", lambda share: {"houses": _between(40, 300, share)}, "1-eight", {"houses": 16}),
}
TEMPLATES = Path(__file__).with_name("templates")
TEMPLATE = ".jinja"
LONGEST_LINE = 10**6
SECRET_CASES = 5
# What a package without an example leaves out of the common templates.
OF_EXAMPLES = ("README.md", "generators/cases.yaml", "submissions/submissions.yaml")
OWN_FILES = {"python": ("checker.py",), "c++": ("output_validator/", "include/")}


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """A test case to be made: its group (`sample` or `secret`), its name, and how its input is drawn.

    params   parameters of the generator; None for an input made by hand
    """

    group: str
    name: str
    seed: int
    params: Params | None


def skeleton(slug: str, choices: Choices) -> dict[str, bytes]:
    """The files of a new package by their paths. `choices` go together, as `faults_of` says.

    An empty one has metadata, settings, points, and outlines of what is to be written.
    """
    theme = EMPTY if choices.empty else THEMES[choices.checker]
    secret = [
        PlannedCase("secret", f"{at + 1:02}", 100 + at, theme.params(at / (SECRET_CASES - 1)))
        for at in range(SECRET_CASES)
    ]
    plan = [PlannedCase("sample", theme.sample, 1, theme.sample_params), *secret]
    words = {"slug": slug, **vocabulary(theme, choices, plan)}
    texts = {**rendered("common", words), **rendered(theme.name, words)}
    files = {name: text for name, text in texts.items() if _wanted(name, choices)}
    files |= statements(texts, choices)
    if not choices.empty:
        files |= test_data(texts, plan, words)
    return {name: text.encode() for name, text in sorted(files.items())}


def vocabulary(theme: Theme, choices: Choices, plan: list[PlannedCase]) -> dict[str, object]:
    """What templates may name."""
    errors = choices.scoring in ("minimise", "rank")
    wrong = theme.name == "sum" or choices.scoring == "pass-fail"
    return {
        "title": choices.title,
        "languages": choices.languages,
        "uuid": uuid4(),
        "scoring": choices.scoring,
        "direction": "maximise" if choices.scoring == "maximise" else "minimise",
        "longest": choices.scoring == "maximise",
        "checker": choices.checker,
        "checker_file": "checker.py" if choices.checker == "python" else "output_validator/checker.cpp",
        "theme": theme.name,
        "metric": "rmse" if errors else "accuracy",
        "target": "price" if errors else "dear",
        "plan": plan,
        "example_params": " ".join(f"{key}={value}" for key, value in (plan[-1].params or {}).items()),
        "sample": theme.sample,
        "simple_is_wrong": wrong,
        "simple_path": "wrong_answer/simple" if wrong else "partial/simple",
    }


def rendered(folder: str, words: Mapping[str, object]) -> dict[str, str]:
    """The files of a folder of templates by their paths in the package."""
    root, texts = TEMPLATES / folder, {}
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters["yaml"] = _as_yaml
    for path in sorted(each for each in root.rglob("*") if each.is_file()):
        name, text = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
        is_template = name.endswith(TEMPLATE)
        texts[name.removesuffix(TEMPLATE)] = environment.from_string(text).render(words) if is_template else text
    return texts


def _as_yaml(text: str) -> str:
    """A text as a value in YAML: in quotes only where it needs them."""
    return yaml.safe_dump(text, allow_unicode=True, width=LONGEST_LINE).removesuffix("...\n").strip()


def _wanted(name: str, choices: Choices) -> bool:
    """Whether a template's file belongs to this package; statements are chosen by `statements`."""
    if name.startswith(("statement/", "solution/solution.")) or (choices.empty and name in OF_EXAMPLES):
        return False
    others = [file for kind, files in OWN_FILES.items() if kind != choices.checker for file in files]
    return not name.startswith(tuple(others))


def statements(texts: Mapping[str, str], choices: Choices) -> dict[str, str]:
    """The statement and the solution text in each language; where there are none, those in English with a note."""
    files = {}
    for language in choices.languages:
        for folder, stem in (("statement", "problem"), ("solution", "solution")):
            name = f"{folder}/{stem}.{language}.md"
            note = f"*(To be translated: {language}.)*\n\n"
            files[name] = texts.get(name) or note + texts[f"{folder}/{stem}.en.md"]
    return files


def test_data(texts: Mapping[str, str], plan: list[PlannedCase], words: Mapping[str, object]) -> dict[str, str]:
    """Inputs, expected answers and example submissions, made by the package's own programs."""
    drawn, solved = functions(texts["generators/generate.py"]), functions(texts["solver.py"])
    files = {}
    for case in plan:
        by_hand = texts.get(f"generators/handmade/{case.name}.in", "")
        given = by_hand if case.params is None else drawn["generate"](case.seed, **case.params)
        best = solved["solve"](given)
        path = f"data/{case.group}/{case.name}"
        files[f"{path}.in"] = given
        files[f"{path}.ans"] = drawn["truth"](case.seed, **(case.params or {})) if "truth" in drawn else best
        unfinished = "".join(best.splitlines(keepends=True)[:-1])
        for submission, answer in (
            ("accepted/reference", best),
            (words["simple_path"], solved["simple"](given)),
            ("wrong_answer/unfinished", unfinished),
        ):
            files[f"submissions/{submission}/{case.name}.out"] = answer
    return files


# Any: whatever the program defines.
def functions(source: str) -> dict[str, Any]:
    """What a program of the templates defines, run as a module."""
    module = ModuleType("program")
    exec(compile(source, "program", "exec"), module.__dict__)
    return module.__dict__
