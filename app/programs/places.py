"""Places inside the sandbox, commands in terms of them, and what a run leaves.

- Languages of programs: which file is run, and how C++ is compiled, once, in the sandbox.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from app.programs.model import SINGLE, VALIDATOR, NoCompiler, Program, ProgramFault, Tool, as_text, exit_code
from app.sandbox.model import Command, Limits, Mount, Result, python

PROGRAM_FOLDER = "/program"
CASE_FOLDER = "/case"
INPUT, ANSWER, OUTPUT = (f"{CASE_FOLDER}/{name}" for name in ("input", "answer", "output"))
WORK = "/work"
FEEDBACK = f"{WORK}/feedback"


@dataclass(frozen=True, slots=True)
class Asked:
    """A command that asks about a case.

    reads_output     the answer is its standard input
    links            other paths of the case's files, each with the name of one in CASE_FOLDER
    leaves           the folder in which files that it writes are its feedback
    """

    argv: tuple[str, ...]
    reads_output: bool = False
    links: tuple[tuple[str, str], ...] = ()
    leaves: str | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """A run that has ended, and the files it left as feedback."""

    result: Result
    feedback: Mapping[str, bytes]


PYTHON = ".py"
CPP = frozenset({".cpp", ".cc", ".cxx", ".c++"})
MAIN = ("__main__.py", "main.py")
C = frozenset({".c"})
COMPILERS = {
    "c++": ("/usr/bin/g++", "-O2", "-std=gnu++20", "-pipe"),
    "c": ("/usr/bin/gcc", "-O2", "-std=gnu17", "-pipe"),
}
# Of Debian, where the compilers come from.
PACKAGES = {"c++": "g++", "c": "gcc"}
BUILD_FOLDER = "/build"
COMPILED = f"{BUILD_FOLDER}/program"
# The version of what the cache holds: another layout, other flags.
LAYOUT = "1"
COMPILING = Limits(cpu_seconds=60, wall_seconds=120, memory=2 * 2**30, processes=32, output=64 * 2**20, open_files=256)
LINES_SHOWN = 12
LONGEST_LINE = 300
# A program of a package: its checker, or another one.
Code = Program | Tool
Execute = Callable[[Command], Result]


@dataclass(frozen=True, slots=True)
class Runnable:
    """A program laid out for the sandbox: the words that start it, and what it needs to see."""

    argv: tuple[str, ...]
    mounts: tuple[Mount, ...]
    is_python: bool = False


def entry(names: Iterable[str], place: str = "") -> str:
    """The file that stands for a program: what Python runs, or the first source of C++; raises ProgramFault.

    `place` is its file, or its folder with `/` at the end; empty: that of the package's own checker.
    """
    known = set(names)
    place = place or (SINGLE if SINGLE in known else VALIDATOR)
    expected = f"one Python file, or {' or '.join(MAIN)} among several, or C++ or C ({', '.join(sorted(CPP | C))})"
    if not place.endswith("/"):
        if Path(place).suffix in (PYTHON, *CPP, *C):
            return place
        raise ProgramFault(f"{place}: expected {expected}, found {Path(place).suffix or 'no extension'}")
    own = sorted(name for name in known if name.startswith(place))
    for main in (f"{place}{name}" for name in MAIN):
        if main in own:
            return main
    sources = _sources(own, place)
    scripts = [name for name in own if name.endswith(PYTHON)]
    if sources and not scripts:
        return sources[0]
    if len(scripts) == 1 and not sources:
        return scripts[0]
    raise ProgramFault(f"{place}: expected {expected}, found {', '.join(own[:5]) or 'nothing'}")


def _sources(names: Iterable[str], place: str) -> list[str]:
    """The files to be compiled together: those of C++, without any those of C."""
    own = sorted(name for name in names if name == place or (place.endswith("/") and name.startswith(place)))
    return [name for name in own if Path(name).suffix in CPP] or [name for name in own if Path(name).suffix in C]


def prepared(program: Code, cache: Path, execute: Execute) -> Runnable:
    """Lay a program out below `cache`, compiled where its language wants that; what lies there already is used.

    Raises ProgramFault with the compiler's first lines.
    """
    main = entry(program.files, program.place)
    home = cache / f"{program.sha256}-{LAYOUT}"
    if not home.exists():
        _lay_out(program, main, home, execute)
    mount = Mount(home / "files", PROGRAM_FOLDER)
    if main.endswith(PYTHON):
        return Runnable((python(), "-s", "-B", f"{PROGRAM_FOLDER}/{main}"), (mount,), is_python=True)
    return Runnable((COMPILED,), (mount, Mount(home / "build", BUILD_FOLDER)))


def _language(program: Code) -> str:
    """The language of a program that is compiled, as COMPILERS has it."""
    sources = _sources(program.files, program.place)
    return "c" if Path(sources[0]).suffix in C else "c++"


def _lay_out(program: Code, main: str, home: Path, execute: Execute) -> None:
    home.parent.mkdir(parents=True, exist_ok=True)
    new = Path(tempfile.mkdtemp(dir=home.parent, prefix=".new-"))
    try:
        for name, data in program.files.items():
            path = new / "files" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        if not main.endswith(PYTHON):
            (new / "build").mkdir()
            _compile(program, new, execute)
        os.rename(new, home)
    except OSError:
        if not home.exists():  # else another thread was faster
            raise
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _compile(program: Code, folder: Path, execute: Execute) -> None:
    sources = _sources(program.files, program.place)
    language = _language(program)
    compiler = COMPILERS[language]
    if not Path(compiler[0]).exists():
        raise NoCompiler(
            f"{sources[0]}: expected a compiler at {compiler[0]}, found none on this server (Debian: apt-get install "
            f"{PACKAGES[language]})"
        )
    folders = sorted({str(Path(name).parent) for name in program.files})
    command = Command(
        (
            *(*compiler, "-o", COMPILED),
            *(word for name in folders for word in ("-I", f"{PROGRAM_FOLDER}/{name}")),
            *(f"{PROGRAM_FOLDER}/{name}" for name in sources),
            "-lm",
        ),
        mounts=(Mount(folder / "files", PROGRAM_FOLDER), Mount(folder / "build", BUILD_FOLDER, writable=True)),
        limits=COMPILING,
    )
    result = execute(command)
    try:
        code = exit_code(result)
    except ProgramFault as fault:
        raise ProgramFault(f"{sources[0]} does not compile: {fault}") from None
    if code != 0:
        lines = as_text(result.stderr).replace(f"{PROGRAM_FOLDER}/", "").splitlines()
        first = "\n".join(line[:LONGEST_LINE] for line in lines[:LINES_SHOWN])
        raise ProgramFault(f"{sources[0]} does not compile:\n{first}")
    if not (folder / "build" / "program").is_file():
        raise ProgramFault(f"{sources[0]} does not compile: the compiler left no program")
