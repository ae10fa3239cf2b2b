"""A grader process whose checker `rogue` does what the answer says: raise, loop, eat, exit, reject, or accept.

`kill` ends the process as the kernel does that is short of memory.
`sleep SECONDS` takes that long, and earns all.
`stop` halts the process until someone continues it, `forge NAME` writes another reply than its own to the server, and
`probe FILE` tells with a rejection what a checker that has been taken over could do beside checking.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
import types
from fractions import Fraction

from app.domain.counting import CaseVerdict
from app.domain.documents import FoundScore
from app.judging.service import grader
from app.judging.service.messages import Need, encoded, graded
from app.sandbox.child import LENGTH
from checkers.doors import Rejected, Score
from tests.builders.probe import probe


def score_answer(_instance: bytes, answer: bytes, _reference: bytes | None = None) -> Score:
    """Misbehave as told; a number is accepted with that raw score out of 10."""
    if answer == b"raise":
        raise RuntimeError("the checker has a fault")
    if answer == b"exit":
        os._exit(3)
    if answer == b"kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if answer == b"eat":
        bytearray(2**40)
    if answer.startswith(b"sleep "):
        time.sleep(float(answer.removeprefix(b"sleep ")))
        return Score(10, 10, Fraction(1))
    while answer == b"loop":
        pass
    if answer == b"stop":
        os.kill(os.getpid(), signal.SIGSTOP)
        return Score(10, 10, Fraction(1))
    if answer.startswith(b"forge "):
        forge(answer.decode().removeprefix("forge "))
    if answer.startswith(b"probe "):
        raise Rejected("; ".join(probe(answer.decode().removeprefix("probe "))) or "nothing")
    if answer == b"reject":
        raise Rejected("line 1: expected a number, found reject")
    return Score(int(answer), 10, Fraction(int(answer), 10))


def forge(name: str) -> None:
    """Write a reply to the server that no checker could make."""
    score = FoundScore(99, CaseVerdict.ACCEPTED, 10, 10, 1, {"key": "accepted", "text": "", "args": {}}, 0)
    message = {
        "pickle": pickle.dumps(score),
        "another case": encoded(graded(score)),
        "another file": encoded(Need("0" * 64)),
        "huge": b"",
    }[name]
    length = 2**40 if name == "huge" else len(message)
    os.write(int(sys.argv[1]), LENGTH.pack(length) + message)
    signal.pause()


def main() -> None:
    """Install the checker and be a grader."""
    module = types.ModuleType("checkers.rogue")
    vars(module).update(
        read_instance=bytes,
        read_answer=lambda data, _instance: data,
        write_answer=bytes.decode,
        score_answer=score_answer,
    )
    sys.modules["checkers.rogue"] = module
    grader.main(prepare=lambda: None)  # it has no kernels, and numba takes a second to load


if __name__ == "__main__":
    main()
