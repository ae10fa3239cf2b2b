"""Hold the bundled packages against independent readers of the format: the verb `make verify-packages`.

1. The JSON schemas that bapctools ships, over problem.yaml, every test_group.yaml and submissions.yaml as they are.
2. `bt validate` of bapctools, on a rendering as a pass-fail problem (it knows neither `scoring` nor `submit-answer`):
   every input validator on every input, the checker on valid_output and invalid_output.
3. `verifyproblem` of problemtools, on a rendering as a 2023-07-draft scoring problem: metadata, statements, validators,
   and every example submission, as a program that knows its answers, judged and scored through the checker.

Both tools live in an environment of their own (.tools/independent); verifyproblem needs Debian's pypy3 and pandoc, and
they are installed where that is allowed. What the readers confirm: docs/decisions/0003-independent-readers.md.
"""

from __future__ import annotations

import argparse
import base64
import copy
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import yaml

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.packages.catalog import bundled
from app.packages.model import (
    Group,
    Package,
    Submission,
)
from app.packages.read import read_package
from app.packages.submissions import matches
from app.packages.trials import LocalDesk
from app.packages.verify import examine
from scripts.kattis_validator import served

TOOLS = ROOT / ".tools/independent"
TOOL_VERSIONS = ("bapctools==2026.10.0", "problemtools==1.20260907")
PARTS = ("config", "data", "graders", "submissions", "validators")  # `statement` makes PDFs, which needs a whole TeX
PROGRAMS = ("pypy3", "pandoc")
SCHEMAS = {"problem.yaml": "problem", "test_group.yaml": "test_group", "submissions.yaml": "submissions"}
GROUP_PARTS = ("test_case_or_group_configuration", "test_group_configuration")
SECONDS = 900
ROUNDED = 0.5  # problemtools prints whole points
EMPTY_PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
DRAFT_FOLDERS = ("accepted", "wrong_answer")
ANSWERS = """\
import base64, hashlib, sys, zlib
ANSWERS = {answers!r}
key = hashlib.sha256(sys.stdin.buffer.read()).hexdigest()[:16]
sys.stdout.buffer.write(zlib.decompress(base64.b64decode(ANSWERS[key])) if key in ANSWERS else b"")
"""


def main() -> int:
    """Run the readers; exit code 1 if one of them finds a fault."""
    options = read_options()
    slugs = options.problem or sorted(bundled())
    tools = make_tools()
    faults = 0
    for slug in slugs:
        package = read_package(bundled()[slug])
        faults += report(f"{slug}: bapctools' schemas", check_schemas(package, tools))
        with tempfile.TemporaryDirectory(prefix="jurado-") as name:
            folder = Path(name)
            with served(
                package.settings.checker, folder, references(package), package.settings.answers.limit
            ) as validator:
                faults += report(f"{slug}: bt validate", bt_validate(package, folder, tools, validator))
                if has_programs():
                    faults += report(f"{slug}: verifyproblem", verifyproblem(package, folder, tools, validator))
                else:
                    print(f"-- {slug}: verifyproblem: not run, {' and '.join(PROGRAMS)} are missing (Debian packages)")
    return 1 if faults else 0


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--problem", metavar="SLUG", action="append", help="only this problem (may be repeated)")
    return parser.parse_args()


def report(title: str, lines: Iterator[str]) -> int:
    """Print a reader's output line by line; returns how many lines are faults (they begin with FAULT)."""
    print(f"-- {title}", flush=True)
    faults = 0
    for line in lines:
        print(f"   {line}", flush=True)
        faults += line.startswith("FAULT")
    return faults


