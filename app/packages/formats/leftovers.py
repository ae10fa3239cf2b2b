"""Programs of a foreign package: solutions become example submissions, others are kept beside the solution."""

from __future__ import annotations

from collections.abc import Mapping

from app.packages.formats.draft import Draft, Source, listed
from app.packages.tools import not_runnable

FOLDER = "solution/original"
SLOW = "time_limit_exceeded"
FOLDERS = frozenset(
    {"accepted", "partially_accepted", "wrong_answer", "run_time_error", "rejected", "brute_force", SLOW}
)
"""Folders of example submissions."""
PROGRAMS = frozenset({
    "c", "cc", "cpp", "cxx", "h", "hh", "hpp", "java", "py", "kt", "rs", "go", "pas", "dpr", "rb", "js", "cs", "pl",
    "sh", "ml", "scala", "php", "swift", "ts", "lua", "d", "ctd", "viva", "hs",
})  # fmt: skip


def keep_solution(source: Source, draft: Draft, names: Mapping[str, str], folder: str) -> None:
    """Put a program that solves the problem, or tries to, into `submissions/FOLDER/`, unless nothing here runs it.

    `names`: the foreign files by their places in the folder, which are one file, or all in one folder.
    """
    first = min(names)
    place = first.partition("/")[0] + ("/" if "/" in first else "")
    paths = {f"submissions/{folder}/{path}": name for path, name in names.items()}
    if folder not in FOLDERS or (folder == SLOW and not _has_time_limit(draft)):
        return
    if draft.files.keys().isdisjoint(paths) and not_runnable(paths, f"submissions/{folder}/{place}") is None:
        draft.files |= {path: source.keep(name) for path, name in paths.items()}


def _has_time_limit(draft: Draft) -> bool:
    """Without one nothing is too slow."""
    limits = draft.metadata.get("limits")
    return isinstance(limits, dict) and "time_limit" in limits


def keep_programs(source: Source, draft: Draft) -> None:
    """Keep the programs that nothing else has taken; notes them, and what is left out."""
    rest = source.unused()
    programs = [name for name in rest if name.rpartition(".")[2] in PROGRAMS and _is_text(source.files[name])]
    for name in programs:
        draft.files[f"{FOLDER}/{name}"] = source.keep(name)
    if programs:
        source.note(FOLDER, f"programs are kept here and not run: {listed(programs)}")
    if others := [name for name in rest if name not in source.used]:
        source.note("", f"without a place in the package and left out: {listed(others)}")


def _is_text(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
