"""One solver as a program: `python -m solvers PROBLEM < input > answer`.

The answer goes to standard output once the search has ended. With `--out DIR FILE...` every file is solved in turn and
its answer is DIR/NAME.out, so that many small inputs cost one start-up; an input that the method leaves unsolved has no
answer, its summary says why, and the next one follows. SIGTERM or SIGINT ends a search early with the best so far, and
leaves the files after it out; a second one ends the program.

With `--progress-json` standard error has one JSON object a line: reports as in :class:`solvers.doors.Report`, and last
(for every file) `{"done": true, ...}`, or `{"error": "..."}`; without it, errors only.

Exit code 0: an answer was written, or every file has its summary; 2: wrong usage or input; 1: the method found no
answer, or failed.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import Any

from checkers.doors import Checker, Exact, Rejected, Score, open_checker
from solvers.doors import Report, Solver, Unsolved, open_solver
from solvers.parts.memory import PeakMemory

PROGRAM_STARTED = perf_counter()
NOT_PROBLEMS = {"daily", "doors", "parts"}


NEAR = 0.5


class Unusable(Exception):
    """A request that cannot be met; the text says why, the exit code is 2."""


@dataclass
class Listener:
    """Hears the search's reports, passes them on where wanted, and asks it to stop when a signal has come.

    `ready` is when the last run ended, on the clock of `perf_counter`; before the first one, when the program began.
    """

    loud: bool
    last: Report = field(default_factory=lambda: Report(0.0))
    stopping: bool = False
    done: dict[str, Any] = field(default_factory=dict)
    ready: float = PROGRAM_STARTED

    def __call__(self, report: Report) -> bool:
        """Take one report; False asks the search to stop."""
        self.last = report
        if self.loud:
            say(fraction=report.fraction, best=number(report.best), states=report.states, note=report.note)
        return not self.stopping

    def finish(self) -> None:
        """Pass the summary of a run on, once its answer has been written."""
        self.ready = perf_counter()
        if self.loud:
            say(**self.done)

    def stop(self, signum: int, _frame: FrameType | None) -> None:
        """Remember the first signal; let the second one end the program."""
        self.stopping = True
        signal.signal(signum, signal.SIG_DFL)


def main(arguments: list[str] | None = None) -> int:
    """Solve the instance on standard input; returns the exit code."""
    options = read_options(arguments)
    listener = Listener(options.progress_json)
    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, listener.stop)
    try:
        solver, checker = open_problem(options.problem)
        options.method = choose_method(options, solver)
        if options.methods:
            print(json.dumps(describe(solver)))
        elif options.out is None:
            run(options, solver, checker, listener)
        else:
            run_files(options, solver, checker, listener)
    except Unusable as error:
        return complain(str(error), loud=options.progress_json, code=2)
    except Unsolved as error:
        return complain(f"no answer found: {error}", loud=options.progress_json, code=1)
    except Rejected as error:
        return complain(f"the checker rejects the solver's answer: {error}", loud=options.progress_json, code=1)
    return 0


def read_options(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="python -m solvers", description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("problem")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="inputs, with --out")
    parser.add_argument("--out", type=Path, metavar="DIR", help="solve the files named, answers there")
    parser.add_argument("--method", help="default: the reference method")
    parser.add_argument("--seed", type=natural, default=1)
    parser.add_argument("--seconds", type=positive, help="time for the search; default: the method's own")
    parser.add_argument("--steps", type=natural, help="steps instead of seconds: repeats exactly")
    parser.add_argument(
        "--progress-json", action="store_true", help="reports on standard error, one JSON object a line"
    )
    parser.add_argument("--reference", type=Path, metavar="FILE", help="write the expected answer (.ans) there too")
    parser.add_argument("--methods", action="store_true", help="print the problem's methods as JSON instead")
    return parser.parse_intermixed_args(arguments)


def natural(text: str) -> int:
    """Read an integer from 0 to what 63 bits hold, as kernels take it."""
    value = int(text)
    if not 0 <= value < 2**63:
        raise ValueError(text)
    return value


def positive(text: str) -> float:
    """Read a number above 0, of a day at most."""
    value = float(text)
    if not 0 < value <= 86400:
        raise ValueError(text)
    return value


def open_problem(slug: str) -> tuple[Solver[Any, Any], Checker[Any, Any]]:
    """Open a problem's solver and checker; raises Unusable with the nearest name if there is none."""
    known = problems()
    if slug not in known:
        near = get_close_matches(slug, known, 1, 0.5)
        hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}"
        raise Unusable(f"no solver for the problem {slug!r}{hint}")
    return open_solver(slug), open_checker(slug)


def choose_method(options: argparse.Namespace, solver: Solver[Any, Any]) -> str:
    """Take the method asked for, or the reference method; raises Unusable if there is none of that name."""
    method = str(options.method or solver.REFERENCE)
    if method not in solver.METHODS:
        near = get_close_matches(method, solver.METHODS, 1, NEAR)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(solver.METHODS)}"
        raise Unusable(f"no method {method!r} for {options.problem}; {hint}")
    return method


def problems() -> list[str]:
    """List the problems that have a solver and a checker, by their files."""
    here = Path(__file__).parent
    names = [path.name for path in here.iterdir() if (path / "__init__.py").is_file()]
    names += [path.stem for path in here.glob("*.py")]
    return sorted(n for n in names if n.isalnum() and n not in NOT_PROBLEMS and find_spec(f"checkers.{n}"))


