"""A checker of `checkers/` behind the output validator protocol of the Kattis package format.

Other tools start an output validator thousands of times, and numba alone takes a second to load. So the validator in a
package is a small client that hands its arguments and its input to one warm process, over a socket.

    output_validator/run INPUT ANSWER FEEDBACK_DIR [points N] < output

Exit code 42 accepts, 43 rejects; the message goes to judgemessage.txt. With `points N` the score, N times the checker's
multiplier, goes to score.txt. Any other exit code is the checker's own failure.
"""

from __future__ import annotations

import json
import socketserver
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from checkers.doors import AnyChecker, Rejected, open_checker

ACCEPT, REJECT, FAILED = 42, 43, 1
CLIENT = """\
#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as line:
    line.connect({address!r})
    paths = [os.path.abspath(path) for path in sys.argv[1:4]]
    line.sendall(json.dumps(paths + sys.argv[4:]).encode() + b"\\n" + sys.stdin.buffer.read())
    line.shutdown(socket.SHUT_WR)
    sys.exit(int(line.recv(16)))
"""


@contextmanager
def served(slug: str, folder: Path, references: Mapping[str, bytes], limit: int) -> Iterator[bytes]:
    """Serve a checker for as long as the `with` block lasts; gives the text of the client, a program named `run`.

    An output of more than `limit` bytes is rejected unread, as Jurado does before it asks the checker.

    `references` are the `.ans` files by the sha256 of their inputs: the tools want answer files that are themselves
    accepted, so the files they pass are not the ones the checker compares with.
    """
    checker = open_checker(slug)
    address = str(folder / "validator.sock")

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            arguments = json.loads(self.rfile.readline())
            given = Path(arguments[0]).read_bytes()
            reference = references.get(sha256(given).hexdigest()) or Path(arguments[1]).read_bytes()
            output = self.rfile.read()
            if len(output) > limit:
                code = reject(arguments[2], f"expected at most {limit} bytes, found {len(output)}")
            else:
                code = judge(checker, given, output, reference, arguments[2], arguments[3:])
            self.wfile.write(str(code).encode())

    with socketserver.UnixStreamServer(address, Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield CLIENT.format(python=sys.executable, address=address).encode()
        finally:
            server.shutdown()
            thread.join()


def judge(
    checker: AnyChecker, given: bytes, output: bytes, reference: bytes, feedback: str, options: Sequence[str]
) -> int:
    """Judge one output; returns the exit code."""
    folder = Path(feedback)
    try:
        instance = checker.read_instance(given)
        score = checker.score_answer(instance, checker.read_answer(output, instance), reference)
    except Rejected as rejected:
        return reject(feedback, str(rejected))
    except Exception as error:
        (folder / "judgemessage.txt").write_text(f"the checker failed by itself: {error!r}\n")
        return FAILED
    (folder / "judgemessage.txt").write_text(f"{score.message.text}\n")
    if options[:1] == ["points"]:
        share = 1 if score.multiplier is None else score.multiplier
        (folder / "score.txt").write_text(f"{float(options[1]) * float(share):.12f}\n")
    return ACCEPT


def reject(feedback: str, message: str) -> int:
    """Say why an output is rejected; returns the exit code."""
    (Path(feedback) / "judgemessage.txt").write_text(f"{message}\n")
    return REJECT
