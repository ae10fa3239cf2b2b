"""Make the test data of the bundled problems again, byte for byte: the verb `make testdata`.

For every case of `problems/<slug>/generators/cases.yaml`: the generator (or a file next to it) gives NAME.in, the
input validators must accept it, and the reference solver, bounded by steps and not by seconds, gives NAME.ans and
`submissions/accepted/reference/NAME.out`. Where a package is played (`game` in jurado.yaml), the opponent `optimal` has
the contestant's place, and the transcript is both files. A sample whose reference file is not itself an answer gets a
NAME.out too.
Where the plan has `submissions`, their methods answer every case too, into `submissions/<name>/NAME.out`; a case that
such a method leaves unsolved gets no file.
With `--check` nothing is written: the bytes are compared and every difference is named.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.packages.settings import open_checker
from scripts.played_games import transcript_of
from solvers.doors import Unsolved, open_solver

PLAN_KEYS = {"cases", "submissions"}
CASE_KEYS = {"group", "name", "file", "seed", "params", "reference", "description"}
SUBMISSION_KEYS = {"name", "method", "program", "steps", "seed"}
VALID = 42


class BadPlan(Exception):
    """A plan, generator or validator failed; the text says which and where."""


@dataclass(frozen=True)
class Plan:
    """One case to make: its package, its entry in cases.yaml, the reference settings, the other submissions to make.

    is_played  its answers are transcripts of games
    """

    package: Path
    entry: Mapping[str, Any]
    checker: str
    reference: Mapping[str, Any]
    submissions: Sequence[Mapping[str, Any]]
    is_played: bool = False

    @property
    def name(self) -> str:
        """Give the case's base name."""
        return str(self.entry["name"])

    @property
    def folder(self) -> Path:
        """Give the folder of the case's files."""
        return self.package / "data" / str(self.entry["group"])


def main() -> int:
    """Run the verb; exit code 0 if all is made (or equal), 1 if something differs or fails."""
    options = read_options()
    plans = [plan for package in packages([*options.slugs, *(options.problem or ())]) for plan in read_plans(package)]
    if options.case:
        plans = [plan for plan in plans if plan.name in options.case]
    differences: list[str] = []
    with progress_bar() as bar:
        task = bar.add_task("test data", total=len(plans))
        for plan in plans:
            bar.update(task, description=f"{plan.package.name} {plan.name}")
            for path, data in make_case(plan, inputs_only=options.inputs_only, check=options.check):
                differences += compare(path, data) if options.check else write(path, data)
            bar.advance(task)
    for difference in differences:
        print(difference, file=sys.stderr)
    return 1 if differences else 0


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("slugs", metavar="SLUG", nargs="*", help="only these problems")
    parser.add_argument("--problem", metavar="SLUG", action="append", help="only this problem (may be repeated)")
    parser.add_argument("--case", metavar="NAME", action="append", help="only this case (may be repeated)")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("--inputs-only", action="store_true", help="leave the reference solver out")
    return parser.parse_args()


def packages(slugs: Sequence[str]) -> list[Path]:
    """List the package folders that have a plan."""
    plans = [path for depth in ("*", "games/*") for path in (ROOT / "problems").glob(f"{depth}/generators/cases.yaml")]
    folders = sorted(path.parent.parent for path in plans)
    names = [path.name for path in folders]
    for unknown in sorted(set(slugs) - set(names)):
        near = get_close_matches(unknown, names, 1, 0.5)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}"
        raise BadPlan(f"no problem {unknown!r} with a plan of its test data; {hint}")
    return [path for path in folders if not slugs or path.name in slugs]


def read_plans(package: Path) -> list[Plan]:
    """Read cases.yaml and the reference settings of jurado.yaml; unknown keys and doubled names are errors."""
    settings = yaml.safe_load((package / "jurado.yaml").read_text())
    plan = yaml.safe_load((package / "generators/cases.yaml").read_text())
    where = f"{package.name}/generators/cases.yaml"
    check_keys(where, plan, PLAN_KEYS)
    submissions = plan.get("submissions", [])
    for submission in submissions:
        check_keys(f"{where}: submission {submission.get('name')!r}", submission, SUBMISSION_KEYS)
    names: set[str] = set()
    for entry in plan["cases"]:
        check_keys(f"{where}: case {entry.get('name')!r}", entry, CASE_KEYS)
        if entry["name"] in names:
            raise BadPlan(f"{where}: case {entry['name']!r}: expected a name of its own, found it twice")
        names.add(entry["name"])
    default = settings.get("reference", {})
    return [
        Plan(
            package,
            entry,
            settings["checker"],
            default | entry.get("reference", {}),
            submissions,
            is_played="game" in settings,
        )
        for entry in plan["cases"]
    ]


