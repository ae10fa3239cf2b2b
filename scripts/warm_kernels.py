"""Compile the kernels of every bundled problem now, so that a new image answers its first submission at once.

For the smallest test case of each problem, each method of its solver takes one step and its answer is checked. Compiled
code lands where numba keeps it (NUMBA_CACHE_DIR); on a processor of another kind numba compiles again by itself.
Each problem is warmed by a process of its own, side by side. `make test` does this first: its workers and the servers
that they start would otherwise each compile the same kernels.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import yaml

PROJECT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(PROJECT))

from checkers.doors import open_checker  # noqa: E402 - the path comes first
from solvers.doors import Unsolved, open_solver  # noqa: E402


def main() -> None:
    packages = sorted((PROJECT / "problems").iterdir(), key=solver_size, reverse=True)  # the longest work first
    with ProcessPoolExecutor(os.cpu_count()) as processes:
        for lines in processes.map(warm_package, packages):
            print(*lines, sep="\n")


def solver_size(package: Path) -> int:
    """Give the bytes of a problem's solver: about in proportion to the time that its kernels take."""
    modules = PROJECT / "solvers" / package.name
    paths = [*modules.rglob("*.py"), modules.with_suffix(".py")]
    return sum(path.stat().st_size for path in paths if path.exists())


def warm_package(package: Path) -> list[str]:
    """Warm the kernels of one problem, if its checker is a module; returns what there is to say."""
    settings = yaml.safe_load((package / "jurado.yaml").read_text())
    if not (PROJECT / "checkers" / f"{settings['checker']}.py").exists():
        return []
    return warm(package.name, settings["checker"], smallest_case(package))


def smallest_case(package: Path) -> Path:
    """Find the smallest input that has an answer."""
    inputs = [*package.glob("data/sample/**/*.in"), *package.glob("data/secret/**/*.in")]
    return min((path for path in inputs if path.with_suffix(".ans").exists()), key=lambda path: path.stat().st_size)


def warm(slug: str, checker_name: str, case: Path) -> list[str]:
    """Solve and check one case with every method; returns a line for each."""
    checker, solver = open_checker(checker_name), open_solver(slug)
    instance = checker.read_instance(case.read_bytes())
    reference = case.with_suffix(".ans").read_bytes()
    lines = []
    for method in solver.METHODS:
        try:
            answer = solver.solve(instance, method=method, seed=1, seconds=1.0, steps=1)
        except Unsolved:
            lines.append(f"{slug}: {method} is warm, and has no answer after one step")
            continue
        data = checker.write_answer(answer).encode()
        checker.score_answer(instance, checker.read_answer(data, instance), reference)
        lines.append(f"{slug}: {method} is warm")
    return lines


if __name__ == "__main__":
    main()
