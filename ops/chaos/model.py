"""The words of a scenario: its name, the databases it is played on, and the list of all there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from ops.chaos.stage import POSTGRESQL, SQLITE, Stage

BOTH = (SQLITE, POSTGRESQL)


@dataclass(frozen=True)
class Scenario:
    """One fault. `play` raises AssertionError where a promise does not hold, and returns a line on what happened."""

    name: str
    play: Callable[[Stage], str]
    databases: tuple[str, ...] = BOTH
    in_suite: tuple[str, ...] = ()
    in_long: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """The first line of the scenario's docstring."""
        return (self.play.__doc__ or "").partition("\n")[0]


SCENARIOS: dict[str, Scenario] = {}


def scenario(
    *databases: str, in_suite: tuple[str, ...] = (), in_long: tuple[str, ...] = ()
) -> Callable[[Callable[[Stage], str]], Callable[[Stage], str]]:
    """Register a function as a scenario of its name, for some databases (default: both).

    On those of `in_suite` it is short and played in `make test` too, on those of `in_long` in `make test-long`.
    """

    def register(play: Callable[[Stage], str]) -> Callable[[Stage], str]:
        name = play.__name__.replace("_", "-")
        SCENARIOS[name] = Scenario(name, play, databases or BOTH, in_suite, in_long)
        return play

    return register


def all_scenarios() -> dict[str, Scenario]:
    """Every scenario of this folder, by name, in the order of the files."""
    for path in sorted(Path(__file__).parent.glob("on_*.py")):
        import_module(f"ops.chaos.{path.stem}")
    return SCENARIOS
