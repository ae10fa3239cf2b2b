"""Write a new package: templates with the choices put in, test data by its own generator, answers by its own solver.

- The problems that new packages begin as: one for each kind of checker, with test data from easy to hard.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import uuid4

import yaml
from jinja2 import Environment, StrictUndefined

from app.packages.skeletons.choices import OWN, CheckerKind, Choices

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


def _stairs(share: float) -> Params:
    highest = _between(10, 200, share)
    return {"lowest": highest - 9, "highest": highest}


def _pairs(share: float) -> Params:
    numbers = _between(10, 200, share)
    return {"numbers": numbers, "kinds": numbers if share < 0.5 else numbers // 2}


TOUR = Theme("tour", lambda share: {"cities": _between(8, 100, share)}, "1-square")
EMPTY = Theme("empty", lambda _share: {}, "")
STANDARD: Mapping[CheckerKind, Theme] = {
    "tokens": Theme(
        "sum", lambda share: {"numbers": _between(5, 200, share), "largest": 10 ** _between(2, 9, share)}, "1-three"
    ),
    "exact": Theme("stairs", _stairs, "1-three"),
    "floats": Theme(
        "mean", lambda share: {"numbers": _between(5, 200, share), "least": 10 ** _between(1, 8, share)}, "1-three"
    ),
    "lines": Theme("words", lambda share: {"lines": _between(1, 50, share)}, "1-two-lines"),
    "unordered": Theme("pairs", _pairs, "1-four"),
    "metric": Theme("houses", lambda share: {"houses": _between(40, 300, share)}, "1-eight", {"houses": 16}),
}


def theme_of(checker: CheckerKind) -> Theme:
    """The problem that a package with this checker begins as."""
    return TOUR if checker in OWN else STANDARD[checker]


TEMPLATES = Path(__file__).with_name("templates")
TEMPLATE = ".jinja"
LONGEST_LINE = 10**6
CASES_OF_ALL = 5
CASES_OF_A_GROUP = 3
GROUP_NAMES = {1: ("provisional",), 2: ("small", "large"), 3: ("small", "medium", "large")}
# What a package without an example leaves out of the common templates.
OF_EXAMPLES = ("README.md", "generators/cases.yaml", "submissions/submissions.yaml")
OWN_FILES = {"python": ("checker.py",), "c++": ("output_validator/", "include/")}


@dataclass(frozen=True, slots=True)
class PlannedCase:
    """A test case to be made: its group (`sample`, `secret` or `secret/...`), its name, and how its input is drawn.

    params   parameters of the generator; None for an input made by hand
    """

    group: str
    name: str
    seed: int
    params: Params | None

    @property
    def path(self) -> str:
        """Its files, without their extensions."""
        return f"data/{self.group}/{self.name}"

    @property
    def handmade(self) -> str:
        """The file with its input, where that is made by hand."""
        return f"generators/handmade/{self.name}.in"


def skeleton(slug: str, choices: Choices) -> dict[str, bytes]:
    """The files of a new package by their paths. `choices` go together, as `faults_of` says.

    An empty one has metadata, settings, groups, and outlines of what is to be written.
    """
    theme = EMPTY if choices.empty else theme_of(choices.checker)
    plan = list(planned(theme, choices))
    words = {"slug": slug, **vocabulary(theme, choices, plan)}
    texts = {**rendered("common", words), **rendered(theme.name, words)}
    texts = {name: text for name, text in texts.items() if _wanted(name, choices)}
    texts |= statements(theme, choices, words) | group_files(choices, words)
    if not choices.empty:
        texts |= test_data(texts, plan, words)
    return {name: text.encode() for name, text in sorted(texts.items())}


def planned(theme: Theme, choices: Choices) -> Iterator[PlannedCase]:
    """The cases of the package: the sample, then those of each group, from easy to hard."""
    yield PlannedCase("sample", theme.sample, 1, theme.sample_params)
    folders = group_folders(choices)
    provisional = len(choices.groups)
    each = CASES_OF_ALL if len(folders) == 1 else CASES_OF_A_GROUP
    for at in range(each * len(folders)):
        folder = folders[at // each]
        count = each if at >= each * provisional else each * provisional
        share = at % count / (count - 1)
        yield PlannedCase(folder, f"{at + 1:02}", 100 + at, theme.params(share))


def group_folders(choices: Choices) -> list[str]:
    """The groups' folders in the order of their cases, `secret` for the only one; the final one comes last."""
    count = len(choices.groups)
    if count == 1 and choices.final is None:
        return ["secret"]
    names = GROUP_NAMES.get(count, tuple(f"group{at}" for at in range(1, count + 1)))
    numbered = [names[0]] if count == 1 else [f"{at}-{name}" for at, name in enumerate(names, start=1)]
    return [f"secret/{name}" for name in (*numbered, *(["final"] if choices.final is not None else []))]


