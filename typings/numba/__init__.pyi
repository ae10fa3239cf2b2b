"""The part of numba used here, with types.

A kernel keeps the type of what it returns. Its arguments are not checked: compiled, an element of an array and an `int`
are the same; for a type checker numpy's integers are no `int`.
"""

from collections.abc import Callable
from typing import Any, TypeVar, overload

R = TypeVar("R")

@overload
def njit(function: Callable[..., R], /) -> Callable[..., R]: ...
@overload
def njit(*signatures: Any, **options: Any) -> Callable[[Callable[..., R]], Callable[..., R]]: ...
def __getattr__(name: str) -> Any: ...