def make_tools() -> Path:
    """Install both tools at fixed versions, once; returns the folder of their environment's programs."""
    stamp = TOOLS / "versions.txt"
    wanted = "\n".join(TOOL_VERSIONS)
    if not stamp.exists() or stamp.read_text() != wanted:
        print(f"-- installing {' '.join(TOOL_VERSIONS)} into {TOOLS.relative_to(ROOT)}", flush=True)
        uv = shutil.which("uv") or str(ROOT / ".tools/uv/bin/uv")
        make = [uv, "venv", "-q", "--clear"] if Path(uv).exists() else [sys.executable, "-m", "venv", "--clear"]
        subprocess.run([*make, str(TOOLS)], check=True)
        python = str(TOOLS / "bin/python")
        install = (
            [uv, "pip", "install", "-q", "--python", python]
            if Path(uv).exists()
            else [python, "-m", "pip", "install", "-q"]
        )
        subprocess.run([*install, *TOOL_VERSIONS], check=True)
        stamp.write_text(wanted)
    return TOOLS / "bin"


def has_programs() -> bool:
    """Tell whether pypy3 and pandoc are installed; installs them first on a Debian where that is allowed."""
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["sh", str(ROOT / "scripts/apt_install.sh"), *missing], check=False)
    return all(shutil.which(name) for name in PROGRAMS)


def check_schemas(package: Package, tools: Path) -> Iterator[str]:
    """Hold the package's YAML files, as they are, against the schemas."""
    find = "import bapctools, pathlib; print(pathlib.Path(bapctools.__file__).parent / 'resources/support/schemas')"
    done = subprocess.run([str(tools / "python"), "-c", find], capture_output=True, text=True, check=True)
    folder = Path(done.stdout.strip())
    for name in package.files:
        kind = SCHEMAS.get(name.rpartition("/")[2])
        if kind is not None:
            schema = json.loads((folder / f"{kind}_yaml_schema.json").read_text())
            value = yaml.safe_load(package.files[name])
            yield from check_schema(name, value, COMPOSED.get(kind, lambda whole: whole)(schema))


def composed_group(schema: dict[str, Any]) -> dict[str, Any]:
    """Give the schema of test_group.yaml as it is meant: as shipped, keys of groups exclude those of cases, too."""
    parts = (schema["$defs"][name]["properties"] for name in GROUP_PARTS)
    properties = {key: value for part in parts for key, value in part.items()}
    return {"$defs": schema["$defs"], "type": "object", "properties": properties, "additionalProperties": False}


def composed_submissions(schema: dict[str, Any]) -> dict[str, Any]:
    """Give the schema of submissions.yaml as it is meant: as shipped, its two parts exclude each other's keys."""
    submission, expectation = schema["$defs"]["submission"], schema["$defs"]["expectation"]
    entry = {"type": "object", "properties": submission["properties"] | expectation["properties"]}
    entry["additionalProperties"] = {"$ref": "#/$defs/expectation"}
    return {"$defs": schema["$defs"], "type": "object", "additionalProperties": entry}


def composed_problem(schema: dict[str, Any]) -> dict[str, Any]:
    """Give the schema of problem.yaml as the format has it: as shipped, credits need authors, which are optional."""
    whole = copy.deepcopy(schema)
    for form in whole["$defs"]["Problem_2025_09"]["properties"]["credits"]["anyOf"]:
        form.pop("required", None)
    return whole


COMPOSED = {"problem": composed_problem, "test_group": composed_group, "submissions": composed_submissions}


def check_schema(name: str, value: Any, schema: dict[str, Any]) -> Iterator[str]:
    """Say whether one file fits its schema, or where not."""
    errors = list(jsonschema.Draft202012Validator(schema).iter_errors(value))
    for error in errors:
        yield f"FAULT {name}: {'.'.join(map(str, error.absolute_path))}: {error.message[:200]}"
    if not errors:
        yield f"{name}: fits"