def check_keys(where: str, entry: Mapping[str, Any], known: set[str]) -> None:
    """Refuse unknown keys."""
    if unknown := set(entry) - known:
        raise BadPlan(f"{where}: expected keys {sorted(known)}, found {sorted(unknown)}")


def make_case(plan: Plan, *, inputs_only: bool, check: bool) -> Iterator[tuple[Path, bytes]]:
    """Make a case's files; yields each path with its bytes."""
    data, path = make_input(plan), plan.folder / f"{plan.name}.in"
    if not (check and path.exists() and path.read_bytes() == data):  # `jurado package verify` validates what is stored
        validate_input(plan, data)
    yield path, data
    if "description" in plan.entry:
        text = yaml.safe_dump({"description": plan.entry["description"]}, allow_unicode=True, width=110)
        yield plan.folder / f"{plan.name}.yaml", text.encode()
    if inputs_only:
        return
    answer, reference = solve(plan, data)
    yield plan.folder / f"{plan.name}.ans", reference
    yield plan.package / "submissions/accepted/reference" / f"{plan.name}.out", answer
    if plan.entry["group"] == "sample" and answer != reference:
        yield plan.folder / f"{plan.name}.out", answer
    for submission in plan.submissions:
        try:
            answer, _ = solve(replace(plan, reference=plan.reference | submission), data)
        except Unsolved:
            continue
        yield plan.package / "submissions" / submission["name"] / f"{plan.name}.out", answer


def make_input(plan: Plan) -> bytes:
    """Copy a hand-made input or run the package's generator on its own, as an admin would."""
    generators = plan.package / "generators"
    if "file" in plan.entry:
        return Path(generators, plan.entry["file"]).read_bytes()
    params = [f"{key}={value}" for key, value in plan.entry.get("params", {}).items()]
    command = [sys.executable, str(generators / "generate.py"), "--seed", str(plan.entry["seed"]), *params]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0:
        raise BadPlan(f"{plan.package.name} {plan.name}: the generator failed: {done.stderr.decode()}")
    return done.stdout


def validate_input(plan: Plan, data: bytes) -> None:
    """Run every input validator of the package on the input; raises BadPlan if one refuses it."""
    for validator in sorted((plan.package / "input_validators").glob("*.py")):
        done = subprocess.run([sys.executable, str(validator)], input=data, capture_output=True, check=False)
        if done.returncode != VALID:
            refusal = done.stderr.decode().strip()
            raise BadPlan(f"{plan.package.name} {plan.name}: {validator.name} refuses the input: {refusal}")


def solve(plan: Plan, data: bytes) -> tuple[bytes, bytes]:
    """Run the solver by steps; returns the answer file and the `.ans` file that this answer would be.

    Of a package that is played both are the transcript of a game.
    """
    if plan.is_played:
        played = transcript_of(data, plan.reference, plan.package)
        return played, played
    solver = open_solver(plan.package.name)
    checker = open_checker(plan.checker)
    seed = int(plan.reference["seed"])
    instance = checker.read_instance(data)
    answer = solver.solve(
        instance,
        method=plan.reference.get("method", solver.REFERENCE),
        seed=seed,
        seconds=float(plan.reference["seconds"]),
        steps=int(plan.reference["steps"]),
    )
    written = checker.write_answer(answer).encode()
    reference = solver.write_reference(instance, answer, seed=seed).encode()
    checker.score_answer(instance, checker.read_answer(written, instance), reference)
    return written, reference


def write(path: Path, data: bytes) -> list[str]:
    """Write a file; reports no difference."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return []


def compare(path: Path, data: bytes) -> list[str]:
    """Say how a stored file differs from the new one."""
    shown = path.relative_to(ROOT)
    if not path.exists():
        return [f"{shown}: expected {len(data)} bytes, found no file"]
    return [] if path.read_bytes() == data else [f"{shown}: expected the bytes just made, found others"]


def progress_bar() -> Progress:
    """Make a bar on stderr, so that stdout stays free."""
    columns = (TextColumn("{task.description:<40}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=Console(stderr=True))


if __name__ == "__main__":
    try:
        sys.exit(main())
    except BadPlan as error:
        sys.exit(str(error))
