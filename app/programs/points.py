"""Numbers that programs print, and the scores they mean.

- Generators: a program's standard output, or the file `testcase.in` that it leaves, is a test case's input.
- Modules of this Python that packages' checkers may import: distributions by name, seen read-only in the sandbox.
"""

import re
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath

from app.programs.model import ACCEPTED, Meaning, ProgramFault, Tool, exit_code, unexpected
from app.programs.tools import ToolDesk
from app.sandbox.child import ONE_THREAD
from app.sandbox.model import Limits, Mount
from checkers.doors import Message, Score

NUMBER = re.compile(r"[0-9]{1,400}(\.[0-9]{0,400})?([eE][+-]?[0-9]{1,3})?|\.[0-9]{1,400}([eE][+-]?[0-9]{1,3})?")
# The most that a numerator or denominator of a stored score may be.
LARGEST = 2**63 - 1
MOST_DECIMALS = 18


def number(text: str, what: str) -> Fraction:
    """The number that a program wrote, never negative; raises ProgramFault for anything else."""
    written = text.strip().removeprefix("+")
    if not NUMBER.fullmatch(written):
        raise ProgramFault(f"{what}: expected a number of at least 0, found {written[:60]!r}")
    return storable(Fraction(written), what)


def storable(value: Fraction, what: str) -> Fraction:
    """The value, rounded to as many decimals as a stored score can have where it has more; raises ProgramFault."""
    if value < 0:
        raise ProgramFault(f"{what}: expected a number of at least 0, found {float(value):g}")
    for decimals in range(MOST_DECIMALS, -1, -1):
        if value.numerator <= LARGEST and value.denominator <= LARGEST:
            return value
        value = Fraction(round(value * 10**decimals), 10**decimals)
    if value > LARGEST:
        raise ProgramFault(f"{what}: expected a number below 2^63, found a larger one")
    return value


def scored(value: Fraction, meaning: Meaning, most: Fraction | None, message: Message = ACCEPTED) -> Score:
    """The score that a program's number means; raises ProgramFault where it is more than there is to have.

    `most` are the points of the case; a case without points, such as a sample, gives its full share to all accepted.
    """
    match meaning:
        case "raw":
            return Score(_exact(value), message=message)
        case "fraction":
            return _share(value, Fraction(1), message)
        case "percent":
            return _share(value, Fraction(100), message)
        case "absolute":
            if not most:
                return Score(_exact(value), None, None if most is None else 1, message)
            return _share(value, most, message)


def full(meaning: Meaning, most: Fraction | None, message: Message = ACCEPTED) -> Score:
    """The score of an answer that is right and got no number; raises ProgramFault where only raw scores count."""
    if meaning == "raw":
        raise ProgramFault("expected a score beside each accepted answer, as points are raw scores; found none")
    whole = {"fraction": Fraction(1), "percent": Fraction(100), "absolute": most or Fraction(1)}[meaning]
    return Score(_exact(whole), _exact(whole), 1, message)


def _share(value: Fraction, most: Fraction, message: Message) -> Score:
    if value > most:
        raise ProgramFault(f"expected a score of at most {float(most):g}, found {float(value):g}")
    return Score(_exact(value), _exact(most), _exact(storable(value / most, "score")), message)


def _exact(value: Fraction) -> int | Fraction:
    return value.numerator if value.denominator == 1 else value


NAME = "testcase"


def generate(desk: ToolDesk, tool: Tool, args: Sequence[str], limits: Limits) -> bytes:
    """Run a generator once; raises ProgramFault where it fails, or makes nothing."""
    with tempfile.TemporaryDirectory(prefix="jurado-generator-") as name:
        folder = Path(name)
        result = desk.sandbox.run(desk.command(tool, args, limits, leaves=folder))
        if (code := exit_code(result)) != 0:
            raise unexpected(code, "0", result)
        left = folder / f"{NAME}.in"
        data = left.read_bytes() if left.is_file() and not left.is_symlink() else result.stdout
    if not data:
        raise ProgramFault(f"expected an input on standard output, or in {NAME}.in, found neither")
    return data


FOLDER = "/jurado/modules"


@dataclass(frozen=True, slots=True)
class Modules:
    """Distributions that checkers in Python get beside the standard library, and what shows them in the sandbox."""

    names: tuple[str, ...] = ()
    mounts: tuple[Mount, ...] = ()

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which a Python in the sandbox finds them."""
        return {"PYTHONPATH": FOLDER, **ONE_THREAD} if self.mounts else {}


NO_MODULES = Modules()


def modules_of(text: str) -> Modules:
    """The modules of distributions, with commas between their names; what is not installed is left out."""
    wanted, mounts = tuple(each for each in map(str.strip, text.split(",")) if each), dict[str, Mount]()
    for name in wanted:
        with suppress(PackageNotFoundError):
            mounts |= {path.name: Mount(path, f"{FOLDER}/{path.name}") for path in _tops(distribution(name))}
    return Modules(wanted, tuple(mounts[name] for name in sorted(mounts)))


def _tops(installed: Distribution) -> list[Path]:
    """The files and folders of a distribution that lie directly beside those of others."""
    names = {PurePosixPath(str(each)).parts[0] for each in installed.files or ()} - {"..", "__pycache__", "/"}
    paths = [Path(str(installed.locate_file(name))).resolve() for name in sorted(names)]
    return [path for path in paths if path.exists()]
