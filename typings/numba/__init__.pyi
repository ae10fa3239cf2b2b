"""The part of numba used here, with types: a kernel keeps its signature for those who call it."""

from collections.abc import Callable
from typing import Any, TypeVar, overload

F = TypeVar("F", bound=Callable[..., Any])

@overload
def njit(function: F, /) -> F: ...
@overload
def njit(*signatures: Any, **options: Any) -> Callable[[F], F]: ...
def __getattr__(name: str) -> Any: ...