def describe(solver: Solver[Any, Any]) -> dict[str, Any]:
    """Give the methods of a solver and which of them is the reference."""
    methods = {
        name: {"summary": method.summary, "anytime": method.anytime, "seconds": method.seconds}
        for name, method in solver.METHODS.items()
    }
    return {"reference": solver.REFERENCE, "methods": methods}


def run(options: argparse.Namespace, solver: Solver[Any, Any], checker: Checker[Any, Any], listener: Listener) -> None:
    """Solve standard input and write the answer to standard output; raises Unsolved."""
    if sys.stdin is None or sys.stdin.isatty() or options.files:
        raise Unusable("expected an input on standard input (... < FILE.in), or files with --out DIR")
    instance = read_input("input", sys.stdin.buffer.read(), checker)
    text = solve(options, solver, checker, instance, listener)
    sys.stdout.write(text)
    sys.stdout.flush()
    listener.finish()


def run_files(
    options: argparse.Namespace, solver: Solver[Any, Any], checker: Checker[Any, Any], listener: Listener
) -> None:
    """Solve file after file, until the last one or a signal."""
    for path in options.files:
        try:
            instance = read_input(str(path), path.read_bytes(), checker)
            with suppress(Unsolved):
                text = solve(options, solver, checker, instance, listener)
                (options.out / f"{path.stem}.out").write_text(text, encoding="utf-8", newline="\n")
        except OSError as error:
            raise Unusable(f"{error.filename}: {error.strerror}") from None
        listener.done["instance"] = path.stem
        listener.finish()
        if listener.stopping:
            return


@dataclass(frozen=True)
class Search:
    """The outcome of a search: an answer, or `why` there is none; its seconds, those of the start-up, its MiB."""

    answer: Any
    why: str
    seconds: float
    start_up: float
    memory: float


def solve(
    options: argparse.Namespace,
    solver: Solver[Any, Any],
    checker: Checker[Any, Any],
    instance: Any,
    listener: Listener,
) -> str:
    """Solve one instance, check what came out, and give the answer's text; the listener keeps the summary.

    Raises Unsolved where the method has no answer; the summary is kept then, too.
    """
    outcome = search(options, solver, instance, listener)
    score, text = None, ""
    if not outcome.why:
        text = checker.write_answer(outcome.answer)
        score = checker.score_answer(instance, checker.read_answer(text.encode(), instance))
        if options.reference is not None:
            write_reference(options.reference, solver.write_reference(instance, outcome.answer, seed=options.seed))
    listener.done = summary(options, outcome, score, listener)
    if outcome.why:
        raise Unsolved(outcome.why)
    return text


def search(options: argparse.Namespace, solver: Solver[Any, Any], instance: Any, listener: Listener) -> Search:
    """Run the method. Loading and compiling are timed apart: one step is made before the clock starts."""
    asked: dict[str, Any] = {"method": options.method, "seed": options.seed}
    if not listener.done:
        with suppress(Unsolved):
            solver.solve(instance, **asked, seconds=1.0, steps=1, progress=lambda _: False)
    limit = options.seconds if options.seconds is not None else solver.METHODS[options.method].seconds
    listener.last = Report(0.0)
    memory = PeakMemory()
    started = perf_counter()
    answer, why = None, ""
    try:
        answer = solver.solve(instance, **asked, seconds=limit, steps=options.steps, progress=listener)
    except Unsolved as error:
        why = str(error)
    except MemoryError:
        why = "out of memory"
    return Search(answer, why, perf_counter() - started, started - listener.ready, memory.grown())


def summary(options: argparse.Namespace, outcome: Search, score: Score | None, listener: Listener) -> dict[str, Any]:
    """Say what came out: raw score, steps, states, and whether it is known to be the best possible; or why nothing."""
    raw, most = (score.raw, score.max_raw) if score is not None else (None, None)
    return {
        "done": True,
        "problem": options.problem,
        "method": options.method,
        "seed": options.seed,
        "seconds": round(outcome.seconds, 3),
        "start_up": round(outcome.start_up, 3),
        "memory": outcome.memory,
        "steps": options.steps if options.steps is not None else listener.last.steps,
        "states": listener.last.states,
        "raw": number(raw),
        "max_raw": number(most),
        "most": number(listener.last.most),
        "optimal": score is not None and (raw == most or listener.last.note == "optimal"),
        "stopped": listener.stopping,
        "message": score.message.text if score is not None else outcome.why,
        "unsolved": score is None,
        "version": product_version(),
    }


def read_input(where: str, data: bytes, checker: Checker[Any, Any]) -> Any:
    """Parse an input; raises Unusable where it is not an instance."""
    try:
        return checker.read_instance(data)
    except Rejected as error:
        raise Unusable(f"{where}: {error}") from None


def write_reference(path: Path, text: str) -> None:
    """Write the expected answer; raises Unusable where the file cannot be written."""
    try:
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise Unusable(f"--reference {path}: {error.strerror}") from None


def number(value: Exact | None) -> int | float | None:
    """An exact number as JSON can say it."""
    return value if value is None or isinstance(value, int) else float(value)


def product_version() -> str:
    """The version of Jurado that ran, as installed."""
    try:
        return version("jurado")
    except PackageNotFoundError:
        return "unknown"


def say(**fields: Any) -> None:
    """Write one JSON object on a line of standard error."""
    print(json.dumps(fields), file=sys.stderr, flush=True)


def complain(text: str, *, loud: bool, code: int) -> int:
    """Tell what went wrong, in JSON where JSON is expected, and pass the exit code on."""
    if loud:
        say(error=text)
    else:
        print(f"python -m solvers: {text}", file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
