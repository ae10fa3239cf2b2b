"""Compile the kernels of every bundled problem now, so that a new image answers its first submission at once.

For the smallest test case of each problem, each method of its solver takes one step and its answer is checked. Compiled
code lands where numba keeps it (NUMBA_CACHE_DIR); on a processor of another kind numba compiles again by itself.
Processes share the work. `make test` does this first: its workers and the servers that they start would otherwise each
compile the same kernels.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import yaml

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import checkers
import solvers
from app.core.shipped import shipped
from checkers.doors import Rejected, open_checker
from solvers.doors import Unsolved, open_solver


def main() -> None:
    with ProcessPoolExecutor(os.cpu_count()) as processes:
        tokens = processes.submit(warm_tokens)
        for line in processes.map(warm, *zip(*work(), strict=True)):
            print(line)
        print(tokens.result())


def work() -> list[tuple[Path, str]]:
    """List packages and methods in an order that compiles little twice: the longest work first, the rest much later.

    The last method of a ladder uses most of its solver's kernels; by the time of the others these are there.
    """
    places = (path.parent for path in shipped("problems").glob("*/jurado.yaml"))
    packages = [each for each in places if checker_module(each).exists()]
    packages.sort(key=solver_size, reverse=True)
    ladders = [(package, list(open_solver(package.name).METHODS)) for package in packages]
    last = [(package, methods[-1]) for package, methods in ladders]
    return last + [(package, method) for package, methods in ladders for method in methods[:-1]]


def checker_module(package: Path) -> Path:
    """Give the module of a problem's checker, if it is a module of its own."""
    return Path(checkers.__path__[0]) / f"{checker_name(package)}.py"


def checker_name(package: Path) -> str:
    """Read which checker a problem has."""
    return str(yaml.safe_load((package / "jurado.yaml").read_text())["checker"])


def solver_size(package: Path) -> int:
    """Give the bytes of a problem's solver: about in proportion to the time that its kernels take."""
    modules = Path(solvers.__path__[0]) / package.name
    paths = [*modules.rglob("*.py"), modules.with_suffix(".py")]
    return sum(path.stat().st_size for path in paths if path.exists())


def smallest_case(package: Path) -> Path:
    """Find the smallest input that has an answer."""
    inputs = [*package.glob("data/sample/**/*.in"), *package.glob("data/secret/**/*.in")]
    return min((path for path in inputs if path.with_suffix(".ans").exists()), key=lambda path: path.stat().st_size)


def warm(package: Path, method: str) -> str:
    """Solve and check one case with a method; returns a line that says so."""
    checker, solver = open_checker(checker_name(package)), open_solver(package.name)
    case = smallest_case(package)
    instance = checker.read_instance(case.read_bytes())
    try:
        answer = solver.solve(instance, method=method, seed=1, seconds=1.0, steps=1)
    except Unsolved:
        return f"{package.name}: {method} is warm, and has no answer after one step"
    data = checker.write_answer(answer).encode()
    checker.score_answer(instance, checker.read_answer(data, instance), case.with_suffix(".ans").read_bytes())
    return f"{package.name}: {method} is warm"


def warm_tokens() -> str:
    """Compare words and numbers; a grader, which may not write, would compile it for each of its lives."""
    for arguments in ((), ("float_tolerance", "1e-6")):
        checker = open_checker("tokens", arguments)
        instance = checker.read_instance(b"1\n")
        for given in (b"1.5 a\n", b"1.50 a\n", b"2 b\n"):
            try:
                checker.score_answer(instance, checker.read_answer(given, instance), b"1.5 a\n")
            except Rejected:
                continue
    return "tokens is warm"


if __name__ == "__main__":
    main()
