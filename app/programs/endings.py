"""How a run in the sandbox ended, in words for judges."""

from __future__ import annotations

from collections.abc import Mapping

from app.programs.model import ProgramFault, as_text, plain
from app.sandbox.model import Ending, Result

LONGEST_QUOTE = 2000
ENDINGS: Mapping[Ending, str] = {
    "cpu": "it used more processor time than it may",
    "wall": "it took more time than it may",
    "memory": "it used more memory than it may",
    "output": "it wrote more than it may",
}


def exit_code(result: Result) -> int:
    """The exit code; raises ProgramFault for a run that ended otherwise."""
    if result.ending == "exit" and result.exit_code is not None:
        return result.exit_code
    reason = ENDINGS.get(result.ending, f"it was killed by signal {result.signal}")
    raise ProgramFault(_with_errors(reason, result))


def fault_of(ending: Ending, errors: str) -> ProgramFault:
    """The fault of a program that a limit ended, with the end of its standard error."""
    shown = plain(errors[-LONGEST_QUOTE:]).strip()
    return ProgramFault(f"{ENDINGS[ending]}; standard error: {shown}" if shown else ENDINGS[ending])


def unexpected(code: int, expected: str, result: Result) -> ProgramFault:
    """The fault of a program that exits with a code that its protocol does not know."""
    return ProgramFault(_with_errors(f"expected exit code {expected}, found {code}", result))


def _with_errors(reason: str, result: Result) -> str:
    errors = as_text(result.stderr[-LONGEST_QUOTE:]).strip()
    return f"{reason}; standard error: {errors}" if errors else reason
