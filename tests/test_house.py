"""What holds for the house as a whole and import-linter cannot say: who may import only what is named."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[1]

ALLOWED = {
    "app/domain": {"app", "numpy", "typing_extensions"},  # TypedDicts in models, before Python 3.12
    "checkers": {"checkers", "numba", "numpy"},
    "games": {"checkers", "games", "numba", "numpy"},
    "solvers": {"checkers", "numba", "numpy", "solvers"},
}


@pytest.mark.parametrize("room", ALLOWED)
def test_a_room_imports_only_the_standard_library_and_what_is_named(room: str) -> None:
    strangers = {
        f"{path.relative_to(PROJECT)} imports {name}"
        for path in (PROJECT / room).rglob("*.py")
        for name in imported(path)
        if name not in sys.stdlib_module_names | ALLOWED[room]
    }
    assert strangers == set()


def test_routes_reach_nothing_below_services() -> None:
    """Routes call services; only `app.core.http`, which all routes share, opens transactions."""
    below = ("app.domain", "app.packages", "app.core.db", "app.core.files", "app.tables")
    reached = {
        f"{path.relative_to(PROJECT)} imports {name}"
        for pattern in ("*/routes.py", "*/routes/**/*.py")
        for path in (PROJECT / "app").glob(pattern)
        for name in imported(path, parts=4)
        if name.startswith(below) or ".queries" in name or ".tables" in name
    }
    assert reached == set()


def test_packages_of_the_app_hold_only_a_docstring_in_their_init() -> None:
    for path in (PROJECT / "app").rglob("__init__.py"):
        body = ast.parse(path.read_text()).body
        assert len(body) == 1, path
        assert isinstance(body[0], ast.Expr), path


def test_every_folder_with_modules_is_a_package() -> None:
    for room in ("app", "checkers", "games", "solvers"):
        for path in (PROJECT / room).rglob("*.py"):
            assert (path.parent / "__init__.py").exists(), path.parent


def test_a_solver_borrows_from_no_other_checker_than_its_own() -> None:
    for path in (PROJECT / "solvers").glob("*/*.py"):
        slug = path.stem if path.parent.name == "daily" else path.parent.name  # puzzles of the day, a file a kind
        modules = {name for name in imported(path, parts=3) if name.startswith("checkers.")}
        shared = {f"checkers.{module.stem}" for module in (PROJECT / "checkers").glob("*.py")} - bundled_checkers()
        assert modules <= shared | {f"checkers.{slug}", f"checkers.rules.{slug}"}, path


@pytest.mark.parametrize(
    "below", ["domain/*.py", "packages/**/*.py", "*/service/**/*.py", "*/queries/*.py", "*/queries.py"]
)
def test_any_stands_in_a_signature_below_the_edge_only_beside_its_reason(below: str) -> None:
    """The reason is a comment in the line before the function; JSON that is kept has a type."""
    bare = []
    paths = [*(PROJECT / "app").glob(below)]
    for path in paths:
        source = path.read_text()
        lines = source.splitlines()
        for function in functions(ast.parse(source)):
            before = min([function.lineno, *(each.lineno for each in function.decorator_list)]) - 2
            if says_any(function) and not lines[before].strip().startswith("# Any: "):
                bare.append(f"{path.relative_to(PROJECT)}:{function.lineno} {function.name}")
    assert paths
    assert bare == []


VERBS = frozenset({"found", "there", "kept", "said", "told"})
NAMED_BY_NOUNS = ("app", "bench", "checkers", "games", "ops", "scripts", "solvers", "tests")


@pytest.mark.parametrize("room", NAMED_BY_NOUNS)
def test_variables_and_functions_are_named_for_what_they_hold(room: str) -> None:
    """`rows`, `faults`, `known_ids`: never by the verb of the call that gave them. Keys of documents are free.

    So is `found` beside `expected`, as messages say them, and names inside tests.
    """
    named = [
        f"{path.relative_to(PROJECT)}:{line} {name}"
        for path in (PROJECT / room).rglob("*.py")
        if not path.name.startswith("test_")
        for line, name in bound_names(ast.parse(path.read_text()))
        if name.lstrip("_") in VERBS
    ]
    assert named == []


def bound_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Names of variables, parameters, attributes, functions and classes where they are bound, each with its line."""
    free = {id(node) for body in ast.walk(tree) for node in keys_and_messages(body)}
    for node in ast.walk(tree):
        if id(node) in free:
            continue
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id if isinstance(node, ast.Name) else node.attr
        elif isinstance(node, ast.arg):
            yield node.lineno, node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.lineno, node.name


