"""The other end of the protocol `python`, inside the sandbox: `python runner.py CHECKER` loads a checker and answers.

It stands alone: the sandbox shows it `checkers/doors.py`, the package's checker and modules of the service, and nothing
else. Standard input is a socket, on which it answers the requests about the cases of one submission.

A request is the length of a header (4 bytes), the header as JSON, and the bytes that it announces; a reply is a length
and JSON that repeats the request's token, so that no reply can be written before its request is known, and the bytes of
the images that it announces.
"""

import importlib.util
import json
import math
import os
import signal
import socket
import sys
import traceback
from collections.abc import Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from types import ModuleType
from typing import IO, TypedDict

from checkers.doors import Message, Rejected, Score, check_reference

LENGTH_BYTES = 4
LONGEST_ERROR = 4000
TRACEBACK = "Traceback (most recent call last):"
DOORS = ("read_instance", "read_answer", "score_answer")
PAIR = 2
WORK = "/work"
IMAGE_NAMES = ("teamimage", "judgeimage")
MOST_IMAGES = 8
# Bytes; a larger image is read to one byte more, which tells that it is too large.
LARGEST_IMAGE = 2**20


# A checker, or why it did not load.
Loaded = ModuleType | str


def main() -> None:
    """Load the checker and answer requests until the server hangs up; all that it prints goes to standard error."""
    connection = socket.socket(fileno=os.dup(0))
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    _serve(_loaded(sys.argv[1]), connection)


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


def _serve(checker: Loaded, connection: socket.socket) -> None:
    requests, replies = connection.makefile("rb"), connection.makefile("wb")
    while (request := _read(requests)) is not None:
        header, parts = request
        reply = {"failed": checker} if isinstance(checker, str) else _answer(checker, header, parts)
        images = _images()
        sizes = {name: len(data) for name, data in images.items()}
        _write(replies, {"token": header["token"], **reply, "images": sizes}, images.values())


def _images() -> dict[str, bytes]:
    """Take the images out of the working folder, by their names: a few, each with a byte more than it may have."""
    images: dict[str, bytes] = {}
    with os.scandir(WORK) as entries:
        plain = sorted(each.name for each in entries if each.is_file(follow_symlinks=False))
    for name in plain:
        if name.startswith(IMAGE_NAMES):
            if len(images) < MOST_IMAGES:
                with open(f"{WORK}/{name}", "rb") as file:
                    images[name] = file.read(LARGEST_IMAGE + 1)
            os.unlink(f"{WORK}/{name}")
    return images


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


class _Header(TypedDict):
    """The head of a question: its number, the arguments, whether the answer is the expected one, and sizes of parts."""

    token: str
    args: list[str]
    expected: bool
    parts: dict[str, int]


def _read(stream: IO[bytes]) -> tuple[_Header, dict[str, bytes]] | None:
    size = stream.read(LENGTH_BYTES)
    if len(size) < LENGTH_BYTES:
        return None
    header = json.loads(stream.read(int.from_bytes(size, "big")))
    return header, {name: stream.read(length) for name, length in header["parts"].items()}


def _write(stream: IO[bytes], reply: Mapping[str, object], more: Iterable[bytes]) -> None:
    data = json.dumps(reply).encode()
    stream.write(len(data).to_bytes(LENGTH_BYTES, "big") + data)
    stream.writelines(more)
    stream.flush()


def _answer(checker: ModuleType, header: _Header, parts: Mapping[str, bytes]) -> dict[str, object]:
    ask = _ask_doors if all(hasattr(checker, door) for door in DOORS) else _ask_function
    try:
        return ask(checker, header, parts)
    except Rejected as rejected:
        return {"rejected": _message(rejected.message)}
    except BaseException:  # SystemExit too: what a checker raises is its reply, and never the end of the runner
        return {"failed": _traceback()}


def _ask_doors(module: ModuleType, header: _Header, parts: Mapping[str, bytes]) -> dict[str, object]:
    checker = module.configure(header["args"]) if header["args"] and hasattr(module, "configure") else module
    try:
        instance = checker.read_instance(parts["input"])
    except Rejected as rejected:
        return {"unread": _message(rejected.message)}
    if "output" not in parts:
        return {}
    if header["expected"]:
        score = check_reference(checker, instance, parts["output"])
        return {} if score is None else _score(score)
    answer = checker.read_answer(parts["output"], instance)
    return _score(checker.score_answer(instance, answer, parts["reference"]))


def _ask_function(module: ModuleType, _header: _Header, parts: Mapping[str, bytes]) -> dict[str, object]:
    if "output" not in parts:
        return {}
    texts = {name: _text(data, name) for name, data in parts.items()}
    value = module.score(texts["input"], texts["output"], texts["reference"])
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
