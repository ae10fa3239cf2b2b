"""What of a foreign package has no place in this one: programs are kept beside the solution, the rest is left out."""

from __future__ import annotations

from app.packages.formats.draft import Draft, Source, listed

FOLDER = "solution/original"
PROGRAMS = frozenset({
    "c", "cc", "cpp", "cxx", "h", "hh", "hpp", "java", "py", "kt", "rs", "go", "pas", "dpr", "rb", "js", "cs", "pl",
    "sh", "ml", "scala", "php", "swift", "ts", "lua", "d", "ctd", "viva", "hs",
})  # fmt: skip


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
