"""The other end of the protocol `python`, inside the sandbox: `python runner.py CHECKER` loads a checker and divides.

It stands alone: the sandbox shows it `checkers/doors.py`, the package's checker and modules of the service, and nothing
else. Standard input is a socket for commands. With FORK comes the connection on which a part of this process, a child,
answers the requests of one submission; the process itself never sees one of them, and outlives its parts. With SETTLE
or ENDED all parts are killed, and the reply says how the last one ended and whether anything of it is left.

A request is the length of a header (4 bytes), the header as JSON, and the bytes that it announces; a reply is a length
and JSON that repeats the request's token, so that no reply can be written before its request is known, and the bytes of
the images that it announces.
"""

import ctypes
import importlib.util
import json
import math
import os
import resource
import signal
import socket
import sys
import time
import traceback
from collections.abc import Iterable, Mapping
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from types import ModuleType
from typing import IO, TypedDict

from checkers.doors import Message, Rejected, Score, check_reference

FORK, SETTLE, ENDED, PING = b"+", b"-", b"?", b"="
LENGTH_BYTES = 4
LONGEST_ERROR = 4000
TRACEBACK = "Traceback (most recent call last):"
DOORS = ("read_instance", "read_answer", "score_answer")
PAIR = 2
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
SECONDS_TO_END = 1.0
STEP = 0.001
WORK = "/work"
PRIVATE = (WORK, "/tmp")
IMAGE_NAMES = ("teamimage", "judgeimage")
MOST_IMAGES = 8
# Bytes; a larger image is read to one byte more, which tells that it is too large.
LARGEST_IMAGE = 2**20


# A checker, or why it did not load.
Loaded = ModuleType | str


def main() -> None:
    """Take commands until the server hangs up; what the checker prints while it is loaded goes to standard error."""
    control = socket.socket(fileno=os.dup(0))
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)
    _keep_apart()
    checker = _loaded(sys.argv[1])
    before, part, errors = _state(), 0, -1
    while True:
        command, handles, _, _ = socket.recv_fds(control, 1, 1)
        if not command:
            return
        if command == FORK:
            errors = os.memfd_create("errors")
            part = _divided(checker, handles[0], control, errors)
            os.close(handles[0])
        elif command == PING:
            control.sendall(PING)
        else:
            status = _settled(part, SECONDS_TO_END if command == ENDED else 0.0)
            left = _state()
            reply = {"status": status, "errors": _tail(errors), "clean": left == before and not left[-1]}
            os.close(errors)
            data = json.dumps(reply).encode()
            control.sendall(len(data).to_bytes(LENGTH_BYTES, "big") + data)


def _keep_apart() -> None:
    """Close memory and descriptors of this process to its parts, and let none of their children escape it."""
    libc = ctypes.CDLL(None, use_errno=True)
    for option, value in ((PR_SET_DUMPABLE, 0), (PR_SET_CHILD_SUBREAPER, 1)):
        if libc.prctl(option, value, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


def _state() -> tuple[object, ...]:
    """What a part could change of this process or of its folders; last the entries of private folders.

    The times of these folders are set back: they would hold a few bytes for the next part.
    """
    bounds = tuple(resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_"))
    place = frozenset(os.sched_getaffinity(0)), os.sched_getscheduler(0), os.getpriority(os.PRIO_PROCESS, 0)
    rights = tuple((status.st_mode, status.st_uid, status.st_gid) for status in map(os.stat, PRIVATE))
    labels = tuple(sorted(f"{folder}/{name}" for folder in PRIVATE for name in os.listxattr(folder)))
    for folder in PRIVATE:
        os.utime(folder, (0, 0))
    entries = tuple(sorted(f"{folder}/{name}" for folder in PRIVATE for name in os.listdir(folder)))
    return bounds, place, rights, labels, entries


def _divided(checker: Loaded, connection: int, control: socket.socket, errors: int) -> int:
    """Start a part that serves one connection; returns its id."""
    part = os.fork()
    if part:
        return part
    try:
        control.close()
        for stream in (1, 2):
            os.dup2(errors, stream)
        os.close(errors)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        os.chdir(WORK)
        _serve(checker, socket.socket(fileno=connection))
    finally:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
        os._exit(0)


def _settled(part: int, seconds: float) -> int | None:
    """Kill all processes but this one, and wait for their ends; returns the status of a part that ended by itself.

    A signal to everybody is one step for the kernel: no process divides meanwhile.
    """
    until = time.monotonic() + seconds
    pid, status = os.waitpid(part, os.WNOHANG)
    while not pid and time.monotonic() < until:
        time.sleep(STEP)
        pid, status = os.waitpid(part, os.WNOHANG)
    with suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    with suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)
    return status if pid else None


def _tail(errors: int) -> str:
    size = os.fstat(errors).st_size
    return os.pread(errors, LONGEST_ERROR, max(0, size - LONGEST_ERROR)).decode("utf-8", "replace")


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
