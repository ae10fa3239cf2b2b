"""A grader process whose checker `rogue` does what the answer says: raise, loop, eat, exit, reject, or accept."""

from __future__ import annotations

import os
import sys
import types
from fractions import Fraction

from app.grading import grader
from checkers.doors import Rejected, Score


def score_answer(_instance: bytes, answer: bytes, _reference: bytes | None = None) -> Score:
    """Misbehave as told; a number is accepted with that raw score out of 10."""
    if answer == b"raise":
        raise RuntimeError("the checker has a fault")
    if answer == b"exit":
        os._exit(3)
    if answer == b"eat":
        bytearray(2**40)
    while answer == b"loop":
        pass
    if answer == b"reject":
        raise Rejected("line 1: expected a number, found reject")
    return Score(int(answer), 10, Fraction(int(answer), 10))


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
    grader.main()


if __name__ == "__main__":
    main()