def vocabulary(theme: Theme, choices: Choices, plan: list[PlannedCase]) -> dict[str, object]:
    """What templates may name."""
    errors = choices.scoring in ("minimise", "rank")
    wrong = theme.name != "houses" and (choices.checker not in OWN or choices.scoring == "pass-fail")
    return {
        "title": choices.title,
        "author": choices.author,
        "languages": choices.languages,
        "uuid": uuid4(),
        "scoring": choices.scoring,
        "direction": "maximise" if choices.scoring == "maximise" else "minimise",
        "longest": choices.scoring == "maximise",
        "checker": choices.checker,
        "checker_file": "checker.py" if choices.checker == "python" else "output_validator/checker.cpp",
        "final": choices.final,
        "theme": theme.name,
        "metric": "rmse" if errors else "accuracy",
        "target": "price" if errors else "dear",
        "plan": plan,
        "example_params": " ".join(f"{key}={value}" for key, value in plan[-1].params.items())
        if plan[-1].params
        else "",
        "first_folder": plan[1].group,
        "sample": theme.sample,
        "simple_is_wrong": wrong,
        "simple_path": "wrong_answer/simple" if wrong else "partial/simple",
    }


def rendered(folder: str, words: Mapping[str, object]) -> dict[str, str]:
    """The files of a folder of templates by their paths in the package."""
    root, environment, texts = TEMPLATES / folder, _environment(), {}
    for path in sorted(each for each in root.rglob("*") if each.is_file()):
        name, text = path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")
        is_template = name.endswith(TEMPLATE)
        texts[name.removesuffix(TEMPLATE)] = environment.from_string(text).render(words) if is_template else text
    return texts


def _environment() -> Environment:
    made = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    made.filters["yaml"] = _as_yaml
    return made


def _as_yaml(text: str) -> str:
    """A text as a value in YAML: in quotes only where it needs them."""
    return yaml.safe_dump(text, allow_unicode=True, width=LONGEST_LINE).removesuffix("...\n").strip()


def _wanted(name: str, choices: Choices) -> bool:
    """Whether a template's file belongs to this package; statements are chosen by `statements`."""
    if name.startswith(("statement/", "solution/solution.")) or (choices.empty and name in OF_EXAMPLES):
        return False
    others = [file for kind, files in OWN_FILES.items() if kind != choices.checker for file in files]
    return not name.startswith(tuple(others))


def statements(theme: Theme, choices: Choices, words: Mapping[str, object]) -> dict[str, str]:
    """The statement and the solution text in each language; where there are none, those in English with a note."""
    texts = rendered(theme.name, words)
    files = {}
    for language in choices.languages:
        for folder, stem in (("statement", "problem"), ("solution", "solution")):
            name = f"{folder}/{stem}.{language}.md"
            note = f"*(To be translated: {language}.)*\n\n"
            files[name] = texts.get(name) or note + texts[f"{folder}/{stem}.en.md"]
    return files


def group_files(choices: Choices, words: Mapping[str, object]) -> dict[str, str]:
    """The test_group.yaml files: points, how those of cases add up, and the arguments of the checker."""
    template = (TEMPLATES / "test_group.yaml.jinja").read_text(encoding="utf-8")
    folders = group_folders(choices)
    points = dict(zip(folders, (*choices.groups, choices.final), strict=False))
    total = sum(choices.groups) + (choices.final or 0)
    wanted = {"secret": total} | points
    if choices.checker == "metric":
        wanted |= dict.fromkeys(("sample", "invalid_output", "valid_output"))
    return {
        f"data/{folder}/test_group.yaml": _environment()
        .from_string(template)
        .render({**words, "folder": folder, "points": most, "holds_cases": folder in folders or most is None})
        for folder, most in wanted.items()
    }


def test_data(texts: Mapping[str, str], plan: list[PlannedCase], words: Mapping[str, object]) -> dict[str, str]:
    """Inputs, expected answers and example submissions, made by the package's own programs."""
    drawn, solved = functions(texts["generators/generate.py"]), functions(texts["solver.py"])
    files = {}
    for case in plan:
        given = texts[case.handmade] if case.params is None else drawn["generate"](case.seed, **case.params)
        best = solved["solve"](given)
        files[f"{case.path}.in"] = given
        files[f"{case.path}.ans"] = drawn["truth"](case.seed, **(case.params or {})) if "truth" in drawn else best
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