def bt_validate(package: Package, folder: Path, tools: Path, validator: bytes) -> Iterator[str]:
    """Run `bt validate`: first on the package as it is, then on a pass-fail rendering."""
    original = folder / "as-it-is" / package.slug
    write(original, dict(package.files))
    refusal = run([str(tools / "bt"), "validate", "--no-bar"], original)
    yield f"as it is: {refusal.stdout.strip().splitlines()[0] if refusal.stdout.strip() else 'nothing said'}"
    files = {name: data for name, data in package.files.items() if not name.endswith("/test_group.yaml")}
    files = {name: data for name, data in files.items() if not name.startswith("submissions/")}
    files |= accepted_answers(package)
    metadata = yaml.safe_load(package.files["problem.yaml"]) | {"type": "pass-fail"}
    files["problem.yaml"] = yaml.safe_dump(metadata, allow_unicode=True).encode()
    rendering = folder / "bapctools" / package.slug
    write(rendering, files | {"output_validator/run": validator})
    done = run([str(tools / "bt"), "validate", "--no-bar"], rendering)
    lines = [line for line in plain(done.stdout).splitlines() if line.strip()]
    yield f"as pass-fail: exit code {done.returncode} (1 where it warns)"
    yield from (f"FAULT {line}" if is_bt_fault(line) else line for line in lines if not line.startswith("PROBLEM"))


def is_bt_fault(line: str) -> bool:
    """Tell whether `bt validate` complains of a validator, rather than of a choice in which Jurado differs."""
    if line.endswith("Done") or "Generated" in line or "  Answer " in line:
        return False  # `Answer ...`: an opinion on the white space of the answer file put in for this run
    invalid = line.startswith(("Invalidation:", "Generic Invalidation:"))
    return invalid or re.search(r"rejected|FAILED|ERROR|not accepted", line) is not None


def references(package: Package) -> dict[str, bytes]:
    """Read every `.ans` file, by the sha256 of its input."""
    cases = [*package.validation_cases, *package.cases]
    return {hashlib.sha256(c.input.read()).hexdigest(): c.answer.read() for c in cases if c.answer is not None}


def accepted_answers(package: Package) -> dict[str, bytes]:
    """Replace each `.ans` file by an accepted answer, as both tools want one there."""
    (first, *_) = (s for s in package.submissions if s.path.startswith("accepted/"))
    outputs = {file.name.rpartition(".")[0]: file.read() for file in first.answers}
    by_input = {c.input.read(): outputs[c.name] for c in package.cases if c.name in outputs}
    for case in package.validation_cases:
        if case.room == "valid_output" and case.output is not None and case.output.read().endswith(b"\n"):
            by_input.setdefault(case.input.read(), case.output.read())
    cases = [(c.input, c.answer) for c in (*package.cases, *package.validation_cases) if c.answer is not None]
    return {answer.path: by_input[given.read()] for given, answer in cases if given.read() in by_input}


def verifyproblem(package: Package, folder: Path, tools: Path, validator: bytes) -> Iterator[str]:
    """Run `verifyproblem` on the 2023-07-draft rendering and compare its scores with Jurado's own."""
    rendering = folder / "problemtools" / package.slug
    program_files = {"output_validator/checker/run": validator, "output_validator/checker/build": b"#!/bin/sh\n"}
    write(rendering, draft_files(package) | program_files)
    for language in package.statements:
        shown = run([str(tools / "problem2html"), "--language", language, str(rendering)], folder)
        yield f"{'FAULT ' if shown.returncode else ''}statement in {language} as HTML: exit code {shown.returncode}"
    done = run([str(tools / "verifyproblem"), str(rendering), "--parts", *PARTS], folder)
    lines = plain(done.stdout).splitlines()
    for line in lines:
        if line.startswith("ERROR"):
            yield f"FAULT {line}"
        elif line.startswith(("WARNING", "Checking", "   ")) or "tested:" in line:
            yield line[:200]
    table = {
        match[1]: int(match[2]) for match in re.finditer(r"^ +(\S+)\.py .* (\d+) +[\d.]+s$", "\n".join(lines), re.M)
    }
    for path, points in examine(package, LocalDesk()).points.items():
        theirs = table.get(path.rpartition("/")[2])
        same = theirs is not None and abs(theirs - points) <= ROUNDED
        yield f"{'' if same else 'FAULT '}points of {path}: Jurado {points:.2f}, problemtools {theirs} (rounded)"


