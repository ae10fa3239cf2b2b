"""The protocol `python`, inside the sandbox: `python runner.py CHECKER KIND [ARGUMENT]...` asks a checker about a case.

It stands alone: the sandbox shows it `checkers/doors.py`, the package's checker, modules of the service, and the files
of the case. KIND is `answer`, `expected` where the answer is the case's own, or `input` where only that is read. The
reply is JSON on standard output; what the checker prints goes to standard error.
"""

import importlib.util
import json
import math
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from types import ModuleType

from checkers.doors import Message, Rejected, Score, check_reference

LONGEST_ERROR = 4000
TRACEBACK = "Traceback (most recent call last):"
DOORS = ("read_instance", "read_answer", "score_answer")
PAIR = 2
# A checker, or why it did not load.
Loaded = ModuleType | str


def main() -> None:
    """Load the checker, ask it and write its reply."""
    with os.fdopen(os.dup(1), "w") as replies:
        os.dup2(2, 1)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        checker = _loaded(sys.argv[1])
        json.dump({"failed": checker} if isinstance(checker, str) else _answer(checker, *sys.argv[2:]), replies)
    os._exit(0)  # whatever the checker has left to run


def _loaded(path: str) -> Loaded:
    try:
        return _load(path)
    except BaseException:
        return _traceback()


def _traceback() -> str:
    """The traceback of what the checker raised, from its own files on: how it was called says nothing to its author."""
    _kind, error, frames = sys.exc_info()
    while frames is not None and frames.tb_frame.f_code.co_filename.startswith((__file__, "<frozen importlib")):
        frames = frames.tb_next
    lines = traceback.format_exception(error.with_traceback(frames) if error is not None else None)
    begin = "" if lines[0].startswith(TRACEBACK) else f"{TRACEBACK}\n"
    return (begin + "".join(lines)).rstrip()[-LONGEST_ERROR:]


def _load(path: str) -> ModuleType:
    sys.path.insert(0, os.path.dirname(path))
    spec = importlib.util.spec_from_file_location("checker", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"no module at {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules["checker"] = module
    spec.loader.exec_module(module)
    if not callable(getattr(module, "score", None)) and not all(hasattr(module, door) for door in DOORS):
        raise ImportError(f"expected a function `score`, or {', '.join(DOORS)}, found neither")
    return module


def _answer(checker: ModuleType, kind: str, *args: str) -> dict[str, object]:
    ask = _ask_doors if all(hasattr(checker, door) for door in DOORS) else _ask_function
    try:
        return ask(checker, kind, args)
    except Rejected as rejected:
        return {"rejected": _message(rejected.message)}
    except BaseException:  # SystemExit too: what a checker raises is its reply, and never the end of the runner
        return {"failed": _traceback()}


def _file(name: str) -> bytes:
    with open(f"/case/{name}", "rb") as file:
        return file.read()


def _ask_doors(module: ModuleType, kind: str, args: Sequence[str]) -> dict[str, object]:
    checker = module.configure(list(args)) if args and hasattr(module, "configure") else module
    try:
        instance = checker.read_instance(_file("input"))
    except Rejected as rejected:
        return {"unread": _message(rejected.message)}
    if kind == "input":
        return {}
    if kind == "expected":
        score = check_reference(checker, instance, _file("output"))
        return {} if score is None else _score(score)
    answer = checker.read_answer(_file("output"), instance)
    return _score(checker.score_answer(instance, answer, _file("answer")))


def _ask_function(module: ModuleType, kind: str, _args: Sequence[str]) -> dict[str, object]:
    if kind == "input":
        return {}
    value = module.score(*(_text(_file(name), name) for name in ("input", "output", "answer")))
    if isinstance(value, Score):
        return _score(value)
    number, message = value if isinstance(value, tuple) and len(value) == PAIR else (value, "")
    return {"number": _ratio(number), "text": str(message)}


def _text(data: bytes, name: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        if name != "output":
            raise
        raise Rejected.at(f"byte {error.start}", expected="UTF-8", found=f"0x{data[error.start]:02x}") from None


def _score(score: object) -> dict[str, object]:
    if not isinstance(score, Score):
        raise TypeError(f"expected a Score, found {type(score).__name__}")
    return {
        "raw": _ratio(score.raw),
        "max_raw": None if score.max_raw is None else _ratio(score.max_raw),
        "multiplier": None if score.multiplier is None else _ratio(score.multiplier),
        "message": _message(score.message),
    }


def _message(message: Message) -> dict[str, object]:
    return {"key": message.key, "text": message.text, "args": dict(message.args)}


def _ratio(value: object) -> str:
    """An exact number as `3/4`; a float is the decimal that it is written as."""
    if hasattr(value, "item"):  # a number of numpy's
        value = value.item()
    if isinstance(value, float) and math.isfinite(value):
        value = Fraction(repr(value))
    if isinstance(value, Decimal) and value.is_finite():
        value = Fraction(value)
    if not isinstance(value, int | Fraction):
        raise TypeError(f"expected a finite number, found {value!r}")
    return f"{int(value.numerator)}/{int(value.denominator)}"


if __name__ == "__main__":
    main()