def keys_and_messages(node: ast.AST) -> Iterator[ast.AST]:
    """The keys of a class that is a document, and `found` beside `expected` in a class or a signature."""
    if isinstance(node, ast.ClassDef):
        fields = {each.target.id: each.target for each in node.body
                  if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)}  # fmt: skip
        is_document = "dataclass" not in "".join(map(ast.dump, node.decorator_list))
        yield from (fields[name] for name in fields if is_document or (name == "found" and "expected" in fields))
    elif isinstance(node, ast.arguments):
        names = {each.arg: each for each in [*node.posonlyargs, *node.args, *node.kwonlyargs]}
        if {"expected", "found"} <= names.keys():
            yield names["found"]
    elif isinstance(node, ast.Tuple):
        targets = {each.id: each for each in node.elts if isinstance(each, ast.Name)}
        if {"expected", "found"} <= targets.keys():
            yield targets["found"]


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """All functions and methods of a module."""
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def says_any(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a type in a function's signature is, or holds, Any."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    types = [function.returns, *(each.annotation for each in named if each is not None)]
    names = (node for kind in types if kind is not None for node in ast.walk(kind) if isinstance(node, ast.Name))
    return any(name.id == "Any" for name in names)


def bundled_checkers() -> set[str]:
    return {f"checkers.{folder.name}" for folder in (PROJECT / "problems").iterdir()}


def imported(path: Path, parts: int = 1) -> Iterator[str]:
    """The modules a file imports, cut after so many parts of their names."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: a relative import hides which room it is from"
            names = [node.module or ""]
        else:
            continue
        yield from (".".join(name.split(".")[:parts]) for name in names)


PATCHES = frozenset({"setattr", "object", "patch"})
CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]+")
SETTING = re.compile(r"setattr|patch|\.[A-Z][A-Z0-9_]+(, \S+)* = ")


def test_tests_give_limits_to_what_they_build_and_patch_no_constant() -> None:
    """A patched constant may have been read before, or be patched for others; an argument is for one object."""
    patched = [
        f"{path.relative_to(PROJECT)}:{node.lineno}"
        for path in (PROJECT / "tests").rglob("*.py")
        if SETTING.search(text := path.read_text())
        for node in ast.walk(ast.parse(text))
        if is_patch(node)
    ]
    assert patched == []


def is_patch(node: ast.AST) -> bool:
    """Whether a constant of a module, or a bound of all settings, gets another value."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
        return CONSTANT.fullmatch(node.attr) is not None
    if not isinstance(node, ast.Call) or ast.unparse(node.func).rpartition(".")[2] not in PATCHES:
        return False
    names = [str(each.value) for each in node.args[:2] if isinstance(each, ast.Constant)]
    is_of_all = ast.unparse(node.args[0]).endswith("Settings") if node.args else False
    return is_of_all or any(CONSTANT.fullmatch(name.rpartition(".")[2]) for name in names)


def test_the_service_asks_one_clock_for_the_time() -> None:
    """The system's may be set back, and `app.core.clock` may not; the command line runs on other machines."""
    asking = {
        str(path.relative_to(PROJECT))
        for path in (PROJECT / "app").rglob("*.py")
        if "datetime.now(" in (text := path.read_text()) or "time.time" in text
    }
    assert {path for path in asking if "commands" not in Path(path).with_suffix("").parts} == {"app/core/clock.py"}


def test_rules_that_games_share_are_quick_to_import() -> None:
    """A server plays without the compiler of kernels, which takes a second and 100 MB."""
    code = "import sys, games.catalog; games.catalog.games(); sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=PROJECT, check=False).returncode == 0


def test_the_command_line_starts_without_what_only_some_commands_need() -> None:
    """The database's library, arrays, templates and whole packages are half a second of `jurado --help`."""
    heavy = {"sqlalchemy", "numpy", "jinja2", "markdown_it", "yaml", "app.packages.metadata", "app.tables"}
    code = f"import sys, app.commands.main; sys.exit(', '.join({heavy} & sys.modules.keys()) or 0)"
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
