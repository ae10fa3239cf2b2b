"""Input validators: whether a program takes an input, by the conventions of the judge it was written for.

kattis    the input on standard input; exit code 42 accepts, 43 and most others refuse
testlib   the input on standard input; exit code 0 accepts, others refuse
cms       the input's path as the first argument; exit code 0 accepts, others refuse
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from app.programs.model import ProgramFault, as_text, exit_code
from app.programs.places import INPUT
from app.programs.tools import Bounds, Opinion, Tool, ToolDesk
from app.sandbox.model import Result

ValidatorProtocol = Literal["kattis", "testlib", "cms"]
VALID = 42
LONGEST_TEXT = 4096


def validate(
    desk: ToolDesk, tool: Tool, protocol: ValidatorProtocol, data: bytes, args: Sequence[str], bounds: Bounds
) -> Opinion:
    """Ask a validator about an input, unless it has been asked; failures of its own are no opinions to be kept."""
    key = (tool.sha256, tool.place, protocol, tuple(args), bounds, hashlib.sha256(data).digest())
    if (known := desk.opinions.get(key)) is not None:
        return known
    try:
        if protocol == "cms":
            with tempfile.TemporaryDirectory(prefix="jurado-input-") as folder:
                path = Path(folder) / "input"
                path.write_bytes(data)
                result = desk.run(desk.command(tool, (INPUT, *args), bounds, reads={INPUT: path}))
        else:
            result = desk.run(desk.command(tool, args, bounds, stdin=data))
        return desk.opinions.put(key, _opinion(tool.name, protocol, result))
    except ProgramFault as fault:
        return Opinion(tool.name, False, fault=f"{tool.name}: {fault}")


def _opinion(name: str, protocol: ValidatorProtocol, result: Result) -> Opinion:
    """The opinion that a run's exit code tells; raises ProgramFault for a run that a signal or a limit ended."""
    code = exit_code(result)
    text = as_text(result.stderr[:LONGEST_TEXT] or result.stdout[:LONGEST_TEXT]).strip()
    if protocol == "kattis" and code == 0:
        hint = "validators of testlib and CMS exit with 0: jurado.yaml, input_validators: {protocol: testlib}"
        raise ProgramFault(f"expected exit code {VALID} or 43, found 0 ({hint})")
    accepted = code == (VALID if protocol == "kattis" else 0)
    return Opinion(name, accepted, text if text or accepted else f"exit code {code}")
