"""Kernels compiled for one signature, the one that their annotations tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from checkers.compiled import njit

F = TypeVar("F", bound=Callable[..., Any])
_TYPES = {
    "Ints": "int32[::1]",
    "Words": "uint64[::1]",
    "Floats": "float64[::1]",
    "int": "int64",
    "float": "float64",
    "bool": "boolean",
    "None": "void",
    "tuple[int, int]": "UniTuple(int64, 2)",
    "tuple[int, int, int]": "UniTuple(int64, 3)",
}


def kernel(function: F) -> F:
    """Compile a function of the arena where its module is loaded, or take it from the cache.

    Without a signature numba compiles a kernel again for every constant that another kernel passes to it.
    """
    kinds = {name: _TYPES[annotation] for name, annotation in function.__annotations__.items()}
    result = kinds.pop("return")
    return cast(F, njit(f"{result}({', '.join(kinds.values())})", cache=True, nogil=True)(function))
