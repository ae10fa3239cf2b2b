"""Compile the kernels of every bundled problem now, so that a new image answers its first submission at once.

For the smallest test case of each problem, each method of its solver takes one step and its answer is checked. Compiled
code lands where numba keeps it (NUMBA_CACHE_DIR); on a processor of another kind numba compiles again by itself.
"""

from __future__ import annotations

import sys
from pathlib import Path

import yaml

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT))

from checkers.doors import open_checker  # noqa: E402 - the path comes first
from solvers.doors import Unsolved, open_solver  # noqa: E402


def main() -> None:
    for package in sorted((PROJECT / "problems").iterdir()):
        settings = yaml.safe_load((package / "jurado.yaml").read_text())
        if (PROJECT / "checkers" / f"{settings['checker']}.py").exists():
            warm(package.name, settings["checker"], smallest_case(package))


def smallest_case(package: Path) -> Path:
    """Find the smallest input that has an answer."""
    inputs = [*package.glob("data/sample/**/*.in"), *package.glob("data/secret/**/*.in")]
    return min((path for path in inputs if path.with_suffix(".ans").exists()), key=lambda path: path.stat().st_size)


def warm(slug: str, checker_name: str, case: Path) -> None:
    """Solve and check one case with every method."""
    checker, solver = open_checker(checker_name), open_solver(slug)
    instance = checker.read_instance(case.read_bytes())
    reference = case.with_suffix(".ans").read_bytes()
    for method in solver.METHODS:
        try:
            answer = solver.solve(instance, method=method, seed=1, seconds=1.0, steps=1)
        except Unsolved:
            print(f"{slug}: {method} is warm, and has no answer after one step")
            continue
        data = checker.write_answer(answer).encode()
        checker.score_answer(instance, checker.read_answer(data, instance), reference)
        print(f"{slug}: {method} is warm")


if __name__ == "__main__":
    main()