def draft_files(package: Package) -> dict[str, bytes]:
    """Render the package as a 2023-07-draft scoring problem: nested groups, each with a testdata.yaml, and programs."""
    prefixes = ("statement/", "input_validators/", "data/sample/", "data/secret/")
    answers = accepted_answers(package)
    files = {name: data for name, data in package.files.items() if name.startswith(prefixes) and is_plain(name)}
    files = dict(without_drawings(name, data) for name, data in files.items())
    metadata = yaml.safe_load(package.files["problem.yaml"])
    files |= {name: data for name, data in answers.items() if name in files}
    metadata |= {"problem_format_version": "2023-07-draft", "type": "scoring"}
    files["problem.yaml"] = yaml.safe_dump(metadata, allow_unicode=True).encode()
    files["data/testdata.yaml"] = group_file(0, package.max_score, "ignore_sample")
    if not any(group.name == "secret" for group in package.groups):
        files["data/secret/testdata.yaml"] = group_file(0, package.max_score, "sum")
    for group in package.groups:
        points = next((case.max_points for case in package.cases if case.group == group.name), 0)
        files[f"data/{group.name}/testdata.yaml"] = group_file(float(points), group.max_score or 0, flags(group))
    for submission in package.submissions:
        name = submission.path.rpartition("/")[2]
        files[f"submissions/{draft_folder(package, submission)}/{name}.py"] = program(package, submission)
    return files


def without_drawings(name: str, data: bytes) -> tuple[str, bytes]:
    """Put an empty PNG in place of each SVG of a statement: problem2html takes none, which the format allows."""
    if name.startswith("statement/") and name.endswith(".svg"):
        return name.removesuffix(".svg") + ".png", EMPTY_PNG
    if name.startswith("statement/") and name.endswith(".md"):
        return name, data.replace(b".svg)", b".png)")
    return name, data


def draft_folder(package: Package, submission: Submission) -> str:
    """Name the draft's folder for a submission: there one wrong case makes all of it wrong, whatever the others earn.

    The format 2025-09 has demands on verdicts of cases instead. So `partially_accepted`, where the draft wants an
    accepted submission without full points, is only for those that submissions.yaml permits no wrong case.
    """
    top = submission.path.partition("/")[0]
    if top in DRAFT_FOLDERS:
        return top
    rules = [rule for rule in package.submission_rules if rule.cases is None and matches(rule.glob, submission.path)]
    return (
        "partially_accepted" if any(set(rule.demands.permitted or ()) == {"AC"} for rule in rules) else "wrong_answer"
    )


def is_plain(name: str) -> bool:
    """Leave out settings of single cases and of groups, which the draft lacks."""
    return not name.startswith("data/") or name.endswith((".in", ".ans"))


def flags(group: Group) -> str:
    """Give the default grader's flags for a group."""
    return "sum" if group.aggregation == "sum" or group.kind == "sample" else "min"


def group_file(points: float, most: int, grader: str) -> bytes:
    """Write a testdata.yaml: every case is judged, its points are the validator's."""
    settings: dict[str, Any] = {"on_reject": "continue", "accept_score": points, "reject_score": 0}
    settings |= {"range": f"0 {most}", "output_validator_flags": f"points {points!r}", "grader_flags": grader}
    return yaml.safe_dump(settings).encode()


def program(package: Package, submission: Submission) -> bytes:
    """Write a submission's answer files as a program that looks its input up."""
    answers = {file.name.rpartition(".")[0]: file.read() for file in submission.answers}
    packed = {
        hashlib.sha256(case.input.read()).hexdigest()[:16]: base64.b64encode(zlib.compress(answers[case.name])).decode()
        for case in package.cases
        if case.name in answers
    }
    return ANSWERS.format(answers=packed).encode()


def write(folder: Path, files: dict[str, bytes]) -> None:
    """Write files below a folder; programs named `run` may be run."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        if path.name in ("run", "build"):
            path.chmod(0o755)


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a tool in a folder, its output and errors together."""
    environment = os.environ | {"COLUMNS": "200", "NO_COLOR": "1"}
    return subprocess.run(
        command, cwd=folder, env=environment, text=True, timeout=SECONDS, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def plain(text: str) -> str:
    """Strip colours, and the text that a progress line has overwritten."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    return "\n".join(line.rpartition("\r")[2] for line in text.splitlines())


if __name__ == "__main__":
    sys.exit(main())
